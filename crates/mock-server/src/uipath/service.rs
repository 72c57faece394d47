//! What the service knows: tokens, conversations, sockets.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use socketioxide::extract::SocketRef;
use socketioxide::socket::Sid;

use crate::json::{Json, Object, parse};
use crate::object;

use super::agent::Scripts;
use super::conversation::Conversation;
use super::envelope::EVENT;
use super::levers::Levers;
use super::rest::Attachments;
use super::settings::UipathConfig;
use super::wire::Orders;

/// The agent that is there by default.
const AGENTS: &str = r#"[{"id":7,"name":"Planner","description":"Plans the work on a board","processVersion":"1.0.0",
"processKey":"Solution.Planner.Agent","releaseKey":"a8a5a2a0-0000-4000-8000-000000000001","folderId":11,"feedId":"feed-1",
"createdAt":"2026-11-30T08:51:56.923Z"}]"#;

/// A client socket.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) socket: SocketRef,
    pub(super) token: String,
}

/// Everything that the service keeps.
#[derive(Debug)]
pub(super) struct State {
    tokens: Vec<String>,
    pub(super) levers: Levers,
    pub(super) agents: Vec<Json>,
    pub(super) connections: Vec<(String, Json)>,
    pub(super) scripts: Scripts,
    conversations: Vec<Conversation>,
    clients: HashMap<Sid, Client>,
    pub(super) attachments: Attachments,
    pub(super) user: Object,
}

/// The service of a server.
#[derive(Debug)]
pub(crate) struct Service {
    state: Mutex<State>,
    wires: Orders,
}

impl Service {
    /// Fails if the configured scripts are none.
    pub(crate) fn new(config: &UipathConfig) -> Result<Self, String> {
        let mut scripts = Scripts::default();
        if let Some(all) = &config.scripts {
            scripts.put_all(all)?;
        }
        let agents = parse(AGENTS).ok().and_then(|agents| agents.as_array().map(<[Json]>::to_vec));
        let state = State {
            tokens: config.tokens.clone(),
            levers: Levers::default(),
            agents: agents.unwrap_or_default(),
            connections: Vec::new(),
            scripts,
            conversations: Vec::new(),
            clients: HashMap::new(),
            attachments: Attachments::default(),
            user: super::rest::new_user(),
        };
        Ok(Self { state: Mutex::new(state), wires: Orders::default() })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wires(&self) -> &Orders {
        &self.wires
    }

    /// Forgets who is connected, as a new process does; what was said persists.
    pub(crate) fn restart(&self) {
        let mut state = self.lock();
        state.clients.clear();
        for conversation in &mut state.conversations {
            conversation.sessions.clear();
            conversation.runtime = None;
        }
    }
}

impl State {
    /// Whether a token opens the service.
    pub(super) fn accepts(&self, token: &str) -> bool {
        if self.tokens.is_empty() { !token.is_empty() } else { self.tokens.iter().any(|known| known == token) }
    }

    pub(super) fn tokens(&self) -> &[String] {
        &self.tokens
    }

    pub(super) fn set_tokens(&mut self, tokens: Vec<String>) {
        self.tokens = tokens;
    }

    pub(super) fn joined(&mut self, socket: &SocketRef, token: &str) {
        let client = Client { socket: socket.clone(), token: token.to_owned() };
        self.clients.insert(socket.id, client);
    }

    pub(super) fn client(&self, id: Sid) -> Option<&Client> {
        self.clients.get(&id)
    }

    /// The client sockets whose token is no longer accepted.
    pub(super) fn expired(&self) -> Vec<SocketRef> {
        let expired = self.clients.values().filter(|client| !self.accepts(&client.token));
        expired.map(|client| client.socket.clone()).collect()
    }

    /// A socket is gone, be it a client's or a runtime's.
    pub(super) fn left(&mut self, socket: &SocketRef) {
        let token = self.clients.remove(&socket.id).map(|client| client.token);
        for conversation in &mut self.conversations {
            let sessions = conversation.sessions.len();
            conversation.sessions.retain(|id| *id != socket.id);
            if let (true, Some(token)) = (conversation.sessions.len() < sessions, &token) {
                conversation.absent.push((token.clone(), Vec::new()));
            }
            if conversation.runtime.as_ref().is_some_and(|runtime| runtime.id == socket.id) {
                conversation.runtime = None;
            }
        }
    }

    pub(super) fn knows(&self, conversation: &str) -> bool {
        self.conversation(conversation).is_some()
    }

    pub(super) fn conversations(&self) -> &[Conversation] {
        &self.conversations
    }

    pub(super) fn add(&mut self, conversation: Conversation) {
        self.conversations.push(conversation);
    }

    pub(super) fn remove(&mut self, id: &str) -> Option<Conversation> {
        let at = self.conversations.iter().position(|conversation| conversation.id == id)?;
        Some(self.conversations.remove(at))
    }

    pub(super) fn conversation(&self, id: &str) -> Option<&Conversation> {
        self.conversations.iter().find(|conversation| conversation.id == id)
    }

    pub(super) fn conversation_mut(&mut self, id: &str) -> Option<&mut Conversation> {
        self.conversations.iter_mut().find(|conversation| conversation.id == id)
    }

    /// Sends an event to every client with an open session, except one.
    pub(super) fn publish(&mut self, conversation: &str, envelope: &str, except: Option<Sid>) {
        let replays = self.levers.replay_missed;
        let Some(conversation) = self.conversation_mut(conversation) else { return };
        if replays {
            conversation.absent.iter_mut().for_each(|(_, missed)| missed.push(envelope.to_owned()));
        }
        let to: Vec<Sid> = conversation.sessions.iter().copied().filter(|id| Some(*id) != except).collect();
        for client in to.into_iter().filter_map(|id| self.clients.get(&id)) {
            emit(&client.socket, envelope);
        }
    }
}

/// Sends an event with one argument, as a client gets it.
pub(super) fn emit(socket: &SocketRef, envelope: &str) {
    if let Ok(raw) = RawValue::from_string(envelope.to_owned()) {
        // A socket that is gone or does not read gets nothing.
        let _ = socket.emit(EVENT, &raw);
    }
}

/// Sends an event with two arguments, without which a runtime loses it.
pub(super) fn emit_to_runtime(socket: &SocketRef, envelope: &str, from: &str) {
    if let Ok(raw) = RawValue::from_string(envelope.to_owned()) {
        let _ = socket.emit(EVENT, &(raw, from));
    }
}

/// A conversation's REST object.
pub(super) fn facts(conversation: &Conversation) -> Json {
    Json::Object(conversation.facts.clone())
}

/// Who a control request sees connected.
pub(super) fn sessions(conversation: &Conversation) -> Json {
    let ids = conversation.sessions.iter().map(|id| Json::from(id.to_string())).collect::<Vec<_>>();
    object! { "clients" => ids, "runtime" => conversation.runtime.as_ref().map(|runtime| runtime.id.to_string()) }
}
