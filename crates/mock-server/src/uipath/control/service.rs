//! Scripts, agents, tokens, levers, uploaded files.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};

use crate::json::{Json, parse};
use crate::object;

use super::super::levers::Levers;
use super::super::rest::Attachments;
use super::{Outcome, Refusal, Server, answer, bad, read};

pub(super) async fn put_script(State(shared): Server, Path(name): Path<String>, body: Bytes) -> Response {
    let put = |body: Json| shared.uipath.lock().scripts.put(&name, &body).map_err(bad);
    answer(read(&body).and_then(put).map(|steps| object! { "name" => &name, "steps" => steps }))
}

pub(super) async fn get_script(State(shared): Server, Path(name): Path<String>) -> Response {
    answer(shared.uipath.lock().scripts.get(&name).cloned().ok_or(Refusal::Missing("script")))
}

pub(super) async fn delete_script(State(shared): Server, Path(name): Path<String>) -> Response {
    shared.uipath.lock().scripts.remove(&name);
    answer(Ok(object! { "deleted" => name }))
}

pub(super) async fn put_agents(State(shared): Server, body: Bytes) -> Response {
    let put = |body: Json| -> Outcome {
        let agents = body.as_array().ok_or_else(|| bad("a list of agents is needed"))?;
        shared.uipath.lock().agents = agents.to_vec();
        Ok(object! { "agents" => agents.len() })
    };
    answer(read(&body).and_then(put))
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenOrder {
    tokens: Vec<String>,
    /// Whether sockets with another token are disconnected.
    #[serde(default)]
    disconnect: bool,
}

pub(super) async fn put_tokens(State(shared): Server, body: Bytes) -> Response {
    let order: TokenOrder = match serde_json::from_slice(&body) {
        Ok(order) => order,
        Err(error) => return bad(error).into_response(),
    };
    let expired = {
        let mut state = shared.uipath.lock();
        state.set_tokens(order.tokens);
        state.expired()
    };
    let count = expired.len();
    if order.disconnect {
        // Outside the lock: leaving is noted under it.
        for socket in expired {
            let _ = socket.disconnect();
        }
    }
    answer(Ok(object! { "tokens" => shared.uipath.lock().tokens().len(), "expired" => count }))
}

fn shown(levers: &Levers) -> Json {
    // Plain data always serializes.
    parse(&serde_json::to_string(levers).unwrap_or_default()).unwrap_or_default()
}

pub(super) async fn levers(State(shared): Server) -> Response {
    answer(Ok(shown(&shared.uipath.lock().levers)))
}

pub(super) async fn put_levers(State(shared): Server, body: Bytes) -> Response {
    match serde_json::from_slice::<Levers>(&body) {
        Ok(levers) => {
            let mut state = shared.uipath.lock();
            state.levers = levers;
            answer(Ok(shown(&state.levers)))
        }
        Err(error) => bad(error).into_response(),
    }
}

pub(super) async fn attachments(State(shared): Server) -> Response {
    let state = shared.uipath.lock();
    let shown = state.attachments.iter().map(|file| {
        let (kind, bytes) = file.content.as_ref().map(|(kind, bytes)| (kind.clone(), bytes.len())).unzip();
        object! {
            "id" => &file.id, "conversationId" => &file.conversation, "name" => &file.name, "uri" => &file.uri,
            "type" => kind, "bytes" => bytes,
        }
    });
    answer(Ok(Json::Array(shown.collect())))
}

pub(super) async fn attachment(State(shared): Server, Path(id): Path<String>) -> Response {
    content(&shared.uipath.lock().attachments, &id).unwrap_or_else(|| Refusal::Missing("uploaded file").into_response())
}

fn content(files: &Attachments, id: &str) -> Option<Response> {
    let (kind, bytes) = files.iter().find(|file| file.id == id)?.content.clone()?;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_str(&kind).ok()?);
    Some((headers, bytes).into_response())
}
