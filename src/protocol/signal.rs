//! The neutral vocabulary: everything a protocol can say to the house.

use serde_json::value::RawValue;

use crate::call::CallId;
use crate::error::Error;
use crate::json::{Members, Write};
use crate::tool::{KnownTool, Schemas};

use super::CommandId;

/// One thing that a protocol has to say.
pub enum Signal {
    /// The conversation exists on the server.
    Opened(Opened),
    /// The connection stands and nothing can be missed: it is safe to speak.
    Ready,
    /// The conversation is over for us. Nothing follows.
    Ended(Error),
    /// The connection changed.
    Connection(Connection),
    /// An event of the log or of the moment.
    Delivered(Delivery),
    /// An event of the log came again, as its place says; here is its id.
    Repeated(Option<String>),
    /// What is so without an event that says it: what was under way when we joined, or what we did ourselves.
    Found(Vec<Meaning>),
    /// Something is wrong on the server, or no longer is.
    Condition(Condition),
    /// The conversation has this title now.
    Label {
        /// The title.
        text: String,
        /// Whether the server made it up.
        generated: bool,
    },
    /// Streamed text.
    Delta {
        /// The id of the event that will close the text, when it is known.
        item: Option<String>,
        /// Thoughts rather than words.
        reasoning: bool,
        /// The text.
        content: String,
    },
    /// A poll's answer, which may lag behind what was delivered.
    Polled(Status),
    /// What waits for approval, as the server says by now: the newest call of each question.
    Waiting(Vec<CallId>),
    /// Something was dropped, repaired or not understood.
    Notice {
        /// What.
        code: NoticeCode,
        /// A sentence.
        message: String,
    },
    /// A command has ended.
    Done {
        /// Which.
        command: CommandId,
        /// JSON text, or the error.
        result: Result<String, Error>,
    },
}

/// What happens without a place of its own: every drop, repair, dedupe and oddity. The JSON is `NoticeCode` of `types.d.ts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeCode {
    /// An event came again and was dropped.
    DuplicateEvent,
    /// An event of a kind that this version does not know; it was delivered.
    UnknownEvent,
    /// A frame of a type that this version does not know; it was dropped.
    UnknownFrame,
    /// A frame that is not what the protocol promises; it was dropped.
    MalformedFrame,
    /// A frame that is larger than the page takes; it was dropped.
    FrameTooLarge,
    /// A streamed text ended without the message that it was to become.
    StreamAborted,
    /// The server's log is not the one that was read before.
    LogRewound,
    /// The server found a call invalid and told the agent so: nothing was asked of the page.
    CallRefused,
    /// The server says that it could not do something that a socket asked of it.
    ServerError,
    /// Something came for a call that had ended, and does not count.
    LateSignal,
    /// There is no lasting storage (any more): what ran is remembered until the page ends.
    StorageUnavailable,
    /// The page was away for too long, or cannot read what happened meanwhile: that is history.
    Missed,
    /// A go signal for a call that nothing is known of: it is not run.
    UnknownCall,
    /// A call that stays open has the name of a tool here, and not the mark of a client's call: it is not run.
    UnflaggedCall,
    /// A result is larger than the connection takes: the agent is told that, and not the result.
    ResultTooLarge,
    /// An integer in a call's arguments that JavaScript rounds when it reads them. The handler is given their text, too.
    InexactNumber,
}

/// A conversation as the server has it.
pub struct Opened {
    /// Its id.
    pub id: String,
    /// Whether this request made it.
    pub created: bool,
    /// What it is doing.
    pub status: Status,
    /// The tools that it can call; `None` where the server takes what is declared, turn by turn.
    pub tools: Option<Vec<KnownTool>>,
    /// What could hold back an announced call, if anything can.
    pub gate: Option<&'static str>,
    /// Whether the server may lose a message that comes while the agent runs.
    pub loses_messages: bool,
}

