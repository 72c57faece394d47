//! Everything that can happen to a conversation.

use serde_json::value::RawValue;

use crate::call::{CallId, CheckId, EngineError, LedgerInput, RunId, Settled, Verdict};
use crate::protocol::{Deed, Page as HistoryQuery, Wire};
use crate::tool::{Report, SchemaId, Tool, ToolName};

use super::Content;

/// Names one operation of the app, chosen by the edge; it is settled exactly once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationId(pub u32);

/// One thing that happened.
pub enum Input {
    /// The app asked for something.
    App {
        /// To be settled by one [`Effect::Settle`](super::Effect::Settle).
        operation: OperationId,
        /// What it asked for.
        command: Command,
    },
    /// The app no longer waits for this operation: it is not settled any more.
    Abandoned {
        /// The operation.
        operation: OperationId,
    },
    /// Something came over the wire.
    Wire(Wire),
    /// The schema engine took a schema, or not.
    SchemaCompiled {
        /// Which.
        schema: SchemaId,
        /// The error is what is wrong with the schema.
        result: Result<(), EngineError>,
    },
    /// A validation ended.
    Validated {
        /// Which.
        check: CheckId,
        /// What it found.
        result: Result<Report, EngineError>,
    },
    /// The ledger says something.
    Ledger(LedgerInput),
    /// The app has looked at a call.
    Reviewed {
        /// Before which run.
        run: RunId,
        /// What it says.
        verdict: Verdict,
        /// Other arguments that it gives the call: JSON text of an object.
        arguments: Option<Box<RawValue>>,
    },
    /// A handler ended.
    HandlerSettled {
        /// Which run.
        run: RunId,
        /// How.
        settled: Settled,
    },
    /// The time that [`Conversation::next_wakeup`](super::Conversation::next_wakeup) gave has come.
    Tick,
}

/// What an app can ask for. The comment says what the operation is settled with.
#[derive(Debug)]
pub enum Command {
    /// Open the conversation. Settled with `{"id", "created", "status", "tools"}` (see `ToolReport` in `types.d.ts`).
    Open,
    /// Send a user message. Settled with `null` once the server has it.
    Send {
        /// The message.
        content: Content,
        /// Whether the agent runs.
        run: bool,
        /// Whether it may approve what waits for approval.
        approve: bool,
    },
    /// Let the agent go on. Settled with `null`.
    Run {
        /// Whether it may approve what waits for approval.
        approve: bool,
    },
    /// Answer what waits for approval. Settled with `null`, once the message that follows a no is sent, too.
    Answer {
        /// Which question.
        approval: String,
        /// Whether the calls may run.
        accept: bool,
        /// Why not.
        reason: String,
        /// JSON text of the object that the call is to be run with instead.
        arguments: Option<Box<RawValue>>,
        /// A message to follow a no; it runs the agent.
        say: Option<Content>,
    },
    /// End the turn, whatever the agent does: every call ends as `cancelled` or `rejected` first. Settled with `null`.
    Stop {
        /// The app's words.
        reason: String,
    },
    /// Something that is the server's alone. Settled with its answer.
    Do(Deed),
    /// Wait for the end of the turn. Settled with `TurnEnd` of `types.d.ts`.
    Idle,
    /// Read a page of the log. Settled with `{"events": [...], "next": string | null}`.
    History(HistoryQuery),
    /// Declare a tool, or give a known one its handler. Settled with `null`.
    Declare(Tool),
    /// Take a tool back. Settled with `null`.
    Undeclare(ToolName),
    /// Cancel a call. Settled with `null`.
    Cancel {
        /// The call.
        call: CallId,
        /// The app's words.
        reason: String,
    },
    /// Close the conversation. Settled with `null`.
    Close,
}
