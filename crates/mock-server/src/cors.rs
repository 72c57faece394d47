//! Cross-origin rules of the real server: `localhost` and `127.0.0.1` on any port, nothing else.

use axum::body::Body;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, Request, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Marks a response to an exception that nothing handled: it leaves the server outside its CORS layer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unhandled;

const METHODS: &str = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY";
const PREFLIGHT_VARY: &str =
    "Origin, Access-Control-Request-Method, Access-Control-Request-Headers, Access-Control-Request-Private-Network";

fn allowed(origin: &HeaderValue) -> bool {
    let Some((_, rest)) = origin.to_str().ok().and_then(|origin| origin.split_once("://")) else {
        return false;
    };
    let host = rest.split_once(':').map_or(rest, |(host, _)| host);
    host == "localhost" || host == "127.0.0.1"
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.insert(name, HeaderValue::from_static(value));
}

/// The headers of an ordinary response to a request from `origin`.
pub(crate) fn decorate(headers: &mut HeaderMap, origin: Option<&HeaderValue>) {
    put(headers, header::VARY, "Origin");
    let Some(origin) = origin else { return };
    put(headers, header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
    if allowed(origin) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    }
}

fn preflight(request: &HeaderMap, origin: &HeaderValue) -> Response {
    let mut complaints = Vec::new();
    let mut headers = HeaderMap::new();
    put(&mut headers, header::VARY, PREFLIGHT_VARY);
    put(&mut headers, header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    put(&mut headers, header::ACCESS_CONTROL_MAX_AGE, "600");
    put(&mut headers, header::ACCESS_CONTROL_ALLOW_CREDENTIALS, "true");
    if allowed(origin) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    } else {
        complaints.push("origin");
    }
    if let Some(wanted) = request.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    if request.contains_key("access-control-request-private-network") {
        complaints.push("private-network");
    }
    put(&mut headers, header::CONTENT_TYPE, "text/plain; charset=utf-8");
    if complaints.is_empty() {
        (StatusCode::OK, headers, "OK").into_response()
    } else {
        (StatusCode::BAD_REQUEST, headers, format!("Disallowed CORS {}", complaints.join(", "))).into_response()
    }
}

/// The CORS layer.
pub(crate) async fn layer(request: Request<Body>, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let asks = request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    if let (Some(origin), true) = (&origin, asks && request.method() == Method::OPTIONS) {
        return preflight(request.headers(), origin);
    }
    let mut response = next.run(request).await;
    if response.extensions().get::<Unhandled>().is_none() {
        decorate(response.headers_mut(), origin.as_ref());
    }
    response
}

/// The layer of the control routes: anyone may use them.
pub(crate) async fn open_layer(request: Request<Body>, next: Next) -> Response {
    let mut response = if request.method() == Method::OPTIONS {
        StatusCode::NO_CONTENT.into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    put(headers, header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    put(headers, header::ACCESS_CONTROL_ALLOW_HEADERS, "*");
    put(headers, header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, DELETE, OPTIONS");
    response
}
