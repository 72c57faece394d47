//! The history of a conversation.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;

use crate::json::{Json, Object};
use crate::query::Query;
use crate::shared::Shared;

use super::super::conversation::Conversation;
use super::super::history::{Exchange, Message, show_exchange, show_message, show_part};
use super::conversations::read;
use super::failure::{Failure, Outcome, answer};
use super::{Ids, paging};

type Server = State<Arc<Shared>>;

fn with<T>(shared: &Shared, id: &str, look: impl FnOnce(&Conversation) -> Result<T, Failure>) -> Result<T, Failure> {
    look(shared.uipath.lock().conversation(id).ok_or_else(|| Failure::missing("Conversation"))?)
}

fn exchange<'a>(conversation: &'a Conversation, ids: &Ids) -> Result<&'a Exchange, Failure> {
    conversation.exchange(&ids.exchange).ok_or_else(|| Failure::missing("Exchange"))
}

fn message_of<'a>(conversation: &'a Conversation, ids: &Ids) -> Result<&'a Message, Failure> {
    let messages = &exchange(conversation, ids)?.messages;
    messages.iter().find(|message| message.id == ids.message).ok_or_else(|| Failure::missing("Message"))
}

pub(super) async fn list(State(shared): Server, Path(ids): Path<Ids>, RawQuery(query): RawQuery) -> Response {
    let query = Query::read(query.as_deref().unwrap_or_default());
    answer(&shared, with(&shared, &ids.id, |conversation| listed(conversation, &query)))
}

fn listed(conversation: &Conversation, query: &Query) -> Outcome {
    let newest_first = paging::newest_first(query, "exchangeSort", false)?;
    let newest_message_first = paging::newest_first(query, "messageSort", false)?;
    let shown =
        conversation.exchanges.iter().map(|known| (known.id.clone(), show_exchange(known, newest_message_first)));
    let mut items: Vec<(String, Json)> = shown.collect();
    if newest_first {
        items.reverse();
    }
    paging::page(query, items)
}

pub(super) async fn one(State(shared): Server, Path(ids): Path<Ids>, RawQuery(query): RawQuery) -> Response {
    let query = Query::read(query.as_deref().unwrap_or_default());
    let outcome = with(&shared, &ids.id, |conversation| {
        let newest_first = paging::newest_first(&query, "messageSort", false)?;
        Ok(show_exchange(exchange(conversation, &ids)?, newest_first))
    });
    answer(&shared, outcome)
}

pub(super) async fn message(State(shared): Server, Path(ids): Path<Ids>) -> Response {
    answer(&shared, with(&shared, &ids.id, |conversation| message_of(conversation, &ids).map(show_message)))
}

pub(super) async fn content_part(State(shared): Server, Path(ids): Path<Ids>) -> Response {
    let outcome = with(&shared, &ids.id, |conversation| {
        let part = message_of(conversation, &ids)?.parts.iter().find(|part| part.id == ids.part);
        part.map(show_part).ok_or_else(|| Failure::missing("Content part"))
    });
    answer(&shared, outcome)
}

pub(super) async fn feedback(State(shared): Server, Path(ids): Path<Ids>, body: Bytes) -> Response {
    answer(&shared, rated(&shared, &ids, &body))
}

fn rated(shared: &Shared, ids: &Ids, body: &Bytes) -> Outcome {
    let body = read(body)?;
    if !["positive", "negative"].contains(&body.text("rating").unwrap_or_default()) {
        return Err(Failure::invalid(vec![("rating".to_owned(), "positive or negative".to_owned())]));
    }
    let mut state = shared.uipath.lock();
    let conversation = state.conversation_mut(&ids.id).ok_or_else(|| Failure::missing("Conversation"))?;
    let exchange = conversation.exchanges.iter_mut().find(|known| known.id == ids.exchange);
    exchange.ok_or_else(|| Failure::missing("Exchange"))?.feedback = Some(body);
    Ok(Object::new().into())
}