/// Something that is wrong on the server for a while. The JSON is `ConditionEvent` of `types.d.ts`.
#[derive(Debug, Clone)]
pub struct Condition {
    /// The server's name for it; the end has the name of the beginning.
    pub code: String,
    /// What it is about: `conversation`, `exchange`, `message`, `content_part`, `tool_call`, `input_stream` or `citation`.
    pub level: &'static str,
    /// The id of what it is about.
    pub id: String,
    /// Whether it is over.
    pub over: bool,
    /// The server's words.
    pub message: Option<String>,
    /// Any JSON.
    pub details: Option<Box<RawValue>>,
}

/// A call that waits for approval: of a tool of ours, or of the server's.
#[derive(Debug, Clone)]
pub struct PendingCall {
    /// The call.
    pub call_id: CallId,
    /// The tool's name.
    pub tool: String,
    /// JSON text of an object.
    pub arguments: Box<RawValue>,
    /// The agent's own words about it.
    pub summary: Option<String>,
    /// The server's estimate.
    pub risk: Option<String>,
    /// Whether the page would run it.
    pub client: bool,
    /// Whether the person may change the arguments.
    pub editable: bool,
    /// The server's JSON Schema of the arguments.
    pub schema: Option<Box<RawValue>>,
}

/// An event, with what it means to the house.
pub struct Delivery {
    /// The event's id, where it has one: an id is delivered once.
    pub id: Option<String>,
    /// The event's JSON text, untouched.
    pub raw: String,
    /// What it means, in order.
    pub meanings: Vec<Meaning>,
}

/// What an event can mean.
pub enum Meaning {
    /// The agent wants a call.
    Announced {
        /// The call.
        call: CallId,
        /// The tool's name.
        tool: String,
        /// JSON text of an object.
        arguments: Box<RawValue>,
        /// What the server says about them and about the result.
        schemas: Schemas,
    },
    /// A call may run.
    Authorised {
        /// The call.
        call: CallId,
        /// JSON text of what it is to run with, if that is not what was announced.
        arguments: Option<Box<RawValue>>,
    },
    /// The server has ended a call, whatever its state: a handler that runs is aborted, and no answer leaves.
    Ended {
        /// The call.
        call: CallId,
        /// The tool's name.
        tool: String,
        /// Why.
        reason: String,
    },
    /// A call waits for its answer and nothing is known of how far it came: it is not run, and the agent is told.
    Orphaned {
        /// The call.
        call: CallId,
        /// The tool's name.
        tool: String,
        /// Why, in a sentence.
        reason: &'static str,
    },
    /// A person or a hook said no.
    Rejected {
        /// The call.
        call: CallId,
        /// The tool's name.
        tool: String,
        /// Their words.
        reason: String,
    },
    /// The server took the call back.
    Withdrawn {
        /// The call.
        call: CallId,
        /// The tool's name.
        tool: String,
        /// Its words.
        reason: String,
    },
    /// The conversation does this now.
    Status(Status),
    /// Everything that waits for approval now: each list is one question, with one answer for all of its calls.
    Approvals(Vec<Vec<PendingCall>>),
    /// The turn is over for good, with this status.
    TurnOver(Status),
    /// The run failed; the turn's end follows.
    RunFailed {
        /// The server's code.
        code: String,
        /// The server's words.
        detail: String,
    },
    /// A whole message.
    Message {
        /// Its own id, where it is not that of the event that brought it. Streamed text names it, too.
        id: Option<String>,
        /// `user` or `assistant`.
        role: String,
        /// Who wrote it.
        source: String,
        /// Its text parts, joined.
        text: String,
        /// JSON text of a list of `Citation` (`types.d.ts`), where there are any.
        citations: Option<Box<RawValue>>,
    },
    /// What could hold back an announced call from now on, if anything can.
    Gate(Option<&'static str>),
}

/// What a conversation is doing. The JSON is `StatusEvent` of `types.d.ts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Nothing; nothing was asked.
    Idle,
    /// The agent runs.
    Running,
    /// Stopped between steps.
    Paused,
    /// A person must decide.
    WaitingForConfirmation,
    /// The agent said that it is done.
    Finished,
    /// The run failed.
    Error,
    /// The agent repeats itself.
    Stuck,
    /// It is being deleted.
    Deleting,
    /// A word that this version does not know.
    Unknown {
        /// The word.
        detail: String,
    },
}

