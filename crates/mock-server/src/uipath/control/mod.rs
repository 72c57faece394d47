//! `/mock/uipath`: how a test or a demo steers the service.

mod conversations;
mod service;
mod sockets;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};

use crate::json::{Json, parse};
use crate::object;
use crate::openhands::json_reply as reply;
use crate::shared::Shared;

type Server = axum::extract::State<Arc<Shared>>;
type Outcome = Result<Json, Refusal>;

pub(crate) fn router(shared: &Arc<Shared>) -> Router {
    let routes = Router::new()
        .route(
            "/scripts/{name}",
            put(service::put_script).post(service::put_script).get(service::get_script).delete(service::delete_script),
        )
        .route("/agents", put(service::put_agents).post(service::put_agents))
        .route("/tokens", put(service::put_tokens).post(service::put_tokens))
        .route("/levers", get(service::levers).put(service::put_levers).post(service::put_levers))
        .route("/attachments", get(service::attachments))
        .route("/attachments/{id}", get(service::attachment))
        .route("/conversations", get(conversations::all))
        .route("/conversations/{id}", get(conversations::one))
        .route("/conversations/{id}/script", put(conversations::choose).post(conversations::choose))
        .route("/conversations/{id}/emit", post(conversations::emit))
        .route("/conversations/{id}/sockets", post(sockets::of_conversation))
        .route("/sockets", post(sockets::all));
    Router::new().nest("/mock/uipath", routes).with_state(Arc::clone(shared))
}

/// Why a control request failed.
#[derive(Debug)]
enum Refusal {
    Bad(String),
    Missing(&'static str),
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, error) = match self {
            Self::Bad(message) => (StatusCode::BAD_REQUEST, message),
            Self::Missing(what) => (StatusCode::NOT_FOUND, format!("no such {what}")),
        };
        reply(status, &object! { "error" => error })
    }
}

fn bad(message: impl std::fmt::Display) -> Refusal {
    Refusal::Bad(message.to_string())
}

fn read(body: &Bytes) -> Outcome {
    parse(&String::from_utf8_lossy(body)).map_err(bad)
}

fn answer(outcome: Outcome) -> Response {
    match outcome {
        Ok(body) => reply(StatusCode::OK, &body),
        Err(refusal) => refusal.into_response(),
    }
}
