//! What is refused before any work is done on it.

use std::collections::BTreeSet;

use serde_json::Value;

/// The longest schema text, in bytes.
pub const MAX_SCHEMA_BYTES: usize = 1024 * 1024;

/// The longest value text, in bytes.
pub const MAX_INSTANCE_BYTES: usize = 16 * 1024 * 1024;

/// The deepest nesting of arrays and objects, in schemas and in values: where `serde_json` stops reading.
pub const MAX_DEPTH: usize = 127;

/// The most different `$ref` targets in one schema. A chain of references costs stack for every link, also where the
/// value is not nested at all.
pub const MAX_REFERENCES: usize = 400;

/// The most issues in one report.
pub const MAX_ISSUES: usize = 20;

/// Whether the schema refers to more than [`MAX_REFERENCES`] places.
pub(crate) fn has_too_many_references(schema: &Value) -> bool {
    let mut targets = BTreeSet::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    match member {
                        Value::String(target) if is_reference(key) => {
                            targets.insert(target.as_str());
                        }
                        other => open.push(other),
                    }
                }
            }
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    targets.len() > MAX_REFERENCES
}

/// Whether a keyword refers to another schema.
pub(crate) fn is_reference(keyword: &str) -> bool {
    matches!(keyword, "$ref" | "$dynamicRef" | "$recursiveRef")
}
