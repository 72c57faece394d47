//! The declaration of a tool, checked.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{Error, ToolFault};
use crate::net::Millis;

use super::{Annotations, Schema, ToolName};

const DEFAULT_TIMEOUT: u64 = 60_000;
/// The longest time that a browser's timer can wait.
const LONGEST_TIMEOUT: f64 = 2_147_483_647.0;

/// When a call's handler starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOn {
    /// Once the server has let the call through.
    Acknowledgement,
    /// As soon as the call is seen.
    Announcement,
}

/// A tool as the app declared it. Every rule that does not depend on a server has been checked.
#[derive(Debug, Clone)]
pub struct Tool {
    /// The name.
    pub name: ToolName,
    /// What the model reads.
    pub description: String,
    /// What the arguments must look like.
    pub input: Schema,
    /// What the result must look like.
    pub output: Option<Schema>,
    /// Hints.
    pub annotations: Option<Annotations>,
    /// How long a handler may take.
    pub timeout: Millis,
    /// When the handler starts.
    pub run_on: RunOn,
    /// Whether the app gave a handler.
    pub has_handler: bool,
}

/// The fields as they came. `Value` where a wrong type must be told with the field's name.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'a> {
    #[serde(default)]
    name: Value,
    #[serde(default)]
    description: Value,
    #[serde(borrow)]
    input_schema: Option<&'a RawValue>,
    #[serde(borrow)]
    output_schema: Option<&'a RawValue>,
    #[serde(default)]
    annotations: Value,
    #[serde(default)]
    timeout: Value,
    #[serde(default)]
    run_on: Value,
    #[serde(default)]
    has_handler: bool,
}

impl Tool {
    /// Reads one declaration: the JSON text of a `ToolDefinition` (`types.d.ts`) without its handler, and with
    /// `hasHandler`. The error names the field and the rule.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let fields: Fields = serde_json::from_str(text).map_err(|_| not_a_tool())?;
        Self::check(&fields).map_err(Error::InvalidTool)
    }

    /// Reads an array of declarations.
    pub fn list_from_json(text: &str) -> Result<Vec<Self>, Error> {
        let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|_| not_a_tool())?;
        items.into_iter().map(|item| Self::from_json(item.get())).collect()
    }

    fn check(fields: &Fields) -> Result<Self, ToolFault> {
        let given = fields.name.as_str().unwrap_or_default();
        let fault = |field: &str, rule: &'static str, message: &str| ToolFault {
            tool: given.into(),
            field: field.into(),
            rule,
            message: message.into(),
        };
        let name = ToolName::declared(given).ok_or_else(|| {
            fault("name", "name_pattern", "a letter or _, then letters, digits, _ and -; 64 characters at most")
        })?;
        let description = match &fields.description {
            Value::String(text) if !text.trim().is_empty() => text.clone(),
            _ => {
                return Err(fault("description", "description_required", "the model needs a text to decide on a call"));
            }
        };
        let input = match fields.input_schema {
            Some(text) => {
                read_schema(text).ok_or_else(|| fault("inputSchema", "schema_object", "must be an object"))?
            }
            None => empty_schema().ok_or_else(|| fault("inputSchema", "schema_object", "must be an object"))?,
        };
        check_input(&input).map_err(|(field, rule, message)| fault(field, rule, message))?;
        let output = match fields.output_schema {
            Some(text) => {
                Some(read_schema(text).ok_or_else(|| fault("outputSchema", "schema_object", "must be an object"))?)
            }
            None => None,
        };
        let annotations = match &fields.annotations {
            Value::Null => None,
            hints => Some(Annotations::read(hints).map_err(|hint| {
                let field = if hint.is_empty() { "annotations".into() } else { ["annotations.", hint].concat() };
                fault(&field, "annotation_type", "hints are booleans, the title is a text")
            })?),
        };
        let timeout = match &fields.timeout {
            Value::Null => Millis(DEFAULT_TIMEOUT),
            value => read_timeout(value)
                .ok_or_else(|| fault("timeout", "timeout_milliseconds", "milliseconds, from 1 to 2147483647"))?,
        };
        let run_on = match &fields.run_on {
            Value::Null => RunOn::Acknowledgement,
            value if value == "acknowledgement" => RunOn::Acknowledgement,
            value if value == "announcement" => RunOn::Announcement,
            _ => return Err(fault("runOn", "run_on", "\"acknowledgement\" or \"announcement\"")),
        };
        Ok(Self { name, description, input, output, annotations, timeout, run_on, has_handler: fields.has_handler })
    }
}

