//! The envelopes that we send. Every member has exactly the type that the agent's side checks for: it drops an event with a
//! wrong one without a word, and waits on.

use crate::json;

/// Writes envelopes of one conversation.
pub(super) struct Writer {
    /// The beginning, up to the first member after the conversation's id.
    head: String,
}

/// A part of a conversation: the names and ids on the way to it.
#[derive(Clone, Copy)]
pub(super) enum Path<'a> {
    Session,
    Exchange(&'a str),
    Message(&'a str, &'a str),
    Part(&'a str, &'a str, &'a str),
    Call(&'a str, &'a str, &'a str),
    Interrupt(&'a str, &'a str, &'a str),
    Stream(&'a str),
}

impl Writer {
    pub(super) fn new(conversation: &str) -> Self {
        Self { head: [r#"{"conversationId":"#, &json::text(conversation), ","].concat() }
    }

    /// An envelope with one member, whose value is JSON text.
    pub(super) fn write(&self, path: Path, member: &str, value: &str) -> String {
        let mut text = self.head.clone();
        let mut depth = 1;
        let mut go = |name: &str, id_name: &str, id: &str| {
            text.extend(["\"", name, "\":{\"", id_name, "\":", &json::text(id), ","]);
            depth += 1;
        };
        let message = match path {
            Path::Session => None,
            Path::Stream(id) => {
                go("asyncInputStream", "streamId", id);
                None
            }
            Path::Exchange(exchange) => {
                go("exchange", "exchangeId", exchange);
                None
            }
            Path::Message(exchange, message) => Some((exchange, message, None)),
            Path::Part(exchange, message, id) => Some((exchange, message, Some(("contentPart", "contentPartId", id)))),
            Path::Call(exchange, message, id) => Some((exchange, message, Some(("toolCall", "toolCallId", id)))),
            Path::Interrupt(exchange, message, id) => Some((exchange, message, Some(("interrupt", "interruptId", id)))),
        };
        if let Some((exchange, message, item)) = message {
            go("exchange", "exchangeId", exchange);
            go("message", "messageId", message);
            if let Some((name, id_name, id)) = item {
                go(name, id_name, id);
            }
        }
        text.extend(["\"", member, "\":", value]);
        text.extend(std::iter::repeat_n("}", depth));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_are_what_the_reference_shows() {
        let writer = Writer::new("C1");
        for (path, member, value, text) in [
            (Path::Session, "startSession", "{}", r#"{"conversationId":"C1","startSession":{}}"#),
            (
                Path::Exchange("X1"),
                "endExchange",
                "{}",
                r#"{"conversationId":"C1","exchange":{"exchangeId":"X1","endExchange":{}}}"#,
            ),
            (
                Path::Message("X1", "M\"1"),
                "endMessage",
                "{}",
                r#"{"conversationId":"C1","exchange":{"exchangeId":"X1","message":{"messageId":"M\"1","endMessage":{}}}}"#,
            ),
            (
                Path::Call("X1", "A1", "c"),
                "endToolCall",
                r#"{"output":{}}"#,
                r#"{"conversationId":"C1","exchange":{"exchangeId":"X1","message":{"messageId":"A1","toolCall":{"toolCallId":"c","endToolCall":{"output":{}}}}}}"#,
            ),
            (
                Path::Stream("S1"),
                "chunk",
                r#"{"data":"AA"}"#,
                r#"{"conversationId":"C1","asyncInputStream":{"streamId":"S1","chunk":{"data":"AA"}}}"#,
            ),
        ] {
            assert_eq!(writer.write(path, member, value), text);
        }
    }
}
