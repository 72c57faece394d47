//! What a conversation remembers.

use std::rc::Rc;

use crate::call::{CallId, Calls, Limits};
use crate::error::Error;
use crate::json::{Members, Write};
use crate::list::List;
use crate::net::Millis;
use crate::protocol::{CommandId, Protocol, Status};
use crate::recent::Recent;
use crate::tool::{Registry, SchemaRequest, Tool};

use super::approval::{Approval, Given};
use super::memory::Written;
use super::results::{Owed, Results};
use super::turn::Turn;
use super::{Content, Effect, OperationId, Topics};

/// One conversation of an app with an agent server.
pub struct Conversation {
    pub(super) protocol: Box<dyn Protocol>,
    pub(super) registry: Registry,
    pub(super) calls: Calls,
    /// The events that were told.
    pub(super) told: Recent,
    pub(super) turn: Turn,
    pub(super) phase: Phase,
    pub(super) status: Status,
    /// What the run that failed last said.
    pub(super) failure: Option<Failure>,
    pub(super) gate: Option<&'static str>,
    pub(super) opened: Option<Opened>,
    pub(super) settings: Settings,
    /// The conversation's name in the ledger.
    pub(super) key: Rc<str>,
    pub(super) written: Written,
    pub(super) approvals: Vec<Approval>,
    pub(super) results: Results,
    /// Messages that wait for the end of the turn, since the server would lose them.
    pub(super) held: Vec<(OperationId, Content)>,
    /// Operations that stop the turn, once every call has its answer.
    pub(super) stopping: Vec<OperationId>,
    /// Operations that wait for the end of the turn.
    pub(super) idle: Vec<OperationId>,
    pub(super) commands: List<CommandId, Purpose>,
    pub(super) next_command: u32,
    pub(super) schemas: Vec<SchemaRequest>,
    pub(super) seed: u64,
    /// What the app listens to: nothing else is told.
    pub(super) heard: Topics,
    pub(super) out: Vec<Effect>,
}

/// Where the conversation is in its life.
pub(super) enum Phase {
    New,
    /// The ledger is asked what it knows.
    Recalling(Option<OperationId>),
    Opening(Option<OperationId>),
    Open,
    Closed(String),
}

/// Why a command was given to the protocol.
pub(super) enum Purpose {
    /// For the app; it may have stopped waiting.
    App { operation: Option<OperationId>, runs: bool },
    /// To answer what waits for approval; then to say something.
    Answer(Given),
    /// To learn what waits for approval.
    Look,
    /// To tell the agent these outcomes in a message.
    Results(Vec<Owed>),
    /// To tell the agent this outcome.
    Told(Owed),
    /// To see a call that was let through unseen.
    Call(CallId),
    /// To learn how a silent turn is doing.
    Poll,
}

/// What the app decides about a conversation.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long a page may have been away and still be given what happened meanwhile.
    pub resume_within: Millis,
    /// Whether the agent is told the outcomes of calls in a message, for want of another way.
    pub results: bool,
    /// What the page takes at most.
    pub limits: Limits,
}

/// What a failed run said.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) code: String,
    pub(super) detail: String,
}

impl Write for Failure {
    fn write(&self, text: &mut String) {
        Members::of(text).set("code", &self.code).set("detail", &self.detail).end();
    }
}

/// What opening found.
pub(super) struct Opened {
    pub(super) id: String,
    pub(super) created: bool,
    pub(super) loses_messages: bool,
}

impl Conversation {
    /// A conversation over a protocol, with the tools that it starts with. The seed decides all jitter. Tools that break a
    /// rule are refused here, before anything is sent.
    pub fn new(protocol: Box<dyn Protocol>, tools: Vec<Tool>, settings: Settings, seed: u64) -> Result<Self, Error> {
        let tools: Vec<_> = tools.into_iter().map(|tool| as_bound(protocol.as_ref(), tool)).collect();
        for (place, tool) in tools.iter().enumerate() {
            let others: Vec<_> = tools.iter().take(place).collect();
            protocol.check(tool, &others)?;
        }
        let mut registry = Registry::default();
        let schemas = registry.declare_all(tools)?;
        Ok(Self {
            key: protocol.ledger_key().into(),
            calls: Calls::new(protocol.answers(), settings.limits.clone()),
            protocol,
            registry,
            told: Recent::default(),
            turn: Turn::default(),
            phase: Phase::New,
            status: Status::Idle,
            failure: None,
            gate: None,
            opened: None,
            settings,
            written: Written::default(),
            approvals: Vec::new(),
            results: Results::default(),
            held: Vec::new(),
            stopping: Vec::new(),
            idle: Vec::new(),
            commands: List::default(),
            next_command: 0,
            schemas,
            seed,
            heard: Topics::ALL,
            out: Vec::new(),
        })
    }
}

/// A tool as this server is to know it.
pub(super) fn as_bound(protocol: &dyn Protocol, tool: Tool) -> Tool {
    if protocol.binds() { tool } else { tool.unversioned() }
}
