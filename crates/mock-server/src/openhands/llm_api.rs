//! The routes about a conversation's LLM: `switch_llm`, `switch_profile`, `ask_agent`, `condense`, `secrets`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State as Extract};
use axum::http::StatusCode;
use axum::response::Response;

use crate::json::Json;
use crate::object;
use crate::script::Answer;
use crate::shared::Shared;

use super::conversation::State;
use super::reply::{Failure, json, success};
use super::request::{find, read_body};
use super::validate::Complaints;

type Server = Extract<Arc<Shared>>;

pub(super) async fn switch_llm(
    Extract(server): Server,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, Failure> {
    let request = read_body(&body)?;
    let mut complaints = Complaints::default();
    complaints.llm(&[], &request);
    complaints.done()?;
    let conversation = find(&server, &id)?;
    let mut state = conversation.free().await;
    state.agent.switch_llm(request.get("llm").unwrap_or(&Json::Null));
    let agent = state.agent.in_state();
    state.log.append_state("agent", agent);
    state.touch();
    Ok(success())
}

/// There are no profiles here.
pub(super) async fn switch_profile(
    Extract(server): Server,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, Failure> {
    let request = read_body(&body)?;
    let mut complaints = Complaints::default();
    complaints.text(&["profile_name".into()], &request, request.get("profile_name"));
    complaints.done()?;
    find(&server, &id)?;
    let detail = format!("Profile '{}' not found", request.text("profile_name").unwrap_or_default());
    Err(Failure::Detail(StatusCode::NOT_FOUND, detail))
}

/// A question on the side: neither it nor its answer is an event.
pub(super) async fn ask_agent(
    Extract(server): Server,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, Failure> {
    let request = read_body(&body)?;
    let mut complaints = Complaints::default();
    complaints.text(&["question".into()], &request, request.get("question"));
    complaints.done()?;
    let conversation = find(&server, &id).map_err(|failure| match failure {
        Failure::Detail(StatusCode::NOT_FOUND, _) if !server.config.at_least(1, 58) => {
            Failure::Unhandled("inactive_service".to_owned())
        }
        other => other,
    })?;
    let state = conversation.free().await;
    let mut asked = state.llm_request();
    if let Some(Json::Array(messages)) = asked.as_object_mut().and_then(|asked| asked.get_mut("messages")) {
        messages.push(object! { "role" => "user", "content" => request.text("question") });
    }
    let response = server.scripts.reply(&state.agent.model(), asked);
    Ok(json(StatusCode::OK, &object! { "response" => response }))
}

pub(super) async fn condense(Extract(server): Server, Path(id): Path<String>) -> Result<Response, Failure> {
    let conversation = find(&server, &id)?;
    let mut state = conversation.free().await;
    let Some(condenser) = state.agent.condenser().cloned() else {
        let detail = "Cannot condense conversation: No condenser configured".to_owned();
        return Err(if server.config.at_least(1, 56) {
            Failure::Detail(StatusCode::CONFLICT, detail)
        } else {
            Failure::Unhandled(detail)
        });
    };
    state.prepare_agent()?;
    state.log.append("environment", "CondensationRequest", object! {});
    let model = condenser.get("llm").and_then(|llm| llm.text("model")).unwrap_or_default();
    let turn = server.scripts.take(model, object! { "model" => model });
    let Answer::Message { text, .. } = turn.answer else {
        return Err(Failure::Unhandled("the condenser's LLM failed".to_owned()));
    };
    let keep_first = condenser.count("keep_first").unwrap_or(2);
    let fields = object! {
        "forgotten_event_ids" => forgotten(&state, usize::try_from(keep_first).unwrap_or(2)),
        "summary" => text.unwrap_or_default(),
        "summary_offset" => keep_first,
        "llm_response_id" => turn.response_id,
    };
    state.log.append("environment", "Condensation", fields);
    Ok(success())
}

/// What a condensation leaves out: the middle, so that half remains, and no call without its result.
fn forgotten(state: &State, keep_first: usize) -> Vec<Json> {
    const SEEN: [&str; 6] = [
        "SystemPromptEvent",
        "MessageEvent",
        "ActionEvent",
        "ObservationEvent",
        "UserRejectObservation",
        "AgentErrorEvent",
    ];
    let mut seen = state.log.branch();
    seen.retain(|event| SEEN.contains(&event.kind.as_str()));
    let kept_last = (seen.len() / 2).saturating_sub(keep_first + 1);
    let mut end = seen.len().saturating_sub(kept_last);
    while seen.get(end).is_some_and(|event| !event.field("tool_call_id").is_empty() && event.kind != "ActionEvent") {
        end += 1;
    }
    let middle = seen.iter().take(end).skip(keep_first);
    middle.map(|event| Json::from(&event.id)).collect()
}

pub(super) async fn secrets(Extract(server): Server, Path(id): Path<String>, body: Bytes) -> Result<Response, Failure> {
    let request = read_body(&body)?;
    let mut complaints = Complaints::default();
    complaints.dictionary("secrets", &request);
    complaints.done()?;
    // Nothing here has a use for secrets; what they are called may be wrong, what they say is not kept.
    let conversation = find(&server, &id)?;
    conversation.free().await.touch();
    Ok(success())
}
