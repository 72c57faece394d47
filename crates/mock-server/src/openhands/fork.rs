//! `POST …/fork` and `POST …/navigate`: other ways on from an event.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State as Extract};
use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::clock::Clock;
use crate::json::{Json, Object};
use crate::object;
use crate::shared::Shared;

use super::conversation::{Conversation, State, Status};
use super::info::conversation_info;
use super::reply::{Failure, json};
use super::request::{find, read_body};
use super::validate::Complaints;

type Server = Extract<Arc<Shared>>;

pub(super) async fn fork(Extract(server): Server, Path(id): Path<String>, body: Bytes) -> Result<Response, Failure> {
    let request = if body.is_empty() {
        object! {}
    } else {
        read_body(&body)?
    };
    let mut complaints = Complaints::default();
    complaints.uuid("id", &request);
    complaints.title(&request, true);
    complaints.tags(&request);
    complaints.done()?;
    let source = find(&server, &id)?;
    let id = request.text("id").and_then(|id| id.parse().ok()).unwrap_or_else(Uuid::new_v4);
    let from = request.present("from_event_id").and_then(Json::as_str);
    let fork = {
        let state = source.free().await;
        if let Some(from) = from.filter(|from| !state.log.contains(from)) {
            return Err(Failure::Detail(StatusCode::NOT_FOUND, format!("Unknown from_event_id: {from}")));
        }
        Conversation::new(state.fork(id, from, &request, !server.config.at_least(1, 58)))
    };
    if server.conversations.add(&fork).is_some() {
        return Err(Failure::Detail(StatusCode::CONFLICT, format!("Conversation {id} already exists")));
    }
    let info = conversation_info(&fork.lock());
    Ok(json(StatusCode::CREATED, &info))
}

impl State {
    /// A conversation with the same events, at rest, without the key of its LLM.
    fn fork(&self, id: Uuid, from: Option<&str>, request: &Json, titles_are_tags: bool) -> Self {
        let settings = object! {
            "workspace" => self.workspace.clone(),
            "max_iterations" => self.max_iterations,
            "stuck_detection" => self.stuck_detection,
            "autotitle" => self.autotitle,
            "confirmation_policy" => self.policy.clone(),
            "security_analyzer" => self.analyzer.clone(),
            "hook_config" => self.hooks.clone(),
        };
        let log = self.log.fork(id, from);
        let mut fork = Self::new(id, self.agent.clone(), self.client_tools.clone(), &settings, log);
        fork.agent.lose_key();
        fork.title = request.text("title").map(str::to_owned);
        let mut tags = request.present("tags").cloned().unwrap_or_else(|| Object::new().into());
        if let (true, Some(title)) = (titles_are_tags, &fork.title) {
            tags.set("title", title.as_str());
        }
        fork.tags = tags;
        fork.forked_from = Some((self.id, from.map(str::to_owned)));
        if request.flag("reset_metrics") == Some(false) {
            fork.calls.clone_from(&self.calls);
        }
        fork.created_at = Clock::utc_now();
        fork.status = Status::Idle;
        fork
    }
}

pub(super) async fn navigate(
    Extract(server): Server,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, Failure> {
    let request = read_body(&body)?;
    let Some(event) = request.get("event_id") else {
        let loc = vec![Json::from("body"), Json::from("event_id")];
        return Err(Failure::invalid("missing", loc, "Field required", request, None));
    };
    let conversation = find(&server, &id)?;
    let mut state = conversation.free().await;
    if let Some(event) = event.as_str().filter(|event| !state.log.contains(event)) {
        return Err(Failure::Detail(StatusCode::NOT_FOUND, format!("Unknown event_id: {event}")));
    }
    state.log.navigate(event.as_str());
    state.touch();
    Ok(json(StatusCode::OK, &conversation_info(&state)))
}
