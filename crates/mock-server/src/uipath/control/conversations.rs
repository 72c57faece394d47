//! One conversation: what it went through, and events of a test's own.

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::response::Response;

use crate::json::Json;
use crate::object;

use super::super::agent::{Choice, Script};
use super::super::conversation::{Conversation, Player};
use super::super::envelope::with;
use super::super::history::show_exchange;
use super::super::runtimes;
use super::super::service::{facts, sessions};
use super::{Outcome, Refusal, Server, answer, bad, read};

pub(super) async fn all(State(shared): Server) -> Response {
    let state = shared.uipath.lock();
    let ids = state.conversations().iter().map(|conversation| Json::from(&conversation.id)).collect();
    answer(Ok(Json::Array(ids)))
}

pub(super) async fn one(State(shared): Server, Path(id): Path<String>) -> Response {
    let state = shared.uipath.lock();
    answer(state.conversation(&id).map(shown).ok_or(Refusal::Missing("conversation")))
}

fn shown(conversation: &Conversation) -> Json {
    let run = conversation.run.as_ref().map(|run| {
        let player = match run.player {
            Player::Scripted(_) => "scripted",
            Player::Process(_) => "process",
            Player::Elsewhere => "elsewhere",
        };
        object! { "exchangeId" => &run.exchange, "player" => player, "ended" => run.ended }
    });
    let exchanges = conversation.exchanges.iter().map(|exchange| {
        let mut shown = show_exchange(exchange, false);
        // Left out and empty are different declarations.
        if let Some(tools) = &exchange.tools {
            shown.set("clientSideTools", tools.clone());
        }
        shown.set("ended", exchange.ended);
        shown
    });
    object! {
        "conversation" => facts(conversation),
        "sockets" => sessions(conversation),
        "script" => conversation.choice.as_ref(),
        "run" => run,
        "waiting" => conversation.orders.len(),
        "queued" => conversation.queue.len(),
        "reports" => conversation.reports.clone(),
        "answers" => conversation.answers.clone(),
        "dropped" => conversation.dropped.clone(),
        "exchanges" => exchanges.collect::<Vec<_>>(),
    }
}

/// `{"script": "name"}`, or a script itself.
pub(super) async fn choose(State(shared): Server, Path(id): Path<String>, body: Bytes) -> Response {
    let choose = |body: Json| -> Outcome {
        let choice = if let Some(name) = body.text("script") {
            Choice::Named(name.to_owned())
        } else {
            Script::check(&body).map_err(bad)?;
            Choice::Inline(body)
        };
        let mut state = shared.uipath.lock();
        let conversation = state.conversation_mut(&id).ok_or(Refusal::Missing("conversation"))?;
        // Exchanges are counted from here.
        conversation.runs_before_choice = conversation.runs;
        conversation.choice = Some(choice);
        Ok(object! {})
    };
    answer(read(&body).and_then(choose))
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct EmitQuery {
    /// Whether the event goes into the history; it does by default.
    persist: Option<bool>,
}

/// An envelope without its `conversationId`, or with it.
pub(super) async fn emit(
    State(shared): Server,
    Path(id): Path<String>,
    Query(query): Query<EmitQuery>,
    body: Bytes,
) -> Response {
    let emit = |body: Json| -> Outcome {
        let mut state = shared.uipath.lock();
        if !state.knows(&id) {
            return Err(Refusal::Missing("conversation"));
        }
        if body.as_object().is_none() {
            return Err(bad("an envelope is an object"));
        }
        let envelope = with(object! { "conversationId" => &id }, body);
        let text = envelope.to_string();
        if query.persist == Some(false) {
            state.publish(&id, &text, None);
        } else {
            runtimes::say(&mut state, &id, &envelope, &text);
        }
        Ok(object! {})
    };
    answer(read(&body).and_then(emit))
}
