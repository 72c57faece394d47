//! What a conversation remembers.

use serde::Serialize;

use crate::call::{CallId, Calls};
use crate::error::Error;
use crate::list::List;
use crate::protocol::{CommandId, Protocol, Status};
use crate::tool::{KnownTool, Registry, SchemaRequest, Tool};

use super::inbox::Inbox;
use super::turn::Turn;
use super::{Effect, OperationId};

/// One conversation of an app with an agent server.
pub struct Conversation {
    pub(super) protocol: Box<dyn Protocol>,
    pub(super) registry: Registry,
    pub(super) calls: Calls,
    pub(super) inbox: Inbox,
    pub(super) turn: Turn,
    pub(super) phase: Phase,
    pub(super) status: Status,
    /// What the run that failed last said.
    pub(super) failure: Option<Failure>,
    pub(super) known: Vec<KnownTool>,
    pub(super) gate: Option<&'static str>,
    pub(super) opened: Option<Opened>,
    /// Operations that wait for the end of the turn.
    pub(super) idle: Vec<OperationId>,
    pub(super) commands: List<CommandId, Purpose>,
    pub(super) next_command: u32,
    pub(super) schemas: Vec<SchemaRequest>,
    pub(super) seed: u64,
    pub(super) out: Vec<Effect>,
}

/// Where the conversation is in its life.
pub(super) enum Phase {
    New,
    Opening(Option<OperationId>),
    Open,
    Closed(String),
}

/// Why a command was given to the protocol.
pub(super) enum Purpose {
    /// For the app; it may have stopped waiting.
    App { operation: Option<OperationId>, runs: bool },
    /// To see a call that was let through unseen.
    Call(CallId),
    /// To learn how a silent turn is doing.
    Poll,
}

/// What a failed run said.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Failure {
    pub(super) code: String,
    pub(super) detail: String,
}

/// What opening found.
pub(super) struct Opened {
    pub(super) id: String,
    pub(super) created: bool,
}

impl Conversation {
    /// A conversation over a protocol, with the tools that it starts with. The seed decides all jitter. Tools that break a
    /// rule are refused here, before anything is sent.
    pub fn new(protocol: Box<dyn Protocol>, tools: Vec<Tool>, seed: u64) -> Result<Self, Error> {
        for tool in &tools {
            protocol.check(tool)?;
        }
        let mut registry = Registry::default();
        let schemas = registry.declare_all(tools)?;
        Ok(Self {
            protocol,
            registry,
            calls: Calls::default(),
            inbox: Inbox::default(),
            turn: Turn::default(),
            phase: Phase::New,
            status: Status::Idle,
            failure: None,
            known: Vec::new(),
            gate: None,
            opened: None,
            idle: Vec::new(),
            commands: List::default(),
            next_command: 0,
            schemas,
            seed,
            out: Vec::new(),
        })
    }
}
