//! What the server asks of a tool that is declared to it. It answers breaches with bare 500s, or takes the tool and fails
//! every run: so they are found here.

use crate::error::{Error, ToolFault};
use crate::json::Value;
use crate::tool::{Schema, Tool};

/// Tools that every agent has.
const BUILT_IN: [&str; 2] = ["finish", "think"];
/// The server's own registry (1.58.2).
const SERVER_TOOLS: [&str; 18] = [
    "ask_oracle",
    "browser_tool_set",
    "ClassifyAndSwitchLLMTool",
    "edit",
    "file_editor",
    "glob",
    "grep",
    "list_directory",
    "planning_file_editor",
    "read_file",
    "start_child_conversation",
    "task",
    "task_tool_set",
    "task_tracker",
    "terminal",
    "workflow",
    "workflow_tool_set",
    "write_file",
];
/// Stripped from the arguments, with the misspellings that the server takes for it.
const SECURITY_RISK: [&str; 4] = ["security_risk", "security_rort", "securtiy_risk", "security_riks"];

/// Checks a name, declared or only called: no server has one with a space.
pub(super) fn check_name(tool: &Tool) -> Result<(), Error> {
    if !tool.name.as_str().contains(' ') {
        return Ok(());
    }
    let message = "a letter or _, then letters, digits, _ and -; 64 characters at most".to_owned();
    let (tool, field) = (tool.name.to_string(), "name".to_owned());
    Err(Error::InvalidTool(ToolFault { tool, field, rule: "name_pattern", message }))
}

/// Checks a tool before it is declared.
pub(super) fn check(tool: &Tool) -> Result<(), Error> {
    let name = tool.wire.as_str();
    if SERVER_TOOLS.contains(&name) {
        return Err(Error::ToolCollision { tool: name.to_owned() });
    }
    let fault = |field: String, rule, message: &str| {
        Error::InvalidTool(ToolFault { tool: name.to_owned(), field, rule, message: message.to_owned() })
    };
    if BUILT_IN.contains(&name) {
        return Err(fault("name".into(), "name_reserved", "every agent has a tool of this name"));
    }
    for (property, schema) in tool.input.properties() {
        if let Some((rule, message)) = property_fault(property) {
            return Err(fault(["inputSchema.properties.", property].concat(), rule, message));
        }
        if required(&tool.input).any(|name| name == property) && nullable(schema) {
            let field = ["inputSchema.properties.", property].concat();
            let message = "a required property cannot be null: the server drops nulls; make it optional";
            return Err(fault(field, "required_nullable", message));
        }
    }
    match required(&tool.input).find(|name| !tool.input.declares(name)) {
        Some(name) => {
            let message = ["requires ", name, ", which properties does not declare: no call could succeed"].concat();
            Err(fault("inputSchema.required".into(), "required_declared", &message))
        }
        None => Ok(()),
    }
}

fn property_fault(property: &str) -> Option<(&'static str, &'static str)> {
    if property == "kind" {
        return Some(("property_reserved", "the server uses this name for its own purpose"));
    }
    if SECURITY_RISK.contains(&property) {
        return Some(("property_reserved", "the server removes this property from every call"));
    }
    if property.starts_with('_') || property.starts_with("model_") {
        return Some(("property_reserved", "the server cannot carry names that start with _ or model_"));
    }
    let starts = property.starts_with(|c: char| c.is_ascii_alphabetic());
    let goes_on = property.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    (!starts || !goes_on).then_some(("property_pattern", "a letter, then letters, digits, _ and -"))
}

fn required(schema: &Schema) -> impl Iterator<Item = &str> {
    schema.keyword("required").map(Value::items).unwrap_or_default().iter().filter_map(Value::as_str)
}

fn nullable(schema: &Value) -> bool {
    let Some(kind) = schema.get("type") else { return false };
    let is_null = |name: &Value| name.as_str() == Some("null");
    is_null(kind) || kind.items().iter().any(is_null)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Error, Tool, check};

    fn details(error: &Error) -> Value {
        serde_json::from_str(&crate::json::text(error)).unwrap()
    }

    fn check_text(name: &str, schema: &str) -> Result<(), (&'static str, Value)> {
        let text = format!(r#"{{"name":"{name}","description":"d","inputSchema":{schema}}}"#);
        check(&Tool::from_json(&text).unwrap()).map_err(|error| (error.code(), details(&error)))
    }

    #[test]
    fn the_servers_own_names_are_refused() {
        let empty = r#"{"type":"object"}"#;
        assert_eq!(check_text("terminal", empty).unwrap_err().0, "tool_collision");
        let (code, details) = check_text("finish", empty).unwrap_err();
        assert_eq!(
            (code, &details["field"], &details["rule"]),
            ("invalid_tool", &"name".into(), &"name_reserved".into())
        );
        assert_eq!(check_text("read_board_tasks", empty), Ok(()));
    }

    #[test]
    fn a_name_with_a_space_is_refused_also_where_nothing_is_declared() {
        let tool = Tool::from_json(r#"{"name":"a b","description":"d"}"#).unwrap();
        assert_eq!(details(&super::check_name(&tool).unwrap_err())["rule"], "name_pattern");
    }

    #[test]
    fn properties_that_the_server_cannot_carry_are_refused_by_name() {
        for (property, rule) in [
            ("kind", "property_reserved"),
            ("security_risk", "property_reserved"),
            ("securtiy_risk", "property_reserved"),
            ("_x", "property_reserved"),
            ("model_config", "property_reserved"),
            ("model_post_init", "property_reserved"),
            ("", "property_pattern"),
            ("1a", "property_pattern"),
            ("a b", "property_pattern"),
        ] {
            let schema = format!(r#"{{"type":"object","properties":{{"{property}":{{"type":"string"}}}}}}"#);
            let (_, details) = check_text("t", &schema).unwrap_err();
            assert_eq!(details["rule"], rule, "{property}");
            assert_eq!(details["field"], format!("inputSchema.properties.{property}"));
        }
    }

    #[test]
    fn what_can_never_be_called_is_refused() {
        let (_, undeclared) = check_text("t", r#"{"type":"object","required":["a"]}"#).unwrap_err();
        assert_eq!(
            (&undeclared["field"], &undeclared["rule"]),
            (&"inputSchema.required".into(), &"required_declared".into())
        );
        let nullable = r#"{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"]}"#;
        assert_eq!(check_text("t", nullable).unwrap_err().1["rule"], "required_nullable");
        let optional = r#"{"type":"object","properties":{"a":{"type":["string","null"]}}}"#;
        assert_eq!(check_text("t", optional), Ok(()));
    }
}
