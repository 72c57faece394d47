//! What one answer of the LLM does to the conversation.

use std::collections::HashSet;
use std::sync::Arc;

use crate::json::{Json, python_repr};
use crate::object;
use crate::script::{Answer, Call, Turn};

use super::arguments::{Invalid, Valid, check};
use super::conversation::{LlmCall, State, Status};
use super::event::Event;
use super::failure::classification;
use super::messages::{llm_message, text_content};
use super::observation::observe;
use super::tools::Tool;

const SUPERSEDED: &str = "Superseded by a new user message";
const INTERRUPTED: &str = "Tool call interrupted before completion. The conversation was paused.";

/// How the run goes on.
#[derive(Debug)]
pub(super) enum Next {
    /// With a call of the LLM.
    Think,
    /// With the tools that it called.
    Work(Batch),
    /// Not at all.
    Stop,
}

/// Actions to carry out together.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) actions: Vec<Arc<Event>>,
    /// Whether a user message came in while the LLM was thinking, and this server notices.
    pub(super) overtaken: bool,
}

/// An answer with what is needed to place it.
pub(super) struct Delivery<'a> {
    pub(super) turn: &'a Turn,
    pub(super) latency: f64,
    /// The id of the event that closes the stream slot.
    pub(super) item: &'a str,
    /// Whether a user message came in while the LLM was thinking, and this server notices.
    pub(super) overtaken: bool,
    /// Whether such a message rejects what would wait for confirmation.
    pub(super) supersedes: bool,
}

impl State {
    /// Carries out an answer.
    pub(super) fn deliver(&mut self, delivery: &Delivery<'_>) -> Next {
        match &delivery.turn.answer {
            Answer::Error { status, message } => {
                self.fail_llm(*status, message);
                Next::Stop
            }
            Answer::Message { text, calls } => {
                let response_id = delivery.turn.response_id.clone();
                self.calls.push(LlmCall { response_id, latency: delivery.latency });
                self.publish_stats();
                if calls.is_empty() {
                    self.say(text.as_deref().unwrap_or_default(), delivery);
                    return self.finish(delivery.overtaken);
                }
                self.work = delivery.turn.work.clone();
                self.act(text.as_deref(), calls, delivery)
            }
        }
    }

    fn say(&mut self, text: &str, delivery: &Delivery<'_>) {
        let content = if text.is_empty() { Vec::new() } else { vec![text_content(text)] };
        let fields = object! {
            "llm_message" => llm_message("assistant", content),
            "llm_response_id" => &delivery.turn.response_id,
            "activated_skills" => Vec::new(),
            "extended_content" => Vec::new(),
            "sender" => Json::Null,
            "critic_result" => Json::Null,
        };
        self.log.append_as(delivery.item, "agent", "MessageEvent", fields);
    }

    fn finish(&mut self, overtaken: bool) -> Next {
        if overtaken {
            return Next::Think;
        }
        self.set_status(Status::Finished);
        if self.stop_is_blocked() {
            self.set_status(Status::Running);
            return Next::Think;
        }
        Next::Stop
    }

