//! From the arguments that an LLM wrote to the `action` of an `ActionEvent`, or to the error that it gets back.

use std::fmt::Write;

use crate::json::{Json, Object, parse_lenient, python_dumps, python_repr};
use crate::object;

use super::schema::{Complaint, Kind};
use super::tools::Tool;

/// What LLMs write for the injected argument `security_risk`.
const MISSPELT_RISKS: [&str; 3] = ["security_rort", "securtiy_risk", "security_riks"];

/// A call whose arguments are good.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Valid {
    /// The `action`, absent optional arguments as null.
    pub(super) action: Json,
    /// The `action` as `GET events/{id}` shows it, where an argument named `kind` is lost.
    pub(super) single_action: Json,
    /// `tool_call.arguments`: normalised.
    pub(super) arguments: String,
    pub(super) summary: String,
    /// What the LLM said of the risk.
    pub(super) risk: Option<String>,
}

/// A call whose arguments are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Invalid {
    pub(super) error: String,
    /// `tool_call.arguments`: mostly as the LLM wrote them.
    pub(super) arguments: String,
}

/// Checks the arguments of a call as the real server does.
pub(super) fn check(tool: &Tool, written: &str, risk_matters: bool) -> Result<Valid, Invalid> {
    let name = &tool.name;
    let parsed = parse_lenient(written).map_err(|error| {
        let error = format!("Error validating tool '{name}': {error}. Arguments: unparseable JSON");
        let arguments = object! { "_openhands_malformed_tool_call" => true, "error" => error.clone() };
        Invalid { arguments: python_dumps(&arguments), error }
    })?;
    let mut given = if let Json::Object(given) = parsed { given } else { Object::new() };
    given = given.into_iter().filter(|(_, value)| !value.is_null()).collect();
    repair(tool, &mut given);
    for name in MISSPELT_RISKS {
        if let Some(risk) = given.remove(name) {
            given.set("security_risk", risk);
        }
    }
    let arguments = python_dumps(&Json::Object(given.clone()));
    let risk = given.remove("security_risk").and_then(|risk| risk.as_str().map(str::to_owned));
    let provided = python_repr(&Json::Array(given.keys().map(Json::from).collect()));
    let invalid = |error: String| Invalid {
        error: format!("Error validating tool '{name}': {error}. Parameters provided: {provided}"),
        arguments: written.to_owned(),
    };
    if let (true, Some(risk)) = (risk_matters, &risk)
        && !["LOW", "MEDIUM", "HIGH", "UNKNOWN"].contains(&risk.as_str())
    {
        return Err(invalid(format!("'{risk}' is not a valid SecurityRisk")));
    }

    let properties = properties(tool);
    let said = given.get("summary").and_then(Json::as_str).map(str::to_owned);
    if properties.is_none_or(|properties| properties.get("summary").is_none()) {
        given.remove("summary");
    }
    let summary = said.unwrap_or_else(|| format!("{name}: {}", python_dumps(&Json::Object(given.clone()))));
    let action = build_action(tool, &given).map_err(invalid)?;
    Ok(Valid { single_action: single(tool, &action), action, arguments, summary, risk })
}

fn single(tool: &Tool, action: &Json) -> Json {
    let declared = properties(tool).filter(|declared| declared.get("kind").is_some());
    let (Some(declared), Json::Object(members)) = (declared, action) else { return action.clone() };
    let stand_in = argument_kind_name(declared);
    let members = members.iter().filter(|(key, _)| *key != "kind").map(|(key, value)| {
        if key == stand_in { ("kind".to_owned(), tool.action.as_str().into()) } else { (key.to_owned(), value.clone()) }
    });
    Json::Object(members.collect())
}

fn properties(tool: &Tool) -> Option<&Object> {
    tool.parameters.as_ref().and_then(|schema| schema.get("properties")).and_then(Json::as_object)
}

