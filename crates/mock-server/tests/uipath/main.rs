//! The UiPath side, from outside: a client that is not ours, the recordings of the real parts, and UiPath's runtime.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../common/mod.rs"]
mod common;

mod bench;
mod faults;
mod own_agent;
mod recording;
mod relay;
mod rest;
mod runtime;
mod sessions;
mod transport;
mod turns;
