//! One conversation, as a machine without IO: inputs and the time go in, effects come out. It joins the tools, the calls and
//! a protocol; it knows no wire.

mod content;
mod effect;
mod event;
mod hear;
mod inbox;
mod input;
mod machine;
mod state;
mod tell;
mod turn;

pub use content::Content;
pub use effect::Effect;
pub use event::{Event, Topic};
pub use input::{Command, Input, OperationId};
pub use state::Conversation;

pub use crate::call::{AbortCause, CheckId, EngineError};
pub use crate::protocol::{Page as HistoryQuery, Wire, WireEffect};
