//! Native tests: the core driven through its inputs and effects, with the real schema engine and recorded traffic.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    missing_docs,
    unreachable_pub
)]

mod answers;
mod approval;
mod boundaries;
mod calls;
mod cases;
mod codes;
mod conformance;
mod connection;
mod decoding;
mod feed;
mod joining;
mod key;
mod ledger;
mod liveness;
mod messages;
mod opening;
mod puppet;
mod recording;
mod replay;
mod results;
mod review;
mod samples;
mod stage;
mod tools;
mod turns;
mod uipath;
mod validators;
