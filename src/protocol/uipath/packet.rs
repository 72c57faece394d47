//! Engine.IO 4 and Socket.IO 5 as text: one WebSocket message is one packet.
//!
//! Only what a client over a WebSocket meets, and only the namespace `/`. UiPath sends no binary.

use std::borrow::Cow;

use crate::json::{self, Json, Object};

/// The one event of both directions.
const EVENT: &str = "ConversationEvent";
const BEFORE: &str = r#"42["ConversationEvent","#;
const AFTER: &str = "]";

/// What a server that does not say it is taken to ping with (Engine.IO's defaults).
const PING_INTERVAL: u64 = 25_000;
const PING_TIMEOUT: u64 = 20_000;

/// A packet that came.
#[derive(Debug)]
pub(super) enum Packet<'a> {
    /// The first: how long silence may last, and how large a message may be.
    Open(Greeting),
    /// The server wants to know whether we are there.
    Ping,
    /// We may speak.
    Connected,
    /// We may not.
    Refused(Refusal),
    /// An event.
    Event(Event<'a>),
    /// The server ends the namespace, or the whole connection.
    Disconnect,
    /// Nothing that we have to do something about: a pong, an acknowledgement, a noop, another namespace.
    Idle,
    /// The head of a binary packet.
    Binary,
}

/// What the server promises when it opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Greeting {
    /// Milliseconds without a packet after which the connection is dead.
    pub(super) silence: u64,
    /// Bytes of the largest message that it takes.
    pub(super) largest: u64,
}

/// Why the server does not let us in.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) message: String,
    /// An HTTP status, where it gives one.
    pub(super) code: Option<u16>,
}

/// An event. Arguments after the first count for nothing.
#[derive(Debug)]
pub(super) struct Event<'a> {
    /// The digits to acknowledge it with, if that is asked for.
    pub(super) ack: Option<&'a str>,
    pub(super) name: Cow<'a, str>,
    pub(super) argument: Option<Json<'a>>,
}

impl Event<'_> {
    /// Whether it is the one that conversations are made of.
    pub(super) fn is_conversation(&self) -> bool {
        self.name == EVENT
    }
}

/// Reads a packet; `None` when it is none.
pub(super) fn read(text: &str) -> Option<Packet<'_>> {
    let (kind, rest) = take(text)?;
    Some(match kind {
        '0' => Packet::Open(greeting(&Object::read(rest)?)),
        '1' => Packet::Disconnect,
        '2' => Packet::Ping,
        '3' | '6' => Packet::Idle,
        '4' => return message(rest),
        _ => return None,
    })
}

fn message(text: &str) -> Option<Packet<'_>> {
    let (kind, mut rest) = take(text)?;
    if matches!(kind, '5' | '6') {
        return Some(Packet::Binary);
    }
    if rest.starts_with('/') {
        let (namespace, after) = rest.split_once(',').unwrap_or((rest, ""));
        if namespace != "/" {
            return Some(Packet::Idle);
        }
        rest = after;
    }
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (ack, body) = rest.split_at_checked(digits)?;
    Some(match kind {
        '0' => Packet::Connected,
        '1' => Packet::Disconnect,
        '2' => Packet::Event(event(ack, body)?),
        '3' => Packet::Idle,
        '4' => Packet::Refused(refusal(body)),
        _ => return None,
    })
}

fn event<'a>(ack: &'a str, body: &'a str) -> Option<Event<'a>> {
    let mut arguments = Json::read(body)?.items()?.into_iter();
    let name = arguments.next()?.string()?;
    Some(Event { ack: (!ack.is_empty()).then_some(ack), name, argument: arguments.next() })
}

/// Servers before revision 5 refuse with a plain text.
fn refusal(body: &str) -> Refusal {
    let Some(fields) = Object::read(body) else {
        return Refusal { message: body.trim_matches('"').to_owned(), code: None };
    };
    let code = fields.object("data").integer("code").and_then(|code| u16::try_from(code).ok());
    Refusal { message: fields.text("message"), code }
}

fn greeting(fields: &Object) -> Greeting {
    let number = |name| fields.integer(name).and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0);
    let interval = number("pingInterval").unwrap_or(PING_INTERVAL);
    let timeout = number("pingTimeout").unwrap_or(PING_TIMEOUT);
    Greeting { silence: interval.saturating_add(timeout), largest: number("maxPayload").unwrap_or(u64::MAX) }
}

