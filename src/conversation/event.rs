//! What the app is told.

/// A happening, as the topic and the JSON text of its value. The shapes are in `types.d.ts`, `ConversationEvents`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What `on()` takes.
    pub topic: Topic,
    /// JSON text.
    pub json: String,
}

/// The kinds of happenings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// A step in the life of a call.
    Call,
    /// Calls wait for a person's answer, or no longer do.
    Approval,
    /// The conversation's status changed.
    Status,
    /// A whole message.
    Message,
    /// Streamed text.
    Delta,
    /// An event of the server's log, untouched.
    Event,
    /// The connection changed.
    Connection,
    /// How the app's tools compare with the server's.
    Tools,
    /// A drop, repair, dedupe or refusal.
    Notice,
    /// Something failed.
    Error,
    /// Something is wrong on the server for a while.
    Condition,
    /// The conversation has another title.
    Label,
}

impl Topic {
    /// The topic's name in JS.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Approval => "approval",
            Self::Status => "status",
            Self::Message => "message",
            Self::Delta => "delta",
            Self::Event => "event",
            Self::Connection => "connection",
            Self::Tools => "tools",
            Self::Notice => "notice",
            Self::Error => "error",
            Self::Condition => "condition",
            Self::Label => "label",
        }
    }
}
