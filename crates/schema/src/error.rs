//! Why a schema cannot be used.

use std::fmt;

use jsonschema::{ValidationError, error::ValidationErrorKind};
use serde_json::Value;

use crate::{
    limits::{MAX_REFERENCES, MAX_SCHEMA_BYTES, is_reference},
    message,
};

/// Why a schema cannot be used. Its `Display` is one sentence that names the place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text is longer than [`MAX_SCHEMA_BYTES`].
    TooLarge {
        /// Its length in bytes.
        bytes: usize,
    },
    /// The text is not JSON, or nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    NotJson {
        /// What is wrong, with line and column.
        message: String,
    },
    /// The schema refers to more than [`MAX_REFERENCES`] places.
    TooManyReferences,
    /// A reference leads outside the schema or nowhere, or `$schema` names an unknown dialect.
    Unresolvable {
        /// JSON Pointer to the reference; empty if it could not be told.
        location: String,
        /// What could not be resolved.
        message: String,
    },
    /// A keyword has a value that the dialect does not allow.
    Invalid {
        /// JSON Pointer to the keyword.
        location: String,
        /// What is wrong with its value.
        message: String,
    },
}

impl SchemaError {
    /// JSON Pointer to the place in the schema, where there is one.
    pub fn location(&self) -> Option<&str> {
        match self {
            Self::Unresolvable { location, .. } | Self::Invalid { location, .. } => Some(location),
            Self::TooLarge { .. } | Self::NotJson { .. } | Self::TooManyReferences => None,
        }
    }

    pub(crate) fn from_build(error: &ValidationError<'_>, schema: &Value) -> Self {
        if let ValidationErrorKind::Referencing(cause) = error.kind() {
            let message = message::capped(format_args!("{cause}"));
            let location = find_reference(schema, &cause.to_string()).unwrap_or_default();
            return Self::Unresolvable { location, message };
        }
        Self::Invalid {
            location: error.instance_path().as_str().to_owned(),
            message: message::for_schema_author(error),
        }
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { bytes } => {
                write!(f, "the schema is {bytes} bytes long, more than the {MAX_SCHEMA_BYTES} allowed")
            }
            Self::NotJson { message } => write!(f, "the schema is not readable JSON: {message}"),
            Self::TooManyReferences => {
                write!(f, "the schema has more than {MAX_REFERENCES} different $ref targets")
            }
            Self::Unresolvable { location, message } => {
                write!(f, "a reference at {} does not resolve: {message}", Place(location))
            }
            Self::Invalid { location, message } => {
                write!(f, "the schema is invalid at {}: {message}", Place(location))
            }
        }
    }
}

impl std::error::Error for SchemaError {}

/// A JSON Pointer, readable also when it is empty.
struct Place<'a>(&'a str);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "its root" } else { self.0 })
    }
}

/// Where the reference stands that an error of the engine talks about: the engine names its target only.
fn find_reference(schema: &Value, complaint: &str) -> Option<String> {
    let mut open = vec![(String::new(), schema)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    let path = format!("{path}/{}", escape(key));
                    match member {
                        Value::String(target) => {
                            let target = target.trim_start_matches('#').trim_end_matches('#');
                            let refers = is_reference(key) || key == "$schema";
                            if refers && !target.is_empty() && complaint.contains(target) {
                                return Some(path);
                            }
                        }
                        other => open.push((path, other)),
                    }
                }
            }
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(index, item)| (format!("{path}/{index}"), item)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    None
}

/// A member's name as a JSON Pointer token.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
