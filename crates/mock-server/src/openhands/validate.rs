//! Checks requests and words the complaints as the real server's models do.

use uuid::Uuid;

use crate::json::{Json, Object, python_repr};
use crate::object;

use super::reply::{Failure, invalid_item};

const TITLE_LENGTH: usize = 200;
const TAG_LENGTH: usize = 256;
const POLICIES: [&str; 3] = ["AlwaysConfirm", "ConfirmRisky", "NeverConfirm"];
const HINTS: [(&str, bool); 4] =
    [("readOnlyHint", false), ("destructiveHint", true), ("idempotentHint", false), ("openWorldHint", true)];

/// Collects complaints about a body.
#[derive(Debug, Default)]
pub(super) struct Complaints(Vec<Json>);

/// A place in a body: `["body", "client_tools", 0, "name"]`.
fn place(parts: &[Json]) -> Vec<Json> {
    std::iter::once(Json::from("body")).chain(parts.iter().cloned()).collect()
}

impl Complaints {
    fn add(&mut self, kind: &str, parts: &[Json], message: &str, input: &Json) {
        self.0.push(invalid_item(kind, place(parts), message, redact(input), None));
    }

    fn value_error(&mut self, parts: &[Json], message: &str, input: &Json) {
        let context = object! { "error" => message };
        let text = format!("Value error, {message}");
        self.0.push(invalid_item("value_error", place(parts), &text, redact(input), Some(context)));
    }

    pub(super) fn done(self) -> Result<(), Failure> {
        if self.0.is_empty() { Ok(()) } else { Err(Failure::Invalid(self.0)) }
    }

    pub(super) fn text(&mut self, parts: &[Json], holder: &Json, value: Option<&Json>) {
        match value {
            None => self.add("missing", parts, "Field required", holder),
            Some(value) if value.as_str().is_none() => {
                self.add("string_type", parts, "Input should be a valid string", value);
            }
            Some(_) => {}
        }
    }

    pub(super) fn uuid(&mut self, field: &str, request: &Json) {
        let Some(value) = request.present(field) else { return };
        let parts = [Json::from(field)];
        match value.as_str().map(str::parse::<Uuid>) {
            Some(Ok(_)) => {}
            Some(Err(error)) => self.0.push(uuid_complaint(place(&parts), value, &error)),
            None => self.add("uuid_type", &parts, "UUID input should be a string, bytes or UUID object", value),
        }
    }

    /// Messages over REST need an array of content items.
    pub(super) fn content(&mut self, parts: &[Json], message: &Json) {
        if let Some(content) = message.get("content")
            && content.as_array().is_none()
        {
            let mut parts = parts.to_vec();
            parts.push("content".into());
            self.add("list_type", &parts, "Input should be a valid list", content);
        }
    }

    pub(super) fn policy(&mut self, field: &str, policy: &Json) {
        let kind = policy.text("kind").unwrap_or_default();
        if !POLICIES.contains(&kind) {
            let message = format!(
                "Unknown kind '{kind}' for openhands.sdk.security.confirmation_policy.ConfirmationPolicyBase; \
                 Expected one of: ['AlwaysConfirm', 'ConfirmRisky', 'NeverConfirm']"
            );
            self.value_error(&[field.into()], &message, policy);
        }
    }

    pub(super) fn dictionary(&mut self, field: &str, request: &Json) {
        match request.get(field) {
            None => self.add("missing", &[field.into()], "Field required", request),
            Some(value) if value.as_object().is_none() => {
                self.add("dict_type", &[field.into()], "Input should be a valid dictionary", value);
            }
            Some(_) => {}
        }
    }

    pub(super) fn tags(&mut self, request: &Json) {
        let Some(tags) = request.present("tags") else { return };
        let Some(members) = tags.as_object() else {
            return self.add("dict_type", &["tags".into()], "Input should be a valid dictionary", tags);
        };
        let good = |key: &str| !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        if let Some(key) = members.keys().find(|key| !good(key)) {
            let message = format!("Tag key '{key}' is invalid: keys must be lowercase alphanumeric only");
            return self.value_error(&["tags".into()], &message, tags);
        }
        let long = |value: &Json| value.as_str().is_some_and(|text| text.chars().count() > TAG_LENGTH);
        if let Some((key, _)) = members.iter().find(|(_, value)| long(value)) {
            let message = format!("Tag value for '{key}' exceeds maximum length of {TAG_LENGTH} characters");
            return self.value_error(&["tags".into()], &message, tags);
        }
        for (key, value) in members.iter().filter(|(_, value)| value.as_str().is_none()) {
            self.add("string_type", &["tags".into(), key.into()], "Input should be a valid string", value);
        }
    }

