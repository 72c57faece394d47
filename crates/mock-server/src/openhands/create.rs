//! `POST /api/conversations`: create, or attach to what is there.

use std::sync::{Arc, PoisonError};

use axum::body::Bytes;
use axum::extract::State as Extract;
use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::json::Json;
use crate::shared::Shared;

use super::agent::Agent;
use super::conversation::{Conversation, State};
use super::info::conversation_info;
use super::log::Log;
use super::messages::content_items;
use super::reply::{Failure, json};
use super::request::read_body;
use super::run;
use super::validate::{complete_tool, create_request};

pub(super) async fn create(Extract(server): Extract<Arc<Shared>>, body: Bytes) -> Result<Response, Failure> {
    let request = read_body(&body)?;
    create_request(&request)?;
    let id = request.text("conversation_id").and_then(|id| id.parse().ok());
    let id = id.unwrap_or_else(Uuid::new_v4);
    // Nothing else of the request counts for a conversation that exists: neither tools nor their conflicts.
    if let Some(known) = server.conversations.find(id) {
        return Ok(json(StatusCode::OK, &conversation_info(&known.lock())));
    }
    let parent = request.text("parent_conversation_id").and_then(|id| id.parse::<Uuid>().ok());
    if let Some(parent) = parent
        && server.conversations.find(parent).is_none()
    {
        return Err(Failure::unprocessable(format!("Parent conversation {parent} not found")));
    }
    if let Some(profile) = request.present("agent_profile_id").and_then(Json::as_str) {
        let detail = format!("Agent profile with id '{profile}' not found");
        return Err(Failure::Detail(StatusCode::NOT_FOUND, detail));
    }
    let specs = request.get("client_tools").and_then(Json::as_array).unwrap_or_default();
    let specs: Vec<Json> = specs.iter().map(complete_tool).collect();
    server.registry.lock().unwrap_or_else(PoisonError::into_inner).register(&specs)?;
    let agent = match request.present("agent") {
        Some(agent) => Agent::from_agent(agent, &specs),
        None => Agent::from_settings(&request.present("agent_settings").cloned().unwrap_or_default(), &specs),
    };
    let initial = request.present("initial_message");
    if initial.is_some() {
        run::check_capacity(&server, id)?;
    }
    let log = Log::new(id, server.clock, Arc::clone(&server.faults));
    let conversation = Conversation::new(State::new(id, agent, specs, &request, log));
    if let Some(known) = server.conversations.add(&conversation) {
        return Ok(json(StatusCode::OK, &conversation_info(&known.lock())));
    }
    if let Some(message) = initial {
        conversation.lock().add_user_message(content_items(message.get("content")))?;
    }
    // The response still says `idle`, although an initial message starts a run whatever its `run` says.
    let response = json(StatusCode::CREATED, &conversation_info(&conversation.lock()));
    if initial.is_some() {
        run::start(&server, &conversation)?;
    }
    Ok(response)
}
