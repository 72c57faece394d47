//! A conversation: its settings, its state, and all conversations of a server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use uuid::Uuid;

use crate::clock::Clock;
use crate::json::{Json, Object};
use crate::object;

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
    /// Set to true by an interrupt.
    pub(super) cancel: watch::Sender<bool>,
    /// The stream slot that is open.
    pub(super) open_item: Option<String>,
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
    pub(super) hook_config: Json,
    pub(super) created_at: String,
    pub(super) updated_at: String,
    pub(super) status: Status,
    pub(super) last_user_message: Option<String>,
    pub(super) log: Log,
    /// The agent's tools, once the first message or run made it look for them.
    pub(super) tools: Option<Vec<Tool>>,
    pub(super) calls: Vec<LlmCall>,
    pub(super) run: Option<Run>,
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
            hook_config: given("hook_config").unwrap_or_default(),
            created_at: now.clone(),
            updated_at: now,
            status: Status::Idle,
            last_user_message: None,
            log,
            tools: None,
            calls: Vec::new(),
            run: None,
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
}

/// All conversations, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Conversations {
    list: Mutex<Vec<Arc<Conversation>>>,
}

impl Conversations {
    fn list(&self) -> MutexGuard<'_, Vec<Arc<Conversation>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, id: Uuid) -> Option<Arc<Conversation>> {
        self.list().iter().find(|conversation| conversation.id == id).cloned()
    }

    /// Adds the conversation unless its id is taken; then the one that has it comes back.
    pub(super) fn add(&self, conversation: &Arc<Conversation>) -> Option<Arc<Conversation>> {
        let mut list = self.list();
        let known = list.iter().find(|known| known.id == conversation.id).cloned();
        if known.is_none() {
            list.push(Arc::clone(conversation));
        }
        known
    }

    pub(super) fn remove(&self, id: Uuid) {
        self.list().retain(|conversation| conversation.id != id);
    }

    pub(super) fn all(&self) -> Vec<Arc<Conversation>> {
        self.list().clone()
    }

    /// How many have a run under way.
    pub(super) fn running(&self) -> usize {
        self.all().iter().filter(|conversation| conversation.lock().run.is_some()).count()
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

    /// Tells all sockets.
    pub(crate) fn publish(&self, frame: &super::log::Frame) {
        self.lock().log.publish(frame);
    }
}
