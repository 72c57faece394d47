//! What a value is held against.

use serde_json::value::RawValue;

use crate::net::Millis;

use super::declaration::DEFAULT_TIMEOUT;
use super::{Entry, HandlerId, SchemaId};

/// A schema, and whose it is: the tool's own validator may take its place.
#[derive(Debug, Clone)]
pub struct Against {
    /// The schema.
    pub schema: Source,
    /// What it is for.
    pub part: Part,
    /// The handler of the declaration, if the tool is declared.
    pub handler: Option<HandlerId>,
    /// How long the check may take: as long as the handler.
    pub timeout: Millis,
}

/// Where a schema comes from.
#[derive(Debug, Clone)]
pub enum Source {
    /// The app declared it.
    Declared(SchemaId),
    /// The server sent it.
    Received(Box<RawValue>),
}

/// What a schema is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The arguments.
    Input,
    /// The result.
    Output,
}

impl Against {
    /// What a declaration says, or else what the server does.
    pub fn of(part: Part, entry: Option<&Entry>, received: Option<&RawValue>) -> Option<Self> {
        let declared = entry.and_then(|entry| match part {
            Part::Input => entry.input,
            Part::Output => entry.output,
        });
        let received = || received.map(|text| Source::Received(text.to_owned()));
        let schema = declared.map(Source::Declared).or_else(received)?;
        let timeout = entry.map_or(DEFAULT_TIMEOUT, |entry| entry.tool.timeout);
        Some(Self { schema, part, handler: entry.map(|entry| entry.handler), timeout })
    }
}
