//! Runtimes: their sockets, what they say, and when the next one starts.

use std::sync::Arc;

use socketioxide::extract::SocketRef;
use tokio::sync::mpsc::unbounded_channel;

use crate::json::{Json, parse};
use crate::object;
use crate::shared::Shared;

use super::agent::{self, FAILED, Script, Who};
use super::clients::fail;
use super::conversation::{Conversation, Forwarded, Player, Run};
use super::service::{State, emit_to_runtime};
use super::{history, process};

/// A runtime's socket takes the place of the one before, and gets what was queued.
pub(super) fn connected(shared: &Arc<Shared>, conversation: &str, socket: &SocketRef) {
    let mut state = shared.uipath.lock();
    let Some(conversation) = state.conversation_mut(conversation) else { return };
    conversation.runtime = Some(socket.clone());
    for event in std::mem::take(&mut conversation.queue) {
        emit_to_runtime(socket, &event.envelope, &event.from);
    }
}

/// An event of a runtime, from its socket or from our own agent.
pub(super) fn heard(shared: &Arc<Shared>, conversation: &str, raw: &str) {
    let Ok(envelope) = parse(raw) else { return };
    let mut state = shared.uipath.lock();
    say(&mut state, conversation, &envelope, raw);
    // Nobody tells when a runtime that was started elsewhere exits.
    let Some(known) = state.conversation_mut(conversation) else { return };
    if known.run.as_ref().is_some_and(|run| run.ended && matches!(run.player, Player::Elsewhere)) {
        known.run = None;
        start_next(shared, &mut state, conversation);
    }
}

/// Records what the agent says and passes it on, unless the client has ended the exchange.
pub(super) fn say(state: &mut State, id: &str, envelope: &Json, raw: &str) {
    let Some(conversation) = state.conversation_mut(id) else { return };
    if let Some(exchange) = envelope.get("exchange") {
        let exchange_id = exchange.text("exchangeId").unwrap_or_default();
        if conversation.exchange(exchange_id).is_some_and(|known| known.ended_by_client) {
            return;
        }
        let fails = exchange.get("exchangeError").is_some_and(|error| error.get("startError").is_some());
        if (fails || exchange.get("endExchange").is_some())
            && let Some(run) = conversation.run_of(exchange_id)
        {
            run.ended = true;
        }
    }
    history::apply_from_runtime(&mut conversation.exchanges, envelope);
    if let Some(label) = envelope.get("labelUpdated").and_then(|updated| updated.text("label")) {
        conversation.facts.set("label", label);
    }
    state.publish(id, raw, None);
}

/// Gives an answer to whoever plays the agent.
pub(super) fn forward(conversation: &mut Conversation, raw: &str, from: &str) {
    if let Some(Run { player: Player::Scripted(inbox), .. }) = &conversation.run {
        if let Ok(envelope) = parse(raw) {
            // An agent that has finished needs no answer.
            let _ = inbox.send(envelope);
        }
        return;
    }
    match &conversation.runtime {
        Some(socket) => emit_to_runtime(socket, raw, from),
        None => conversation.queue.push(Forwarded { envelope: raw.to_owned(), from: from.to_owned() }),
    }
}

/// Starts the agent for the next exchange, if none works.
pub(super) fn start_next(shared: &Arc<Shared>, state: &mut State, id: &str) {
    let Some(conversation) = state.conversation(id) else { return };
    if conversation.run.is_some() {
        return;
    }
    let Some(order) = conversation.orders.front().cloned() else { return };
    let script = state.scripts.for_exchange(conversation, &order);
    let Some(conversation) = state.conversation_mut(id) else { return };
    conversation.orders.pop_front();
    conversation.queue.clear();
    conversation.runs += 1;
    let serial = conversation.runs;
    let exchange = order.exchange.clone();
    let script = script.unwrap_or_else(Script::missing);
    let player = match script.who {
        Who::Scripted => {
            let (inbox, answers) = unbounded_channel();
            agent::start(shared, id, serial, order, script, answers);
            Player::Scripted(inbox)
        }
        Who::Elsewhere => Player::Elsewhere,
        Who::Fast | Who::Full => match process::start(shared, id, serial, &order, &script) {
            Ok(killer) => Player::Process(killer),
            Err(problem) => {
                conversation.reports.push(object! { "event" => "exit", "error" => problem.clone() });
                return fail(state, id, &exchange, &problem);
            }
        },
    };
    conversation.run = Some(Run { exchange, serial, player, ended: false });
}

/// The agent of a run is gone. Without a word of its own the clients are told.
pub(super) fn finished(shared: &Arc<Shared>, id: &str, serial: u64) {
    let mut state = shared.uipath.lock();
    let Some(conversation) = state.conversation_mut(id) else { return };
    if conversation.run.as_ref().is_none_or(|run| run.serial != serial) {
        return;
    }
    let Some(run) = conversation.run.take() else { return };
    if !run.ended {
        fail(&mut state, id, &run.exchange, FAILED);
    }
    start_next(shared, &mut state, id);
}

/// Notes what an agent reports.
pub(super) fn report(shared: &Arc<Shared>, id: &str, line: Json) {
    if let Some(conversation) = shared.uipath.lock().conversation_mut(id) {
        conversation.reports.push(line);
    }
}
