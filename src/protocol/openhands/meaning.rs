//! What the events of a conversation mean to the house.

use crate::call::CallId;
use crate::protocol::{Delivery, Meaning, NoticeCode, PendingCall, Schemas, Signal, Status};
use crate::tool::KnownTool;

use super::event::{Action, Event, Kind, StateUpdate};
use super::{arguments, info};

/// Unanswered actions kept. More than that were left behind by turns that are over.
const OPEN: usize = 1_024;

/// Reads events in their order. It remembers which actions the server has not answered yet: a person may be asked about
/// them, and some answers name the model's `tool_call_id` only, which need not be unique.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) known: Vec<KnownTool>,
    /// Unanswered actions, in the order they were announced.
    open: Vec<Open>,
}

/// An action without an answer.
struct Open {
    tool_call_id: String,
    call: PendingCall,
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
        Event::read(raw).map(|event| self.understand(event, raw))
    }

    /// The same of an event whose text was read.
    pub(super) fn understand(&mut self, event: Event, raw: &str) -> Reading {
        let logged = event.kind.is_logged();
        let mut asides = asides(&event.kind);
        asides.extend(self.refusal(&event.kind));
        let meanings = self.meanings(event.id.as_deref(), event.kind);
        Reading { delivery: Delivery { id: event.id, raw: raw.to_owned(), meanings }, logged, asides }
    }

    /// Reads an action that was fetched by itself, for its answer came before it: nobody is to be asked about it.
    pub(super) fn read_answered(&mut self, raw: &str) -> Option<Reading> {
        let reading = self.read(raw)?;
        if let Some(id) = &reading.delivery.id {
            self.answered(&CallId::new(id.as_str()));
        }
        Some(reading)
    }

    fn meanings(&mut self, id: Option<&str>, kind: Kind) -> Vec<Meaning> {
        match kind {
            // Without a role there is no message in it.
            Kind::Message { role, .. } if role.is_empty() => Vec::new(),
            Kind::Message { source, role, text } => {
                vec![Meaning::Message { id: None, role, source, text, citations: None }]
            }
            Kind::Action(action) => self.action(id, action),
            Kind::Observation { action_id, tool_name, client_tool, is_error } => {
                let call = CallId::new(action_id);
                self.answered(&call);
                match (client_tool, is_error) {
                    // The server's own word that the client may act. Deployments change its text, never its kind.
                    (true, false) => vec![Meaning::Authorised { call, arguments: None }],
                    (true, true) => {
                        let reason = "the server acknowledged it as an error".to_owned();
                        vec![Meaning::Withdrawn { call, tool: tool_name, reason }]
                    }
                    (false, _) => Vec::new(),
                }
            }
            Kind::UserReject { action_id, tool_name, reason } => {
                let call = CallId::new(action_id);
                let client = self.answered(&call).map_or_else(|| self.is_known(&tool_name), |open| open.client);
                if client { vec![Meaning::Rejected { call, tool: tool_name, reason }] } else { Vec::new() }
            }
            Kind::AgentError { tool_call_id, tool_name, error } => match self.newest_open(&tool_call_id) {
                Some(PendingCall { call_id: call, client: true, .. }) => {
                    vec![Meaning::Withdrawn { call, tool: tool_name, reason: error }]
                }
                _ => Vec::new(),
            },
            Kind::StateUpdate(update) => self.state(&update),
            Kind::ConversationError { code, detail } => vec![Meaning::RunFailed { code, detail }],
            Kind::ServerError { .. } | Kind::StreamingDelta { .. } | Kind::OnlyTold | Kind::Unknown(_) => Vec::new(),
        }
    }

    /// The server tells the agent of a call that never was one: it lacked an argument, or names no tool.
    fn refusal(&self, kind: &Kind) -> Option<Signal> {
        let Kind::AgentError { tool_call_id, tool_name, error } = kind else { return None };
        let message = [tool_name, ": ", error].concat();
        (!self.open.iter().any(|open| open.tool_call_id == *tool_call_id))
            .then_some(Signal::Notice { code: NoticeCode::CallRefused, message })
    }

    fn action(&mut self, id: Option<&str>, action: Action) -> Vec<Meaning> {
        let mut meanings = Vec::new();
        let says = |text: String| Meaning::Message {
            id: None,
            role: "assistant".into(),
            source: "agent".into(),
            text,
            citations: None,
        };
        if !action.thought.is_empty() {
            meanings.push(says(action.thought));
        }
        // Without an action the server found the call invalid and tells the agent so.
        let Some(encoded) = action.encoded else { return meanings };
        let client = arguments::read(&encoded, &self.known);
        if client.is_none() {
            meanings.extend(arguments::finish_message(&encoded).filter(|text| !text.is_empty()).map(says));
        }
        let Some(call_id) = id.map(CallId::new) else { return meanings };
        // One that was found in the log when we joined may still come over the socket.
        self.open.retain(|open| open.call.call_id != call_id);
        let arguments = match &client {
            Some(client) => Some(client.arguments.clone()),
            None => Some(encoded.without_nulls_and("kind").to_raw()),
        };
        let pending = PendingCall {
            call_id: call_id.clone(),
            tool: client.as_ref().map_or(action.tool_name, |client| client.tool.clone()),
            arguments: arguments.unwrap_or_default(),
            summary: action.summary,
            risk: action.risk,
            client: client.is_some(),
            editable: false,
            schema: None,
        };
        if self.open.len() >= OPEN {
            self.open.remove(0);
        }
        self.open.push(Open { tool_call_id: action.tool_call_id, call: pending });
        meanings.extend(client.map(|client| Meaning::Announced {
            call: call_id,
            tool: client.tool,
            arguments: client.arguments,
            schemas: Schemas::default(),
        }));
        meanings
    }

    fn state(&self, update: &StateUpdate) -> Vec<Meaning> {
        let (mut meanings, status) = match update {
            StateUpdate::Full { status, gate } => {
                let status = info::status(status);
                let running = status == Status::Running;
                let meaning = if running { Meaning::Status(status.clone()) } else { Meaning::TurnOver(status.clone()) };
                (vec![Meaning::Gate(*gate), meaning], status)
            }
            StateUpdate::Status(status) => {
                let status = info::status(status);
                (vec![Meaning::Status(status.clone())], status)
            }
            StateUpdate::Policy { gate } => return vec![Meaning::Gate(*gate)],
            StateUpdate::Other => return Vec::new(),
        };
        if status == Status::WaitingForConfirmation {
            meanings.push(Meaning::Approvals(vec![self.pending()]));
        }
        meanings
    }

    /// The actions that have no answer.
    fn pending(&self) -> Vec<PendingCall> {
        self.open.iter().map(|open| open.call.clone()).collect()
    }

    /// What is under way, for who joins: reads the events of the log up to now, and says what is left of them.
    pub(super) fn catch_up(&mut self, log: &[String], status: &Status) -> Vec<Meaning> {
        for event in log {
            self.read(event);
        }
        let client = self.open.iter().filter(|open| open.call.client);
        let mut meanings: Vec<_> = client
            .map(|open| Meaning::Announced {
                call: open.call.call_id.clone(),
                tool: open.call.tool.clone(),
                arguments: open.call.arguments.clone(),
                schemas: Schemas::default(),
            })
            .collect();
        match status {
            Status::Running => {}
            Status::WaitingForConfirmation => {
                meanings.extend([Meaning::Status(status.clone()), Meaning::Approvals(vec![self.pending()])]);
            }
            over => meanings.push(Meaning::TurnOver(over.clone())),
        }
        meanings
    }

    /// The newest action that has no answer in these events of the log.
    pub(super) fn newest_unanswered<'a>(mut self, log: impl Iterator<Item = &'a str>) -> Option<CallId> {
        for event in log {
            self.read(event);
        }
        self.open.pop().map(|open| open.call.call_id)
    }

    /// Forgets an answered action. What it was, if it was open.
    fn answered(&mut self, call: &CallId) -> Option<PendingCall> {
        let place = self.open.iter().position(|open| open.call.call_id == *call)?;
        Some(self.open.remove(place).call)
    }

    fn newest_open(&mut self, tool_call_id: &str) -> Option<PendingCall> {
        let place = self.open.iter().rposition(|open| open.tool_call_id == tool_call_id)?;
        Some(self.open.remove(place).call)
    }

    fn is_known(&self, tool: &str) -> bool {
        self.known.iter().any(|known| known.name.as_str() == tool)
    }
}

/// Streamed text and things that went wrong.
fn asides(kind: &Kind) -> Vec<Signal> {
    match kind {
        Kind::StreamingDelta { content, reasoning } => {
            let mut deltas = Vec::new();
            for (reasoning, text) in [(true, reasoning), (false, content)] {
                if let Some(content) = text.clone() {
                    deltas.push(Signal::Delta { item: None, reasoning, content });
                }
            }
            deltas
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
