//! `/mock`: how a test or a demo steers the server.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use uuid::Uuid;

use crate::faults::read as read_faults;
use crate::json::{Json, Object, parse};
use crate::object;
use crate::openhands::{Conversation, Event, Frame, json_reply as reply};
use crate::restarts::Signal;
use crate::shared::Shared;

type Server = State<Arc<Shared>>;

pub(crate) fn router(shared: &Arc<Shared>) -> Router {
    Router::new()
        .route("/mock/scripts/{name}", put(put_script).post(put_script).get(get_script).delete(delete_script))
        .route("/mock/release/{name}", post(release))
        .route("/mock/record", get(get_record).delete(clear_record))
        .route("/mock/faults", put(put_faults).post(put_faults).get(get_faults))
        .route("/mock/faults", delete(clear_faults))
        .route("/mock/emit/{conversation}", post(emit))
        .route("/mock/frame/{conversation}", post(send_raw))
        .route("/mock/fill/{conversation}", post(fill))
        .route("/mock/rewind/{conversation}", post(rewind))
        .route("/mock/restart", post(restart))
        .with_state(Arc::clone(shared))
}

/// Why a control request failed.
#[derive(Debug)]
enum Refusal {
    Bad(String),
    Missing(&'static str),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Bad(message) => reply(StatusCode::BAD_REQUEST, &object! { "error" => message }),
            Self::Missing(what) => reply(StatusCode::NOT_FOUND, &object! { "error" => format!("no such {what}") }),
        }
    }
}

fn bad(message: impl std::fmt::Display) -> Refusal {
    Refusal::Bad(message.to_string())
}

fn read(body: &Bytes) -> Result<Json, Refusal> {
    parse(&String::from_utf8_lossy(body)).map_err(bad)
}

async fn put_script(State(server): Server, Path(name): Path<String>, body: Bytes) -> Result<Response, Refusal> {
    let steps = server.scripts.put(&name, &read(&body)?).map_err(bad)?;
    Ok(reply(StatusCode::OK, &object! { "name" => name, "steps" => steps }))
}

async fn get_script(State(server): Server, Path(name): Path<String>) -> Result<Response, Refusal> {
    let found = server.scripts.describe(&name).ok_or(Refusal::Missing("script"))?;
    Ok(reply(StatusCode::OK, &found))
}

async fn delete_script(State(server): Server, Path(name): Path<String>) -> Response {
    server.scripts.remove(&name);
    reply(StatusCode::OK, &object! { "deleted" => name })
}

async fn release(State(server): Server, Path(name): Path<String>) -> Response {
    server.scripts.release(&name);
    reply(StatusCode::OK, &object! { "released" => name })
}

async fn get_record(State(server): Server) -> Response {
    reply(StatusCode::OK, &Json::Array(server.recorder.lines()))
}

async fn clear_record(State(server): Server) -> Response {
    server.recorder.clear();
    reply(StatusCode::OK, &Object::new().into())
}

async fn put_faults(State(server): Server, body: Bytes) -> Result<Response, Refusal> {
    let entries = read_faults(&body).map_err(bad)?;
    let count = entries.len();
    server.faults.replace(entries);
    Ok(reply(StatusCode::OK, &object! { "faults" => count }))
}

async fn get_faults(State(server): Server) -> Response {
    // A list of plain data always serializes.
    let text = serde_json::to_string(&server.faults.all()).unwrap_or_default();
    reply(StatusCode::OK, &parse(&text).unwrap_or_default())
}

async fn clear_faults(State(server): Server) -> Response {
    server.faults.replace(Vec::new());
    reply(StatusCode::OK, &object! { "faults" => 0u64 })
}

fn find(server: &Shared, id: &str) -> Result<Arc<Conversation>, Refusal> {
    let id: Option<Uuid> = id.parse().ok();
    id.and_then(|id| server.conversations.find(id)).ok_or(Refusal::Missing("conversation"))
}

#[derive(Debug, serde::Deserialize)]
struct EmitQuery {
    /// Whether the event goes into the log; it does by default.
    persist: Option<bool>,
}

async fn emit(
    State(server): Server,
    Path(id): Path<String>,
    Query(query): Query<EmitQuery>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let event = Event::verbatim(read(&body)?);
    find(&server, &id)?.emit(event, query.persist.unwrap_or(true));
    Ok(reply(StatusCode::OK, &Object::new().into()))
}

async fn send_raw(State(server): Server, Path(id): Path<String>, body: Bytes) -> Result<Response, Refusal> {
    let body = read(&body)?;
    let raw = body.text("raw").ok_or_else(|| bad("the body needs 'raw', a string"))?;
    find(&server, &id)?.publish(&Frame::Raw(raw.to_owned()));
    Ok(reply(StatusCode::OK, &Object::new().into()))
}

fn events_in(body: &Json) -> Result<usize, Refusal> {
    let events = body.count("events").and_then(|events| usize::try_from(events).ok());
    events.ok_or_else(|| bad("the body needs 'events', a number"))
}

async fn fill(State(server): Server, Path(id): Path<String>, body: Bytes) -> Result<Response, Refusal> {
    let conversation = find(&server, &id)?;
    conversation.fill(events_in(&read(&body)?)?).map_err(bad)?;
    Ok(reply(StatusCode::OK, &object! { "events" => conversation.events() }))
}

async fn rewind(State(server): Server, Path(id): Path<String>, body: Bytes) -> Result<Response, Refusal> {
    let conversation = find(&server, &id)?;
    conversation.rewind(events_in(&read(&body)?)?);
    Ok(reply(StatusCode::OK, &object! { "events" => conversation.events() }))
}

#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RestartOrder {
    signal: Signal,
    /// The session key from now on.
    key: Option<String>,
    /// For how long nobody is let in.
    #[serde(default)]
    down_ms: u64,
}

async fn restart(State(server): Server, body: Bytes) -> Result<Response, Refusal> {
    let order: RestartOrder = serde_json::from_slice(&body).map_err(bad)?;
    let keeps_secrets = server.key().is_some();
    server.restarts.restart(order.signal, Duration::from_millis(order.down_ms));
    server.registry.lock().unwrap_or_else(PoisonError::into_inner).forget();
    server.conversations.restart(order.signal, keeps_secrets);
    server.uipath.restart();
    if let Some(key) = order.key {
        server.change_key(key);
    }
    Ok(reply(StatusCode::OK, &Object::new().into()))
}
