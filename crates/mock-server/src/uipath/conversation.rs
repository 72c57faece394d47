//! One conversation: who listens, what was said, and who plays the agent.

use std::collections::VecDeque;

use socketioxide::extract::SocketRef;
use socketioxide::socket::Sid;

use crate::json::{Json, Object};

use super::agent::Choice;
use super::history::Exchange;
use super::process::Killer;

/// What is asked of the agent: an exchange whose user message is complete.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) exchange: String,
    pub(super) message: String,
    pub(super) text: String,
    /// As declared; none if the member was left out.
    pub(super) tools: Option<Json>,
}

/// Who plays.
#[derive(Debug)]
pub(super) enum Player {
    /// Our own agent: where answers go. It ends when this is dropped.
    Scripted(tokio::sync::mpsc::UnboundedSender<Json>),
    /// A process of UiPath's runtime, which has a socket of its own.
    Process(Killer),
    /// A runtime that somebody else starts.
    Elsewhere,
}

/// An exchange that an agent works on.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) exchange: String,
    /// Tells runs of one exchange apart.
    pub(super) serial: u64,
    pub(super) player: Player,
    /// Whether the exchange was ended by either side.
    pub(super) ended: bool,
}

/// An event for the runtime, and the socket that it came from.
#[derive(Debug, Clone)]
pub(super) struct Forwarded {
    pub(super) envelope: String,
    pub(super) from: String,
}

/// A conversation.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) id: String,
    /// The REST object.
    pub(super) facts: Object,
    /// The client sockets with an open session, in the order of their sessions.
    pub(super) sessions: Vec<Sid>,
    /// Clients that had a session and are gone since, with what they missed: by token.
    pub(super) absent: Vec<(String, Vec<String>)>,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) run: Option<Run>,
    pub(super) runs: u64,
    /// Those before the present choice of a script.
    pub(super) runs_before_choice: u64,
    pub(super) orders: VecDeque<Order>,
    pub(super) runtime: Option<SocketRef>,
    /// For a runtime that is not connected.
    pub(super) queue: Vec<Forwarded>,
    /// Who plays from now on; by default it depends on the conversation's facts.
    pub(super) choice: Option<Choice>,
    /// What the agent reported: `started`, `waiting`, `resumed`, `ended`, `exit`.
    pub(super) reports: Vec<Json>,
    /// Answers to tool calls, as they came.
    pub(super) answers: Vec<Json>,
    /// Events of clients that were dropped, and why.
    pub(super) dropped: Vec<Json>,
}

impl Conversation {
    pub(super) fn new(id: &str, facts: Object) -> Self {
        Self {
            id: id.to_owned(),
            facts,
            sessions: Vec::new(),
            absent: Vec::new(),
            exchanges: Vec::new(),
            run: None,
            runs: 0,
            runs_before_choice: 0,
            orders: VecDeque::new(),
            runtime: None,
            queue: Vec::new(),
            choice: None,
            reports: Vec::new(),
            answers: Vec::new(),
            dropped: Vec::new(),
        }
    }

    pub(super) fn touch(&mut self, now: &str) {
        self.facts.set("lastActivityAt", now);
    }

    pub(super) fn exchange(&self, id: &str) -> Option<&Exchange> {
        self.exchanges.iter().find(|exchange| exchange.id == id)
    }

    /// The run of this exchange, if the agent still works on it.
    pub(super) fn run_of(&mut self, exchange: &str) -> Option<&mut Run> {
        self.run.as_mut().filter(|run| run.exchange == exchange)
    }

    /// The name of the tool that a call is for.
    pub(super) fn tool(&self, call: &str) -> Option<&str> {
        let calls =
            self.exchanges.iter().rev().flat_map(|exchange| &exchange.messages).flat_map(|message| &message.calls);
        calls.into_iter().find(|found| found.id == call).map(|found| found.name.as_str())
    }
}
