//! A conversation as the REST interface describes it. Only the id is relied on.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::protocol::{Opened, Status};
use crate::tool::KnownTool;

#[derive(Deserialize)]
struct Info<'a> {
    id: String,
    #[serde(borrow)]
    execution_status: Option<&'a RawValue>,
    #[serde(borrow)]
    client_tools: Option<Vec<ClientTool<'a>>>,
}

#[derive(Deserialize)]
struct ClientTool<'a> {
    name: String,
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
}

/// What can hold back a call after it was announced.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Guards {
    pub(super) confirmation_policy: Value,
    pub(super) hook_config: Value,
}

impl Guards {
    /// Why an announcement alone may not run a handler; `None` when nothing comes in between.
    pub(super) fn gate(&self) -> Option<&'static str> {
        let asks = self.confirmation_policy.get("kind").is_some_and(|kind| kind != "NeverConfirm");
        let hooks =
            self.hook_config.get("pre_tool_use").and_then(Value::as_array).is_some_and(|hooks| !hooks.is_empty());
        if asks {
            Some("the confirmation policy may ask a person first")
        } else if hooks {
            Some("a hook of the server may block it")
        } else {
            None
        }
    }
}

/// Reads a `ConversationInfo`.
pub(super) fn read(created: bool, body: &str) -> Result<Opened, Error> {
    let bad = |_| Error::BadResponse { what: "opening the conversation" };
    let info: Info = serde_json::from_str(body).map_err(bad)?;
    let guards: Guards = serde_json::from_str(body).map_err(bad)?;
    let tools = info.client_tools.unwrap_or_default();
    Ok(Opened {
        id: info.id,
        created,
        status: status(info.execution_status),
        tools: tools.iter().map(|tool| KnownTool::new(&tool.name, tool.parameters)).collect(),
        gate: guards.gate(),
    })
}

/// Reads only the status of a `ConversationInfo`.
pub(super) fn read_status(body: &str) -> Result<Status, Error> {
    read(false, body).map(|opened| opened.status)
}

/// An `execution_status`; unknown words are kept.
pub(super) fn status(word: Option<&RawValue>) -> Status {
    let word: Option<String> = word.and_then(|word| serde_json::from_str(word.get()).ok());
    match word.as_deref() {
        Some("idle") | None => Status::Idle,
        Some("running") => Status::Running,
        Some("paused") => Status::Paused,
        Some("waiting_for_confirmation") => Status::WaitingForConfirmation,
        Some("finished") => Status::Finished,
        Some("error") => Status::Error,
        Some("stuck") => Status::Stuck,
        Some("deleting") => Status::Deleting,
        Some(other) => Status::Unknown { detail: other.to_owned() },
    }
}

#[derive(Deserialize)]
struct Found<'a> {
    #[serde(borrow)]
    items: &'a RawValue,
    #[serde(borrow)]
    next_page_id: Option<&'a RawValue>,
}

/// Turns a page of the log into the house's form: `{"events", "next"}`.
pub(super) fn history_page(body: &str) -> Result<String, Error> {
    let found: Found = serde_json::from_str(body).map_err(|_| Error::BadResponse { what: "reading the log" })?;
    let next = found.next_page_id.map_or("null", RawValue::get);
    Ok([r#"{"events":"#, found.items.get(), r#","next":"#, next, "}"].concat())
}
