//! What the schema engine says about a value.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The findings about one value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Report {
    /// Whether the value fits.
    pub valid: bool,
    /// What does not fit; empty when valid.
    #[serde(default)]
    pub issues: Vec<Issue>,
}

/// One violation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Issue {
    /// JSON Pointer into the value.
    pub path: String,
    /// The violated keyword.
    pub keyword: String,
    /// The keyword's value in the schema.
    pub expected: Value,
    /// A sentence that a model can act on.
    pub message: String,
}

impl Report {
    /// Reads the engine's text.
    pub fn from_json(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The report about a value that nothing constrains.
    pub fn valid() -> Self {
        Self { valid: true, issues: Vec::new() }
    }
}
