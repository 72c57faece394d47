//! What a user message is made of.

use serde_json::value::RawValue;

use crate::error::Error;
use crate::json::{self, Json};

/// The content parts of a message, as JSON.
#[derive(Debug, Clone)]
pub struct Content(Box<RawValue>);

impl Content {
    /// One text.
    pub fn text(text: &str) -> Result<Self, Error> {
        let part = json::object(|part| {
            part.set("type", &"text").set("text", &text);
        });
        json::raw(&json::text([part].as_slice())).map(Self).ok_or_else(invalid)
    }

    /// Parts as the app gave them: JSON text of an array that is not empty.
    pub fn parts(text: &str) -> Result<Self, Error> {
        let content = json::raw(text).ok_or_else(invalid)?;
        let any = Json::from(&content).items().is_some_and(|parts| !parts.is_empty());
        any.then_some(Self(content)).ok_or_else(invalid)
    }

    /// JSON text of an array of parts.
    pub fn into_json(self) -> Box<RawValue> {
        self.0
    }
}

fn invalid() -> Error {
    Error::InvalidArgument { field: "content", message: "a text, or a list of content parts that is not empty".into() }
}
