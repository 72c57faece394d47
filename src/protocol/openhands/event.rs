//! The events of the log and of the moment.
//!
//! Decoding is lenient: an absent field, a null and a value of an unexpected type are the same, and a kind that this version
//! does not know is kept under its name. Only text that is no JSON object fails.

use crate::json::{Json, Object};

use super::info;

/// An event, as far as the house acts on it. Fields hold what the server may leave out as `Option`.
pub(super) struct Event<'a> {
    pub(super) id: Option<String>,
    pub(super) kind: Kind<'a>,
}

/// Kinds whose content only the app reads: it gets them as they came.
const ONLY_TOLD: [&str; 11] = [
    "SystemPromptEvent",
    "PauseEvent",
    "InterruptEvent",
    "Condensation",
    "CondensationRequest",
    "CondensationSummaryEvent",
    "HookExecutionEvent",
    "LLMCompletionLogEvent",
    "TokenEvent",
    "ACPToolCallEvent",
    "SecurityAnalysisEvent",
];

/// What an event is.
#[derive(Debug)]
pub(super) enum Kind<'a> {
    Message { source: String, role: String, text: String },
    Action(Action<'a>),
    Observation { action_id: String, tool_name: String, client_tool: bool, is_error: bool },
    UserReject { action_id: String, tool_name: String, reason: String },
    AgentError { tool_call_id: String, tool_name: String, error: String },
    StateUpdate(StateUpdate),
    ConversationError { code: String, detail: String },
    ServerError { code: String, detail: String },
    StreamingDelta { content: Option<String>, reasoning: Option<String> },
    OnlyTold,
    Unknown(String),
}

/// An `ActionEvent`. Without `action` the server found the call invalid and will say so.
#[derive(Debug)]
pub(super) struct Action<'a> {
    pub(super) tool_call_id: String,
    pub(super) tool_name: String,
    pub(super) encoded: Option<Object<'a>>,
    pub(super) thought: String,
    pub(super) summary: Option<String>,
    pub(super) risk: Option<String>,
}

/// A `ConversationStateUpdateEvent`.
#[derive(Debug)]
pub(super) enum StateUpdate {
    /// The whole state: told on subscription and after every run.
    Full {
        status: String,
        gate: Option<&'static str>,
    },
    Status(String),
    Policy {
        gate: Option<&'static str>,
    },
    Other,
}

impl<'a> Event<'a> {
    /// Reads an event; `None` when the text is no JSON object.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        Self::of(Json::read(text)?)
    }

    /// The event that a value is; `None` when it is no object.
    pub(super) fn of(value: Json<'a>) -> Option<Self> {
        let fields = Object::of(value)?;
        Some(Self { id: fields.string("id"), kind: Kind::read(&fields) })
    }
}

impl<'a> Kind<'a> {
    fn read(fields: &Object<'a>) -> Self {
        let kind = fields.text("kind");
        match kind.as_str() {
            "MessageEvent" => {
                let message = fields.object("llm_message");
                let (role, text) = (message.text("role"), joined(message.list("content")));
                Self::Message { source: fields.text("source"), role, text }
            }
            "ActionEvent" => Self::Action(Action {
                tool_call_id: fields.text("tool_call_id"),
                tool_name: fields.text("tool_name"),
                summary: fields.string("summary"),
                risk: fields.string("security_risk"),
                encoded: fields.get("action").and_then(Object::of),
                thought: joined(fields.list("thought")),
            }),
            "ObservationEvent" => {
                let observation = fields.object("observation");
                Self::Observation {
                    action_id: fields.text("action_id"),
                    tool_name: fields.text("tool_name"),
                    client_tool: observation.text("kind") == "ClientToolObservation",
                    is_error: observation.flag("is_error"),
                }
            }
            "UserRejectObservation" => Self::UserReject {
                action_id: fields.text("action_id"),
                tool_name: fields.text("tool_name"),
                reason: fields.text("rejection_reason"),
            },
            "AgentErrorEvent" => Self::AgentError {
                tool_call_id: fields.text("tool_call_id"),
                tool_name: fields.text("tool_name"),
                error: fields.text("error"),
            },
            "ConversationStateUpdateEvent" => Self::StateUpdate(StateUpdate::read(fields)),
            "ConversationErrorEvent" => {
                Self::ConversationError { code: fields.text("code"), detail: fields.text("detail") }
            }
            "ServerErrorEvent" => Self::ServerError { code: fields.text("code"), detail: fields.text("detail") },
            "StreamingDeltaEvent" => Self::StreamingDelta {
                content: fields.string("content"),
                reasoning: fields.string("reasoning_content"),
            },
            other if ONLY_TOLD.contains(&other) => Self::OnlyTold,
            _ => Self::Unknown(kind),
        }
    }

    /// Whether the event is in the log: what is told only of the moment cannot be asked for again.
    pub(super) fn is_logged(&self) -> bool {
        !matches!(
            self,
            Self::StateUpdate(StateUpdate::Full { .. }) | Self::ServerError { .. } | Self::StreamingDelta { .. }
        )
    }
}

impl StateUpdate {
    fn read(fields: &Object) -> Self {
        match fields.text("key").as_str() {
            "full_state" => {
                let state = fields.object("value");
                Self::Full { status: state.text("execution_status"), gate: info::gate(&state) }
            }
            "execution_status" => Self::Status(fields.text("value")),
            "confirmation_policy" => Self::Policy { gate: info::policy_gate(&fields.object("value")) },
            _ => Self::Other,
        }
    }
}

/// The text of a list of content parts, joined by line breaks.
pub(super) fn joined(parts: Option<Vec<Json>>) -> String {
    let text = |part: Json| Object::of(part).and_then(|part| part.string("text"));
    let texts: Vec<String> = parts.unwrap_or_default().into_iter().filter_map(text).collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_fields_odd_types_and_unknown_keys_fail_nothing() {
        for text in [
            r#"{"kind":"ActionEvent","id":null,"action":null,"tool_name":7,"thought":{}}"#,
            r#"{"kind":"ObservationEvent","observation":[]}"#,
            r#"{"kind":"MessageEvent","llm_message":"x","new_key":{"deep":[1]}}"#,
            r#"{"kind":"ConversationStateUpdateEvent","key":"full_state","value":5}"#,
            r#"{"kind":7}"#,
            "{}",
        ] {
            assert!(Event::read(text).is_some(), "{text}");
        }
    }

    #[test]
    fn a_kind_of_the_future_is_kept_under_its_name() {
        let event = Event::read(r#"{"id":"e","kind":"HologramEvent"}"#).unwrap();
        assert!(matches!(event.kind, Kind::Unknown(name) if name == "HologramEvent"));
    }

    #[test]
    fn text_that_is_no_object_is_no_event() {
        for text in ["", "[]", "null", "5", r#"{"id":"#] {
            assert!(Event::read(text).is_none(), "{text}");
        }
    }
}
