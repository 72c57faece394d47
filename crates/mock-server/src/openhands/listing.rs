//! `GET /api/conversations/search`, `/count`, and `GET /api/conversations?ids=`.

use std::sync::Arc;

use axum::extract::{RawQuery, State as Extract};
use axum::http::StatusCode;
use axum::response::Response;
use uuid::Uuid;

use crate::json::Json;
use crate::object;
use crate::query::Query;
use crate::shared::Shared;

use super::conversation::Conversation;
use super::info::{conversation_info, runtime_info};
use super::reply::{Failure, json};
use super::search::{enum_complaint, limit};

const STATUSES: [&str; 8] =
    ["idle", "running", "paused", "waiting_for_confirmation", "finished", "error", "stuck", "deleting"];
const ORDERS: [&str; 4] = ["CREATED_AT", "UPDATED_AT", "CREATED_AT_DESC", "UPDATED_AT_DESC"];

type Server = Extract<Arc<Shared>>;

/// What `GET` shows of a conversation.
pub(super) fn shown(conversation: &Conversation) -> Json {
    let mut info = conversation_info(&conversation.lock());
    info.set("runtime_info", runtime_info());
    info
}

/// All conversations with the status that the query asks for.
fn with_status(server: &Shared, query: &Query) -> Result<Vec<Arc<Conversation>>, Failure> {
    let wanted = query.get("status");
    if let Some(status) = wanted.filter(|status| !STATUSES.contains(status)) {
        return Err(enum_complaint("status", status, &STATUSES));
    }
    let mut all = server.conversations.all();
    all.retain(|conversation| wanted.is_none_or(|status| conversation.lock().status.name() == status));
    Ok(all)
}

pub(super) async fn search(Extract(server): Server, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    let query = Query::read(query.as_deref().unwrap_or_default());
    let limit = limit(&query, &server)?;
    let order = query.get("sort_order").unwrap_or("CREATED_AT_DESC");
    if !ORDERS.contains(&order) {
        return Err(enum_complaint("sort_order", order, &ORDERS));
    }
    let mut found = with_status(&server, &query)?;
    if order.starts_with("UPDATED_AT") {
        found.sort_by_cached_key(|conversation| conversation.lock().updated_at.clone());
    }
    if order.ends_with("_DESC") {
        found.reverse();
    }
    let first = query.get("page_id").and_then(|id| id.parse::<Uuid>().ok());
    let start = first.and_then(|id| found.iter().position(|conversation| conversation.id() == id)).unwrap_or(0);
    let mut rest = found.iter().skip(start);
    let items: Vec<Json> = rest.by_ref().take(limit).map(|conversation| shown(conversation)).collect();
    let next = rest.next().map(|conversation| conversation.id().simple().to_string());
    Ok(json(StatusCode::OK, &object! { "items" => items, "next_page_id" => next }))
}

pub(super) async fn count(Extract(server): Server, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    let query = Query::read(query.as_deref().unwrap_or_default());
    Ok(json(StatusCode::OK, &with_status(&server, &query)?.len().into()))
}

pub(super) async fn by_ids(Extract(server): Server, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    let query = Query::read(query.as_deref().unwrap_or_default());
    let ids: Vec<&str> = query.all("ids").collect();
    if ids.is_empty() {
        let loc = vec![Json::from("query"), Json::from("ids")];
        return Err(Failure::invalid("missing", loc, "Field required", Json::Null, None));
    }
    let mut found = Vec::new();
    for (index, id) in ids.into_iter().enumerate() {
        let loc = || vec![Json::from("query"), Json::from("ids"), index.into()];
        let id = super::validate::id_at(loc, id)?;
        found.push(server.conversations.find(id).map_or(Json::Null, |conversation| shown(&conversation)));
    }
    Ok(json(StatusCode::OK, &Json::Array(found)))
}