    /// A title, which older servers let be blank.
    pub(super) fn title(&mut self, request: &Json, may_be_blank: bool) {
        let Some(title) = request.present("title") else { return };
        let parts = [Json::from("title")];
        let Some(text) = title.as_str() else {
            return self.add("string_type", &parts, "Input should be a valid string", title);
        };
        let mut limit = |kind: &str, message: &str, context: Json| {
            self.0.push(invalid_item(kind, place(&parts), message, title.clone(), Some(context)));
        };
        if text.is_empty() {
            let context = object! { "min_length" => 1u64 };
            limit("string_too_short", "String should have at least 1 character", context);
        } else if text.chars().count() > TITLE_LENGTH {
            let message = format!("String should have at most {TITLE_LENGTH} characters");
            limit("string_too_long", &message, object! { "max_length" => TITLE_LENGTH });
        } else if text.trim().is_empty() && !may_be_blank {
            self.value_error(&parts, "title must not be blank", title);
        }
    }

    fn iterations(&mut self, request: &Json) {
        let Some(value) = request.get("max_iterations") else { return };
        let parts = [Json::from("max_iterations")];
        let Json::Number(text) = value else {
            return self.add("int_type", &parts, "Input should be a valid integer", value);
        };
        if value.as_u64().is_some_and(|count| count >= 1) {
            return;
        }
        if text.parse::<i64>().is_err() {
            let message = "Input should be a valid integer, got a number with a fractional part";
            return self.add("int_from_float", &parts, message, value);
        }
        let message = "Input should be greater than or equal to 1";
        let context = object! { "ge" => 1u64 };
        self.0.push(invalid_item("greater_than_equal", place(&parts), message, value.clone(), Some(context)));
    }

    fn workspace(&mut self, request: &Json) {
        let parts = [Json::from("workspace")];
        let Some(workspace) = request.get("workspace") else {
            return self.add("missing", &parts, "Field required", request);
        };
        if workspace.as_object().is_none() {
            let message = "Input should be a valid dictionary or instance of LocalWorkspace";
            return self.add("model_type", &parts, message, workspace);
        }
        if workspace.text("kind").is_some_and(|kind| kind != "LocalWorkspace") {
            let context = object! { "error" => "" };
            let item =
                invalid_item("assertion_error", place(&parts), "Assertion failed, ", redact(workspace), Some(context));
            return self.0.push(item);
        }
        self.text(&["workspace".into(), "working_dir".into()], workspace, workspace.get("working_dir"));
    }

    fn agent(&mut self, request: &Json) {
        for field in ["agent", "agent_settings"] {
            let Some(agent) = request.present(field) else { continue };
            self.llm(&[field.into()], agent);
            let nullable = field == "agent_settings";
            if let Some(tools) = agent.get("tools").filter(|tools| !(nullable && tools.is_null()))
                && tools.as_array().is_none()
            {
                self.add("list_type", &[field.into(), "tools".into()], "Input should be a valid list", tools);
            }
        }
    }

    /// The `llm` of an agent or a request.
    pub(super) fn llm(&mut self, parts: &[Json], holder: &Json) {
        let below = |more: &[&str]| -> Vec<Json> {
            parts.iter().cloned().chain(more.iter().map(|part| Json::from(*part))).collect()
        };
        let Some(llm) = holder.get("llm") else {
            return self.add("missing", &below(&["llm"]), "Field required", holder);
        };
        if llm.get("model").is_none() {
            self.add("missing", &below(&["llm", "model"]), "Field required", llm);
        }
    }

    fn client_tools(&mut self, request: &Json) {
        let Some(tools) = request.get("client_tools") else { return };
        let Some(items) = tools.as_array() else {
            return self.add("list_type", &["client_tools".into()], "Input should be a valid list", tools);
        };
        for (index, tool) in items.iter().enumerate() {
            self.client_tool(&["client_tools".into(), index.into()], tool);
        }
    }

