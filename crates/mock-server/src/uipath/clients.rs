//! What clients say.

use std::sync::Arc;
use std::time::Duration;

use socketioxide::extract::SocketRef;

use crate::json::{Json, Object, parse};
use crate::object;
use crate::shared::Shared;

use super::conversation::{Order, Player};
use super::envelope::{Facts, exchange_error, of_session};
use super::history;
use super::runtimes::{forward, start_next};
use super::service::{State, emit};

/// An event of a client.
pub(super) fn heard(shared: &Arc<Shared>, socket: &SocketRef, raw: &str) {
    let Ok(envelope) = parse(raw) else { return };
    let id = envelope.text("conversationId").unwrap_or_default().to_owned();
    let mut state = shared.uipath.lock();
    if !state.knows(&id) {
        let error = object! {
            "errorId" => "SESSION_START_PROCESSING_FAILED",
            "startError" => object! { "message" => "The conversation does not exist." },
        };
        emit(socket, &of_session(&id, "conversationError", error).to_string());
        return;
    }
    if envelope.get("startSession").is_some() {
        start_session(shared, &mut state, socket, &id);
    }
    let rest = envelope.as_object().into_iter().flat_map(Object::keys);
    let more = rest.into_iter().any(|name| !["conversationId", "startSession", "endSession"].contains(&name));
    if more {
        if !is_open(&state, socket, &id) && !state.levers.lenient_sessions {
            let kinds: Vec<Json> = Facts::of(&envelope).kinds.into_iter().map(Json::from).collect();
            let why = object! { "reason" => "no session", "kinds" => kinds, "envelope" => envelope };
            if let Some(conversation) = state.conversation_mut(&id) {
                conversation.dropped.push(why);
            }
            return;
        }
        of_exchange(shared, &mut state, socket, &id, &envelope, raw);
    }
    if envelope.get("endSession").is_some() {
        if let Some(conversation) = state.conversation_mut(&id) {
            conversation.sessions.retain(|session| *session != socket.id);
        }
        emit(socket, &of_session(&id, "endSession", object! {}).to_string());
    }
}

fn is_open(state: &State, socket: &SocketRef, id: &str) -> bool {
    state.conversation(id).is_some_and(|conversation| conversation.sessions.contains(&socket.id))
}

fn start_session(shared: &Arc<Shared>, state: &mut State, socket: &SocketRef, id: &str) {
    match state.levers.session_delay_ms {
        0 => open(state, socket, id),
        ms => {
            let (shared, socket, id) = (Arc::clone(shared), socket.clone(), id.to_owned());
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                open(&mut shared.uipath.lock(), &socket, &id);
            });
        }
    }
}

fn open(state: &mut State, socket: &SocketRef, id: &str) {
    let Some(token) = state.client(socket.id).map(|client| client.token.clone()) else { return };
    let capabilities = state.levers.capabilities.as_ref().and_then(|value| parse(&value.to_string()).ok());
    let Some(conversation) = state.conversation_mut(id) else { return };
    if !conversation.sessions.contains(&socket.id) {
        conversation.sessions.push(socket.id);
    }
    let known = conversation.absent.iter().position(|(owner, _)| *owner == token);
    let missed = known.map(|at| conversation.absent.remove(at).1).unwrap_or_default();
    let started = capabilities.map_or_else(|| object! {}, |given| object! { "capabilities" => given });
    emit(socket, &of_session(id, "sessionStarted", started).to_string());
    for envelope in missed {
        emit(socket, &envelope);
    }
}

fn of_exchange(shared: &Arc<Shared>, state: &mut State, socket: &SocketRef, id: &str, envelope: &Json, raw: &str) {
    let Some(conversation) = state.conversation_mut(id) else { return };
    history::apply(&mut conversation.exchanges, envelope);
    conversation.touch(&crate::clock::Clock::utc_millis());
    if state.levers.echo_to_others {
        state.publish(id, raw, Some(socket.id));
    }
    let Some(exchange) = envelope.get("exchange") else { return };
    let exchange_id = exchange.text("exchangeId").unwrap_or_default();
    if let Some(message) = exchange.get("message") {
        answer(state, socket, id, exchange_id, message, raw);
        if message.get("endMessage").is_some() {
            order(shared, state, id, exchange_id, message.text("messageId").unwrap_or_default());
        }
    }
    if exchange.get("endExchange").is_some() {
        stop(state, id, exchange_id);
        start_next(shared, state, id);
    }
}

/// An answer to a tool call, or to an interrupt of older runtimes, goes to the runtime as it came.
fn answer(state: &mut State, socket: &SocketRef, id: &str, exchange: &str, message: &Json, raw: &str) {
    let Some(conversation) = state.conversation_mut(id) else { return };
    if let Some(call) = message.get("toolCall") {
        for kind in ["confirmToolCall", "endToolCall"] {
            let Some(body) = call.get(kind) else { continue };
            conversation.answers.push(object! {
                "toolCallId" => call.get("toolCallId").cloned(),
                "exchangeId" => exchange,
                "kind" => kind,
                "body" => body.clone(),
                "socket" => socket.id.to_string(),
            });
        }
    }
    let answers = |part: &str, names: &[&str]| {
        message.get(part).is_some_and(|body| names.iter().any(|name| body.get(name).is_some()))
    };
    if answers("toolCall", &["confirmToolCall", "endToolCall"]) || answers("interrupt", &["endInterrupt"]) {
        forward(conversation, raw, &socket.id.to_string());
    }
}

/// A complete message of the user is what the agent is started for, once for each exchange.
fn order(shared: &Arc<Shared>, state: &mut State, id: &str, exchange: &str, message: &str) {
    let Some(conversation) = state.conversation_mut(id) else { return };
    let Some(known) = conversation.exchanges.iter_mut().find(|known| known.id == exchange) else { return };
    let Some(said) = known.messages.iter().find(|said| said.id == message && said.role == "user") else { return };
    if known.ordered || known.ended {
        return;
    }
    let order = Order {
        exchange: exchange.to_owned(),
        message: message.to_owned(),
        text: said.text(),
        tools: known.tools.clone(),
    };
    known.ordered = true;
    conversation.orders.push_back(order);
    start_next(shared, state, id);
}

/// Ends the agent's work on an exchange.
pub(super) fn stop(state: &mut State, id: &str, exchange: &str) {
    let Some(conversation) = state.conversation_mut(id) else { return };
    conversation.orders.retain(|order| order.exchange != exchange);
    let Some(run) = conversation.run_of(exchange) else { return };
    run.ended = true;
    match &run.player {
        Player::Process(killer) => killer.kill(),
        Player::Scripted(_) | Player::Elsewhere => conversation.run = None,
    }
}

/// Tells clients that the agent failed.
pub(super) fn fail(state: &mut State, id: &str, exchange: &str, message: &str) {
    let envelope = exchange_error(id, exchange, "AGENT_RUNTIME_ERROR", message);
    if let Some(conversation) = state.conversation_mut(id) {
        history::apply(&mut conversation.exchanges, &envelope);
    }
    state.publish(id, &envelope.to_string(), None);
}
