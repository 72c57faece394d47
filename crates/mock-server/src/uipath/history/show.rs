//! Exchanges as REST shows them.

use crate::json::Json;
use crate::object;

use super::content::{Citation, Part};
use super::tool_calls::{Call, Interrupt};
use super::{Exchange, Message};

/// An exchange with its messages in order, or the newest first.
pub(crate) fn exchange(exchange: &Exchange, newest_first: bool) -> Json {
    let mut messages: Vec<Json> = exchange.messages.iter().map(message).collect();
    if newest_first {
        messages.reverse();
    }
    let mut shown = object! {
        "exchangeId" => &exchange.id,
        "createdAt" => &exchange.created,
        "updatedAt" => &exchange.updated,
    };
    if let Some(rating) = exchange.feedback.as_ref().and_then(|feedback| feedback.get("rating")) {
        shown.set("feedbackRating", rating.clone());
    }
    shown.set("messages", messages);
    shown
}

/// A message.
pub(crate) fn message(message: &Message) -> Json {
    object! {
        "messageId" => &message.id,
        "role" => &message.role,
        "createdAt" => &message.created,
        "updatedAt" => &message.updated,
        "contentParts" => message.parts.iter().map(part).collect::<Vec<_>>(),
        "toolCalls" => message.calls.iter().map(call).collect::<Vec<_>>(),
        "interrupts" => message.interrupts.iter().map(interrupt).collect::<Vec<_>>(),
    }
}

/// A content part.
pub(crate) fn part(part: &Part) -> Json {
    let data = part.external.clone().unwrap_or_else(|| object! { "inline" => &part.text });
    let mut shown = object! {
        "contentPartId" => &part.id,
        "mimeType" => &part.mime_type,
        "data" => data,
        "citations" => part.citations.iter().map(citation).collect::<Vec<_>>(),
    };
    put(&mut shown, "isTranscript", part.transcript);
    put(&mut shown, "isIncomplete", part.incomplete.then_some(true));
    put(&mut shown, "name", part.name.as_ref());
    shown
}

fn citation(citation: &Citation) -> Json {
    object! {
        "citationId" => &citation.id,
        "offset" => citation.offset,
        "length" => citation.length,
        "sources" => citation.sources.clone(),
        "createdTime" => &citation.time,
        "updatedTime" => &citation.time,
    }
}

fn call(call: &Call) -> Json {
    let mut shown = object! { "toolCallId" => &call.id, "name" => &call.name };
    put(&mut shown, "input", call.input.clone());
    put(&mut shown, "timestamp", call.timestamp.clone());
    put(&mut shown, "result", call.result.clone());
    put(&mut shown, "requireConfirmation", call.require_confirmation);
    put(&mut shown, "inputSchema", call.input_schema.clone());
    put(&mut shown, "isClientSideTool", call.client_side);
    put(&mut shown, "outputSchema", call.output_schema.clone());
    put(&mut shown, "confirmation", call.confirmation.clone());
    shown
}

fn interrupt(interrupt: &Interrupt) -> Json {
    let mut shown = object! {
        "interruptId" => &interrupt.id,
        "type" => interrupt.kind.clone(),
        "interruptValue" => interrupt.value.clone(),
    };
    put(&mut shown, "endValue", interrupt.end_value.clone());
    shown
}

fn put(object: &mut Json, name: &str, value: Option<impl Into<Json>>) {
    if let Some(value) = value {
        object.set(name, value);
    }
}
