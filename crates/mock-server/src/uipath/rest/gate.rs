//! Who is let in: other origins with the headers that the service allows, and requests with a token.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, AUTHORIZATION, HeaderMap,
    HeaderValue,
};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::faults::Fault;
use crate::shared::Shared;

use super::failure::Failure;

/// What a page of another origin may send.
const HEADERS: &str = "authorization, content-type, traceparent, x-uipath-traceparent-id, x-uipath-external-user-id, \
                       x-uipath-conversational-surfacename, x-uipath-conversational-surfaceversion";
const METHODS: &str = "GET, POST, PUT, PATCH, DELETE, OPTIONS";
/// What an upload may send besides.
const UPLOAD_HEADERS: &str = "authorization, content-type, x-ms-blob-type, x-mock-upload";
/// Tokens that act for an app begin so.
const APP_TOKEN: &str = "app-";

/// The headers of every response.
pub(super) fn decorate(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
}

pub(super) async fn cors(request: Request<Body>, next: Next) -> Response {
    let upload = request.uri().path().starts_with(super::attachments::UPLOADS);
    let mut response = if request.method() == Method::OPTIONS {
        let mut response = StatusCode::NO_CONTENT.into_response();
        let allowed = if upload { UPLOAD_HEADERS } else { HEADERS };
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(allowed));
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
        response
    } else {
        next.run(request).await
    };
    decorate(response.headers_mut());
    response
}

pub(super) async fn need_token(State(shared): State<Arc<Shared>>, request: Request<Body>, next: Next) -> Response {
    if request.method() == Method::OPTIONS {
        return next.run(request).await;
    }
    match let_in(&shared, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(failure) => failure.answer(&shared),
    }
}

fn let_in(shared: &Shared, headers: &HeaderMap) -> Result<(), Failure> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let token = text(AUTHORIZATION.as_str()).and_then(|value| value.strip_prefix("Bearer "));
    let rejects = |fault: &Fault| matches!(fault, Fault::RejectKey).then_some(());
    let rejected = shared.faults.fire(None, rejects).is_some();
    match token {
        Some(token) if !rejected && shared.uipath.lock().accepts(token) => {
            acts_for(token, text("x-uipath-external-user-id"))
        }
        _ => Err(Failure::unauthorized("The access token is missing or not valid.")),
    }
}

/// A token of an app says for which user it acts.
fn acts_for(token: &str, user: Option<&str>) -> Result<(), Failure> {
    if !token.starts_with(APP_TOKEN) {
        return Ok(());
    }
    let Some(user) = user else {
        return Err(Failure::unauthorized("x-uipath-external-user-id is missing."));
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || ['.', '_', '-'].contains(&c);
    if user.is_empty() || user.len() > 255 || !user.chars().all(allowed) {
        let field = "x-uipath-external-user-id".to_owned();
        return Err(Failure::invalid(vec![(field, "Only letters, digits, '.', '_' and '-', at most 255.".to_owned())]));
    }
    Ok(())
}

/// Whether a token may open a socket for this user.
pub(crate) fn may_connect(token: &str, user: Option<&str>) -> bool {
    acts_for(token, user).is_ok()
}
