//! A conversation: its settings and its state.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use uuid::Uuid;

use crate::clock::Clock;
use crate::json::{Json, Object};
use crate::object;
use crate::script::Wait;

use super::agent::Agent;
use super::log::Log;
use super::tools::Tool;

/// `execution_status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Idle,
    Running,
    Paused,
    Waiting,
    Finished,
    Error,
    Stuck,
}

impl Status {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Waiting => "waiting_for_confirmation",
            Self::Finished => "finished",
            Self::Error => "error",
            Self::Stuck => "stuck",
        }
    }
}

/// What one LLM call cost.
#[derive(Debug, Clone)]
pub(super) struct LlmCall {
    pub(super) response_id: String,
    pub(super) latency: f64,
}

/// A run under way.
#[derive(Debug)]
pub(super) struct Run {
    /// Tells it from later runs of the conversation.
    pub(super) serial: u64,
    /// Set to true by an interrupt.
    pub(super) cancel: watch::Sender<bool>,
    /// The stream slot that is open.
    pub(super) open_item: Option<String>,
}

/// Whether this process of the server has loaded a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Loading {
    Pending,
    Done,
    /// It cannot, and this is why.
    Failed(String),
}

/// All that a conversation is made of.
#[derive(Debug)]
pub(super) struct State {
    pub(super) id: Uuid,
    pub(super) agent: Agent,
    pub(super) client_tools: Vec<Json>,
    pub(super) workspace: Json,
    pub(super) max_iterations: u64,
    pub(super) stuck_detection: bool,
    pub(super) autotitle: bool,
    pub(super) policy: Json,
    pub(super) analyzer: Json,
    pub(super) title: Option<String>,
    pub(super) tags: Json,
    pub(super) parent: Option<Uuid>,
    /// The hooks that the agent gets once it is set up.
    pub(super) hooks: Json,
    /// The hooks that the agent has.
    pub(super) hook_config: Json,
    /// The files that hooks have touched.
    pub(super) touched: HashSet<String>,
    /// Actions that a hook will not let through, with its reasons.
    pub(super) blocked: Object,
    /// The conversation that this one was forked from, and the event if one was named.
    pub(super) forked_from: Option<(Uuid, Option<String>)>,
    pub(super) created_at: String,
    pub(super) updated_at: String,
    pub(super) status: Status,
    pub(super) last_user_message: Option<String>,
    pub(super) log: Log,
    /// The agent's tools, once the first message or run made it look for them.
    pub(super) tools: Option<Vec<Tool>>,
    pub(super) calls: Vec<LlmCall>,
    pub(super) run: Option<Run>,
    /// How many runs there were.
    pub(super) runs: u64,
    /// How long the server's tools take over what was announced last.
    pub(super) work: Wait,
    /// Whether tools run, and so hold the conversation's lock.
    pub(super) busy: watch::Sender<bool>,
    pub(super) loading: Loading,
    pub(super) deleted: bool,
}

impl State {
    /// A state with the settings of a checked create request.
    pub(super) fn new(id: Uuid, agent: Agent, client_tools: Vec<Json>, request: &Json, log: Log) -> Self {
        let now = Clock::utc_now();
        let given = |key: &str| request.present(key).cloned();
        let directory = request.get("workspace").and_then(|workspace| workspace.get("working_dir")).cloned();
        Self {
            id,
            agent,
            client_tools,
            workspace: object! { "working_dir" => directory, "kind" => "LocalWorkspace" },
            max_iterations: request.count("max_iterations").unwrap_or(500),
            stuck_detection: request.flag("stuck_detection").unwrap_or(true),
            autotitle: request.flag("autotitle").unwrap_or(true),
            policy: complete_policy(&given("confirmation_policy").unwrap_or_default()),
            analyzer: given("security_analyzer").unwrap_or_default(),
            title: None,
            tags: given("tags").unwrap_or_else(|| Object::new().into()),
            parent: request.text("parent_conversation_id").and_then(|id| id.parse().ok()),
            hooks: given("hook_config").map(|given| super::hooks::complete(&given)).unwrap_or_default(),
            hook_config: Json::Null,
            touched: HashSet::new(),
            blocked: Object::new(),
            forked_from: None,
            created_at: now.clone(),
            updated_at: now,
            status: Status::Idle,
            last_user_message: None,
            log,
            tools: None,
            calls: Vec::new(),
            run: None,
            runs: 0,
            work: Wait::default(),
            busy: watch::Sender::new(false),
            loading: Loading::Done,
            deleted: false,
        }
    }

    /// Whether the LLM's own judgement of risk counts.
    pub(super) fn has_analyzer(&self) -> bool {
        self.analyzer.text("kind") == Some("LLMSecurityAnalyzer")
    }

    pub(super) fn touch(&mut self) {
        self.updated_at = Clock::utc_now();
    }
}

/// A confirmation policy with its defaults.
pub(super) fn complete_policy(given: &Json) -> Json {
    match given.text("kind") {
        Some("ConfirmRisky") => object! {
            "threshold" => given.text("threshold").unwrap_or("HIGH"),
            "confirm_unknown" => given.flag("confirm_unknown").unwrap_or(true),
            "kind" => "ConfirmRisky",
        },
        Some(kind) => object! { "kind" => kind },
        None => object! { "kind" => "NeverConfirm" },
    }
}

/// A conversation that handlers, sockets and its run share.
#[derive(Debug)]
pub(crate) struct Conversation {
    id: Uuid,
    state: Mutex<State>,
}

impl Conversation {
    pub(super) fn new(state: State) -> Arc<Self> {
        Arc::new(Self { id: state.id, state: Mutex::new(state) })
    }

    pub(super) fn id(&self) -> Uuid {
        self.id
    }

    /// The state. Never held across an await.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, once no tool holds the conversation's lock.
    pub(super) async fn free(&self) -> MutexGuard<'_, State> {
        let mut busy = self.lock().busy.subscribe();
        loop {
            // An error means that the conversation is gone, and so is who holds its lock.
            let _ = busy.wait_for(|busy| !*busy).await;
            let state = self.lock();
            if !*state.busy.borrow() {
                return state;
            }
        }
    }
}

/// What the control routes may do.
impl Conversation {
    /// Publishes a foreign event, and persists it if wanted.
    pub(crate) fn emit(&self, event: super::event::Event, persist: bool) {
        let mut state = self.lock();
        if persist {
            state.log.persist(event);
        } else {
            state.log.publish(&super::log::Frame::Transient(Arc::new(event)));
        }
    }

    /// How many events the log has.
    pub(crate) fn events(&self) -> usize {
        self.lock().log.len()
    }

    /// Forgets all but the first events of the log.
    pub(crate) fn rewind(&self, events: usize) {
        self.lock().log.rewind(events);
    }

    /// Tells all sockets.
    pub(crate) fn publish(&self, frame: &super::log::Frame) {
        self.lock().log.publish(frame);
    }
}
