//! The JSON Schema engine of pagehand.
//!
//! A [`Validator`] is one compiled schema; [`Validator::check`] turns the JSON text of a value into a [`Report`] that
//! a program can branch on (path, keyword, expected) and a model can act on (message).
//!
//! The page loads this crate as a wasm file of its own, only when a tool declares a schema; see `wasm.rs` for the class
//! it sees. Everything else here is plain Rust.
//!
//! House rules of the engine:
//!
//! - The dialect is the one that `$schema` names, 2020-12 without one. Another dialect than draft 4 to 2020-12 is an
//!   error; unknown keywords and unknown formats are ignored, as the specification says.
//! - Nothing is ever fetched: a `$ref` resolves inside the schema, or to a meta-schema of the specification itself, or
//!   is an error.
//! - Nine values of `format` are asserted, in every draft. The specification calls all of them annotations by default,
//!   but what a model fills in is worth checking, and an author who writes `"format": "date"` expects it.
//! - Patterns are those of the browser, with the flag `u`: see the crate `pagehand-regexp`. A text that is too long for one,
//!   or a match that the browser gives up, is an issue of its own.
//! - Both sides are bounded: see [`MAX_SCHEMA_BYTES`], [`MAX_INSTANCE_BYTES`], [`MAX_DEPTH`], [`MAX_REFERENCES`],
//!   [`MAX_ISSUES`].
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod error;
mod formats;
mod limits;
mod message;
mod report;
mod validator;
#[cfg(target_arch = "wasm32")]
mod wasm;

pub use error::SchemaError;
pub use limits::{MAX_DEPTH, MAX_INSTANCE_BYTES, MAX_ISSUES, MAX_REFERENCES, MAX_SCHEMA_BYTES};
pub use message::Values;
pub use report::{Issue, Report, keywords};
pub use validator::Validator;
