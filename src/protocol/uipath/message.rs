//! Messages, put together from what streams in.

use std::rc::Rc;

use serde_json::value::RawValue;

use crate::json::{self, Json, Members, Write};
use crate::protocol::Meaning;

use super::event::Chunk;

/// A message that is under way.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) id: Rc<str>,
    pub(super) role: String,
    /// Whether something of it may have been missed.
    pub(super) torn: bool,
    parts: Vec<Part>,
}

/// A content part with text in it. Others are in the raw events.
#[derive(Debug)]
struct Part {
    id: Rc<str>,
    is_text: bool,
    text: Text,
}

/// A text with what it cites.
#[derive(Debug, Default)]
pub(super) struct Text {
    words: String,
    /// Its length in UTF-16 units, in which citations count.
    length: usize,
    citations: Vec<Cited>,
}

#[derive(Debug)]
struct Cited {
    id: String,
    offset: usize,
    length: usize,
    sources: Option<Box<RawValue>>,
}

impl Write for Cited {
    fn write(&self, text: &mut String) {
        let mut members = Members::of(text);
        members.set("citationId", &self.id).set("offset", &self.offset);
        members.set("length", &self.length).set("sources", &self.sources).end();
    }
}

impl Text {
    pub(super) fn push(&mut self, piece: &str) {
        self.words.push_str(piece);
        self.length += piece.encode_utf16().count();
    }

    /// Adds a citation of a place in the text.
    pub(super) fn cite(&mut self, id: String, offset: usize, length: usize, sources: Option<Json>) {
        self.citations.push(Cited { id, offset, length, sources: sources.map(Json::to_raw) });
    }

    fn chunk(&mut self, chunk: &Chunk) {
        let before = self.length;
        self.push(chunk.data.as_deref().unwrap_or_default());
        if chunk.citation.is_empty() {
            return;
        }
        let known = self.citations.iter().position(|cited| cited.id == chunk.citation).filter(|_| !chunk.begins);
        let at = known.unwrap_or(self.citations.len());
        if known.is_none() && (chunk.begins || chunk.ends) {
            self.cite(chunk.citation.clone(), before, 0, None);
        }
        if chunk.ends
            && let Some(cited) = self.citations.get_mut(at)
        {
            cited.length = self.length.saturating_sub(cited.offset);
            cited.sources = chunk.sources.map(Json::to_raw);
        }
    }

    /// Adds another text on a line of its own.
    pub(super) fn append(&mut self, other: Text) {
        if other.words.is_empty() {
            return;
        }
        if !self.words.is_empty() {
            self.push("\n");
        }
        let shift = self.length;
        self.push(&other.words);
        self.citations.extend(other.citations.into_iter().map(|cited| Cited { offset: cited.offset + shift, ..cited }));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn as_str(&self) -> &str {
        &self.words
    }

    /// What it means that this was said. A citation that never ended cites nothing.
    pub(super) fn said(mut self, id: &str, role: &str) -> Meaning {
        self.citations.retain(|cited| cited.sources.is_some());
        let citations = (!self.citations.is_empty()).then(|| json::text(&self.citations));
        Meaning::Message {
            id: Some(id.to_owned()),
            role: role.to_owned(),
            source: if role == "assistant" { "agent" } else { role }.to_owned(),
            text: self.words,
            citations: citations.and_then(|text| json::raw(&text)),
        }
    }
}

impl Message {
    pub(super) fn new(id: &Rc<str>, role: &str, torn: bool) -> Self {
        let role = if role.is_empty() { "assistant" } else { role };
        Self { id: Rc::clone(id), role: role.to_owned(), torn, parts: Vec::new() }
    }

    /// A content part begins.
    pub(super) fn start_part(&mut self, id: &Rc<str>, mime: &str) {
        if !self.parts.iter().any(|part| part.id == *id) {
            self.parts.push(Part { id: Rc::clone(id), is_text: mime.starts_with("text/"), text: Text::default() });
        }
    }

    /// A piece came. The text that it adds, if it is text.
    pub(super) fn chunk<'c>(&mut self, id: &Rc<str>, chunk: &'c Chunk) -> Option<&'c str> {
        if !self.parts.iter().any(|part| part.id == *id) {
            // The beginning was missed, and with it whether this is text.
            self.torn = true;
            self.start_part(id, "text/");
        }
        let part = self.parts.iter_mut().find(|part| part.id == *id && part.is_text)?;
        part.text.chunk(chunk);
        chunk.data.as_deref().filter(|data| !data.is_empty())
    }

    /// Whether there is no text in it yet.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| !part.is_text || part.text.is_empty())
    }

    /// All texts, joined.
    pub(super) fn into_text(self) -> Text {
        let mut whole = Text::default();
        for part in self.parts.into_iter().filter(|part| part.is_text) {
            whole.append(part.text);
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk<'a>(data: &str, citation: &str, begins: bool, ends: Option<&'a str>) -> Chunk<'a> {
        let sources = ends.map(|sources| Json::read(sources).unwrap());
        Chunk { data: Some(data.into()), citation: citation.into(), begins, ends: ends.is_some(), sources }
    }

    fn said(message: Message) -> (String, Option<String>) {
        match message.into_text().said("m", "assistant") {
            Meaning::Message { id, text, citations, .. } => {
                assert_eq!(id.as_deref(), Some("m"), "what streamed in had this id");
                (text, citations.map(|raw| raw.get().to_owned()))
            }
            _ => panic!("no message"),
        }
    }

    fn message() -> Message {
        Message::new(&"m".into(), "assistant", false)
    }

    #[test]
    fn citations_cover_the_text_from_their_first_piece_to_the_end_of_their_last() {
        let mut message = message();
        message.start_part(&"p".into(), "text/markdown");
        for chunk in [
            chunk("😀x", "", false, None),
            chunk("a", "c1", true, None),
            chunk("b", "c1", false, Some(r#"[{"title":"T"}]"#)),
            chunk("z", "c2", true, Some("[2]")),
            chunk("open", "c3", true, None),
        ] {
            message.chunk(&"p".into(), &chunk);
        }
        let citations = r#"[{"citationId":"c1","offset":3,"length":2,"sources":[{"title":"T"}]},{"citationId":"c2","offset":5,"length":1,"sources":[2]}]"#;
        assert_eq!(said(message), ("😀xabzopen".into(), Some(citations.into())));
    }

    #[test]
    fn parts_are_joined_and_citations_go_with_them() {
        let mut message = message();
        for (part, mime, piece) in
            [("1", "text/plain", "one"), ("2", "audio/pcm", "AAAA"), ("3", "text/markdown", "two")]
        {
            message.start_part(&part.into(), mime);
            message.chunk(&part.into(), &chunk(piece, "c", true, Some("[]")));
        }
        let citations = r#"[{"citationId":"c","offset":0,"length":3,"sources":[]},{"citationId":"c","offset":4,"length":3,"sources":[]}]"#;
        assert_eq!(said(message), ("one\ntwo".into(), Some(citations.into())));
    }

    #[test]
    fn a_piece_whose_beginning_was_missed_makes_the_message_doubtful() {
        let mut message = message();
        assert_eq!(message.chunk(&"p".into(), &chunk("tail", "", false, None)), Some("tail"));
        assert!(message.torn);
        assert_eq!(said(message), ("tail".into(), None));
    }
}
