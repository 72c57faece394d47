//! JSON as text: read level by level, and written.
//!
//! What only passes through stays the text that came: numbers keep their digits, members their order. What is read is read
//! here and not through serde: its messages about values of a wrong type, which nobody would see, know how to write a float,
//! and that alone is as large as a protocol.

mod edit;
mod numbers;
mod object;
mod read;
mod value;
mod write;

pub use edit::{Edit, edits};
pub use numbers::large_integers;
pub use object::Object;
pub use read::{Json, raw};
pub use value::{Number, Value};
pub use write::{Members, Write, object, text};
