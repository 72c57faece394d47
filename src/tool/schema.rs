//! A JSON Schema as the app gave it.

use serde_json::value::RawValue;

use crate::json::{Json, Value};

use super::{ToolName, version};

/// Names a schema of a conversation towards the schema engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SchemaId(pub u32);

impl SchemaId {
    /// Every schema whose tool has a validator of its own. The engine never hears of it.
    pub const OWN: Self = Self(u32::MAX);
}

/// A schema: its text, untouched, and its parsed form for the rules and for comparison.
#[derive(Debug, Clone)]
pub struct Schema {
    text: Box<RawValue>,
    value: Value,
    /// Whether the app has a validator of its own in its place.
    pub validated: bool,
}

/// What a server says about what a call takes and gives, for tools whose declaration does not say it. JSON text.
#[derive(Debug, Clone, Default)]
pub struct Schemas {
    /// Of the arguments.
    pub input: Option<Box<RawValue>>,
    /// Of the result.
    pub output: Option<Box<RawValue>>,
}

/// Equal as the servers compare: key order does not count, array order does.
impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Schema {
    /// Reads a schema; `None` unless it is a JSON object.
    pub fn read(json: Json) -> Option<Self> {
        let value = Value::read(json).filter(|value| matches!(value, Value::Object(_)))?;
        Some(Self { text: json.to_raw(), value, validated: false })
    }

    /// The text as it was given.
    pub fn text(&self) -> &RawValue {
        &self.text
    }

    /// A tool's name with the version of this schema.
    pub fn versioned(&self, name: &ToolName) -> ToolName {
        version::versioned(name, &self.value)
    }

    /// A keyword at the top.
    pub fn keyword(&self, name: &str) -> Option<&Value> {
        self.value.get(name)
    }

    /// The declared properties, in the order of their names.
    pub fn properties(&self) -> impl Iterator<Item = (&str, &Value)> {
        let properties = self.keyword("properties").map(Value::members).unwrap_or_default();
        properties.iter().map(|(name, schema)| (name.as_str(), schema))
    }

    /// Whether a property is declared.
    pub fn declares(&self, property: &str) -> bool {
        self.properties().any(|(name, _)| name == property)
    }

    /// Whether every object fits, so that there is nothing to validate.
    pub fn accepts_every_object(&self) -> bool {
        self.value.members().iter().all(|(keyword, value)| match keyword.as_str() {
            "type" => value.as_str() == Some("object"),
            "title" | "description" | "$schema" | "$id" | "$comment" => true,
            "properties" => matches!(value, Value::Object(members) if members.is_empty()),
            "required" => matches!(value, Value::Array(names) if names.is_empty()),
            "additionalProperties" => matches!(value, Value::Bool(true)),
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(text: &str) -> Schema {
        Schema::read(Json::read(text).unwrap()).unwrap()
    }

    #[test]
    fn the_text_stays_as_it_was_given() {
        let text = r#"{ "type":"object",  "x-order": [2, 1], "properties": {} }"#;
        assert_eq!(schema(text).text().get(), text);
    }

    #[test]
    fn schemas_differ_by_array_order_and_not_by_key_order() {
        let one = schema(r#"{"type":"object","required":["a","b"]}"#);
        assert_eq!(one, schema(r#"{"required":["a","b"],"type":"object"}"#));
        assert_ne!(one, schema(r#"{"type":"object","required":["b","a"]}"#));
    }

    #[test]
    fn only_a_schema_without_a_constraint_needs_no_engine() {
        assert!(schema(r#"{"type":"object","properties":{}}"#).accepts_every_object());
        assert!(!schema(r#"{"type":"object","properties":{"a":{}}}"#).accepts_every_object());
        assert!(!schema(r#"{"type":"object","minProperties":1}"#).accepts_every_object());
    }
}
