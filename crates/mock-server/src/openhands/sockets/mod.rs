//! Both sockets: handshake, authentication, then one or the other stream.

mod inbound;
mod link;
mod streams;
mod voice;

use std::sync::Arc;

use axum::Router;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocketUpgrade};
use axum::extract::{OriginalUri, Path, State as Extract};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use jiff::civil::DateTime;
use uuid::Uuid;

use crate::faults::Fault;
use crate::json::parse;
use crate::object;
use crate::query::Query;
use crate::shared::Shared;

use super::key::key_opens;
use super::reply::Failure;
use super::request::poison;
use link::{End, Link};

type Server = Extract<Arc<Shared>>;

/// What the real server accepts in one frame.
const INBOUND_LIMIT: usize = 16 << 20;

/// What a legacy socket replays.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Resend {
    Nothing,
    All,
    Since(DateTime),
}

/// What a client asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ask {
    Legacy(Resend),
    Session { after: Option<i64> },
}

/// What is known of the key at the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Good,
    InFirstFrame,
}

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/sockets/events/{id}", get(legacy))
        .route("/sockets/session/{id}", get(session))
        .route("/sockets/{*rest}", any(|| async { StatusCode::FORBIDDEN }))
}

async fn legacy(
    Extract(server): Server,
    Path(id): Path<String>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let query = Query::read(uri.query().unwrap_or_default());
    let ask = resend(&query, &server).map(Ask::Legacy);
    admit(server, &id, ask, &uri, &headers, upgrade)
}

async fn session(
    Extract(server): Server,
    Path(id): Path<String>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let query = Query::read(uri.query().unwrap_or_default());
    let after = match query.get("after_seq") {
        None => Some(None),
        Some(text) => text.parse().ok().map(Some),
    };
    let known = server.config.at_least(1, 45);
    let ask = after.filter(|_| known).map(|after| Ask::Session { after });
    admit(server, &id, ask, &uri, &headers, upgrade)
}

/// None for what the real server refuses at the handshake.
fn resend(query: &Query, server: &Shared) -> Option<Resend> {
    let after = match query.get("after_timestamp") {
        None => None,
        Some(text) => Some(server.clock.read(text)?),
    };
    match query.get("resend_mode") {
        Some("all") => Some(Resend::All),
        // Without a time it replays nothing, and says nothing about it.
        Some("since") => Some(after.map_or(Resend::Nothing, Resend::Since)),
        Some(_) => None,
        None if query.get("resend_all") == Some("true") => Some(Resend::All),
        None => Some(Resend::Nothing),
    }
}

fn admit(
    server: Arc<Shared>,
    id: &str,
    ask: Option<Ask>,
    uri: &Uri,
    headers: &HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let Ok(upgrade) = upgrade else {
        return Failure::not_found().into_response();
    };
    let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let number = server.sockets.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
    let name = if matches!(ask, Some(Ask::Session { .. })) { "session" } else { "events" };
    let label = format!("{name}-{number}");
    server.recorder.add(object! { "ch" => "ws", "label" => &label, "dir" => "open", "path" => &path });

    let admitted = id.parse::<Uuid>().ok().zip(ask).and_then(|(id, ask)| {
        let refuses = |fault: &Fault| matches!(fault, Fault::RefuseSocket).then_some(());
        if server.faults.fire(Some(id), refuses).is_some() {
            return None;
        }
        key_at_handshake(&server, uri, headers).map(|key| (id, ask, key))
    });
    let Some((id, ask, key)) = admitted else {
        server.recorder.add(object! {
            "ch" => "ws", "label" => label, "dir" => "handshake-error",
            "error" => "server rejected WebSocket connection: HTTP 403",
        });
        return StatusCode::FORBIDDEN.into_response();
    };
    upgrade.max_message_size(INBOUND_LIMIT).max_frame_size(INBOUND_LIMIT).on_upgrade(move |socket| async move {
        let mut link = Link::new(server, id, socket, label);
        let end = converse(&mut link, ask, key).await;
        link.close(end).await;
    })
}

/// A key in the query or a header is checked before the handshake, even an empty one; none if it is wrong.
fn key_at_handshake(server: &Shared, uri: &Uri, headers: &HeaderMap) -> Option<Key> {
    if server.key().is_none() {
        return Some(if key_opens(server, None, uri.path()) { Key::Good } else { Key::InFirstFrame });
    }
    let query = Query::read(uri.query().unwrap_or_default());
    let header = headers.get("x-session-api-key").map(|key| key.to_str().unwrap_or_default());
    match query.get("session_api_key").or(header) {
        Some(key) if key_opens(server, Some(key), uri.path()) => Some(Key::Good),
        Some(_) => None,
        None => Some(Key::InFirstFrame),
    }
}

async fn converse(link: &mut Link, ask: Ask, key: Key) -> End {
    if key == Key::InFirstFrame
        && let Err(end) = authenticate(link).await
    {
        return end;
    }
    let Some(conversation) = link.server.conversations.find(link.id) else {
        return End::close(4004, "Conversation not found");
    };
    if let Some(end) = link.dropped_at_once() {
        return end;
    }
    if let Some((_, time)) = poison(&link.server, &conversation) {
        return tokio::select! {
            () = tokio::time::sleep(time) => End::Abrupt,
            end = link.stopping() => end,
        };
    }
    match ask {
        Ask::Legacy(resend) => streams::legacy(link, &conversation, resend).await,
        Ask::Session { after } => streams::session(link, &conversation, after).await,
    }
}

/// The first text frame must bring the key, in time. Nothing is said on success.
async fn authenticate(link: &mut Link) -> Result<(), End> {
    let failed = End::close(4001, "Authentication failed");
    let limit = link.server.config.auth_timeout;
    let stopping = link.stopping();
    let frame = tokio::select! {
        frame = tokio::time::timeout(limit, link.receive()) => frame,
        end = stopping => return Err(end),
    };
    match frame {
        Ok(Some(Message::Text(text))) => {
            let frame = parse(&text).unwrap_or_default();
            let key = frame.text("session_api_key").filter(|_| frame.text("type") == Some("auth"));
            let path = format!("/{}", link.id);
            match key {
                Some(key) if key_opens(&link.server, Some(key), &path) => Ok(()),
                _ => Err(failed),
            }
        }
        Ok(None) => Err(End::Gone),
        _ => Err(failed),
    }
}
