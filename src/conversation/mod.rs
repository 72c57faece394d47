//! One conversation, as a machine without IO: inputs and the time go in, effects come out. It joins the tools, the calls and
//! a protocol; it knows no wire.

mod approval;
mod content;
mod declare;
mod effect;
mod event;
mod hear;
mod input;
mod limit;
mod machine;
mod memory;
mod perform;
mod results;
mod state;
mod tell;
mod turn;

pub use content::Content;
pub use effect::Effect;
pub use event::{Event, Topic, Topics};
pub use input::{Command, Input, OperationId};
pub use state::{Conversation, Settings};

pub use crate::call::{AbortCause, CheckId, EngineError, LedgerEffect, LedgerInput, Limits, Verdict};
pub use crate::protocol::{Deed, Page as HistoryQuery, Surroundings, Wire, WireEffect};
