//! A user's message as the events that it is made of.

use std::rc::Rc;

use serde_json::value::RawValue;

use crate::error::Error;
use crate::json::{self, Json, Object};

use super::machine::UiPath;
use super::message::Text;
use super::outbox::Say;
use super::write::Path;

/// The largest piece of a text in one event, in bytes.
const PIECE: usize = 65_536;

/// A content part of a message.
enum Part<'a> {
    Text {
        text: String,
        mime: String,
    },
    /// A file that was uploaded.
    Attachment(Object<'a>),
}

impl<'a> Part<'a> {
    fn read(value: Json<'a>) -> Option<Self> {
        let part = Object::of(value)?;
        match part.text("type").as_str() {
            "text" => {
                let mime = part.string("mimeType").unwrap_or_else(|| "text/plain".to_owned());
                Some(Self::Text { text: part.string("text")?, mime })
            }
            "attachment" if part.string("uri").is_some() && part.string("mimeType").is_some() => {
                Some(Self::Attachment(part))
            }
            _ => None,
        }
    }

    /// JSON text of a `startContentPart`.
    fn start(&self) -> String {
        match self {
            Self::Text { mime, .. } => ["{\"mimeType\":", &json::text(mime), "}"].concat(),
            Self::Attachment(part) => {
                let mut start = ["{\"mimeType\":", &json::text(&part.text("mimeType"))].concat();
                if let Some(name) = part.string("name") {
                    start.extend([",\"name\":", &json::text(&name)]);
                }
                start.extend([",\"externalValue\":{\"uri\":", &json::text(&part.text("uri"))]);
                if let Some(count) = part.integer("byteCount") {
                    start.extend([",\"byteCount\":", &count.to_string()]);
                }
                start.push_str("}}");
                start
            }
        }
    }
}

impl UiPath {
    /// A message in an exchange of its own, which declares the tools.
    pub(super) fn compose(&mut self, content: Box<RawValue>) -> Result<Say, Error> {
        let bad = || Error::invalid("content", "text parts, and attachments with their uri and mimeType");
        let parts = Json::from(&content).items().ok_or_else(bad)?;
        let parts: Vec<_> = parts.into_iter().map(Part::read).collect::<Option<_>>().ok_or_else(bad)?;
        let (exchange, message) = (self.fresh_id(), self.fresh_id());
        let of_message = Path::Message(&exchange, &message);
        let mut frames = vec![
            self.writer.write(Path::Exchange(&exchange), "startExchange", &self.tools.start_of_exchange()),
            self.writer.write(of_message, "startMessage", r#"{"role":"user"}"#),
        ];
        let mut text = Text::default();
        let count = parts.len();
        for part in parts {
            let id = self.fresh_id();
            let path = Path::Part(&exchange, &message, &id);
            frames.push(self.writer.write(path, "startContentPart", &part.start()));
            if let Part::Text { text: given, .. } = part {
                for piece in pieces(&given) {
                    let chunk = ["{\"data\":", &json::text(piece), "}"].concat();
                    frames.push(self.writer.write(path, "chunk", &chunk));
                }
                let mut one = Text::default();
                one.push(&given);
                text.append(one);
            }
            frames.push(self.writer.write(path, "endContentPart", "{}"));
        }
        frames.push(self.writer.write(of_message, "endMessage", "{}"));
        let text = text.as_str().to_owned();
        Ok(Say { frames, parts: count, text, content, exchange: Rc::clone(&exchange), message: Rc::clone(&message) })
    }
}

/// A text in pieces, cut between characters. An empty text is one piece.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > PIECE {
        let cut = (0..=PIECE).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        let Some((piece, after)) = rest.split_at_checked(cut) else { break };
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = ["x", &"é".repeat(PIECE)].concat();
        let cut = pieces(&text);
        assert_eq!((cut.len(), cut.concat()), (3, text.clone()));
        assert!(cut.iter().all(|piece| piece.len() <= PIECE));
        assert_eq!(pieces(""), [""]);
    }
}
