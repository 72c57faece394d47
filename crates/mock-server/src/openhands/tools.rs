//! Tools: the process-wide registry of client tools, and what a conversation's agent can call.

use crate::json::{Json, Object};
use crate::object;

use super::agent::Agent;
use super::defaults::SERVER_TOOLS;
use super::reply::Failure;

/// Client tools by name, for the life of the process: a name stays bound to its parameters.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    client: Vec<(String, Json)>,
}

/// Property names that pydantic does not take, with what it says.
const RESERVED: [(&str, &str); 4] = [
    ("model_config", "'FieldInfo' object is not iterable"),
    (
        "model_dump",
        "Field 'model_dump' conflicts with member <function BaseModel.model_dump at 0x7f0000000000> of protected namespace 'model_dump'.",
    ),
    (
        "model_dump_json",
        "Field 'model_dump_json' conflicts with member <function BaseModel.model_dump_json at 0x7f0000000000> of protected namespace 'model_dump'.",
    ),
    (
        "model_validate",
        "Field 'model_validate' conflicts with member <bound method BaseModel.model_validate> of protected namespace 'model_validate'.",
    ),
];

impl Registry {
    /// Names of all tools: the server's own, then client tools in the order of registration.
    pub(super) fn names(&self) -> Vec<Json> {
        let own = SERVER_TOOLS.iter().map(|name| Json::from(*name));
        own.chain(self.client.iter().map(|(name, _)| Json::from(name))).collect()
    }

    /// Forgets all client tools, as a new process knows none.
    pub(crate) fn forget(&mut self) {
        self.client.clear();
    }

    /// Checks and registers the client tools of one request. Those before a failing one stay registered.
    pub(super) fn register(&mut self, specs: &[Json]) -> Result<(), Failure> {
        let names: Vec<&str> = specs.iter().filter_map(|spec| spec.text("name")).collect();
        for (index, name) in names.iter().enumerate() {
            if names.iter().take(index).any(|earlier| earlier == name) {
                return Err(Failure::unprocessable(format!(
                    "Duplicate client tool name '{name}' in one registration request. Client tool names must be unique."
                )));
            }
        }
        for name in &names {
            if SERVER_TOOLS.contains(name) {
                return Err(Failure::unprocessable(format!(
                    "Client tool name '{name}' collides with an existing non-client tool. Choose a unique client tool name."
                )));
            }
        }
        specs.iter().try_for_each(|spec| self.register_one(spec))
    }

    fn register_one(&mut self, spec: &Json) -> Result<(), Failure> {
        let name = spec.text("name").unwrap_or_default();
        let parameters = spec.get("parameters").cloned().unwrap_or_default();
        if let Some((_, known)) = self.client.iter().find(|(known, _)| known == name) {
            return if known.same_value(&parameters) {
                Ok(())
            } else {
                Err(Failure::unprocessable(format!(
                    "Client tool '{name}' is already registered with a different parameters schema. \
                     Client tool names must map to a single, stable schema within a process."
                )))
            };
        }
        check_properties(&parameters)?;
        if name.is_empty() {
            return Err(Failure::Unhandled("ToolDefinition name must be a non-empty string".to_owned()));
        }
        self.client.push((name.to_owned(), parameters));
        Ok(())
    }
}

fn check_properties(parameters: &Json) -> Result<(), Failure> {
    let properties = match parameters.get("properties") {
        Some(Json::Array(items)) if !items.is_empty() => {
            return Err(Failure::Unhandled("'list' object has no attribute 'keys'".to_owned()));
        }
        Some(Json::Object(properties)) => properties,
        _ => return Ok(()),
    };
    for property in properties.keys() {
        if property.starts_with('_') {
            let better = property.trim_start_matches('_');
            return Err(Failure::Unhandled(format!(
                "Fields must not use names with leading underscores; e.g., use '{better}' instead of '{property}'."
            )));
        }
        if let Some((_, complaint)) = RESERVED.iter().find(|(name, _)| *name == property) {
            return Err(Failure::Unhandled((*complaint).to_owned()));
        }
    }
    Ok(())
}

/// A tool as the agent has it.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) name: String,
    /// `ClientAction_show_toast`, `FinishAction`, …
    pub(super) action: String,
    /// `ClientToolObservation`, `FinishObservation`, …
    pub(super) observation: String,
    /// The JSON Schema of the arguments; none for the server's tools, whose arguments are not checked here.
    pub(super) parameters: Option<Json>,
    /// What the action holds where the LLM says nothing.
    pub(super) defaults: Object,
    /// As in `SystemPromptEvent.tools`.
    pub(super) listing: Json,
}

