//! What a client may send on a socket.

use std::sync::Arc;

use axum::extract::ws::Message;

use crate::json::{Json, parse, python_repr};
use crate::object;
use crate::shared::Shared;

use super::super::conversation::Conversation;
use super::super::log::Frame;
use super::super::messages::content_items;
use super::super::reply::Failure;
use super::super::run;
use super::link::{End, Link};
use super::voice::{Voice, send_legacy, send_session};

/// A complaint: code and detail.
type Complaint = (&'static str, String);

/// Takes a frame; what is wrong with it is told to the client, and the socket stays open.
pub(super) async fn handle(
    link: &mut Link,
    conversation: &Arc<Conversation>,
    message: &Message,
    voice: Voice,
) -> Result<(), End> {
    let Err((code, detail)) = take(&link.server, conversation, message).await else { return Ok(()) };
    match voice {
        Voice::Legacy => {
            let fields = object! { "code" => code, "detail" => detail };
            let event = conversation.lock().log.passing("environment", "ServerErrorEvent", fields);
            send_legacy(link, &Frame::Transient(event), false).await
        }
        Voice::Session => {
            let frame = object! { "type" => "error", "code" => code, "detail" => detail };
            send_session(link, &Frame::SessionOnly(frame), false).await
        }
    }
}

async fn take(server: &Arc<Shared>, conversation: &Arc<Conversation>, message: &Message) -> Result<(), Complaint> {
    let Message::Text(text) = message else {
        return Err(("KeyError", "'text'".to_owned()));
    };
    let frame = parse(text).map_err(|error| ("JSONDecodeError", error.to_string()))?;
    if is_auth(&frame) {
        // The key was settled before; even a wrong one is ignored here.
        return Ok(());
    }
    let Some(members) = frame.as_object() else {
        let input = format!("input_value={}, input_type={}", python_repr(&frame), type_name(&frame));
        return Err(validation(&format!(
            "  Input should be a valid dictionary or instance of Message [type=model_type, {input}]\n    \
             For further information visit https://errors.pydantic.dev/2.14/v/model_type"
        )));
    };
    let Some(role) = members.get("role").and_then(Json::as_str) else {
        return Err(validation(&format!(
            "role\n  Field required [type=missing, input_value={}, input_type=dict]\n    \
             For further information visit https://errors.pydantic.dev/2.14/v/missing",
            python_repr(&frame)
        )));
    };
    if role != "user" {
        return Err(("AssertionError", "Only user messages are allowed to be sent to the agent.".to_owned()));
    }
    let inactive = || ("ValueError", "inactive_service".to_owned());
    let failed = |failure: Failure| match failure {
        Failure::Unhandled(exception) => ("ValueError", exception),
        Failure::Detail(_, detail) => ("HTTPException", detail),
        Failure::Invalid(items) => ("ValidationError", Json::Array(items).to_string()),
    };
    {
        let mut state = conversation.free().await;
        if state.deleted {
            return Err(inactive());
        }
        state.add_user_message(content_items(members.get("content"))).map_err(failed)?;
    }
    // A message on a socket always runs, and so approves what waits for confirmation.
    run::start(server, conversation).map(|_| ()).map_err(failed)
}

/// An authentication frame with nothing else in it.
fn is_auth(frame: &Json) -> bool {
    frame.as_object().is_some_and(|members| members.len() == 2)
        && frame.text("type") == Some("auth")
        && frame.get("session_api_key").is_some()
}

fn validation(report: &str) -> Complaint {
    ("ValidationError", format!("1 validation error for Message\n{report}"))
}

fn type_name(value: &Json) -> &'static str {
    match value {
        Json::Null => "NoneType",
        Json::Bool(_) => "bool",
        Json::Number(text) if text.contains(['.', 'e', 'E']) => "float",
        Json::Number(_) => "int",
        Json::Text(_) => "str",
        Json::Array(_) => "list",
        Json::Object(_) => "dict",
    }
}
