//! Responses, and the bodies of the real server's errors.

use axum::http::header::{CONNECTION, CONTENT_TYPE, HeaderValue};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

use crate::cors::Unhandled;
use crate::json::Json;
use crate::object;

/// A JSON response.
pub(crate) fn json(status: StatusCode, body: &Json) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    (status, headers, body.to_string()).into_response()
}

/// `{"success":true}`.
pub(super) fn success() -> Response {
    json(StatusCode::OK, &object! { "success" => true })
}

/// A request that failed: what the handlers use as their error type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Failure {
    /// A status with a `detail` string.
    Detail(StatusCode, String),
    /// 422 with a `detail` array.
    Invalid(Vec<Json>),
    /// An exception that nothing handled.
    Unhandled(String),
}

impl Failure {
    pub(super) fn not_found() -> Self {
        Self::Detail(StatusCode::NOT_FOUND, "Not Found".to_owned())
    }

    pub(super) fn unprocessable(detail: impl Into<String>) -> Self {
        Self::Detail(StatusCode::UNPROCESSABLE_ENTITY, detail.into())
    }

    /// One validation error, as pydantic writes it.
    pub(super) fn invalid(kind: &str, loc: Vec<Json>, message: &str, input: Json, context: Option<Json>) -> Self {
        Self::Invalid(vec![invalid_item(kind, loc, message, input, context)])
    }

    /// A validation error raised by a validator of the real server's models.
    pub(super) fn value_error(loc: Vec<Json>, message: &str, input: Json) -> Self {
        let context = object! { "error" => message };
        Self::invalid("value_error", loc, &format!("Value error, {message}"), input, Some(context))
    }
}

pub(super) fn invalid_item(kind: &str, loc: Vec<Json>, message: &str, input: Json, context: Option<Json>) -> Json {
    let mut item = object! { "type" => kind, "loc" => loc, "msg" => message, "input" => input };
    if let Some(context) = context {
        item.set("ctx", context);
    }
    item
}

impl std::fmt::Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Detail(_, text) | Self::Unhandled(text) => out.write_str(text),
            Self::Invalid(items) => out.write_str(&Json::Array(items.clone()).to_string()),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Self::Detail(status, detail) => json(status, &object! { "detail" => detail }),
            Self::Invalid(items) => json(StatusCode::UNPROCESSABLE_ENTITY, &object! { "detail" => items }),
            Self::Unhandled(exception) => unhandled(&exception),
        }
    }
}

/// The response to an exception that nothing handled: no CORS headers, and the connection closes.
pub(crate) fn unhandled(exception: &str) -> Response {
    let body = object! {
        "detail" => "Internal Server Error",
        "exception" => exception,
        "error_id" => Uuid::new_v4().simple().to_string(),
    };
    let mut response = json(StatusCode::INTERNAL_SERVER_ERROR, &body);
    response.extensions_mut().insert(Unhandled);
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
