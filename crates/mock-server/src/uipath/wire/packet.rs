//! The text of one frame: an Engine.IO packet, which may hold a Socket.IO packet.

use crate::json::{Json, parse};

use super::super::envelope::{EVENT, Facts};

/// A frame, as far as faults look at it.
#[derive(Debug, Default)]
pub(super) struct Packet {
    /// What `match` may name: the events of an envelope, or `open`, `ping`, `pong`, `connect`, `disconnect`, `ack`,
    /// `refused`, or the name of a foreign event.
    pub(super) facts: Facts,
    /// The envelope of an event.
    pub(super) envelope: Option<Json>,
}

impl Packet {
    pub(super) fn read(text: &str) -> Self {
        let mut facts = Facts::default();
        let kind = match text.as_bytes() {
            [b'0', ..] => "open",
            [b'1', ..] => "close",
            [b'2', ..] => "ping",
            [b'3', ..] => "pong",
            [b'4', b'0', ..] => "connect",
            [b'4', b'1', ..] => "disconnect",
            [b'4', b'2', ..] => return Self::event(text.get(2..).unwrap_or_default()),
            [b'4', b'3', ..] => "ack",
            [b'4', b'4', ..] => "refused",
            _ => "",
        };
        facts.kinds.push(kind.to_owned());
        Self { facts, envelope: None }
    }

    /// The rest of an event packet, from its acknowledgement id.
    fn event(rest: &str) -> Self {
        let array = parse(rest.trim_start_matches(|c: char| c.is_ascii_digit())).unwrap_or_default();
        let mut items = array.as_array().unwrap_or_default().iter();
        let name = items.next().and_then(Json::as_str).unwrap_or_default().to_owned();
        if name != EVENT {
            return Self { facts: Facts { kinds: vec![name], ..Facts::default() }, envelope: None };
        }
        let envelope = items.next().cloned().unwrap_or_default();
        Self { facts: Facts::of(&envelope), envelope: Some(envelope) }
    }
}

/// The text of an event for a client.
pub(super) fn event(envelope: &Json) -> String {
    format!("42[\"{EVENT}\",{envelope}]")
}
