//! How calls end.

use serde_json::value::RawValue;

use crate::json::{Members, Write};
use crate::tool::{Issue, ToolName};

/// How a call ended. The JSON is `Outcome` of `types.d.ts`.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The handler returned.
    Ok {
        /// What it returned.
        result: Box<RawValue>,
    },
    /// Nothing is there to run.
    MissingHandler {
        /// The tool that was called.
        tool: String,
        /// The tools that could have been.
        registered: Vec<ToolName>,
    },
    /// The arguments do not fit the tool's schema.
    InvalidArguments {
        /// Where and why.
        issues: Vec<Issue>,
    },
    /// The result does not fit the tool's output schema.
    InvalidOutput {
        /// Where and why.
        issues: Vec<Issue>,
    },
    /// Something went wrong.
    Failed {
        /// What.
        code: FailureCode,
        /// The name of the thrown error, or empty.
        name: String,
        /// Its message.
        message: String,
    },
    /// The handler took too long.
    TimedOut {
        /// Milliseconds it was given.
        timeout: u64,
    },
    /// The app no longer wanted it.
    Cancelled {
        /// The app's words.
        message: String,
    },
    /// A person, a hook or a guard said no.
    Rejected {
        /// Their words.
        message: String,
    },
    /// The page that ran it is gone. What it did, and whether it came to its end, is not known; it is never run again.
    Interrupted {
        /// A sentence.
        message: String,
    },
}

/// An outcome, ours or one that is read in the ledger.
#[derive(Debug, Clone)]
pub enum Ending {
    /// It ended here.
    Here(Outcome),
    /// The server ended it, and the agent knows.
    Server(Outcome),
    /// It ended elsewhere: the JSON text of an [`Outcome`].
    Elsewhere(Box<RawValue>),
}

/// Why a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureCode {
    /// The handler threw or rejected.
    HandlerThrew,
    /// The handler's result is not JSON.
    ResultNotSerializable,
    /// The tool's own schema is wrong.
    InvalidSchema,
    /// The schema engine could not be loaded.
    SchemaEngineUnavailable,
    /// A validator of the app's own threw, or gave no answer that can be read.
    ValidatorThrew,
    /// A check took longer than the tool's handler may: that of the arguments, and nothing has run, or that of the result.
    CheckTimedOut,
    /// The server let a call through that it could not show.
    CallUnavailable,
    /// A guard kept the result back: the handler has done its work.
    ResultWithheld,
    /// The arguments are larger or deeper than the page takes.
    ArgumentsTooLarge,
    /// The result is larger than the page takes: the handler has done its work.
    ResultTooLarge,
    /// Too many calls are on their way.
    TooManyCalls,
}

/// How a handler ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// It returned this JSON text.
    Returned(String),
    /// It threw, or its promise was rejected.
    Threw {
        /// The error's name, or empty.
        name: String,
        /// The error's message, or the thrown value as text.
        message: String,
    },
    /// It returned, and a guard gave this JSON text instead.
    Replaced(String),
    /// It returned, and a guard keeps the result back.
    Withheld {
        /// Why.
        message: String,
    },
    /// It returned what JSON cannot carry.
    NotSerializable {
        /// Why not.
        message: String,
    },
}

impl Write for Outcome {
    fn write(&self, text: &mut String) {
        let mut members = Members::of(text);
        match self {
            Self::Ok { result } => members.set("kind", &"ok").set("result", result),
            Self::MissingHandler { tool, registered } => {
                members.set("kind", &"missing_handler").set("tool", tool).set("registered", registered)
            }
            Self::InvalidArguments { issues } => members.set("kind", &"invalid_arguments").set("issues", issues),
            Self::InvalidOutput { issues } => members.set("kind", &"invalid_output").set("issues", issues),
            Self::Failed { code, name, message } => {
                members.set("kind", &"failed").set("code", code).set("name", name).set("message", message)
            }
            Self::TimedOut { timeout } => members.set("kind", &"timed_out").set("timeout", timeout),
            Self::Cancelled { message } => members.set("kind", &"cancelled").set("message", message),
            Self::Rejected { message } => members.set("kind", &"rejected").set("message", message),
            Self::Interrupted { message } => members.set("kind", &"interrupted").set("message", message),
        }
        .end();
    }
}

impl Write for Ending {
    fn write(&self, text: &mut String) {
        match self {
            Self::Here(outcome) | Self::Server(outcome) => outcome.write(text),
            Self::Elsewhere(outcome) => outcome.write(text),
        }
    }
}

impl Write for FailureCode {
    fn write(&self, text: &mut String) {
        let word = match self {
            Self::HandlerThrew => "handler_threw",
            Self::ResultNotSerializable => "result_not_serializable",
            Self::InvalidSchema => "invalid_schema",
            Self::SchemaEngineUnavailable => "schema_engine_unavailable",
            Self::ValidatorThrew => "validator_threw",
            Self::CallUnavailable => "call_unavailable",
            Self::ResultWithheld => "result_withheld",
            Self::ArgumentsTooLarge => "arguments_too_large",
            Self::ResultTooLarge => "result_too_large",
            Self::TooManyCalls => "too_many_calls",
            Self::CheckTimedOut => "check_timed_out",
        };
        word.write(text);
    }
}
