//! What was said in a conversation, gathered from the events of both sides: REST shows it.

mod content;
mod show;
mod tool_calls;

use crate::clock::Clock;
use crate::json::Json;

pub(super) use content::Part;
pub(super) use show::{exchange as show_exchange, message as show_message, part as show_part};
pub(super) use tool_calls::{Call, Interrupt};

/// A user's message and all that follows it.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    pub(super) id: String,
    pub(super) created: String,
    pub(super) updated: String,
    /// `clientSideTools` as declared; none if the member was left out.
    pub(super) tools: Option<Json>,
    pub(super) messages: Vec<Message>,
    /// Whether the agent was started for it.
    pub(super) ordered: bool,
    pub(super) ended: bool,
    pub(super) ended_by_client: bool,
    pub(super) feedback: Option<Json>,
}

/// A message of either side.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) role: String,
    pub(super) created: String,
    pub(super) updated: String,
    pub(super) parts: Vec<Part>,
    pub(super) calls: Vec<Call>,
    pub(super) interrupts: Vec<Interrupt>,
}

impl Message {
    /// The text of all parts.
    pub(super) fn text(&self) -> String {
        self.parts.iter().map(|part| part.text.as_str()).collect()
    }
}

/// Notes an event of a client.
pub(super) fn apply(exchanges: &mut Vec<Exchange>, envelope: &Json) {
    note(exchanges, envelope, true);
}

/// Notes an event of the agent.
pub(super) fn apply_from_runtime(exchanges: &mut Vec<Exchange>, envelope: &Json) {
    note(exchanges, envelope, false);
}

fn note(exchanges: &mut Vec<Exchange>, envelope: &Json, from_client: bool) {
    let Some(event) = envelope.get("exchange") else { return };
    let Some(id) = event.text("exchangeId") else { return };
    let now = Clock::utc_millis();
    let exchange = found_or_new(
        exchanges,
        |known| known.id == id,
        || Exchange { id: id.to_owned(), created: now.clone(), ..Exchange::default() },
    );
    exchange.updated.clone_from(&now);
    if let Some(start) = event.get("startExchange") {
        exchange.tools = start.get("clientSideTools").cloned();
    }
    if let Some(message) = event.get("message") {
        note_message(&mut exchange.messages, message, &now);
    }
    if event.get("endExchange").is_some() {
        exchange.ended = true;
        exchange.ended_by_client |= from_client;
    }
}

fn note_message(messages: &mut Vec<Message>, event: &Json, now: &str) {
    let Some(id) = event.text("messageId") else { return };
    let message = found_or_new(
        messages,
        |known| known.id == id,
        || Message { id: id.to_owned(), role: "assistant".to_owned(), created: now.to_owned(), ..Message::default() },
    );
    now.clone_into(&mut message.updated);
    if let Some(start) = event.get("startMessage") {
        start.text("role").unwrap_or("user").clone_into(&mut message.role);
    }
    if let Some(part) = event.get("contentPart") {
        content::note(&mut message.parts, part, now);
    }
    if let Some(call) = event.get("toolCall") {
        tool_calls::note_call(&mut message.calls, call, now);
    }
    if let Some(interrupt) = event.get("interrupt") {
        tool_calls::note_interrupt(&mut message.interrupts, interrupt);
    }
}

/// The item that is meant, made if there is none yet.
fn found_or_new<T>(items: &mut Vec<T>, is_it: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> &mut T {
    let at = items.iter().position(is_it).unwrap_or_else(|| {
        items.push(make());
        items.len() - 1
    });
    // There is one at this place now.
    #[allow(clippy::indexing_slicing)]
    &mut items[at]
}
