//! Errors, in the three forms that clients meet.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::json::Json;
use crate::object;
use crate::openhands::json_reply as reply;
use crate::shared::Shared;

use super::super::levers::ErrorForm;
use super::gate;

/// Why a request failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    pub(super) message: String,
    /// Fields that are wrong.
    pub(super) fields: Vec<(String, String)>,
}

impl Failure {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), fields: Vec::new() }
    }

    pub(super) fn missing(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", format!("{what} not found."))
    }

    pub(super) fn unauthorized(message: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", message)
    }

    pub(super) fn invalid(fields: Vec<(String, String)>) -> Self {
        let message = "One or more validation errors occurred.".to_owned();
        Self { status: StatusCode::BAD_REQUEST, code: "VALIDATION_ERROR", message, fields }
    }

    /// The response, as the server words errors at the moment.
    pub(super) fn answer(&self, shared: &Shared) -> Response {
        reply(self.status, &self.body(shared.uipath.lock().levers.error_form))
    }

    fn body(&self, form: ErrorForm) -> Json {
        let trace = Uuid::new_v4().simple().to_string();
        match form {
            ErrorForm::Message => {
                object! { "message" => &self.message, "errorCode" => self.code, "traceId" => trace }
            }
            ErrorForm::Error => object! { "error" => &self.message, "traceId" => trace },
            ErrorForm::Problem => {
                let mut body = object! {
                    "type" => format!("https://httpstatuses.io/{}", self.status.as_u16()),
                    "title" => &self.message,
                    "status" => u64::from(self.status.as_u16()),
                };
                if !self.fields.is_empty() {
                    let fields = self
                        .fields
                        .iter()
                        .map(|(name, problem)| (name.clone(), Json::Array(vec![problem.as_str().into()])));
                    body.set("errors", Json::Object(fields.collect()));
                }
                body.set("traceId", trace);
                body
            }
        }
    }
}

/// What handlers answer with.
pub(super) type Outcome = Result<Json, Failure>;

/// A JSON response of a handler.
pub(super) fn answer(shared: &Shared, outcome: Outcome) -> Response {
    match outcome {
        Ok(body) => reply(StatusCode::OK, &body),
        Err(failure) => failure.answer(shared),
    }
}

pub(super) async fn nothing_here(State(shared): State<Arc<Shared>>) -> Response {
    Failure::missing("Resource").answer(&shared)
}

/// The answer of a fault, which any origin may read.
pub(crate) fn fault(shared: &Shared, status: StatusCode, body: Option<String>) -> Response {
    let reason = status.canonical_reason().unwrap_or("Error");
    let mut response = Failure::new(status, "FAULT", reason).answer(shared);
    if let Some(body) = body {
        *response.body_mut() = body.into();
    }
    gate::decorate(response.headers_mut());
    response
}
