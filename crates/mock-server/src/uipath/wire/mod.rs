//! The wire between a peer and the protocol engine: every frame passes here, is recorded, and may meet a fault.
//!
//! The engine speaks over a pipe in memory as it would over TCP. What a peer sees is what the engine wrote, unless a
//! fault changes it: no server library offers to be silent, to break off or to write nonsense.

mod fate;
mod link;
mod orders;
mod packet;

use std::sync::Arc;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{OriginalUri, State};
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tower_service::Service as _;

use crate::faults::{Fault, Leg};
use crate::json::Json;
use crate::object;
use crate::openhands::json_reply as reply;
use crate::query::Query;
use crate::shared::Shared;

use super::socket::{Engine, engine, runtime_of};
use link::Link;

pub(super) use link::End;
pub(super) use orders::{Order, Orders};

/// Where sockets connect: a local service, and the cloud's.
const PATHS: [&str; 2] = ["/socket.io/", "/autopilotforeveryone_/websocket_/socket.io/"];
/// What fits into the pipe; a sender waits for room.
const PIPE: usize = 1 << 16;

/// Whether a path is that of a socket.
pub(crate) fn is_socket(path: &str) -> bool {
    PATHS.iter().any(|known| path.starts_with(known))
}

#[derive(Clone)]
struct Wires {
    shared: Arc<Shared>,
    engine: Engine,
}

pub(super) fn router(shared: &Arc<Shared>) -> Router {
    let wires = Wires { shared: Arc::clone(shared), engine: engine(shared) };
    PATHS.iter().fold(Router::new(), |router, path| router.route(path, get(connect))).with_state(wires)
}

async fn connect(
    State(mut wires): State<Wires>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let query = Query::read(uri.query().unwrap_or_default());
    if query.get("EIO") != Some("4") {
        return refused(5, "Unsupported protocol version");
    }
    let (Ok(upgrade), Some("websocket")) = (upgrade, query.get("transport")) else {
        return refused(0, "Transport unknown");
    };
    let shared = Arc::clone(&wires.shared);
    let leg = if runtime_of(&headers).is_some() { Leg::Runtime } else { Leg::Client };
    let number = shared.sockets.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
    let label = format!("{}-{number}", if leg == Leg::Runtime { "runtime" } else { "client" });
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    shared.recorder.add(object! {
        "ch" => "ws", "label" => &label, "dir" => "open", "path" => path, "headers" => kept(&headers),
    });
    if shared.faults.fire_on(leg, None, |fault| matches!(fault, Fault::RefuseSocket).then_some(())).is_some() {
        shared.recorder.add(object! {
            "ch" => "ws", "label" => label, "dir" => "handshake-error",
            "error" => "server rejected WebSocket connection: HTTP 403",
        });
        return StatusCode::FORBIDDEN.into_response();
    }
    let mut request = Request::new(());
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    let (ours, theirs) = tokio::io::duplex(PIPE);
    if wires.engine.call((theirs, request)).await.is_err() {
        return refused(3, "Bad request");
    }
    upgrade.max_message_size(usize::MAX).max_frame_size(usize::MAX).on_upgrade(move |socket| async move {
        Link::new(shared, leg, label, socket, ours).await.run().await;
    })
}

/// As the Engine.IO server answers what it cannot serve.
fn refused(code: u64, message: &str) -> Response {
    reply(StatusCode::BAD_REQUEST, &object! { "code" => code, "message" => message })
}

/// The headers by which a runtime says who it is.
fn kept(headers: &HeaderMap) -> Json {
    let said =
        headers.iter().filter(|(name, _)| name.as_str() == "authorization" || name.as_str().starts_with("x-uipath-"));
    let said = said
        .map(|(name, value)| (name.to_string(), Json::from(String::from_utf8_lossy(value.as_bytes()).into_owned())));
    Json::Object(said.collect())
}
