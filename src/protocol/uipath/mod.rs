//! UiPath's conversational agents: REST for what lasts, Socket.IO over one WebSocket for what happens.
//!
//! A call is announced by `startToolCall` and may run once `executingToolCall` names it, if it was flagged as one of the
//! client's; the agent waits for our `endToolCall`.

mod line;
mod packet;
mod pipe;
mod routing;
mod settings;

pub use line::{Line, LineEffect, LineInput, MemberId};
pub use settings::{Settings, Surface};
