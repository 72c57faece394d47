//! The declaration of a tool, checked.

use std::borrow::Cow;

use crate::error::{Error, ToolFault};
use crate::json::{Json, Object, Value};
use crate::net::Millis;

use super::{Annotations, Schema, ToolName, version};

pub(super) const DEFAULT_TIMEOUT: Millis = Millis(60_000);
/// The longest time that a browser's timer can wait.
const LONGEST_TIMEOUT: u64 = 2_147_483_647;

/// A broken rule: the field, the rule's name, a sentence.
type Fault = (Cow<'static, str>, &'static str, &'static str);

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
    /// The name that the server knows it by.
    pub wire: ToolName,
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
    /// Whether the app looks at each call before its handler starts.
    pub reviewed: bool,
}

impl Tool {
    /// The same for a server that does not bind names: it knows the tool by its own.
    #[must_use]
    pub fn unversioned(mut self) -> Self {
        self.wire = self.name.clone();
        self
    }

    /// Reads one declaration: the JSON text of a `ToolDefinition` (`types.d.ts`) without its functions, and with
    /// `hasHandler`, `reviewed`, and what the app has validators for: `inputValidated`, `outputValidated`. The error names the
    /// field and the rule.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let fields = Object::read(text).ok_or_else(not_a_tool)?;
        Self::check(&fields).map_err(|(field, rule, message)| {
            let (tool, field, message) = (fields.text("name"), field.into_owned(), message.to_owned());
            Error::InvalidTool(ToolFault { tool, field, rule, message })
        })
    }

    /// Reads an array of declarations.
    pub fn list_from_json(text: &str) -> Result<Vec<Self>, Error> {
        let items = Json::read(text).and_then(Json::items).ok_or_else(not_a_tool)?;
        items.into_iter().map(|item| Self::from_json(item.get())).collect()
    }

    fn check(fields: &Object) -> Result<Self, Fault> {
        let fault = |field: &'static str, rule, message| (field.into(), rule, message);
        let name = ToolName::declared(&fields.text("name")).ok_or_else(|| {
            fault("name", "name_pattern", "a letter or _, then letters, digits, _, - and spaces; 64 characters at most")
        })?;
        let versioned = fields.flag("versioned");
        if versioned && name.as_str().len() + version::ADDED > ToolName::LONGEST {
            return Err(fault("name", "name_pattern", "57 characters at most, where a version is added"));
        }
        let description = fields.string("description").filter(|text| !text.trim().is_empty()).ok_or_else(|| {
            fault("description", "description_required", "the model needs a text to decide on a call")
        })?;
        let input = match fields.get("inputSchema") {
            Some(text) => Schema::read(text),
            None => empty_schema(),
        };
        let mut input = input.ok_or_else(|| fault("inputSchema", "schema_object", "must be an object"))?;
        input.validated = fields.flag("inputValidated");
        check_input(&input)?;
        let mut output = match fields.get("outputSchema") {
            Some(text) => {
                Some(Schema::read(text).ok_or_else(|| fault("outputSchema", "schema_object", "must be an object"))?)
            }
            None => None,
        };
        if let Some(output) = &mut output {
            output.validated = fields.flag("outputValidated");
        }
        let annotations = match fields.get("annotations") {
            None => None,
            Some(hints) => Some(Annotations::read(hints).map_err(|hint| {
                let field = if hint.is_empty() { "annotations".into() } else { ["annotations.", hint].concat().into() };
                (field, "annotation_type", "hints are booleans, the title is a text")
            })?),
        };
        let timeout = match fields.value("timeout") {
            Value::Null => DEFAULT_TIMEOUT,
            value => read_timeout(&value).ok_or_else(|| {
                fault("timeout", "timeout_milliseconds", "must be a number of milliseconds, 1 to 2147483647")
            })?,
        };
        let run_on = match (fields.get("runOn"), fields.text("runOn").as_str()) {
            (None, _) | (_, "acknowledgement") => RunOn::Acknowledgement,
            (_, "announcement") => RunOn::Announcement,
            _ => return Err(fault("runOn", "run_on", "\"acknowledgement\" or \"announcement\"")),
        };
        let has_handler = fields.flag("hasHandler");
        let reviewed = fields.flag("reviewed");
        let wire = if versioned { input.versioned(&name) } else { name.clone() };
        Ok(Self { name, wire, description, input, output, annotations, timeout, run_on, has_handler, reviewed })
    }
}

fn not_a_tool() -> Error {
    Error::InvalidArgument { field: "tools", message: "tool definitions that JSON can carry".into() }
}

fn empty_schema() -> Option<Schema> {
    Schema::read(Json::read(r#"{"type":"object","properties":{}}"#)?)
}

fn check_input(schema: &Schema) -> Result<(), Fault> {
    if schema.keyword("type").and_then(Value::as_str) != Some("object") {
        return Err(("inputSchema.type".into(), "type_object", "must be exactly \"object\""));
    }
    if !matches!(schema.keyword("properties"), None | Some(Value::Object(_))) {
        return Err(("inputSchema.properties".into(), "properties_object", "must be an object of schemas"));
    }
    match schema.keyword("required") {
        None => Ok(()),
        Some(Value::Array(names)) if names.iter().all(|name| name.as_str().is_some()) => Ok(()),
        Some(_) => Err(("inputSchema.required".into(), "required_names", "must be an array of property names")),
    }
}

/// A fraction of a millisecond does not count.
fn read_timeout(value: &Value) -> Option<Millis> {
    let Value::Number(number) = value else { return None };
    number.whole().filter(|milliseconds| (1..=LONGEST_TIMEOUT).contains(milliseconds)).map(Millis)
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
            (r#"{"name":"a.b","description":"d"}"#, "name", "name_pattern"),
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
    fn a_version_is_added_to_the_name_on_the_wire_where_there_is_room_for_it() {
        let tool = |name: &str| Tool::from_json(&format!(r#"{{"name":"{name}","description":"d","versioned":true}}"#));
        let short = tool("read").unwrap();
        assert_eq!((short.name.as_str(), &short.wire.as_str()[..5], short.wire.as_str().len()), ("read", "read_", 11));
        assert_eq!(tool(&"x".repeat(57)).unwrap().wire.as_str().len(), 64);
        assert_eq!(tool(&"x".repeat(58)).unwrap_err().code(), "invalid_tool");
        assert_eq!(tool("read").unwrap().unversioned().wire.as_str(), "read");
    }

    #[test]
    fn text_that_is_no_definition_is_an_invalid_argument() {
        for text in ["", "[]", "5", "{"] {
            assert_eq!(Tool::from_json(text).unwrap_err().code(), "invalid_argument", "{text}");
        }
    }
}
