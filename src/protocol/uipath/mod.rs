//! UiPath's conversational agents: REST for what lasts, Socket.IO over one WebSocket for what happens.
//!
//! A call is announced by `startToolCall` and may run once `executingToolCall` names it, if it was flagged as one of the
//! client's; the agent waits for our `endToolCall`.

mod answer;
mod answering;
mod call;
mod calling;
mod commands;
mod deed;
mod envelope;
mod event;
mod exchange;
mod form;
mod hearing;
mod history;
mod line;
mod machine;
mod message;
mod names;
mod opening;
mod outbox;
mod packet;
mod pipe;
mod recovery;
mod requests;
mod rest;
mod routing;
mod say;
mod sending;
mod session;
mod settings;
mod tools;
mod write;

pub use line::{Line, LineEffect, LineInput, MemberId};
pub use machine::UiPath;
pub use opening::Opening;
pub use settings::{Settings, Surface};
