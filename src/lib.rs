//! Tools that an AI agent calls and a web page performs.
//!
//! The map of the house; arrows of use point down only:
//!
//! ```text
//! wasm            the edge: the only code that knows JavaScript
//! conversation    the machine of one conversation: inputs and time in, effects out
//! call            the life of one call, the same for every protocol
//! tool            what a tool is
//! protocol        what an agent server's protocol is, and one folder for each
//! net, error, report, json, list, recent, sorted   policies and vocabulary
//! ```
//!
//! Everything but `wasm` is plain Rust without IO, clock or randomness, and is tested natively.

pub mod call;
pub mod conversation;
pub mod error;
pub mod list;
pub mod net;
pub mod protocol;
pub mod recent;
pub mod report;
pub mod sorted;
pub mod tool;

pub use pagehand_json as json;

#[cfg(target_arch = "wasm32")]
pub mod wasm;
