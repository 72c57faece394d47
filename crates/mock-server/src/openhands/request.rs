//! What the routes read from a request: its body, and the conversation that its path names.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::StatusCode;

use crate::json::{Json, parse};
use crate::object;
use crate::shared::Shared;

use super::conversation::Conversation;
use super::reply::Failure;
use super::validate::path_id;

/// A JSON body; an object, as all requests have.
pub(super) fn read_body(body: &Bytes) -> Result<Json, Failure> {
    let text = String::from_utf8_lossy(body);
    if text.is_empty() {
        return Err(Failure::invalid("missing", vec!["body".into()], "Field required", Json::Null, None));
    }
    let body = parse(&text).map_err(|error| {
        let loc = vec![Json::from("body"), error.at.into()];
        let context = object! { "error" => error.message };
        Failure::invalid("json_invalid", loc, "JSON decode error", object! {}, Some(context))
    })?;
    if body.as_object().is_some() {
        return Ok(body);
    }
    let message = "Input should be a valid dictionary or object to extract fields from";
    Err(Failure::invalid("model_attributes_type", vec!["body".into()], message, body, None))
}

/// The conversation that a path names.
pub(super) fn find(server: &Shared, id: &str) -> Result<Arc<Conversation>, Failure> {
    server.conversations.find(path_id(id)?).ok_or_else(Failure::not_found)
}

/// The same for the routes that answered 400 before 1.58.
pub(super) fn find_or_refuse(server: &Shared, id: &str) -> Result<Arc<Conversation>, Failure> {
    find(server, id).map_err(|failure| match failure {
        Failure::Detail(StatusCode::NOT_FOUND, _) if !server.config.at_least(1, 58) => {
            Failure::Detail(StatusCode::BAD_REQUEST, "Bad Request".to_owned())
        }
        other => other,
    })
}
