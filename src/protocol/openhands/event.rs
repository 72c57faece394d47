//! The events of the log and of the moment.
//!
//! Decoding is lenient: an absent field, a null and a value of an unexpected type are the same, and a kind that this version
//! does not know is kept under its name. Only text that is no JSON object fails.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::info::Guards;

/// An event, as far as the house acts on it. Fields hold what the server may leave out as `Option`.
pub(super) struct Event<'a> {
    pub(super) id: Option<String>,
    pub(super) kind: Kind<'a>,
}

/// What an event is. Kinds whose content only the app reads carry none here: it gets them as they came.
#[derive(Debug)]
pub(super) enum Kind<'a> {
    Message { source: String, role: String, text: String },
    Action(Action<'a>),
    Observation { action_id: String, client_tool: bool, is_error: bool },
    UserReject { action_id: String, tool_name: String, reason: String },
    AgentError { tool_call_id: String, tool_name: String, error: String },
    StateUpdate(StateUpdate<'a>),
    ConversationError { code: String, detail: String },
    ServerError { code: String, detail: String },
    StreamingDelta { content: Option<String>, reasoning: Option<String> },
    SystemPrompt,
    Pause,
    Interrupt,
    Condensation,
    CondensationRequest,
    CondensationSummary,
    HookExecution,
    CompletionLog,
    Token,
    AcpToolCall,
    SecurityAnalysis,
    Unknown(String),
}

/// An `ActionEvent`. Without `action` the server found the call invalid and will say so.
#[derive(Debug)]
pub(super) struct Action<'a> {
    pub(super) tool_call_id: String,
    pub(super) encoded: Option<&'a RawValue>,
    pub(super) thought: String,
}

/// A `ConversationStateUpdateEvent`.
#[derive(Debug)]
pub(super) enum StateUpdate<'a> {
    /// The whole state: told on subscription and after every run.
    Full {
        status: Option<&'a RawValue>,
        gate: Option<&'static str>,
    },
    Status(&'a RawValue),
    Policy {
        gate: Option<&'static str>,
    },
    Other,
}

/// Every field that the house reads of any kind, as text: so that a value of another type fails nothing.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Fields<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    llm_message: Option<&'a RawValue>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    thought: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_name: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    action_id: Option<&'a RawValue>,
    #[serde(borrow)]
    observation: Option<&'a RawValue>,
    #[serde(borrow)]
    rejection_reason: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    key: Option<&'a RawValue>,
    #[serde(borrow)]
    value: Option<&'a RawValue>,
    #[serde(borrow)]
    code: Option<&'a RawValue>,
    #[serde(borrow)]
    detail: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_content: Option<&'a RawValue>,
}

/// Fields of the objects inside events.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Inner<'a> {
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    role: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    is_error: Option<&'a RawValue>,
    #[serde(borrow)]
    execution_status: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

impl<'a> Event<'a> {
    /// Reads an event; `None` when the text is no JSON object.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        // A list would do for a struct, too.
        let text = text.trim_start();
        let fields: Fields<'a> = text.starts_with('{').then(|| serde_json::from_str(text).ok())??;
        let id = string(fields.id);
        let kind = string(fields.kind).unwrap_or_default();
        Some(Self { id, kind: Kind::read(kind, &fields) })
    }
}

impl<'a> Kind<'a> {
    fn read(kind: String, fields: &Fields<'a>) -> Self {
        let text = |field| string(field).unwrap_or_default();
        match kind.as_str() {
            "MessageEvent" => {
                let message = inner(fields.llm_message);
                let (role, text_of) = (text(message.role), joined(message.content));
                Self::Message { source: text(fields.source), role, text: text_of }
            }
            "ActionEvent" => Self::Action(Action {
                tool_call_id: text(fields.tool_call_id),
                encoded: fields.action,
                thought: joined(fields.thought),
            }),
            "ObservationEvent" => {
                let observation = inner(fields.observation);
                Self::Observation {
                    action_id: text(fields.action_id),
                    client_tool: text(observation.kind) == "ClientToolObservation",
                    is_error: observation.is_error.is_some_and(|flag| flag.get() == "true"),
                }
            }
            "UserRejectObservation" => Self::UserReject {
                action_id: text(fields.action_id),
                tool_name: text(fields.tool_name),
                reason: text(fields.rejection_reason),
            },
            "AgentErrorEvent" => Self::AgentError {
                tool_call_id: text(fields.tool_call_id),
                tool_name: text(fields.tool_name),
                error: text(fields.error),
            },
            "ConversationStateUpdateEvent" => Self::StateUpdate(StateUpdate::read(&text(fields.key), fields.value)),
            "ConversationErrorEvent" => {
                Self::ConversationError { code: text(fields.code), detail: text(fields.detail) }
            }
            "ServerErrorEvent" => Self::ServerError { code: text(fields.code), detail: text(fields.detail) },
            "StreamingDeltaEvent" => {
                Self::StreamingDelta { content: string(fields.content), reasoning: string(fields.reasoning_content) }
            }
            "SystemPromptEvent" => Self::SystemPrompt,
            "PauseEvent" => Self::Pause,
            "InterruptEvent" => Self::Interrupt,
            "Condensation" => Self::Condensation,
            "CondensationRequest" => Self::CondensationRequest,
            "CondensationSummaryEvent" => Self::CondensationSummary,
            "HookExecutionEvent" => Self::HookExecution,
            "LLMCompletionLogEvent" => Self::CompletionLog,
            "TokenEvent" => Self::Token,
            "ACPToolCallEvent" => Self::AcpToolCall,
            "SecurityAnalysisEvent" => Self::SecurityAnalysis,
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

impl<'a> StateUpdate<'a> {
    fn read(key: &str, value: Option<&'a RawValue>) -> Self {
        match (key, value) {
            ("full_state", Some(state)) => {
                let guards: Guards = serde_json::from_str(state.get()).unwrap_or_default();
                Self::Full { status: inner(Some(state)).execution_status, gate: guards.gate() }
            }
            ("execution_status", Some(status)) => Self::Status(status),
            ("confirmation_policy", Some(policy)) => {
                let confirmation_policy = serde_json::from_str(policy.get()).unwrap_or_default();
                let guards = Guards { confirmation_policy, ..Guards::default() };
                Self::Policy { gate: guards.gate() }
            }
            _ => Self::Other,
        }
    }
}

/// The text of a JSON string.
pub(super) fn string(value: Option<&RawValue>) -> Option<String> {
    value.and_then(|value| serde_json::from_str(value.get()).ok())
}

/// The text of a list of content parts, joined by line breaks.
fn joined(parts: Option<&RawValue>) -> String {
    let parts: Vec<&RawValue> = parts.and_then(|parts| serde_json::from_str(parts.get()).ok()).unwrap_or_default();
    let texts: Vec<String> = parts.into_iter().filter_map(|part| string(inner(Some(part)).text)).collect();
    texts.join("\n")
}

fn inner(value: Option<&RawValue>) -> Inner<'_> {
    value.and_then(|value| serde_json::from_str(value.get()).ok()).unwrap_or_default()
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
