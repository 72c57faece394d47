//! A conversation as the REST interface describes it. Only the id is relied on.

use crate::error::Error;
use crate::json::{self, Json, Object};
use crate::protocol::{Opened, Status};
use crate::tool::KnownTool;

/// Reads a `ConversationInfo`.
pub(super) fn read(created: bool, body: &str) -> Result<Opened, Error> {
    let bad = || Error::BadResponse { what: "opening the conversation" };
    let info = Object::read(body).ok_or_else(bad)?;
    let id = info.string("id").ok_or_else(bad)?;
    let tools = info.list("client_tools").unwrap_or_default();
    let tools = tools.into_iter().map(known_tool).collect::<Option<Vec<_>>>().ok_or_else(bad)?;
    let status = status(&info.text("execution_status"));
    Ok(Opened { id, created, status, tools: Some(tools), gate: gate(&info), loses_messages: false })
}

fn known_tool(tool: Json) -> Option<KnownTool> {
    let tool = Object::of(tool)?;
    Some(KnownTool::new(&tool.string("name")?, tool.get("parameters")))
}

/// Reads only the status of a `ConversationInfo`.
pub(super) fn read_status(body: &str) -> Result<Status, Error> {
    read(false, body).map(|opened| opened.status)
}

/// Why an announcement alone may not run a handler; `None` when nothing can come in between. It is the same in a create
/// request, in a `ConversationInfo` and in a full state.
pub(super) fn gate(conversation: &Object) -> Option<&'static str> {
    let hooks = conversation.object("hook_config").list("pre_tool_use").unwrap_or_default();
    let blocks = || (!hooks.is_empty()).then_some("a hook of the server may block it");
    policy_gate(&conversation.object("confirmation_policy")).or_else(blocks)
}

/// The same of a confirmation policy alone.
pub(super) fn policy_gate(policy: &Object) -> Option<&'static str> {
    let asks = policy.string("kind").is_some_and(|kind| kind != "NeverConfirm");
    asks.then_some("the confirmation policy may ask a person first")
}

/// An `execution_status`; unknown words are kept.
pub(super) fn status(word: &str) -> Status {
    match word {
        "idle" | "" => Status::Idle,
        "running" => Status::Running,
        "paused" => Status::Paused,
        "waiting_for_confirmation" => Status::WaitingForConfirmation,
        "finished" => Status::Finished,
        "error" => Status::Error,
        "stuck" => Status::Stuck,
        "deleting" => Status::Deleting,
        other => Status::Unknown { detail: other.to_owned() },
    }
}

/// The id of the first event on a page of the log.
pub(super) fn first_event(body: &str) -> Option<String> {
    let items = Object::read(body)?;
    let first = Object::of(*items.list("items")?.first()?)?;
    first.string("id")
}

/// Turns a page into the house's form: its items under this name, and `next`.
pub(super) fn page(body: &str, name: &'static str, what: &'static str) -> Result<String, Error> {
    let bad = || Error::BadResponse { what };
    let found = Object::read(body).ok_or_else(bad)?;
    let items = found.get("items").ok_or_else(bad)?;
    let next = found.string("next_page_id");
    Ok(json::text(&json::object(|page| {
        page.set(name, &items).set("next", &next);
    })))
}
