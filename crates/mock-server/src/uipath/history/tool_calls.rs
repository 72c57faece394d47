//! Tool calls and, from older runtimes, interrupts.

use crate::json::Json;
use crate::object;

use super::found_or_new;

/// A call of a tool.
#[derive(Debug, Default)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) timestamp: Option<Json>,
    pub(crate) input: Option<Json>,
    pub(crate) require_confirmation: Option<bool>,
    pub(crate) input_schema: Option<Json>,
    pub(crate) client_side: Option<bool>,
    pub(crate) output_schema: Option<Json>,
    /// `{approved, input?, confirmedAt}`
    pub(crate) confirmation: Option<Json>,
    /// `{output?, isError?, cancelled?, timestamp}`
    pub(crate) result: Option<Json>,
}

/// A question of an older runtime.
#[derive(Debug, Default)]
pub(crate) struct Interrupt {
    pub(crate) id: String,
    pub(crate) kind: Json,
    pub(crate) value: Json,
    pub(crate) end_value: Option<Json>,
}

pub(super) fn note_call(calls: &mut Vec<Call>, event: &Json, now: &str) {
    let Some(id) = event.text("toolCallId") else { return };
    let call = found_or_new(calls, |known| known.id == id, || Call { id: id.to_owned(), ..Call::default() });
    if let Some(start) = event.get("startToolCall") {
        start.text("toolName").unwrap_or_default().clone_into(&mut call.name);
        call.timestamp = start.present("timestamp").cloned();
        call.input = start.present("input").cloned();
        call.require_confirmation = start.flag("requireConfirmation");
        call.input_schema = start.present("inputSchema").cloned();
        call.client_side = start.flag("isClientSideTool");
        call.output_schema = start.present("outputSchema").cloned();
    }
    if let Some(confirmation) = event.get("confirmToolCall") {
        let mut shown = object! { "approved" => confirmation.get("approved").cloned() };
        if let Some(input) = confirmation.get("input") {
            shown.set("input", input.clone());
        }
        shown.set("confirmedAt", now);
        call.confirmation = Some(shown);
    }
    if let Some(end) = event.get("endToolCall") {
        let mut result = object! {};
        for name in ["output", "isError", "cancelled"] {
            if let Some(value) = end.get(name) {
                result.set(name, value.clone());
            }
        }
        result.set("timestamp", end.present("timestamp").cloned().unwrap_or_else(|| now.into()));
        call.result = Some(result);
    }
}

pub(super) fn note_interrupt(interrupts: &mut Vec<Interrupt>, event: &Json) {
    let Some(id) = event.text("interruptId") else { return };
    let interrupt =
        found_or_new(interrupts, |known| known.id == id, || Interrupt { id: id.to_owned(), ..Interrupt::default() });
    if let Some(start) = event.get("startInterrupt") {
        interrupt.kind = start.get("type").cloned().unwrap_or_default();
        interrupt.value = start.get("value").cloned().unwrap_or_default();
    }
    if let Some(end) = event.get("endInterrupt") {
        interrupt.end_value = Some(end.clone());
    }
}
