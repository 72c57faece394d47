//! One tool call of a step.

use crate::clock::Clock;
use crate::json::{Json, python_dumps, python_repr};
use crate::object;

/// What the agent waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Awaits {
    Confirmation,
    End,
    Nothing,
}

/// A call, and how far it is.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "as in the script")]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) input: Json,
    pub(super) client_side: bool,
    pub(super) hidden: bool,
    pub(super) interrupt: bool,
    pub(super) announced: bool,
    pub(super) executed: bool,
    pub(super) required: Vec<Json>,
    pub(super) blocked_after: Option<u64>,
    /// The `endToolCall` of a call that the agent ends itself.
    pub(super) result: Json,
    /// More of this call, sent after it was announced.
    pub(super) then: Vec<Json>,
    pub(super) awaits: Awaits,
    /// The user's own arguments, if they differ.
    pub(super) edited: Option<Json>,
    /// What the model reads at last.
    pub(super) shown: String,
    name: String,
    input_schema: Json,
    output_schema: Json,
    confirm: bool,
}

impl Call {
    pub(super) fn read(body: &Json, default_id: String) -> Self {
        let flag = |name: &str, default: bool| body.flag(name).unwrap_or(default);
        let client_side = flag("clientSide", true);
        let confirm = flag("confirm", false) || flag("interrupt", false);
        let blocked_after = body.count("blockedAfterMs");
        let then: Vec<Json> = body.get("then").and_then(Json::as_array).unwrap_or_default().to_vec();
        let ends_itself = then.iter().any(|more| more.get("endToolCall").is_some());
        let awaits = match (blocked_after.is_some() || ends_itself, confirm, client_side) {
            (true, _, _) | (_, false, false) => Awaits::Nothing,
            (_, true, _) => Awaits::Confirmation,
            (_, _, true) => Awaits::End,
        };
        Self {
            id: body.text("id").map_or(default_id, str::to_owned),
            name: body.text("name").unwrap_or_default().to_owned(),
            input: body.get("input").cloned().unwrap_or_else(|| object! {}),
            client_side,
            hidden: flag("hideFlags", false),
            interrupt: flag("interrupt", false),
            announced: flag("announce", true),
            executed: flag("execute", true),
            required: body.get("requiredInput").and_then(Json::as_array).unwrap_or_default().to_vec(),
            blocked_after,
            result: body.get("result").cloned().unwrap_or_else(|| object! { "output" => object! {} }),
            then,
            awaits,
            edited: None,
            shown: String::new(),
            input_schema: body.get("inputSchema").cloned().unwrap_or_else(|| object! { "type" => "object" }),
            output_schema: body.get("outputSchema").cloned().unwrap_or_default(),
            confirm,
        }
    }

    /// `startToolCall`, in the order of members of UiPath's runtime, which leaves out what is null.
    pub(super) fn start(&self) -> Json {
        let mut body = object! {
            "toolName" => &self.name, "timestamp" => Clock::utc_millis(), "input" => self.input.clone(),
        };
        if self.hidden {
            return body;
        }
        if self.confirm && !self.interrupt {
            body.set("requireConfirmation", true);
            body.set("inputSchema", self.input_schema.clone());
        }
        if self.client_side {
            body.set("isClientSideTool", true);
            if !self.output_schema.is_null() {
                body.set("outputSchema", self.output_schema.clone());
            }
        }
        body
    }

    /// `startInterrupt`, by which older runtimes asked.
    pub(super) fn question(&self) -> Json {
        let value = object! {
            "toolCallId" => &self.id, "toolName" => &self.name,
            "inputSchema" => self.input_schema.clone(), "inputValue" => self.input.clone(),
        };
        object! { "type" => "uipath_cas_tool_call_confirmation", "value" => value }
    }

    pub(super) fn executes_at_once(&self) -> bool {
        self.executed && (self.awaits != Awaits::Confirmation || self.hidden)
    }

    /// What an approval allows: the edited input if there is one, and whether it has all that is required.
    pub(super) fn approve(&mut self, edited: &Json) -> Result<(), String> {
        if !edited.is_null() && *edited != self.input {
            self.edited = Some(edited.clone());
        }
        let input = if edited.is_null() { self.input.clone() } else { edited.clone() };
        let missing: Vec<&str> =
            self.required.iter().filter_map(Json::as_str).filter(|name| input.get(name).is_none()).collect();
        self.input = input.clone();
        if missing.is_empty() {
            return Ok(());
        }
        Err(format!("{} validation error(s): missing {}", missing.len(), missing.join(", ")))
    }

    /// Notes what the model reads of a result.
    pub(super) fn show(&mut self, output: &Json) {
        self.shown = match &self.edited {
            Some(input) => {
                let meta =
                    object! { "message" => "User has modified the tool arguments", "executed_args" => input.clone() };
                python_dumps(&object! { "meta" => meta, "result" => output.clone() })
            }
            None => read_by_model(output),
        };
    }
}

/// UiPath's agent reads an object as JSON, a string as it is, nothing as nothing, and all else as Python writes it.
pub(super) fn read_by_model(output: &Json) -> String {
    match output {
        Json::Null => String::new(),
        Json::Text(text) => text.clone(),
        Json::Object(_) => python_dumps(output),
        Json::Bool(_) | Json::Number(_) | Json::Array(_) => python_repr(output),
    }
}
