//! The OpenHands agent-server: its REST interface, both sockets, and the run loop with a scripted agent.

mod agent;
mod arguments;
mod conversation;
mod create;
mod defaults;
mod event;
mod events_api;
mod info;
mod key;
mod log;
mod messages;
mod reply;
mod request;
mod rest;
mod run;
mod schema;
mod search;
mod sockets;
mod step;
mod tools;
mod validate;

pub(crate) use conversation::{Conversation, Conversations};
pub(crate) use event::Event;
pub(crate) use log::Frame;
pub(crate) use reply::{json as json_reply, unhandled};
pub(crate) use rest::router;
pub(crate) use tools::Registry;
