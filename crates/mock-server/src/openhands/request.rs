//! What the routes read from a request: its body, and the conversation that its path names.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::StatusCode;

use crate::faults::Fault;
use crate::json::{Json, parse};
use crate::object;
use crate::shared::Shared;

use super::conversation::{Conversation, Loading};
use super::reply::Failure;
use super::validate::path_id;

/// How long a socket stays open while the server tries to load its conversation.
const LOADING: Duration = Duration::from_secs(4);

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

/// The conversation that a path names, loaded.
pub(super) fn find(server: &Shared, id: &str) -> Result<Arc<Conversation>, Failure> {
    let conversation = find_unloaded(server, id)?;
    load(server, &conversation)?;
    Ok(conversation)
}

/// The same without a look at what cannot be loaded: the server knows the settings all the same.
pub(super) fn find_unloaded(server: &Shared, id: &str) -> Result<Arc<Conversation>, Failure> {
    server.conversations.find(path_id(id)?).ok_or_else(Failure::not_found)
}

/// Loads a conversation as far as this process has not yet: its client tools join the registry, and may be in conflict
/// with those of another.
pub(super) fn load(server: &Shared, conversation: &Conversation) -> Result<(), Failure> {
    poison(server, conversation).map_or(Ok(()), |(exception, _)| Err(Failure::Unhandled(exception)))
}

/// Why a conversation cannot be loaded, and how long the server tries.
pub(super) fn poison(server: &Shared, conversation: &Conversation) -> Option<(String, Duration)> {
    let faulty = server.faults.fire(Some(conversation.id()), |fault| match fault {
        Fault::Poisoned { ms } => Some(Duration::from_millis(*ms)),
        _ => None,
    });
    if let Some(time) = faulty {
        return Some(("1 validation error for Event".to_owned(), time));
    }
    let mut state = conversation.lock();
    if state.loading == Loading::Pending {
        let mut registry = server.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let registered = registry.register(&state.client_tools);
        state.loading = registered.map_or_else(|failure| Loading::Failed(failure.to_string()), |()| Loading::Done);
    }
    match &state.loading {
        Loading::Failed(exception) => Some((exception.clone(), LOADING)),
        Loading::Pending | Loading::Done => None,
    }
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
