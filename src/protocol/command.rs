//! What the house asks of a protocol.

use serde_json::value::RawValue;

use crate::call::CallId;
use crate::error::Error;
use crate::json;

/// Names one command; the answer is [`Signal::Done`](super::Signal::Done).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u32);

/// One thing to do on the server. The comment says what the command is done with.
#[derive(Debug)]
pub enum Command {
    /// Add a user message. Done with `null`.
    Say {
        /// JSON text of an array of content parts.
        content: Box<RawValue>,
        /// Whether the agent runs.
        run: bool,
    },
    /// Let the agent go on. Done with `null`.
    Run,
    /// Read a page of the log. Done with the JSON text of the page.
    History(Page),
    /// Ask for the status; it comes as [`Signal::Polled`](super::Signal::Polled). Done with `null`.
    Poll,
    /// Look what waits for approval; it comes as [`Signal::Waiting`](super::Signal::Waiting). Done with `null`.
    Look,
    /// Fetch a call that was let through before it was seen; it comes as a delivery. Done with `null`.
    Fetch(CallId),
    /// Answer a question for approval. Done with `null`.
    Decide {
        /// The question: the newest of its calls.
        question: CallId,
        /// Whether the calls may run.
        accept: bool,
        /// Why not.
        reason: String,
        /// JSON text of the object that the call is to be run with instead. Only where the question allows for it.
        arguments: Option<Box<RawValue>>,
    },
    /// Tell the agent how a call ended. Only where [`Protocol::answers`](super::Protocol::answers). Done with `null` once it is
    /// certain that the answer arrived.
    Answer {
        /// The call.
        call: CallId,
        /// JSON text of an [`Outcome`](crate::call::Outcome).
        outcome: Box<RawValue>,
        /// Whether it may have been sent before, by a page that is gone.
        doubtful: bool,
    },
    /// End the turn, whatever the agent does. Every call has been answered. Done with `null`.
    Stop,
    /// Something that is the server's alone. Done with the JSON text of its answer.
    Do(Deed),
}

/// Something that only one kind of server can do, as the app asks for it: its protocol knows the names.
#[derive(Debug)]
pub struct Deed {
    /// The name in JS.
    pub name: String,
    /// What it takes.
    pub given: Box<RawValue>,
}

impl Deed {
    /// A deed by its name, with the JSON text of what it takes.
    pub fn read(name: &str, given: &str) -> Result<Self, Error> {
        let given = json::raw(given).ok_or_else(|| Error::invalid("options", "must be JSON"))?;
        Ok(Self { name: name.to_owned(), given })
    }
}

/// Which page of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Events on the page, 1 to 100.
    pub limit: u32,
    /// Newest first.
    pub newest_first: bool,
    /// Where the page starts.
    pub page: Option<String>,
}