fn take(text: &str) -> Option<(char, &str)> {
    let kind = text.chars().next()?;
    Some((kind, text.get(1..)?))
}

/// Asks to be let in.
pub(super) fn connect(token: Option<&str>) -> String {
    token.map_or_else(|| "40".to_owned(), |token| [r#"40{"token":"#, &json::text(token), "}"].concat())
}

/// A conversation's event around its envelope.
pub(super) fn wrap(envelope: &str) -> String {
    [BEFORE, envelope, AFTER].concat()
}

/// The bytes of a conversation's event, as the server counts them.
pub(super) fn size(envelope: &str) -> u64 {
    [BEFORE, envelope, AFTER].iter().map(|part| part.len() as u64).sum()
}

/// Acknowledges an event, with nothing to say.
pub(super) fn acknowledge(ack: &str) -> String {
    ["43", ack, "[]"].concat()
}

/// Answers a ping.
pub(super) const PONG: &str = "3";
/// Takes leave.
pub(super) const DISCONNECT: &str = "41";

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> String {
        match read(text) {
            None => "none".to_owned(),
            Some(Packet::Event(event)) => {
                let argument = event.argument.map_or("", Json::get);
                format!("{} {} {argument}", event.ack.unwrap_or("-"), event.name)
            }
            Some(Packet::Refused(refusal)) => format!("refused {} {:?}", refusal.message, refusal.code),
            Some(Packet::Open(greeting)) => format!("open {} {}", greeting.silence, greeting.largest),
            Some(other) => format!("{other:?}").to_lowercase(),
        }
    }

    #[test]
    fn every_packet_of_the_reference_is_read() {
        for (text, what) in [
            (
                r#"0{"sid":"a","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#,
                "open 45000 1000000",
            ),
            (r#"0{"sid":"a"}"#, "open 45000 18446744073709551615"),
            (r#"0{"pingInterval":0,"pingTimeout":-1,"maxPayload":"x"}"#, "open 45000 18446744073709551615"),
            ("1", "disconnect"),
            ("2", "ping"),
            ("2probe", "ping"),
            ("3", "idle"),
            ("6", "idle"),
            (r#"40{"sid":"a"}"#, "connected"),
            ("40", "connected"),
            ("41", "disconnect"),
            ("41/,", "disconnect"),
            (r#"44{"message":"Unauthorized","data":{"code":401}}"#, "refused Unauthorized Some(401)"),
            (r#"44"No""#, "refused No None"),
            ("44", "refused  None"),
            (r#"42["ConversationEvent",{"a":1}]"#, r#"- ConversationEvent {"a":1}"#),
            (r#"42["ConversationEvent",{"a":1},"sid",2]"#, r#"- ConversationEvent {"a":1}"#),
            (r#"420["ConversationEvent",{"a":1}]"#, r#"0 ConversationEvent {"a":1}"#),
            (r#"42/,17["X"]"#, "17 X "),
            (r#"42/admin,1["X",1]"#, "idle"),
            (r#"42["\u0058",1]"#, "- X 1"),
            ("430[]", "idle"),
            (r#"451-["X",{"_placeholder":true,"num":0}]"#, "binary"),
            ("461-0[]", "binary"),
        ] {
            assert_eq!(seen(text), what, "{text}");
        }
    }

    #[test]
    fn what_is_no_packet_is_none() {
        for text in [
            "",
            "4",
            "47",
            "0",
            "0[]",
            "5",
            "x",
            "é",
            "4é",
            "42",
            "42{}",
            "42[]",
            "42[5]",
            "42[\"X\"",
            "42[\"X\",]",
            "4212",
        ] {
            assert_eq!(seen(text), "none", "{text}");
        }
    }

    #[test]
    fn what_is_written_is_what_the_reference_shows() {
        assert_eq!(connect(None), "40");
        assert_eq!(connect(Some("a\"b")), r#"40{"token":"a\"b"}"#);
        assert_eq!(wrap("{}"), r#"42["ConversationEvent",{}]"#);
        assert_eq!(size("{}"), wrap("{}").len() as u64);
        assert_eq!(acknowledge("7"), "437[]");
    }
}
