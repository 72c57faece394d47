//! What a check found.

use serde::Serialize;
use serde_json::{Value, json};

/// Values of [`Issue::keyword`] that are not keywords of JSON Schema.
pub mod keywords {
    /// The text is not JSON, or longer or deeper than the engine reads.
    pub const JSON: &str = "json";
    /// A `pattern` could not be decided on this value within the limits: neither valid nor invalid.
    pub const PATTERN_LIMIT: &str = "patternLimit";
    /// The schema at this place is `false`: nothing is allowed here.
    pub const FALSE_SCHEMA: &str = "falseSchema";
}

/// The text of a report about a valid value.
const VALID: &str = r#"{"issues":[],"truncated":false,"valid":true}"#;

/// The result of checking one value against one schema.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Whether the value conforms.
    pub valid: bool,
    /// What is wrong, at most [`MAX_ISSUES`](crate::MAX_ISSUES); empty if valid.
    pub issues: Vec<Issue>,
    /// Whether there is more wrong than `issues` tells.
    pub truncated: bool,
}

/// One thing that is wrong with a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Issue {
    /// JSON Pointer into the value; empty for the value itself. A missing property is reported on its parent.
    pub path: String,
    /// The keyword that is not met, or one of [`keywords`]. Alternatives are one issue with `anyOf` or `oneOf`.
    pub keyword: String,
    /// The keyword's value in the schema: the list of an `enum`, the bound, the pattern, the type. `null` where the
    /// keyword has none, or one of more than 8 KiB.
    pub expected: Value,
    /// A sentence without the path that a model can act on, at most 300 characters.
    pub message: String,
}

impl Report {
    pub(crate) fn valid() -> Self {
        Self { valid: true, issues: Vec::new(), truncated: false }
    }

    /// The text could not be read as a value at all.
    pub(crate) fn unreadable(message: String) -> Self {
        let issue = Issue { path: String::new(), keyword: keywords::JSON.to_owned(), expected: Value::Null, message };
        Self { valid: false, issues: vec![issue], truncated: false }
    }

    /// The report as JSON text.
    pub fn to_json(&self) -> String {
        // Nearly every report.
        if self.valid {
            return VALID.to_owned();
        }
        // Through `Value`, whose writer the engine has anyway: a second one would be a few kilobytes of wasm.
        json!({
            "valid": self.valid,
            "issues": self.issues.iter().map(Issue::to_value).collect::<Vec<_>>(),
            "truncated": self.truncated,
        })
        .to_string()
    }
}

impl Issue {
    fn to_value(&self) -> Value {
        json!({
            "path": self.path,
            "keyword": self.keyword,
            "expected": self.expected,
            "message": self.message,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_report_is_what_it_holds() {
        let reports = [Report::valid(), Report { truncated: true, ..Report::unreadable("no".into()) }];
        for report in reports {
            let told: Value = serde_json::from_str(&report.to_json()).unwrap();
            assert_eq!(told, serde_json::to_value(&report).unwrap());
        }
    }
}