fn not_a_tool() -> Error {
    Error::InvalidArgument { field: "tools", message: "tool definitions that JSON can carry".into() }
}

fn empty_schema() -> Option<Schema> {
    serde_json::from_str(r#"{"type":"object","properties":{}}"#).ok().and_then(Schema::read)
}

fn read_schema(text: &RawValue) -> Option<Schema> {
    Schema::read(text)
}

fn check_input(schema: &Schema) -> Result<(), (&'static str, &'static str, &'static str)> {
    if schema.keyword("type") != Some(&Value::from("object")) {
        return Err(("inputSchema.type", "type_object", "must be exactly \"object\""));
    }
    if schema.keyword("properties").is_some_and(|properties| !properties.is_object()) {
        return Err(("inputSchema.properties", "properties_object", "must be an object of schemas"));
    }
    let required_is_names = schema
        .keyword("required")
        .is_none_or(|required| required.as_array().is_some_and(|names| names.iter().all(Value::is_string)));
    if !required_is_names {
        return Err(("inputSchema.required", "required_names", "must be an array of property names"));
    }
    Ok(())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn read_timeout(value: &Value) -> Option<Millis> {
    let milliseconds = value.as_f64()?;
    (1.0..=LONGEST_TIMEOUT).contains(&milliseconds).then_some(Millis(milliseconds as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(json: &str) -> (String, &'static str) {
        match Tool::from_json(json) {
            Err(Error::InvalidTool(fault)) => (fault.field, fault.rule),
            other => panic!("{json}: {other:?}"),
        }
    }

    #[test]
    fn each_broken_rule_names_its_field() {
        for (json, field, rule) in [
            (r#"{"description":"d"}"#, "name", "name_pattern"),
            (r#"{"name":5,"description":"d"}"#, "name", "name_pattern"),
            (r#"{"name":"a b","description":"d"}"#, "name", "name_pattern"),
            (r#"{"name":"a"}"#, "description", "description_required"),
            (r#"{"name":"a","description":" "}"#, "description", "description_required"),
            (r#"{"name":"a","description":"d","inputSchema":true}"#, "inputSchema", "schema_object"),
            (r#"{"name":"a","description":"d","inputSchema":{}}"#, "inputSchema.type", "type_object"),
            (
                r#"{"name":"a","description":"d","inputSchema":{"type":["object","null"]}}"#,
                "inputSchema.type",
                "type_object",
            ),
            (
                r#"{"name":"a","description":"d","inputSchema":{"type":"object","properties":[]}}"#,
                "inputSchema.properties",
                "properties_object",
            ),
            (
                r#"{"name":"a","description":"d","inputSchema":{"type":"object","required":"x"}}"#,
                "inputSchema.required",
                "required_names",
            ),
            (r#"{"name":"a","description":"d","outputSchema":1}"#, "outputSchema", "schema_object"),
            (r#"{"name":"a","description":"d","annotations":[]}"#, "annotations", "annotation_type"),
            (
                r#"{"name":"a","description":"d","annotations":{"readOnlyHint":"yes"}}"#,
                "annotations.readOnlyHint",
                "annotation_type",
            ),
            (r#"{"name":"a","description":"d","timeout":0}"#, "timeout", "timeout_milliseconds"),
            (r#"{"name":"a","description":"d","timeout":"30s"}"#, "timeout", "timeout_milliseconds"),
            (r#"{"name":"a","description":"d","timeout":1e300}"#, "timeout", "timeout_milliseconds"),
            (r#"{"name":"a","description":"d","runOn":"never"}"#, "runOn", "run_on"),
        ] {
            assert_eq!(fault(json), (field.to_owned(), rule), "{json}");
        }
    }

    #[test]
    fn what_is_not_said_is_not_assumed() {
        let tool = Tool::from_json(r#"{"name":"a","description":"d"}"#).unwrap();
        assert_eq!(tool.annotations, None);
        assert_eq!(tool.run_on, RunOn::Acknowledgement);
        assert_eq!(tool.timeout, Millis(60_000));
        assert!(tool.input.accepts_every_object());
        assert!(!tool.has_handler);
    }

    #[test]
    fn text_that_is_no_definition_is_an_invalid_argument() {
        for text in ["", "[]", "5", "{"] {
            assert_eq!(Tool::from_json(text).unwrap_err().code(), "invalid_argument", "{text}");
        }
    }
}
