//! What clients answer, kept until the agent gets to it.

use tokio::sync::mpsc::UnboundedReceiver;

use crate::json::Json;
use crate::object;

/// Answers that came, and those to come.
#[derive(Debug)]
pub(super) struct Answers {
    inbox: UnboundedReceiver<Json>,
    /// By call; of several answers that nobody has taken yet the last one counts.
    early: Vec<(String, Json)>,
}

impl Answers {
    pub(super) fn new(inbox: UnboundedReceiver<Json>) -> Self {
        Self { inbox, early: Vec::new() }
    }

    /// The answer to a call, as UiPath's runtime hands it to the graph; none if the exchange is over.
    pub(super) async fn to(&mut self, call: &str) -> Option<Json> {
        loop {
            while let Ok(envelope) = self.inbox.try_recv() {
                self.keep(&envelope);
            }
            if let Some(at) = self.early.iter().position(|(id, _)| id == call) {
                return Some(self.early.remove(at).1);
            }
            let envelope = self.inbox.recv().await?;
            self.keep(&envelope);
        }
    }

    fn keep(&mut self, envelope: &Json) {
        let message = envelope.get("exchange").and_then(|exchange| exchange.get("message"));
        let call = message.and_then(|message| message.get("toolCall")).and_then(of_call);
        let interrupt = message.and_then(|message| message.get("interrupt")).and_then(of_interrupt);
        for (id, value) in call.into_iter().chain(interrupt) {
            self.early.retain(|(known, _)| *known != id);
            self.early.push((id, value));
        }
    }
}

/// A confirmation goes before an end in the same event. An event with a member of a wrong type is dropped as a whole.
fn of_call(call: &Json) -> Option<(String, Json)> {
    let id = call.text("toolCallId")?.to_owned();
    if let Some(confirmation) = call.get("confirmToolCall") {
        return Some((id.clone(), confirmed(&id, confirmation)?));
    }
    let end = call.get("endToolCall")?;
    end.as_object()?;
    let fits = |name: &str, fits: fn(&Json) -> bool| end.present(name).is_none_or(fits);
    let is_text = |value: &Json| value.as_str().is_some();
    let is_flag = |value: &Json| value.as_bool().is_some();
    if !(fits("timestamp", is_text)
        && fits("cancelled", is_flag)
        && fits("isError", is_flag)
        && fits("metaData", |value| value.as_object().is_some()))
    {
        return None;
    }
    let member = |name: &str| end.get(name).cloned().unwrap_or_default();
    let value = object! {
        "timestamp" => member("timestamp"),
        "output" => member("output"),
        "is_error" => member("isError"),
        "cancelled" => member("cancelled"),
        "metadata" => member("metaData"),
        "tool_call_id" => &id,
    };
    Some((id, value))
}

fn confirmed(id: &str, confirmation: &Json) -> Option<Json> {
    let approved = confirmation.flag("approved")?;
    let input = confirmation.get("input").cloned().unwrap_or_default();
    Some(object! { "approved" => approved, "input" => input, "tool_call_id" => id })
}

/// The interrupt of a call is named after it. The answer is the object itself, or `{type, value}` as the older model
/// has it.
fn of_interrupt(interrupt: &Json) -> Option<(String, Json)> {
    let id = interrupt.text("interruptId")?.strip_prefix("interrupt-")?.to_owned();
    let end = interrupt.get("endInterrupt")?;
    let value = confirmed(&id, end.get("value").unwrap_or(end))?;
    Some((id, value))
}