    fn act(&mut self, text: Option<&str>, calls: &[Call], delivery: &Delivery<'_>) -> Next {
        let mut batch = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            let thought = text.filter(|text| index == 0 && !text.is_empty());
            let id = if index == 0 { delivery.item.to_owned() } else { uuid::Uuid::new_v4().to_string() };
            batch.extend(self.announce(&id, thought, call, &delivery.turn.response_id));
        }
        if batch.is_empty() {
            return Next::Think;
        }
        if self.asks_first(&batch) {
            self.set_status(Status::Waiting);
            if !(delivery.overtaken && delivery.supersedes) {
                return Next::Stop;
            }
            self.reject_pending(SUPERSEDED);
            self.set_status(Status::Running);
            return Next::Think;
        }
        self.busy.send_replace(true);
        Next::Work(Batch { actions: batch, overtaken: delivery.overtaken })
    }

    /// Emits the `ActionEvent` of a call, and its error if it is invalid; a valid one comes back.
    pub(super) fn announce(
        &mut self,
        id: &str,
        thought: Option<&str>,
        call: &Call,
        response_id: &str,
    ) -> Option<Arc<Event>> {
        let (name, checked) = self.check_call(call);
        let judged = self.has_analyzer();
        let (arguments, risk) = match &checked {
            Ok(valid) => (&valid.arguments, valid.risk.clone().filter(|_| judged)),
            Err(invalid) => (&invalid.arguments, None),
        };
        let risk = risk.unwrap_or_else(|| "UNKNOWN".to_owned());
        let fields = object! {
            "thought" => thought.map(text_content).into_iter().collect::<Vec<_>>(),
            "reasoning_content" => Json::Null,
            "thinking_blocks" => Vec::new(),
            "responses_reasoning_item" => Json::Null,
            "action" => checked.as_ref().ok().map(|valid| valid.action.clone()),
            "tool_name" => &name,
            "tool_call_id" => &call.id,
            "tool_call" => object! {
                "id" => &call.id,
                "responses_item_id" => Json::Null,
                "name" => &name,
                "arguments" => arguments,
                "origin" => "completion",
            },
            "llm_response_id" => response_id,
            "security_risk" => &risk,
            "critic_result" => Json::Null,
            "summary" => checked.as_ref().ok().map(|valid| valid.summary.clone()),
        };
        let head = self.log.head();
        if let Ok(valid) = &checked {
            self.before_tool(&name, id, &valid.action);
        }
        let single = checked.as_ref().ok().map(|valid| valid.single_action.clone());
        let event = self.log.append_action(id, head, fields, single);
        match checked {
            Ok(_) => Some(event),
            Err(invalid) => {
                self.agent_error(&name, &call.id, &invalid.error);
                None
            }
        }
    }

    fn report_risks(&mut self, batch: &[Arc<Event>]) {
        let mut risks = object! {};
        for event in batch {
            risks.set(&event.id, event.field("security_risk"));
        }
        let fields = object! {
            "analyzer" => self.analyzer.text("kind"),
            "policy" => self.policy.text("kind"),
            "risks" => risks,
            "details" => object! {},
        };
        self.log.append("environment", "SecurityAnalysisEvent", fields);
    }

    pub(super) fn agent_error(&mut self, tool: &str, call: &str, error: &str) {
        let fields = object! {
            "tool_name" => tool,
            "tool_call_id" => call,
            "error" => error,
            "classification" => classification("agent_action", true, "retry"),
        };
        self.log.append("agent", "AgentErrorEvent", fields);
    }

    fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().flatten().find(|tool| tool.name == name)
    }

    fn check_call(&self, call: &Call) -> (String, Result<Valid, Invalid>) {
        // Some models let their markup run into the name.
        let cut = call.name.split("</").next().unwrap_or_default();
        let name = if self.tool(&call.name).is_none() && self.tool(cut).is_some() { cut } else { &call.name };
        let checked = if let Some(tool) = self.tool(name) {
            check(tool, &call.arguments, self.has_analyzer())
        } else {
            let names = self.tools.iter().flatten().map(|tool| Json::from(&tool.name)).collect();
            let names = python_repr(&Json::Array(names));
            Err(Invalid {
                error: format!("Tool '{name}' not found. Available: {names}"),
                arguments: call.arguments.clone(),
            })
        };
        (name.to_owned(), checked)
    }

    /// Whether the policy wants the user's consent: all or nothing for one answer of the LLM.
    fn asks_first(&mut self, batch: &[Arc<Event>]) -> bool {
        // A lone `finish` or `think` is neither judged nor confirmed.
        if let [only] = batch
            && ["finish", "think"].contains(&only.field("tool_name"))
        {
            return false;
        }
        if self.has_analyzer() {
            self.report_risks(batch);
        }
        let level = |risk: &str| ["LOW", "MEDIUM", "HIGH"].iter().position(|level| *level == risk);
        match self.policy.text("kind") {
            Some("AlwaysConfirm") => true,
            Some("ConfirmRisky") => batch.iter().any(|action| match level(action.field("security_risk")) {
                None => self.policy.flag("confirm_unknown") == Some(true),
                found => found >= level(self.policy.text("threshold").unwrap_or("HIGH")),
            }),
            _ => false,
        }
    }

    /// Emits the observations of a batch up to a `finish`.
    pub(super) fn execute(&mut self, batch: &Batch) -> Next {
        for action in &batch.actions {
            let name = action.field("tool_name").to_owned();
            let Some(tool) = self.tool(&name).cloned() else { continue };
            if let Some(reason) = self.unblock(&action.id) {
                self.reject(action, &reason, "hook");
                continue;
            }
            let head = self.log.head();
            let observation = observe(&tool, action);
            let input = action.full.get("action").cloned().unwrap_or_default();
            self.after_tool(&name, &action.id, input, &observation);
            let fields = object! {
                "tool_name" => &name,
                "tool_call_id" => action.field("tool_call_id"),
                "observation" => observation,
                "action_id" => &action.id,
                "extended_content" => Vec::new(),
            };
            self.log.append_observation(head, fields);
            if tool.action == "FinishAction" {
                return self.finish(batch.overtaken);
            }
        }
        Next::Think
    }

    /// Actions that nothing has answered yet, in order.
    pub(super) fn pending(&self) -> Vec<Arc<Event>> {
        let branch = self.log.branch();
        let (mut actions, mut calls) = (HashSet::new(), HashSet::new());
        for event in &branch {
            match event.kind.as_str() {
                "ObservationEvent" | "UserRejectObservation" => actions.insert(event.field("action_id")),
                "AgentErrorEvent" => calls.insert(event.field("tool_call_id")),
                _ => continue,
            };
        }
        let waits = |event: &&&Arc<Event>| {
            event.kind == "ActionEvent"
                && event.wire.get("action").is_some()
                && !actions.contains(event.id.as_str())
                && !calls.contains(event.field("tool_call_id"))
        };
        branch.iter().filter(waits).map(|event| Arc::clone(event)).collect()
    }

    /// Tells of every call that an interrupt cut off.
    pub(super) fn drop_pending(&mut self) {
        for action in self.pending() {
            self.agent_error(action.field("tool_name"), action.field("tool_call_id"), INTERRUPTED);
        }
    }

    fn reject(&mut self, action: &Event, reason: &str, source: &str) {
        let fields = object! {
            "tool_name" => action.field("tool_name"),
            "tool_call_id" => action.field("tool_call_id"),
            "rejection_reason" => reason,
            "rejection_source" => source,
            "action_id" => &action.id,
        };
        self.log.append("environment", "UserRejectObservation", fields);
    }

    /// Rejects what waits for confirmation.
    pub(super) fn reject_pending(&mut self, reason: &str) {
        let pending = self.pending();
        self.set_status(Status::Idle);
        for action in pending {
            self.reject(&action, reason, "user");
        }
    }
}
