//! What the calls want done.

use serde_json::value::RawValue;

use crate::net::Millis;
use crate::tool::{Against, HandlerId, ToolName};

use super::{CallId, CheckId, RunId, Step};

/// One thing to do for a call.
#[derive(Debug)]
pub enum Action {
    /// Fetch a call that was let through before it was seen.
    Fetch(CallId),
    /// Validate; answer with [`Calls::checked`](super::Calls::checked).
    Check {
        /// Names the validation.
        check: CheckId,
        /// Against what.
        against: Against,
        /// JSON text.
        instance: String,
    },
    /// Ask the ledger; answer with [`Calls::claimed`](super::Calls::claimed).
    Claim {
        /// For which call.
        call: CallId,
        /// Of which tool.
        tool: String,
        /// How long the handler may take.
        lease: Millis,
    },
    /// Wait for the outcome of a call that runs elsewhere; answer with [`Calls::watched`](super::Calls::watched).
    Watch(CallId),
    /// Write an outcome into the ledger.
    Record {
        /// Of which call.
        call: CallId,
        /// JSON text.
        outcome: String,
    },
    /// Let the app look at a call; answer with [`Calls::reviewed`](super::Calls::reviewed).
    Review {
        /// Names the run that may follow.
        run: RunId,
        /// The handler.
        handler: HandlerId,
        /// Of which tool.
        tool: ToolName,
        /// Of which call.
        call: CallId,
        /// JSON text of an object.
        arguments: String,
    },
    /// Ask a person; answer with [`Calls::confirmed`](super::Calls::confirmed).
    Ask {
        /// About which call.
        call: CallId,
        /// Of which tool.
        tool: String,
        /// JSON text of an object.
        arguments: Box<RawValue>,
    },
    /// Run the handler; answer with [`Calls::handler_settled`](super::Calls::handler_settled).
    Run {
        /// Names the run.
        run: RunId,
        /// The handler.
        handler: HandlerId,
        /// Of which tool.
        tool: ToolName,
        /// Of which call.
        call: CallId,
        /// JSON text of an object.
        arguments: String,
    },
    /// Tell a handler to stop.
    Abort {
        /// Which run.
        run: RunId,
        /// Why.
        cause: AbortCause,
    },
    /// Tell the app about a step.
    Tell(Step),
    /// Tell the app about something that came too late to count.
    Late {
        /// The call.
        call: CallId,
        /// What came.
        what: &'static str,
    },
}

/// Why a handler is told to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AbortCause {
    /// Its time is over. The signal's reason is a `TimeoutError`.
    TimedOut,
    /// It is no longer wanted. The signal's reason is an `AbortError` with these words.
    Cancelled(String),
}

/// Why there is no report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineError {
    /// The engine could not be loaded.
    Unavailable(String),
    /// The schema itself is wrong.
    Schema(String),
    /// A validator of the app's own failed.
    Validator(String),
}