/// The agent's tools, in order; fails as the real server does on the first message.
pub(super) fn tools_of(agent: &Agent, specs: &[Json]) -> Result<Vec<Tool>, Failure> {
    let mut tools: Vec<Tool> = Vec::new();
    for entry in agent.tools() {
        let name = entry.text("name").unwrap_or_default();
        let spec = entry.get("params").and_then(|params| params.get("spec"));
        tools.push(match spec {
            Some(spec) => client_tool(spec),
            None if SERVER_TOOLS.contains(&name) => server_tool(name),
            None if specs.iter().any(|spec| spec.text("name") == Some(name)) => {
                return Err(Failure::Unhandled(format!("ClientTool '{name}' requires a 'spec' param")));
            }
            None => {
                return Err(Failure::Unhandled(format!("\"ToolDefinition '{name}' is not registered\"")));
            }
        });
    }
    tools.extend(agent.default_tools().filter_map(default_tool));
    for (index, tool) in tools.iter().enumerate() {
        if tools.iter().take(index).any(|earlier| earlier.name == tool.name) {
            return Err(Failure::Unhandled(format!("Duplicate tool names found: {{'{}'}}", tool.name)));
        }
    }
    Ok(tools)
}

fn client_tool(spec: &Json) -> Tool {
    let name = spec.text("name").unwrap_or_default();
    let mut listing = object! {
        "description" => spec.get("description").cloned().unwrap_or_default(),
        "action_type" => format!("ClientAction_{name}"),
        "observation_type" => "ClientToolObservation",
    };
    if let Some(annotations) = spec.present("annotations") {
        listing.set("annotations", annotations.without_nulls(&[]));
    }
    let parameters = spec.get("parameters").cloned().unwrap_or_default();
    listing.set("client_tool_name", name);
    listing.set("input_schema", parameters.clone());
    listing.set("kind", "ClientTool");
    let title = spec.get("annotations").and_then(|annotations| annotations.text("title")).unwrap_or(name);
    listing.set("title", title);
    Tool {
        name: name.to_owned(),
        action: format!("ClientAction_{name}"),
        observation: "ClientToolObservation".to_owned(),
        parameters: Some(parameters),
        defaults: Object::new(),
        listing,
    }
}

/// Annotations; the hints are `readOnly`, `destructive`, `idempotent`, `openWorld`.
fn annotations(title: Option<&str>, hints: [bool; 4]) -> Json {
    let mut all = object! { "title" => title }.without_nulls(&[]);
    for (name, hint) in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"].into_iter().zip(hints) {
        all.set(name, hint);
    }
    all
}

fn built_in(name: &str, class: &str, description: &str, hints: Json, parameters: Option<Json>) -> Tool {
    let action = format!("{class}Action");
    let observation = format!("{class}Observation");
    let listing = object! {
        "description" => description,
        "action_type" => action.clone(),
        "observation_type" => observation.clone(),
        "annotations" => hints,
        "kind" => format!("{class}Tool"),
        "title" => name,
    };
    Tool { name: name.to_owned(), action, observation, parameters, defaults: Object::new(), listing }
}

fn one_text(property: &str) -> Json {
    let mut properties = object! {};
    properties.set(property, object! { "type" => "string" });
    object! { "type" => "object", "properties" => properties, "required" => vec![Json::from(property)] }
}

fn default_tool(class: &str) -> Option<Tool> {
    match class {
        "FinishTool" => Some(built_in(
            "finish",
            "Finish",
            "Signals that the task is done or cannot go on.",
            annotations(Some("finish"), [true, false, true, false]),
            Some(one_text("message")),
        )),
        "ThinkTool" => Some(built_in(
            "think",
            "Think",
            "Logs a thought.",
            annotations(None, [true, false, true, false]),
            Some(one_text("thought")),
        )),
        "SwitchLLMTool" => Some(built_in(
            "switch_llm",
            "SwitchLLM",
            "Switches to another LLM profile.",
            annotations(None, [false, false, false, false]),
            None,
        )),
        _ => None,
    }
}

fn server_tool(name: &str) -> Tool {
    let class: String = name.split('_').map(capitalized).collect();
    let hints = match name {
        "terminal" => annotations(Some(name), [false, true, false, true]),
        "file_editor" => annotations(Some(name), [false, true, false, false]),
        _ => annotations(None, [false, false, true, false]),
    };
    let mut tool = built_in(name, &class, "A tool of the server, which this stand-in does not carry out.", hints, None);
    if name == "terminal" {
        tool.defaults.set("command", Json::Null);
        tool.defaults.set("is_input", false);
        tool.defaults.set("timeout", Json::Null);
        tool.defaults.set("reset", false);
    }
    tool
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
