//! Which frames and requests a fault is about.

use serde::{Deserialize, Serialize};

/// Who sends a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sender {
    /// The server.
    #[default]
    Server,
    /// Whoever is connected to it.
    Peer,
}

impl Sender {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    fn is_server(&self) -> bool {
        *self == Self::Server
    }
}

/// Which frames a fault is about.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// The event's `kind`, or the `type` of a session frame that carries no event (`sync`, `delta`, …). At UiPath the
    /// name of an event in the envelope (`startToolCall`, `chunk`, …), or of a packet (`open`, `ping`, `connect`, …).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The event's `tool_name`; at UiPath the name of the call's tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// At UiPath: the call's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// At UiPath: who sends the frame.
    #[serde(default, skip_serializing_if = "Sender::is_server")]
    pub from: Sender,
    /// Whether replayed history counts too, not only live frames.
    #[serde(default)]
    pub replay: bool,
    /// After this many frames on one socket, whatever they are; 0 is before the first. Only for `drop_socket`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<u64>,
}

/// Which requests a fault is about.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Requests {
    /// The method; any if absent, except `OPTIONS`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// A part of the path and query.
    #[serde(default)]
    pub path: String,
}

/// A frame about to be sent, as far as faults look at it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameFacts<'a> {
    pub(crate) kinds: &'a [&'a str],
    pub(crate) tool: Option<&'a str>,
    pub(crate) call: Option<&'a str>,
    pub(crate) from: Sender,
    pub(crate) replayed: bool,
    /// The number of frames of the socket with this one.
    pub(crate) frames: u64,
}

impl Match {
    pub(crate) fn hits(&self, frame: FrameFacts<'_>) -> bool {
        if let Some(frames) = self.frames {
            return frames == frame.frames && self.from == frame.from;
        }
        (self.replay || !frame.replayed)
            && self.from == frame.from
            && self.kind.as_deref().is_none_or(|kind| frame.kinds.contains(&kind))
            && self.call.as_deref().is_none_or(|call| Some(call) == frame.call)
            && self.tool.as_deref().is_none_or(|tool| Some(tool) == frame.tool)
    }
}

impl Requests {
    pub(crate) fn hits(&self, method: &str, path: &str) -> bool {
        let method_hits = match &self.method {
            Some(wanted) => wanted.eq_ignore_ascii_case(method),
            None => method != "OPTIONS",
        };
        method_hits && path.contains(&self.path)
    }
}
