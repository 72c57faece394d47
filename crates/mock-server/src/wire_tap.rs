//! The outermost layer of the service: records REST traffic and plays the faults of requests.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, ORIGIN};
use axum::http::{Request, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

use crate::connection::Cutter;
use crate::cors;
use crate::faults::Fault;
use crate::json::{Json, Object};
use crate::object;
use crate::openhands::unhandled;
use crate::restarts::restarted;
use crate::shared::Shared;
use crate::uipath::{fault_answer, is_rest, is_socket};

const KEPT_HEADERS: [&str; 7] =
    ["content-type", "x-session-api-key", "origin", "authorization", "traceparent", "x-ms-blob-type", "x-mock-upload"];

/// What the faults do to one request.
enum Fate {
    Pass,
    Answer(StatusCode, Option<String>),
    HangUp { handled: bool },
}

pub(crate) async fn layer(State(server): State<Arc<Shared>>, request: Request<Body>, next: Next) -> Response {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let cutter = request.extensions().get::<ConnectInfo<Cutter>>().map(|info| info.0.clone());
    let restarts = server.restarts.watch();
    if server.restarts.is_down() {
        return hang_up(cutter);
    }
    if path.starts_with("/sockets/") || is_socket(&path) {
        // Sockets record themselves.
        return next.run(request).await;
    }
    let method = request.method().to_string();
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, usize::MAX).await else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    record(&server, "request", &method, &path, None, &parts.headers, &body);

    let delay = server.faults.fire(conversation_in(&path), |fault| match fault {
        Fault::HttpDelay { requests, ms } if requests.hits(&method, &path) => Some(*ms),
        _ => None,
    });
    if let Some(ms) = delay {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
    let origin = parts.headers.get(ORIGIN).cloned();
    let request = Request::from_parts(parts, Body::from(body));
    let response = match fate(&server, &method, &path) {
        Fate::Pass => tokio::select! {
            biased;
            _ = restarted(restarts) => return hang_up(cutter),
            response = next.run(request) => response,
        },
        Fate::Answer(status, body) if is_rest(&path) => fault_answer(&server, status, body),
        Fate::Answer(status, body) => answer(status, body, origin.as_ref()),
        Fate::HangUp { handled } => {
            if handled {
                next.run(request).await;
            }
            server.recorder.add(object! {
                "ch" => "rest", "dir" => "response", "method" => method, "path" => path, "error" => "hang_up",
            });
            return hang_up(cutter);
        }
    };
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    record(&server, "response", &method, &path, Some(parts.status), &parts.headers, &body);
    Response::from_parts(parts, Body::from(body))
}

/// Ends the connection without an answer.
fn hang_up(cutter: Option<Cutter>) -> Response {
    if let Some(cutter) = cutter {
        cutter.cut();
    }
    StatusCode::OK.into_response()
}

fn fate(server: &Shared, method: &str, path: &str) -> Fate {
    let fate = server.faults.fire(conversation_in(path), |fault| match fault {
        Fault::HangUp { requests, handled } if requests.hits(method, path) => Some(Fate::HangUp { handled: *handled }),
        Fault::Http { requests, status, body } if requests.hits(method, path) => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            Some(Fate::Answer(status, body.as_ref().map(ToString::to_string)))
        }
        _ => None,
    });
    fate.unwrap_or(Fate::Pass)
}

fn answer(status: StatusCode, body: Option<String>, origin: Option<&HeaderValue>) -> Response {
    let json = HeaderValue::from_static("application/json");
    if status == StatusCode::INTERNAL_SERVER_ERROR {
        let mut response = unhandled("a fault of the mock server");
        if let Some(body) = body {
            *response.body_mut() = Body::from(body);
        }
        return response;
    }
    let reason = status.canonical_reason().unwrap_or("Error");
    let body = body.unwrap_or_else(|| object! { "detail" => reason }.to_string());
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, json);
    cors::decorate(&mut headers, origin);
    (status, headers, body).into_response()
}

/// The conversation that a path names, if it does.
pub(crate) fn conversation_in(path: &str) -> Option<Uuid> {
    path.split(['/', '?']).find_map(|part| part.parse().ok())
}

fn record(
    server: &Shared,
    direction: &str,
    method: &str,
    path: &str,
    status: Option<StatusCode>,
    headers: &HeaderMap,
    body: &Bytes,
) {
    let mut kept = Object::new();
    for (name, value) in headers {
        let name = name.as_str();
        if KEPT_HEADERS.contains(&name)
            || name == "vary"
            || name.starts_with("access-control-")
            || name.starts_with("x-uipath-")
        {
            kept.set(name, String::from_utf8_lossy(value.as_bytes()).into_owned());
        }
    }
    let mut line = object! { "ch" => "rest", "dir" => direction, "method" => method, "path" => path };
    if let Some(status) = status {
        line.set("status", u64::from(status.as_u16()));
    }
    if !kept.is_empty() {
        line.set("headers", kept);
    }
    if !body.is_empty() || status.is_some() {
        line.set("body", Json::Text(String::from_utf8_lossy(body).into_owned()));
    }
    server.recorder.add(line);
}
