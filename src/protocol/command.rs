//! What the house asks of a protocol.

use serde_json::value::RawValue;

use crate::call::CallId;

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
    /// Fetch a call that was let through before it was seen; it comes as a delivery. Done with `null`.
    Fetch(CallId),
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
