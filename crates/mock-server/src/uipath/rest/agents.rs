//! Agents and their connections.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::json::{Json, Object};
use crate::object;
use crate::query::Query;
use crate::shared::Shared;

use super::conversations::read;
use super::failure::{Failure, Outcome, answer};

type Server = State<Arc<Shared>>;

/// What only a single agent's description has.
const DETAILS: [&str; 2] = ["appearance", "inputSchema"];

#[derive(Debug, serde::Deserialize)]
pub(super) struct AgentIds {
    folder: String,
    agent: String,
}

pub(super) async fn list(State(shared): Server, RawQuery(query): RawQuery) -> Response {
    let query = Query::read(query.as_deref().unwrap_or_default());
    let in_folder = |agent: &&Json| {
        query.get("folderId").is_none_or(|folder| agent.get("folderId").is_some_and(|id| id.to_string() == folder))
    };
    let short = |agent: &Json| {
        let members = agent.as_object().cloned().unwrap_or_default().into_iter();
        Json::Object(members.filter(|(name, _)| !DETAILS.contains(&name.as_str())).collect())
    };
    let agents: Vec<Json> = shared.uipath.lock().agents.iter().filter(in_folder).map(short).collect();
    answer(&shared, Ok(agents.into()))
}

fn find(shared: &Shared, ids: &AgentIds) -> Outcome {
    let is = |agent: &Json, name: &str, id: &str| agent.get(name).is_some_and(|value| value.to_string() == id);
    let state = shared.uipath.lock();
    let agent = state.agents.iter().find(|agent| is(agent, "id", &ids.agent) && is(agent, "folderId", &ids.folder));
    agent.cloned().ok_or_else(|| Failure::missing("Agent"))
}

pub(super) async fn one(State(shared): Server, Path(ids): Path<AgentIds>) -> Response {
    answer(&shared, find(&shared, &ids))
}

fn key(ids: &AgentIds) -> String {
    format!("{}/{}", ids.folder, ids.agent)
}

fn chosen(shared: &Shared, ids: &AgentIds) -> Json {
    let state = shared.uipath.lock();
    let known = state.connections.iter().find(|(agent, _)| *agent == key(ids));
    known.map_or_else(|| Json::Array(Vec::new()), |(_, items)| items.clone())
}

pub(super) async fn connections(State(shared): Server, Path(ids): Path<AgentIds>) -> Response {
    answer(&shared, find(&shared, &ids).map(|_| chosen(&shared, &ids)))
}

pub(super) async fn choose(State(shared): Server, Path(ids): Path<AgentIds>, body: Bytes) -> Response {
    let outcome = find(&shared, &ids).and_then(|_| read(&body)).and_then(|body| {
        let selections = body
            .get("selections")
            .and_then(Json::as_array)
            .ok_or_else(|| Failure::invalid(vec![("selections".to_owned(), "a list is required".to_owned())]))?;
        let mut state = shared.uipath.lock();
        state.connections.retain(|(agent, _)| *agent != key(&ids));
        state.connections.push((key(&ids), Json::Array(selections.to_vec())));
        Ok(())
    });
    answer(&shared, outcome.map(|()| chosen(&shared, &ids)))
}

pub(super) async fn auth(State(shared): Server, body: Bytes) -> Response {
    let outcome = read(&body).and_then(|body| {
        let Some(connector) = body.text("connectorKey") else {
            return Err(Failure::invalid(vec![("connectorKey".to_owned(), "required".to_owned())]));
        };
        let url = format!("http://{}/consent/{connector}?state={}", shared.address(), Uuid::new_v4().simple());
        let expires = jiff::Timestamp::now().as_second() + 600;
        Ok(object! { "authUrl" => url, "expiresAt" => expires })
    });
    answer(&shared, outcome)
}

pub(super) async fn feature_flags(State(shared): Server) -> Response {
    answer(&shared, Ok(Object::new().into()))
}

/// The agent that a conversation is to be with.
pub(super) fn check(shared: &Shared, folder: u64, release: u64) -> Result<(), Failure> {
    let state = shared.uipath.lock();
    let known = |agent: &Json| agent.count("id") == Some(release) && agent.count("folderId") == Some(folder);
    if state.agents.iter().any(known) {
        return Ok(());
    }
    Err(Failure::new(StatusCode::NOT_FOUND, "AGENT_NOT_FOUND", "Agent not found."))
}
