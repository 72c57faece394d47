//! A stand-in for the agent servers that pagehand talks to, with a scripted agent inside.
//!
//! For demos, which need no Python and no LLM, and for tests of faults that a real server does not produce on demand.
//! To a client of the OpenHands agent-server it looks like one: routes, bodies, event order and field order follow
//! the recordings in `tests/fixtures/openhands`; so does UiPath's conversation service, with those in
//! `tests/fixtures/uipath`. `README.md` has the control interface.

mod clock;
mod config;
mod connection;
mod control;
mod cors;
pub mod faults;
pub mod json;
mod openhands;
mod query;
mod recorder;
mod restarts;
mod script;
mod server;
mod shared;
mod static_files;
mod uipath;
mod wire_tap;

pub use config::Config;
pub use server::{Running, serve};
pub use uipath::UipathConfig;
