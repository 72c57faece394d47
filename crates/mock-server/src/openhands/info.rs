//! What the server shows of a conversation: `ConversationInfo`, `full_state`, `stats`.

use crate::json::{Json, Object};
use crate::object;

use super::conversation::{LlmCall, State};
use super::log::Frame;

/// Tokens of every scripted call.
const PROMPT_TOKENS: u64 = 10;
const COMPLETION_TOKENS: u64 = 5;

/// How much of the metrics is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Totals only, as in a `stats` event.
    Totals,
    /// Everything.
    Lists,
}

fn usage(model: &str, calls: u64, per_turn: u64, response_id: &str) -> Json {
    object! {
        "model" => model,
        "prompt_tokens" => PROMPT_TOKENS * calls,
        "completion_tokens" => COMPLETION_TOKENS * calls,
        "cache_read_tokens" => 0u64,
        "cache_write_tokens" => 0u64,
        "reasoning_tokens" => 0u64,
        "context_window" => 0u64,
        "per_turn_token" => per_turn,
        "response_id" => response_id,
    }
}

/// What one LLM of the agent did.
fn metrics(model: &str, calls: &[LlmCall], detail: Detail) -> Json {
    let per_turn = if calls.is_empty() { 0 } else { PROMPT_TOKENS + COMPLETION_TOKENS };
    let mut metrics = object! {
        "model_name" => model,
        "accumulated_cost" => 0.0,
        "max_budget_per_task" => Json::Null,
        "accumulated_token_usage" => usage(model, calls.len() as u64, per_turn, ""),
    };
    if detail == Detail::Lists {
        let latencies = calls.iter().map(|call| {
            object! { "model" => model, "latency" => call.latency, "response_id" => &call.response_id }
        });
        let usages = calls.iter().map(|call| usage(model, 1, per_turn, &call.response_id));
        metrics.set("costs", Vec::new());
        metrics.set("response_latencies", latencies.collect::<Vec<_>>());
        metrics.set("token_usages", usages.collect::<Vec<_>>());
    }
    metrics
}

fn stats(state: &State, detail: Detail) -> Json {
    let mut by_usage = Object::new();
    // Entries appear with the agent's tools: when the first message or run sets it up.
    if state.tools.is_some() {
        let model = state.agent.model();
        by_usage.set(&state.agent.usage_id(), metrics(&model, &state.calls, detail));
        if let Some(llm) = state.agent.condenser().and_then(|condenser| condenser.get("llm")) {
            let model = llm.text("model").unwrap_or_default();
            by_usage.set(llm.text("usage_id").unwrap_or("condenser"), metrics(model, &[], detail));
        }
    }
    object! { "usage_to_metrics" => by_usage }
}

fn empty() -> Json {
    Object::new().into()
}

/// The body of `GET /api/conversations/{id}`: nulls included.
pub(super) fn conversation_info(state: &State) -> Json {
    object! {
        "id" => state.id.to_string(),
        "workspace" => state.workspace.clone(),
        "persistence_dir" => format!("workspace/conversations/{}", state.id.simple()),
        "max_iterations" => state.max_iterations,
        "stuck_detection" => state.stuck_detection,
        "execution_status" => state.status.name(),
        "confirmation_policy" => state.policy.clone(),
        "security_analyzer" => state.analyzer.clone(),
        "activated_knowledge_skills" => Vec::new(),
        "invoked_skills" => Vec::new(),
        "blocked_actions" => state.blocked.clone(),
        "blocked_messages" => empty(),
        "last_user_message_id" => state.last_user_message.clone(),
        "leaf_event_id" => state.log.leaf(),
        "stats" => stats(state, Detail::Lists),
        "secret_registry" => object! { "secret_sources" => empty() },
        "agent_state" => empty(),
        "hook_config" => state.hook_config.clone(),
        "title" => state.title.clone(),
        "metrics" => Json::Null,
        "created_at" => &state.created_at,
        "updated_at" => &state.updated_at,
        "forked_from_conversation_id" => state.forked_from.as_ref().map(|(id, _)| id.to_string()),
        "forked_from_event_id" => state.forked_from.as_ref().and_then(|(_, event)| event.clone()),
        "parent_conversation_id" => state.parent.map(|id| id.to_string()),
        "sub_conversation_ids" => Vec::new(),
        "tags" => state.tags.clone(),
        "current_model_id" => Json::Null,
        "available_models" => Vec::new(),
        "supports_runtime_model_switch" => false,
        "launched_agent_profile" => Json::Null,
        "agent" => state.agent.in_info(),
        "client_tools" => state.client_tools.clone(),
        "tool_module_qualnames" => state.agent.tool_modules(),
        "runtime_info" => Json::Null,
    }
}

/// What `GET` adds to the info and `POST` does not.
pub(super) fn runtime_info() -> Json {
    object! { "runtime_status" => "available", "can_resume" => true, "runtime_error" => Json::Null }
}

/// The value of a `full_state` update: without nulls, without client tools and title.
fn full_state(state: &State) -> Json {
    let value = object! {
        "id" => state.id.to_string(),
        // Holds its place; an agent keeps some nulls.
        "agent" => empty(),
        "workspace" => state.workspace.clone(),
        "persistence_dir" => format!("workspace/conversations/{}", state.id.simple()),
        "max_iterations" => state.max_iterations,
        "stuck_detection" => state.stuck_detection,
        "execution_status" => state.status.name(),
        "confirmation_policy" => state.policy.clone(),
        "security_analyzer" => state.analyzer.clone(),
        "activated_knowledge_skills" => Vec::new(),
        "activated_path_rules" => Vec::new(),
        "invoked_skills" => Vec::new(),
        "blocked_actions" => state.blocked.clone(),
        "blocked_messages" => empty(),
        "last_user_message_id" => state.last_user_message.clone(),
        "leaf_event_id" => state.log.leaf(),
        "head_is_empty" => state.log.head_is_empty(),
        "stats" => stats(state, Detail::Lists),
        "secret_registry" => object! { "secret_sources" => empty() },
        "tags" => state.tags.clone(),
        "agent_state" => empty(),
        "hook_config" => state.hook_config.clone(),
    };
    let mut value = value.without_nulls(&[]);
    value.set("agent", state.agent.in_state());
    value
}

impl State {
    /// A frame with the whole state.
    pub(super) fn full_state_frame(&self) -> Frame {
        let fields = object! { "key" => "full_state", "value" => full_state(self) };
        Frame::Transient(self.log.passing("environment", "ConversationStateUpdateEvent", fields))
    }

    pub(super) fn publish_full_state(&mut self) {
        let frame = self.full_state_frame();
        self.log.publish(&frame);
    }

    pub(super) fn publish_stats(&mut self) {
        let value = stats(self, Detail::Totals);
        self.log.append_state("stats", value);
    }
}
