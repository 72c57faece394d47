//! Faults that a real server does not produce on demand.

mod kind;
mod matching;

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use kind::Fault;
pub(crate) use matching::FrameFacts;
pub use matching::{Match, Requests, Sender};

/// The two sides of UiPath's service.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leg {
    /// Clients.
    #[default]
    Client,
    /// The runtime.
    Runtime,
}

impl Leg {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    fn is_client(&self) -> bool {
        *self == Self::Client
    }
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
    /// UiPath: whose sockets it is about.
    #[serde(default, skip_serializing_if = "Leg::is_client")]
    pub leg: Leg,
    /// How often it fires; 0 is for ever.
    #[serde(default = "one")]
    pub times: u64,
    /// How often it fired.
    #[serde(default)]
    pub fired: u64,
}

/// What a fault may say.
const KEYS: [&str; 19] = [
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
    "leg",
    "message",
    "bytes",
    "raw",
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
        self.fire_on(Leg::Client, conversation, pick)
    }

    /// The same for a socket of this side.
    pub(crate) fn fire_on<T>(
        &self,
        leg: Leg,
        conversation: Option<Uuid>,
        pick: impl Fn(&Fault) -> Option<T>,
    ) -> Option<T> {
        let mut list = self.list();
        for entry in list.iter_mut() {
            let spent = entry.times != 0 && entry.fired >= entry.times;
            let other = (entry.conversation.is_some() && entry.conversation != conversation) || entry.leg != leg;
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