    fn client_tool(&mut self, parts: &[Json], tool: &Json) {
        let below = |field: &str| [parts, &[Json::from(field)]].concat();
        if tool.as_object().is_none() {
            let message = "Input should be a valid dictionary or instance of ClientToolSpec";
            return self.add("model_type", parts, message, tool);
        }
        self.text(&below("name"), tool, tool.get("name"));
        self.text(&below("description"), tool, tool.get("description"));
        match tool.get("parameters") {
            Some(parameters) if parameters.as_object().is_none() => {
                self.add("dict_type", &below("parameters"), "Input should be a valid dictionary", parameters);
            }
            Some(parameters) if parameters.text("type") != Some("object") => {
                let found = python_repr(parameters.get("type").unwrap_or(&Json::Null));
                let message = format!(
                    "ClientToolSpec.parameters must be an object JSON Schema (got type={found}). \
                     Example: {{\"type\": \"object\", \"properties\": {{...}}}}"
                );
                self.value_error(&below("parameters"), &message, parameters);
            }
            None | Some(_) => {}
        }
        for (hint, _) in HINTS {
            let value = tool.get("annotations").and_then(|annotations| annotations.get(hint));
            if let Some(value) = value
                && value.as_bool().is_none()
            {
                let message = "Input should be a valid boolean, unable to interpret input";
                let parts = [below("annotations"), vec![hint.into()]].concat();
                self.add("bool_parsing", &parts, message, value);
            }
        }
    }
}

/// Checks a create request.
pub(super) fn create_request(request: &Json) -> Result<(), Failure> {
    let mut complaints = Complaints::default();
    complaints.workspace(request);
    complaints.agent(request);
    complaints.client_tools(request);
    complaints.uuid("conversation_id", request);
    complaints.uuid("parent_conversation_id", request);
    complaints.uuid("agent_profile_id", request);
    if let Some(policy) = request.present("confirmation_policy") {
        complaints.policy("confirmation_policy", policy);
    }
    if let Some(message) = request.present("initial_message") {
        complaints.content(&["initial_message".into()], message);
    }
    complaints.tags(request);
    complaints.iterations(request);
    complaints.done()?;

    let given = |field: &str| request.present(field).is_some();
    let body_error = |message: &str| Failure::value_error(vec!["body".into()], message, redact(request));
    if given("agent_profile_id") {
        return match ["agent", "agent_settings"].into_iter().find(|field| given(field)) {
            Some(other) => Err(body_error(&format!("`agent_profile_id` is mutually exclusive with `{other}`"))),
            None => Ok(()),
        };
    }
    if given("agent") || given("agent_settings") {
        return Ok(());
    }
    Err(body_error("One of `agent`, `agent_settings`, or `agent_profile_id` must be provided"))
}

/// A client tool as the server keeps it: defaults filled in, unknown keys gone.
pub(super) fn complete_tool(given: &Json) -> Json {
    let empty = object! { "type" => "object", "properties" => Object::new() };
    let annotations = given.present("annotations").map(|annotations| {
        let mut all = object! { "title" => annotations.get("title").cloned() };
        for (hint, default) in HINTS {
            all.set(hint, annotations.flag(hint).unwrap_or(default));
        }
        all
    });
    object! {
        "name" => given.get("name").cloned(),
        "description" => given.get("description").cloned(),
        "parameters" => given.get("parameters").cloned().unwrap_or(empty),
        "annotations" => annotations,
    }
}

/// An id in a path, dashed or plain hex.
pub(super) fn path_id(text: &str) -> Result<Uuid, Failure> {
    id_at(|| vec![Json::from("path"), Json::from("conversation_id")], text)
}

/// An id at some place of a request.
pub(super) fn id_at(loc: impl Fn() -> Vec<Json>, text: &str) -> Result<Uuid, Failure> {
    text.parse().map_err(|error| Failure::Invalid(vec![uuid_complaint(loc(), &text.into(), &error)]))
}

fn uuid_complaint(loc: Vec<Json>, input: &Json, error: &uuid::Error) -> Json {
    let message = format!("Input should be a valid UUID, {error}");
    let context = object! { "error" => error.to_string() };
    invalid_item("uuid_parsing", loc, &message, input.clone(), Some(context))
}

/// The value without what looks like a secret.
fn redact(value: &Json) -> Json {
    const TELLING: [&str; 4] = ["key", "secret", "token", "password"];
    match value {
        Json::Array(items) => Json::Array(items.iter().map(redact).collect()),
        Json::Object(members) => Json::Object(
            members
                .iter()
                .map(|(name, value)| {
                    let lower = name.to_lowercase();
                    let secret = value.as_str().is_some() && TELLING.iter().any(|word| lower.contains(word));
                    (name.to_owned(), if secret { "<redacted>".into() } else { redact(value) })
                })
                .collect(),
        ),
        other => other.clone(),
    }
}