fn repair(tool: &Tool, given: &mut Object) {
    for (property, schema) in properties(tool).into_iter().flat_map(Object::iter) {
        if let Some(value) = given.get_mut(property)
            && let Some(better) = Kind::of(schema).repair(value)
        {
            *value = better;
        }
    }
}

/// The `action`, or pydantic's report.
fn build_action(tool: &Tool, given: &Object) -> Result<Json, String> {
    let mut given = given.clone();
    let mut action = Object::new();
    let mut report = Report::new(&tool.action);
    let Some(schema) = &tool.parameters else {
        action = tool.defaults.clone();
        for (key, value) in given {
            action.set(&key, value);
        }
        action.set("kind", tool.action.as_str());
        return Ok(action.into());
    };
    let declared = properties(tool).cloned().unwrap_or_default();
    if declared.get("kind").is_none()
        && let Some(kind) = given.remove("kind")
        && kind.as_str() != Some(&tool.action)
    {
        given.set("kind", kind);
        report.add(None, "assertion_error", "Assertion failed, ", &Json::Object(given));
        return Err(report.text());
    }
    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
    for (property, schema) in declared.iter() {
        let field = if property == "kind" { argument_kind_name(&declared) } else { property.to_owned() };
        match given.get(property) {
            Some(value) => match Kind::of(schema).coerce(value) {
                Ok(value) => action.set(&field, value),
                Err(Complaint { code, message, index, input }) => {
                    let place = index.map_or_else(|| field.clone(), |index| format!("{field}.{index}"));
                    report.add(Some(&place), code, message, &input);
                }
            },
            None if required.iter().any(|name| name.as_str() == Some(property)) => {
                report.add(Some(&field), "missing", "Field required", &Json::Object(given.clone()));
            }
            None => action.set(&field, Json::Null),
        }
    }
    for (key, value) in given.iter().filter(|(key, _)| declared.get(key).is_none()) {
        report.add(Some(key), "extra_forbidden", "Extra inputs are not permitted", value);
    }
    if report.is_empty() {
        action.set("kind", tool.action.as_str());
        Ok(action.into())
    } else {
        Err(report.text())
    }
}

/// `kind` names the class in an action, so that a property of that name has to give way.
fn argument_kind_name(declared: &Object) -> String {
    let mut name = "mcp_arg_kind".to_owned();
    let mut number = 2;
    while declared.get(&name).is_some() {
        name = format!("mcp_arg_kind_{number}");
        number += 1;
    }
    name
}

/// A validation report in pydantic's layout.
struct Report {
    model: String,
    count: usize,
    lines: String,
}

impl Report {
    fn new(model: &str) -> Self {
        Self { model: model.to_owned(), count: 0, lines: String::new() }
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn add(&mut self, place: Option<&str>, code: &str, message: &str, input: &Json) {
        self.count += 1;
        let place = place.map(|place| format!("\n{place}")).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = write!(
            self.lines,
            "{place}\n  {message} [type={code}, input_value={}, input_type={}]\n    \
             For further information visit https://errors.pydantic.dev/2.14/v/{code}",
            shortened(&python_repr(input)),
            python_type(input)
        );
    }

    fn text(&self) -> String {
        let plural = if self.count == 1 { "" } else { "s" };
        format!("{} validation error{plural} for {}{}", self.count, self.model, self.lines)
    }
}

fn shortened(repr: &str) -> String {
    let chars: Vec<char> = repr.chars().collect();
    match (chars.get(..25), chars.len().checked_sub(24).and_then(|from| chars.get(from..))) {
        (Some(head), Some(tail)) if chars.len() > 50 => {
            format!("{}...{}", head.iter().collect::<String>(), tail.iter().collect::<String>())
        }
        _ => repr.to_owned(),
    }
}

fn python_type(value: &Json) -> &'static str {
    match value {
        Json::Null => "NoneType",
        Json::Bool(_) => "bool",
        Json::Number(text) if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => "int",
        Json::Number(_) => "float",
        Json::Text(_) => "str",
        Json::Array(_) => "list",
        Json::Object(_) => "dict",
    }
}