impl Status {
    /// The word for it in JS.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::WaitingForConfirmation => "waiting_for_confirmation",
            Self::Finished => "finished",
            Self::Error => "error",
            Self::Stuck => "stuck",
            Self::Deleting => "deleting",
            Self::Unknown { .. } => "unknown",
        }
    }
}

/// A change of the connection. The JSON is `ConnectionEvent` of `types.d.ts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// A socket is being opened.
    Connecting {
        /// Why.
        reason: &'static str,
    },
    /// The socket is open, the server has not spoken.
    Connected {
        /// In a few words.
        reason: &'static str,
    },
    /// The server lets us wait: it is busy, and nothing is wrong.
    Waiting {
        /// What is waited for.
        reason: &'static str,
    },
    /// Everything missed has been caught up with.
    Ready {
        /// In a few words.
        reason: &'static str,
    },
    /// The socket is gone.
    Lost {
        /// The close reason, or our words.
        reason: String,
        /// The close code.
        close_code: u16,
        /// Milliseconds until the next attempt.
        retry_in: u64,
    },
    /// Closed for good.
    Closed {
        /// Why.
        reason: String,
        /// The code of the error that ended it.
        code: &'static str,
    },
}

impl Write for NoticeCode {
    fn write(&self, text: &mut String) {
        let word = match self {
            Self::DuplicateEvent => "duplicate_event",
            Self::UnknownEvent => "unknown_event",
            Self::UnknownFrame => "unknown_frame",
            Self::MalformedFrame => "malformed_frame",
            Self::FrameTooLarge => "frame_too_large",
            Self::StreamAborted => "stream_aborted",
            Self::LogRewound => "log_rewound",
            Self::CallRefused => "call_refused",
            Self::ServerError => "server_error",
            Self::LateSignal => "late_signal",
            Self::StorageUnavailable => "storage_unavailable",
            Self::Missed => "missed",
            Self::UnknownCall => "unknown_call",
            Self::UnflaggedCall => "unflagged_call",
            Self::ResultTooLarge => "result_too_large",
            Self::InexactNumber => "inexact_number",
        };
        word.write(text);
    }
}

impl Write for Condition {
    fn write(&self, text: &mut String) {
        let mut members = Members::of(text);
        members.set("code", &self.code).set("level", &self.level).set("id", &self.id).set("over", &self.over);
        members.set_some("message", self.message.as_ref()).set_some("details", self.details.as_ref()).end();
    }
}

impl Write for PendingCall {
    fn write(&self, text: &mut String) {
        let mut members = Members::of(text);
        members.set("callId", &self.call_id).set("tool", &self.tool).set("arguments", &self.arguments);
        members.set_some("summary", self.summary.as_ref()).set_some("risk", self.risk.as_ref());
        members.set("client", &self.client).set("editable", &self.editable);
        members.set_some("schema", self.schema.as_ref()).end();
    }
}

impl Write for Status {
    fn write(&self, text: &mut String) {
        let mut members = Members::of(text);
        members.set("status", &self.as_str());
        if let Self::Unknown { detail } = self {
            members.set("detail", detail);
        }
        members.end();
    }
}

impl Write for Connection {
    fn write(&self, text: &mut String) {
        let mut members = Members::of(text);
        match self {
            Self::Connecting { reason } => members.set("state", &"connecting").set("reason", reason),
            Self::Connected { reason } => members.set("state", &"connected").set("reason", reason),
            Self::Waiting { reason } => members.set("state", &"waiting").set("reason", reason),
            Self::Ready { reason } => members.set("state", &"ready").set("reason", reason),
            Self::Lost { reason, close_code, retry_in } => {
                members.set("state", &"lost").set("reason", reason);
                members.set("closeCode", close_code).set("retryIn", retry_in)
            }
            Self::Closed { reason, code } => members.set("state", &"closed").set("reason", reason).set("code", code),
        }
        .end();
    }
}
