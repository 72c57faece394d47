//! Faults that a real server does not produce on demand.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Which frames a fault is about.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// The event's `kind`, or the `type` of a session frame that carries no event (`sync`, `delta`, …).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The event's `tool_name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
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

/// What goes wrong.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    /// The socket ends after a frame: with a close code, or without a code by an abrupt end of the TCP connection.
    DropSocket {
        /// The frame after which it ends.
        after: Match,
        /// The close code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<u16>,
        /// The close reason.
        #[serde(default)]
        reason: String,
    },
    /// A handshake is answered with 403.
    RefuseSocket,
    /// A frame is sent twice.
    Duplicate {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// A frame is sent after the one that follows it.
    Reorder {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// A frame, and with it all later ones of the socket, is held back.
    Delay {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
        /// For how long.
        ms: u64,
    },
    /// A frame is never sent; the event is in the log all the same.
    Swallow {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// A request is answered with an error: 500 as an unhandled one, without CORS headers; others with them.
    Http {
        /// Which requests.
        #[serde(flatten)]
        requests: Requests,
        /// The status.
        status: u16,
        /// The body; by default the real server's for this status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<serde_json::Value>,
    },
    /// A request is handled late.
    HttpDelay {
        /// Which requests.
        #[serde(flatten)]
        requests: Requests,
        /// How late.
        ms: u64,
    },
    /// A request is handled, but its answer is lost: the connection closes.
    HangUp {
        /// Which requests.
        #[serde(flatten)]
        requests: Requests,
        /// Whether the request takes effect before the connection closes.
        #[serde(default)]
        handled: bool,
    },
    /// A right key counts as wrong.
    RejectKey,
    /// The legacy socket sends live frames before the replay, which then repeats them.
    LiveBeforeReplay {
        /// How many live frames come first.
        #[serde(default = "one")]
        frames: u64,
        /// How long to wait for them.
        #[serde(default = "two_seconds")]
        ms: u64,
    },
    /// The first frame of a socket comes late, as while a server-side tool runs.
    FirstFrameDelay {
        /// How late.
        ms: u64,
    },
    /// A socket of the session kind is closed with 1013 in place of a frame, as of one that is over 4 MiB long.
    FrameTooLarge {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// A socket of the session kind is closed with 1013 in place of a frame, as of a client that does not read.
    SlowConsumer {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// In place of a frame, and from then on, a socket does nothing at all, but stays open.
    HalfOpen {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// A conversation cannot be loaded: only `GET` of itself works, and its sockets end without a close frame.
    Poisoned {
        /// How long its sockets stay open.
        #[serde(default)]
        ms: u64,
    },
    /// There is no room for another run.
    RunLimit,
    /// The sequence number before an event belongs to none, as if that one could not be read.
    SeqGap {
        /// The event.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// An event is on the sockets before REST knows it, as before 1.45.
    PublishBeforePersist {
        /// The event.
        #[serde(rename = "match", default)]
        matching: Match,
        /// How much later REST knows it.
        ms: u64,
    },
}

/// A fault, for whom and how often.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    /// What goes wrong.
    #[serde(flatten)]
    pub fault: Fault,
    /// Only for this conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Uuid>,
    /// How often it fires; 0 is for ever.
    #[serde(default = "one")]
    pub times: u64,
    /// How often it fired.
    #[serde(default)]
    pub fired: u64,
}

/// What a fault may say.
const KEYS: [&str; 15] = [
    "fault",
    "conversation",
    "times",
    "fired",
    "after",
    "match",
    "code",
    "reason",
    "method",
    "path",
    "status",
    "body",
    "ms",
    "frames",
    "handled",
];

/// Reads a list of faults. A misspelt key is an error: it would make a fault hit more than it should.
pub(crate) fn read(body: &[u8]) -> Result<Vec<Entry>, String> {
    let list: Vec<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let read = |entry: serde_json::Map<String, serde_json::Value>| {
        if let Some(key) = entry.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(format!("unknown key '{key}'"));
        }
        serde_json::from_value(entry.into()).map_err(|error| error.to_string())
    };
    list.into_iter().map(read).collect()
}

fn one() -> u64 {
    1
}

fn two_seconds() -> u64 {
    2000
}

/// The faults of a server.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    list: Mutex<Vec<Entry>>,
}

impl Faults {
    fn list(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces all faults.
    pub(crate) fn replace(&self, entries: Vec<Entry>) {
        *self.list() = entries.into_iter().map(|entry| Entry { fired: 0, ..entry }).collect();
    }

    pub(crate) fn all(&self) -> Vec<Entry> {
        self.list().clone()
    }

    /// The first fault that may still fire for the conversation and that `pick` recognises; it counts as fired.
    pub(crate) fn fire<T>(&self, conversation: Option<Uuid>, pick: impl Fn(&Fault) -> Option<T>) -> Option<T> {
        let mut list = self.list();
        for entry in list.iter_mut() {
            let spent = entry.times != 0 && entry.fired >= entry.times;
            let other = entry.conversation.is_some() && entry.conversation != conversation;
            if spent || other {
                continue;
            }
            if let Some(found) = pick(&entry.fault) {
                entry.fired += 1;
                return Some(found);
            }
        }
        None
    }
}

/// A frame about to be sent, as far as faults look at it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameFacts<'a> {
    pub(crate) kind: &'a str,
    pub(crate) tool: Option<&'a str>,
    pub(crate) replayed: bool,
    /// The number of frames of the socket with this one.
    pub(crate) frames: u64,
}

impl Match {
    pub(crate) fn hits(&self, frame: FrameFacts<'_>) -> bool {
        if let Some(frames) = self.frames {
            return frames == frame.frames;
        }
        (self.replay || !frame.replayed)
            && self.kind.as_deref().is_none_or(|kind| kind == frame.kind)
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
