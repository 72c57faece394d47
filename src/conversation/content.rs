//! What a user message is made of.

use serde_json::value::RawValue;

use crate::error::Error;
use crate::json;

/// The content parts of a message, as JSON.
#[derive(Debug, Clone)]
pub struct Content(Box<RawValue>);

impl Content {
    /// One text.
    pub fn text(text: &str) -> Result<Self, Error> {
        #[derive(serde::Serialize)]
        struct Part<'a> {
            r#type: &'static str,
            text: &'a str,
        }
        serde_json::value::to_raw_value(&[Part { r#type: "text", text }]).map(Self).map_err(|_| invalid())
    }

    /// Parts as the app gave them: JSON text of an array that is not empty.
    pub fn parts(json: String) -> Result<Self, Error> {
        if json::items(&json).is_none_or(|parts| parts.is_empty()) {
            return Err(invalid());
        }
        RawValue::from_string(json).map(Self).map_err(|_| invalid())
    }

    /// JSON text of an array of parts.
    pub fn into_json(self) -> Box<RawValue> {
        self.0
    }
}

fn invalid() -> Error {
    Error::InvalidArgument { field: "content", message: "a text, or a list of content parts that is not empty".into() }
}
