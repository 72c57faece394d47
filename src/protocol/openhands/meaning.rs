//! What the events of a conversation mean to the house.

use crate::call::CallId;
use crate::protocol::{Delivery, Meaning, NoticeCode, Signal, Status};
use crate::tool::KnownTool;

use super::event::{Action, Event, Kind, StateUpdate};
use super::{arguments, info};

/// Reads events in their order. It remembers which calls the server has not answered yet, since some answers name the
/// model's `tool_call_id` only, which need not be unique.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) known: Vec<KnownTool>,
    /// Unanswered calls with their `tool_call_id`, in the order they were announced.
    open: Vec<(String, CallId)>,
}

/// An event that was read.
pub(super) struct Reading {
    pub(super) delivery: Delivery,
    /// Whether the event is in the log.
    pub(super) logged: bool,
    /// What it says beside its meaning.
    pub(super) asides: Vec<Signal>,
}

impl Reader {
    /// Reads an event; `None` when the text is no JSON object.
    pub(super) fn read(&mut self, raw: &str) -> Option<Reading> {
        let event = Event::read(raw)?;
        let logged = event.kind.is_logged();
        let mut asides = asides(&event.kind);
        asides.extend(self.refusal(&event.kind));
        let meanings = self.meanings(event.id.as_deref(), event.kind);
        Some(Reading { delivery: Delivery { id: event.id, raw: raw.to_owned(), meanings }, logged, asides })
    }

    fn meanings(&mut self, id: Option<&str>, kind: Kind) -> Vec<Meaning> {
        match kind {
            // Without a role there is no message in it.
            Kind::Message { role, .. } if role.is_empty() => Vec::new(),
            Kind::Message { source, role, text } => vec![Meaning::Message { role, source, text }],
            Kind::Action(action) => self.action(id, action),
            // The server's own word that the client may act. Deployments change its text, never its kind.
            Kind::Observation { action_id, client_tool: true, is_error: false } => {
                let call = CallId::new(action_id);
                self.answered(&call);
                vec![Meaning::Authorised { call }]
            }
            Kind::Observation { action_id, client_tool: true, is_error: true } => {
                let call = CallId::new(action_id);
                self.answered(&call);
                let reason = "the server acknowledged it as an error".to_owned();
                vec![Meaning::Withdrawn { call, tool: String::new(), reason }]
            }
            Kind::UserReject { action_id, tool_name, reason } => {
                let call = CallId::new(action_id);
                if self.answered(&call) || self.is_known(&tool_name) {
                    vec![Meaning::Rejected { call, tool: tool_name, reason }]
                } else {
                    Vec::new()
                }
            }
            Kind::AgentError { tool_call_id, tool_name, error } => match self.newest_open(&tool_call_id) {
                Some(call) => vec![Meaning::Withdrawn { call, tool: tool_name, reason: error }],
                None => Vec::new(),
            },
            Kind::StateUpdate(update) => state(&update),
            Kind::ConversationError { code, detail } => vec![Meaning::RunFailed { code, detail }],
            Kind::Observation { client_tool: false, .. }
            | Kind::ServerError { .. }
            | Kind::StreamingDelta { .. }
            | Kind::SystemPrompt
            | Kind::Pause
            | Kind::Interrupt
            | Kind::Condensation
            | Kind::CondensationRequest
            | Kind::CondensationSummary
            | Kind::HookExecution
            | Kind::CompletionLog
            | Kind::Token
            | Kind::AcpToolCall
            | Kind::SecurityAnalysis
            | Kind::Unknown(_) => Vec::new(),
        }
    }

    /// The server tells the agent of a call that never was one: it lacked an argument, or names no tool.
    fn refusal(&self, kind: &Kind) -> Option<Signal> {
        let Kind::AgentError { tool_call_id, tool_name, error } = kind else { return None };
        let message = [tool_name, ": ", error].concat();
        (!self.open.iter().any(|(id, _)| id == tool_call_id))
            .then_some(Signal::Notice { code: NoticeCode::CallRefused, message })
    }

    fn action(&mut self, id: Option<&str>, action: Action) -> Vec<Meaning> {
        let mut meanings = Vec::new();
        let says = |text: String| Meaning::Message { role: "assistant".into(), source: "agent".into(), text };
        if !action.thought.is_empty() {
            meanings.push(says(action.thought));
        }
        // Without an action the server found the call invalid and tells the agent so.
        let Some(encoded) = action.encoded else { return meanings };
        match (id, arguments::read(&encoded, &self.known)) {
            (Some(id), Some(client)) => {
                let call = CallId::new(id);
                self.open.push((action.tool_call_id, call.clone()));
                meanings.push(Meaning::Announced { call, tool: client.tool, arguments: client.arguments });
            }
            _ => meanings.extend(arguments::finish_message(&encoded).filter(|text| !text.is_empty()).map(says)),
        }
        meanings
    }

    /// Forgets an answered call. Whether it was open.
    fn answered(&mut self, call: &CallId) -> bool {
        let place = self.open.iter().position(|(_, open)| open == call);
        place.map(|place| self.open.remove(place)).is_some()
    }

    fn newest_open(&mut self, tool_call_id: &str) -> Option<CallId> {
        let place = self.open.iter().rposition(|(id, _)| id == tool_call_id)?;
        Some(self.open.remove(place).1)
    }

    fn is_known(&self, tool: &str) -> bool {
        self.known.iter().any(|known| known.name.as_str() == tool)
    }
}

/// Streamed text and things that went wrong.
fn asides(kind: &Kind) -> Vec<Signal> {
    match kind {
        Kind::StreamingDelta { content, reasoning } => {
            let delta = |reasoning, text: &Option<String>| {
                text.clone().map(|content| Signal::Delta { item: None, reasoning, content })
            };
            [delta(true, reasoning), delta(false, content)].into_iter().flatten().collect()
        }
        Kind::ServerError { code, detail } => vec![server_error(code, detail)],
        Kind::Unknown(name) => vec![Signal::Notice { code: NoticeCode::UnknownEvent, message: name.clone() }],
        _ => Vec::new(),
    }
}

/// The server could not do something that a socket asked of it.
pub(super) fn server_error(code: &str, detail: &str) -> Signal {
    Signal::Notice { code: NoticeCode::ServerError, message: [code, ": ", detail].concat() }
}

fn state(update: &StateUpdate) -> Vec<Meaning> {
    match update {
        StateUpdate::Full { status, gate } => {
            let meaning = match info::status(status) {
                Status::Running => Meaning::Status(Status::Running),
                status => Meaning::TurnOver(status),
            };
            vec![Meaning::Gate(*gate), meaning]
        }
        StateUpdate::Status(status) => vec![Meaning::Status(info::status(status))],
        StateUpdate::Policy { gate } => vec![Meaning::Gate(*gate)],
        StateUpdate::Other => Vec::new(),
    }
}
