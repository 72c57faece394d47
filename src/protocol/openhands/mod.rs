//! The OpenHands agent-server, 1.28 to 1.58: REST for what the app does, a WebSocket for what the agent does.
//!
//! A call is an `ActionEvent` whose action is `ClientAction_<name>`; it may run once the `ObservationEvent` with a
//! `ClientToolObservation` names it. There is no place for a result.

mod answer;
mod arguments;
mod commands;
mod connection;
mod deed;
mod event;
mod feed;
mod info;
mod link;
mod machine;
mod meaning;
mod messages;
mod missed;
mod opening;
mod position;
mod reconciliation;
mod requests;
mod rest;
mod rules;
mod session;
mod stream;
mod suspicion;
mod tail;
mod version;

pub use super::key::SessionKey;
pub use machine::{OpenHands, Settings};
pub use opening::Opening;
