//! The REST routes of a conversation's events.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State as Extract};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};

use crate::json::Json;
use crate::shared::Shared;

use super::conversation::{Conversation, Status};
use super::messages::content_items;
use super::reply::{Failure, json, success};
use super::request::{find, load, read_body};
use super::run;
use super::search::Search;
use super::validate::{Complaints, path_id};

type Server = Extract<Arc<Shared>>;

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/conversations/{id}/events", post(send))
        .route("/api/conversations/{id}/events/search", get(search))
        .route("/api/conversations/{id}/events/count", get(count))
        .route("/api/conversations/{id}/events/respond_to_confirmation", post(respond))
        .route("/api/conversations/{id}/events/{event}", get(one))
        .route("/api/conversations/{id}/agent_final_response", get(final_response))
}

async fn send(Extract(server): Server, Path(id): Path<String>, body: Bytes) -> Result<Response, Failure> {
    let request = read_body(&body)?;
    let mut complaints = Complaints::default();
    complaints.content(&[], &request);
    complaints.done()?;
    let conversation = find(&server, &id)?;
    if request.text("role").is_some_and(|role| role != "user") {
        let exception = "Only user messages are allowed to be sent to the agent.";
        return Err(Failure::Unhandled(exception.to_owned()));
    }
    conversation.free().await.add_user_message(content_items(request.get("content")))?;
    if request.flag("run") == Some(true) {
        // The message is saved by now, whether there is room for a run or not.
        if conversation.lock().run.is_none() {
            run::check_capacity(&server, conversation.id())?;
        }
        run::start(&server, &conversation)?;
    }
    Ok(success())
}

async fn respond(Extract(server): Server, Path(id): Path<String>, body: Bytes) -> Result<Response, Failure> {
    let request = read_body(&body)?;
    let Some(accept) = request.flag("accept") else {
        let loc = vec![Json::from("body"), Json::from("accept")];
        return Err(Failure::invalid("missing", loc, "Field required", request, None));
    };
    let conversation = find(&server, &id)?;
    if accept {
        run::check_capacity(&server, conversation.id())?;
        run::start(&server, &conversation)?;
    } else {
        let mut state = conversation.free().await;
        if state.status == Status::Waiting {
            state.reject_pending(request.text("reason").unwrap_or("User rejected the action."));
        }
    }
    Ok(success())
}

fn find_for_events(server: &Shared, id: &str) -> Result<Arc<Conversation>, Failure> {
    let id = path_id(id)?;
    let unknown = || Failure::Detail(StatusCode::NOT_FOUND, format!("Conversation not found: {id}"));
    let conversation = server.conversations.find(id).ok_or_else(unknown)?;
    load(server, &conversation)?;
    Ok(conversation)
}

async fn search(
    Extract(server): Server,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Failure> {
    let search = Search::read(query.as_deref().unwrap_or_default(), &server)?;
    let conversation = find_for_events(&server, &id)?;
    let known = conversation.lock().log.known();
    Ok(json(StatusCode::OK, &search.page(known)))
}

async fn count(
    Extract(server): Server,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Failure> {
    let search = Search::read(query.as_deref().unwrap_or_default(), &server)?;
    let conversation = find_for_events(&server, &id)?;
    let known = conversation.lock().log.known();
    Ok(json(StatusCode::OK, &search.count(&known).into()))
}

async fn one(Extract(server): Server, Path((id, event)): Path<(String, String)>) -> Result<Response, Failure> {
    let conversation = find_for_events(&server, &id)?;
    let known = conversation.lock().log.known();
    match known.iter().find(|known| known.id == event) {
        Some(found) => Ok(json(StatusCode::OK, &found.full)),
        None if server.config.at_least(1, 58) => Err(Failure::not_found()),
        None => Err(Failure::Unhandled(format!("Unknown event_id: {event}"))),
    }
}

async fn final_response(Extract(server): Server, Path(id): Path<String>) -> Result<Response, Failure> {
    let conversation = find_for_events(&server, &id)?;
    let known = conversation.lock().log.known();
    let text = known.iter().rev().find_map(|event| match event.kind.as_str() {
        "ActionEvent" if event.tool() == Some("finish") => {
            event.wire.get("action").and_then(|action| action.text("message")).map(str::to_owned)
        }
        "MessageEvent" if event.field("source") == "agent" => {
            let content = event.wire.get("llm_message").and_then(|message| message.get("content"));
            let items = content.and_then(Json::as_array).unwrap_or_default();
            Some(items.iter().filter_map(|item| item.text("text")).collect())
        }
        _ => None,
    });
    Ok(json(StatusCode::OK, &crate::object! { "response" => text.unwrap_or_default() }))
}
