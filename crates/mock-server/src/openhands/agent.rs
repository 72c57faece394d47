//! The agent object of a conversation, as the server completes and shows it.

use crate::clock::Clock;
use crate::json::{Json, Object};
use crate::object;

use super::defaults::{AGENT, AGENT_CONTEXT, CONDENSER, LLM, overlay, read};

/// What an agent made from `agent_settings` can do by default.
const SETTINGS_TOOLS: [&str; 3] = ["terminal", "file_editor", "task_tracker"];

/// A completed agent. Its key is never kept.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    shown: Json,
    has_key: bool,
    /// Whether there was a key that the server could not keep.
    lost_key: bool,
}

impl Agent {
    /// From the `agent` of a create request.
    pub(super) fn from_agent(given: &Json, client_tools: &[Json]) -> Self {
        let mut shown = overlay(read(AGENT), given);
        let llm = given.get("llm").cloned().unwrap_or_default();
        shown.set("llm", complete_llm(&llm));
        let tools = given.get("tools").and_then(Json::as_array).unwrap_or_default();
        shown.set("tools", with_client_tools(tools, client_tools));
        Self { shown, has_key: llm.present("api_key").is_some(), lost_key: false }
    }

    /// From the `agent_settings` of a create request: default tools and a condenser are added.
    pub(super) fn from_settings(given: &Json, client_tools: &[Json]) -> Self {
        let llm = given.get("llm").cloned().unwrap_or_default();
        let mut shown = read(AGENT);
        shown.set("llm", complete_llm(&llm));
        let named = |name: &str| object! { "name" => name };
        let defaults = SETTINGS_TOOLS.map(named);
        let tools = given.get("tools").and_then(Json::as_array).unwrap_or(&defaults);
        shown.set("tools", with_client_tools(tools, client_tools));
        let built_in = ["FinishTool", "ThinkTool", "SwitchLLMTool"].map(Json::from);
        shown.set("include_default_tools", built_in.to_vec());
        let mut context = read(AGENT_CONTEXT);
        context.set("current_datetime", Clock::utc_now());
        shown.set("agent_context", context);
        let mut condenser_llm = complete_llm(&llm);
        condenser_llm.set("usage_id", "condenser");
        let mut condenser = read(CONDENSER);
        condenser.set("llm", condenser_llm);
        shown.set("condenser", condenser);
        Self { shown, has_key: llm.present("api_key").is_some(), lost_key: false }
    }

    /// As in a `ConversationInfo`: nulls included, secrets null.
    pub(super) fn in_info(&self) -> Json {
        self.shown.clone()
    }

    /// As in a `full_state`: without nulls, secrets masked.
    pub(super) fn in_state(&self) -> Json {
        let mut shown = self.shown.clone();
        if self.has_key {
            mask(shown.as_object_mut().and_then(|agent| agent.get_mut("llm")));
            let condenser = shown.as_object_mut().and_then(|agent| agent.get_mut("condenser"));
            mask(condenser.and_then(Json::as_object_mut).and_then(|condenser| condenser.get_mut("llm")));
        }
        // `params` holds plain dictionaries, which keep their nulls.
        shown.without_nulls(&["params"])
    }

    /// As persistence without a secret key does it.
    pub(super) fn lose_key(&mut self) {
        self.lost_key |= self.has_key;
        self.has_key = false;
    }

    pub(super) fn lost_key(&self) -> bool {
        self.lost_key
    }

    /// Puts another LLM in the place of the agent's.
    pub(super) fn switch_llm(&mut self, llm: &Json) {
        self.shown.set("llm", complete_llm(llm));
        self.has_key = llm.present("api_key").is_some();
        self.lost_key = false;
    }

    fn llm(&self) -> Json {
        self.shown.get("llm").cloned().unwrap_or_default()
    }

    pub(super) fn model(&self) -> String {
        self.llm().text("model").unwrap_or_default().to_owned()
    }

    pub(super) fn usage_id(&self) -> String {
        self.llm().text("usage_id").unwrap_or("default").to_owned()
    }

    pub(super) fn streams(&self) -> bool {
        self.llm().flag("stream") == Some(true)
    }

    pub(super) fn has_context(&self) -> bool {
        self.shown.present("agent_context").is_some()
    }

    pub(super) fn condenser(&self) -> Option<&Json> {
        self.shown.present("condenser")
    }

    pub(super) fn tools(&self) -> &[Json] {
        self.shown.get("tools").and_then(Json::as_array).unwrap_or_default()
    }

    /// The Python modules of the tools that `agent_settings` added.
    pub(super) fn tool_modules(&self) -> Json {
        let names = self.tools().iter().filter(|_| self.has_context()).filter_map(|tool| tool.text("name"));
        let known = names.filter(|name| SETTINGS_TOOLS.contains(name));
        let modules = known.map(|name| (name.to_owned(), format!("openhands.tools.{name}.definition").into()));
        Json::Object(modules.collect())
    }

    pub(super) fn default_tools(&self) -> impl Iterator<Item = &str> {
        let names = self.shown.get("include_default_tools").and_then(Json::as_array).unwrap_or_default();
        names.iter().filter_map(Json::as_str)
    }
}

fn complete_llm(given: &Json) -> Json {
    let mut llm = overlay(read(LLM), given);
    for secret in ["api_key", "aws_access_key_id", "aws_secret_access_key", "aws_session_token"] {
        llm.set(secret, Json::Null);
    }
    llm
}

fn mask(llm: Option<&mut Json>) {
    if let Some(llm) = llm {
        llm.set("api_key", "**********");
    }
}

fn with_client_tools(tools: &[Json], client_tools: &[Json]) -> Vec<Json> {
    let mut all: Vec<Json> = tools
        .iter()
        .map(|tool| {
            let params = tool.get("params").cloned().unwrap_or_else(|| Object::new().into());
            object! { "name" => tool.get("name").cloned(), "params" => params }
        })
        .collect();
    for spec in client_tools {
        if !all.iter().any(|tool| tool.get("name") == spec.get("name")) {
            let name = spec.get("name").cloned();
            all.push(object! { "name" => name, "params" => object! { "spec" => spec.clone() } });
        }
    }
    all
}
