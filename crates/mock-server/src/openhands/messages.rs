//! User messages, and the conversation as an LLM would be given it.

use crate::json::Json;
use crate::object;

use super::conversation::{State, Status};
use super::event::Event;
use super::reply::Failure;
use super::tools::tools_of;

/// Text content as events have it.
pub(super) fn text_content(text: &str) -> Json {
    object! { "cache_prompt" => false, "type" => "text", "text" => text }
}

/// Content items of a request as events have them; a plain string counts as one text.
pub(super) fn content_items(content: Option<&Json>) -> Vec<Json> {
    let normal = |item: &Json| {
        let cached = item.flag("cache_prompt") == Some(true);
        let kind = item.text("type").unwrap_or("text");
        let (field, value) = if kind == "image" {
            ("image_urls", item.get("image_urls").cloned())
        } else {
            ("text", item.get("text").cloned())
        };
        let mut all = object! { "cache_prompt" => cached, "type" => kind };
        all.set(field, value);
        all
    };
    match content {
        Some(Json::Array(items)) => items.iter().map(normal).collect(),
        Some(Json::Text(text)) => vec![text_content(text)],
        _ => Vec::new(),
    }
}

/// The `llm_message` of a message event.
pub(super) fn llm_message(role: &str, content: Vec<Json>) -> Json {
    object! {
        "role" => role,
        "content" => content,
        "tool_calls" => Json::Null,
        "tool_call_id" => Json::Null,
        "name" => Json::Null,
        "reasoning_content" => Json::Null,
        "thinking_blocks" => Vec::new(),
        "responses_reasoning_item" => Json::Null,
    }
}

impl State {
    /// Sets up the agent on the first message or run: its tools, and the system prompt.
    pub(super) fn prepare_agent(&mut self) -> Result<(), Failure> {
        if self.tools.is_some() {
            return Ok(());
        }
        let tools = tools_of(&self.agent, &self.client_tools)?;
        if self.log.branch().iter().any(|event| event.kind == "SystemPromptEvent") {
            // A fork begins with its source's.
            self.tools = Some(tools);
            return Ok(());
        }
        if !self.hooks.is_null() {
            self.hook_config = self.hooks.clone();
            self.log.append_state("hook_config", self.hooks.clone());
        }
        let context = self.agent.has_context().then(|| text_content("A scripted agent has no context."));
        let fields = object! {
            "system_prompt" => text_content("You are a scripted agent."),
            "tools" => tools.iter().map(|tool| tool.listing.clone()).collect::<Vec<_>>(),
            "dynamic_context" => context,
        };
        self.tools = Some(tools);
        self.log.append("agent", "SystemPromptEvent", fields);
        Ok(())
    }

    /// Appends a user's message. The caller starts a run if one is wanted.
    pub(super) fn add_user_message(&mut self, content: Vec<Json>) -> Result<(), Failure> {
        self.prepare_agent()?;
        if matches!(self.status, Status::Finished | Status::Stuck) {
            self.set_status(Status::Idle);
        }
        let fields = object! {
            "llm_message" => llm_message("user", content),
            "llm_response_id" => Json::Null,
            "activated_skills" => Vec::new(),
            "extended_content" => Vec::new(),
            "sender" => Json::Null,
            "critic_result" => Json::Null,
        };
        let id = self.log.append("user", "MessageEvent", fields).id.clone();
        self.last_user_message = Some(id.clone());
        self.log.append_state("last_user_message_id", id.into());
        if self.autotitle && self.title.is_none() {
            self.title = Some("Scripted title".to_owned());
        }
        self.touch();
        Ok(())
    }

    pub(super) fn set_status(&mut self, status: Status) {
        if self.status != status {
            self.status = status;
            self.log.append_state("execution_status", status.name().into());
            self.touch();
        }
    }

    /// The chat-completion request that this state would lead to.
    pub(super) fn llm_request(&self) -> Json {
        let mut messages: Vec<Json> = Vec::new();
        let mut response = String::new();
        for event in self.log.branch() {
            if event.kind == "ActionEvent" {
                let call = tool_call(event);
                let same = event.field("llm_response_id") == response;
                event.field("llm_response_id").clone_into(&mut response);
                match messages.last_mut().filter(|_| same).and_then(|message| calls_of(message)) {
                    Some(calls) => calls.push(call),
                    None => messages.push(object! {
                        "role" => "assistant",
                        "content" => plain_text(event.wire.get("thought")),
                        "tool_calls" => vec![call],
                    }),
                }
            } else {
                messages.extend(message_of(event));
            }
        }
        let tools = self.tools.iter().flatten().map(|tool| Json::from(&tool.name)).collect::<Vec<_>>();
        object! {
            "model" => self.agent.model(),
            "messages" => messages,
            "tools" => tools,
            "stream" => self.agent.streams(),
        }
    }
}

fn calls_of(message: &mut Json) -> Option<&mut Vec<Json>> {
    match message.as_object_mut().and_then(|message| message.get_mut("tool_calls")) {
        Some(Json::Array(calls)) => Some(calls),
        _ => None,
    }
}

fn tool_call(event: &Event) -> Json {
    let call = event.wire.get("tool_call").cloned().unwrap_or_default();
    let function = object! { "name" => call.get("name").cloned(), "arguments" => call.get("arguments").cloned() };
    object! { "id" => call.get("id").cloned(), "type" => "function", "function" => function }
}

fn plain_text(content: Option<&Json>) -> String {
    let items = content.and_then(Json::as_array).unwrap_or_default();
    items.iter().filter_map(|item| item.text("text")).collect::<Vec<_>>().join("\n")
}

/// The message that an event other than an action stands for.
fn message_of(event: &Event) -> Option<Json> {
    let tool = |text: String| {
        object! {
            "role" => "tool",
            "content" => text,
            "tool_call_id" => event.field("tool_call_id"),
            "name" => event.field("tool_name"),
        }
    };
    match event.kind.as_str() {
        "SystemPromptEvent" => {
            let prompt = event.wire.get("system_prompt").and_then(|prompt| prompt.text("text"));
            Some(object! { "role" => "system", "content" => prompt })
        }
        "MessageEvent" => {
            let message = event.wire.get("llm_message")?;
            Some(object! { "role" => message.text("role"), "content" => plain_text(message.get("content")) })
        }
        "ObservationEvent" => {
            let observation = event.wire.get("observation")?;
            Some(tool(plain_text(observation.get("content"))))
        }
        "UserRejectObservation" => Some(tool(format!("Action rejected: {}", event.field("rejection_reason")))),
        "AgentErrorEvent" => Some(tool(event.field("error").to_owned())),
        _ => None,
    }
}
