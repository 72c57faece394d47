//! What a schema says about a value: the schema engine's findings.

use serde_json::value::RawValue;

use crate::json::{Json, Members, Object, Write};

/// The findings about one value.
#[derive(Debug, Clone)]
pub struct Report {
    /// Whether the value fits.
    pub valid: bool,
    /// What does not fit; empty when valid.
    pub issues: Vec<Issue>,
}

/// One violation.
#[derive(Debug, Clone)]
pub struct Issue {
    /// JSON Pointer into the value.
    pub path: String,
    /// The violated keyword.
    pub keyword: String,
    /// The keyword's value in the schema.
    pub expected: Box<RawValue>,
    /// A sentence that a model can act on.
    pub message: String,
}

impl Write for Issue {
    fn write(&self, text: &mut String) {
        let mut members = Members::of(text);
        members.set("path", &self.path).set("keyword", &self.keyword);
        members.set("expected", &self.expected).set("message", &self.message).end();
    }
}

impl PartialEq for Issue {
    fn eq(&self, other: &Self) -> bool {
        let words = |issue: &Self| [issue.path.clone(), issue.keyword.clone(), issue.message.clone()];
        words(self) == words(other) && self.expected.get() == other.expected.get()
    }
}

impl Report {
    /// Reads the engine's text.
    pub fn from_json(text: &str) -> Option<Self> {
        let report = Object::read(text)?;
        let issues = report.list("issues").unwrap_or_default().into_iter();
        Some(Self { valid: report.bool("valid")?, issues: issues.map(Issue::read).collect::<Option<_>>()? })
    }

    /// The report about a value that nothing constrains.
    pub fn valid() -> Self {
        Self { valid: true, issues: Vec::new() }
    }
}

impl Issue {
    fn read(value: Json) -> Option<Self> {
        let issue = Object::of(value)?;
        Some(Self {
            path: issue.string("path")?,
            keyword: issue.string("keyword")?,
            expected: issue.get("expected").map(Json::to_raw).unwrap_or_default(),
            message: issue.string("message")?,
        })
    }
}
