//! Everything a conversation can want done.

use crate::call::{AbortCause, CallId, CheckId, LedgerEffect, RunId};
use crate::error::Error;
use crate::protocol::WireEffect;
use crate::tool::{HandlerId, Part, SchemaId, ToolName};

use super::{Event, OperationId};

/// One thing to do. The edge carries them out in order and decides nothing.
pub enum Effect {
    /// Something must go out.
    Wire(WireEffect),
    /// Give a schema to the engine; answer with `SchemaCompiled`.
    CompileSchema {
        /// Names the schema from now on.
        schema: SchemaId,
        /// The schema as the app gave it.
        text: String,
    },
    /// Validate; answer with `Validated`.
    Validate {
        /// Names the validation.
        check: CheckId,
        /// Against which schema.
        schema: SchemaId,
        /// JSON text.
        instance: String,
        /// What it is.
        part: Part,
        /// Of the tool with this handler, if it is declared.
        handler: Option<HandlerId>,
    },
    /// Something is to be done with the ledger.
    Ledger(LedgerEffect),
    /// Let the app look at a call before its handler starts; answer with `Reviewed`.
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
    /// Run a tool's handler; answer with `HandlerSettled`.
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
    /// A declaration counts: this is the name of its handler from now on.
    Declared {
        /// The operation that declared it.
        operation: OperationId,
        /// Its handler.
        handler: HandlerId,
    },
    /// Nothing starts this handler any more; it may still run.
    Forget {
        /// Which.
        handler: HandlerId,
    },
    /// Abort the signal that the handler of a run got. The run still answers.
    Abort {
        /// Which run.
        run: RunId,
        /// Why.
        cause: AbortCause,
    },
    /// Tell the app.
    Emit(Event),
    /// Settle an operation of the app.
    Settle {
        /// Which.
        operation: OperationId,
        /// JSON text, or the error.
        result: Result<String, Error>,
    },
}
