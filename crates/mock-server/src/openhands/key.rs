//! The key that lets clients in.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State as Extract};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::faults::Fault;
use crate::shared::Shared;
use crate::wire_tap::conversation_in;

use super::reply::Failure;

/// Whether `key` opens the server; a fault can make every key wrong.
pub(super) fn key_opens(server: &Shared, key: Option<&str>, path: &str) -> bool {
    let rejects = |fault: &Fault| matches!(fault, Fault::RejectKey).then_some(());
    if server.faults.fire(conversation_in(path), rejects).is_some() {
        return false;
    }
    server.key().is_none_or(|wanted| key == Some(&wanted))
}

pub(super) async fn need_key(Extract(server): Extract<Arc<Shared>>, request: Request<Body>, next: Next) -> Response {
    let key = request.headers().get("x-session-api-key").and_then(|key| key.to_str().ok());
    if key_opens(&server, key, request.uri().path()) {
        return next.run(request).await;
    }
    Failure::Detail(StatusCode::UNAUTHORIZED, "Unauthorized".to_owned()).into_response()
}
