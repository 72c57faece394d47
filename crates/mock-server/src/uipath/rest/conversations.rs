//! Conversations: create, list, read, change, delete.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use uuid::Uuid;

use crate::clock::Clock;
use crate::json::{Json, Object, parse};
use crate::query::Query;
use crate::shared::Shared;

use super::super::conversation::Conversation;
use super::super::service::{emit, facts};
use super::super::{clients, envelope};
use super::failure::{Failure, Outcome, answer};
use super::{Ids, agents, paging};

type Server = State<Arc<Shared>>;

const LABEL_LENGTH: usize = 100;
const INPUT_LENGTH: usize = 4000;

/// A JSON object.
pub(super) fn read(body: &Bytes) -> Outcome {
    let body = parse(&String::from_utf8_lossy(body)).ok().filter(|body| body.as_object().is_some());
    body.ok_or_else(|| Failure::invalid(vec![("$".to_owned(), "a JSON object is required".to_owned())]))
}

/// The limits that create and change share.
fn check(body: &Json, problems: &mut Vec<(String, String)>) {
    if body.present("label").is_some_and(|label| label.as_str().is_none_or(|text| text.chars().count() > LABEL_LENGTH))
    {
        problems.push(("label".to_owned(), format!("a text of at most {LABEL_LENGTH} characters")));
    }
    if body.present("autogenerateLabel").is_some_and(|flag| flag.as_bool().is_none()) {
        problems.push(("autogenerateLabel".to_owned(), "true or false".to_owned()));
    }
    if let Some(input) = body.present("agentInput")
        && (input.get("inline").is_none_or(|inline| inline.as_object().is_none())
            || input.to_string().chars().count() >= INPUT_LENGTH)
    {
        problems.push(("agentInput".to_owned(), format!("{{inline: object}}, under {INPUT_LENGTH} characters")));
    }
}

pub(super) async fn create(State(shared): Server, Path(ids): Path<Ids>, body: Bytes) -> Response {
    answer(&shared, made(&shared, &ids, &body))
}

fn made(shared: &Shared, ids: &Ids, body: &Bytes) -> Outcome {
    let body = read(body)?;
    let mut problems = Vec::new();
    for name in ["agentReleaseId", "folderId"] {
        if body.count(name).is_none() {
            problems.push((name.to_owned(), "a number is required".to_owned()));
        }
    }
    check(&body, &mut problems);
    if !problems.is_empty() {
        return Err(Failure::invalid(problems));
    }
    let number = |name: &str| body.count(name).unwrap_or_default();
    agents::check(shared, number("folderId"), number("agentReleaseId"))?;
    let id = Uuid::new_v4().to_string();
    let now = Clock::utc_millis();
    let mut facts = Object::new();
    facts.set("conversationId", &id);
    for name in ["createdAt", "updatedAt", "lastActivityAt"] {
        facts.set(name, &now);
    }
    facts.set("label", body.text("label").unwrap_or_default());
    facts.set("autogenerateLabel", body.flag("autogenerateLabel").unwrap_or(true));
    facts.set("userId", "user-1");
    facts.set("orgId", &ids.org);
    facts.set("tenantId", &ids.tenant);
    facts.set("folderId", number("folderId"));
    facts.set("agentReleaseId", number("agentReleaseId"));
    let trace = body.text("traceId").map_or_else(|| Uuid::new_v4().simple().to_string(), str::to_owned);
    facts.set("traceId", trace);
    for name in ["jobStartOverrides", "agentInput"] {
        if let Some(value) = body.present(name) {
            facts.set(name, value.clone());
        }
    }
    let mut state = shared.uipath.lock();
    state.add(Conversation::new(&id, facts.clone()));
    Ok(facts.into())
}

pub(super) async fn list(State(shared): Server, RawQuery(query): RawQuery) -> Response {
    let query = Query::read(query.as_deref().unwrap_or_default());
    answer(&shared, listed(&shared, &query))
}

fn listed(shared: &Shared, query: &Query) -> Outcome {
    let newest_first = paging::newest_first(query, "sort", true)?;
    let state = shared.uipath.lock();
    let release_of_key = query.get("agentReleaseKey").map(|key| {
        let agent = state.agents.iter().find(|agent| agent.text("releaseKey") == Some(key));
        agent.and_then(|agent| agent.count("id"))
    });
    let wanted = |conversation: &&Conversation| {
        let release = conversation.facts.get("agentReleaseId").and_then(Json::as_u64);
        let label = conversation.facts.get("label").and_then(Json::as_str).unwrap_or_default().to_lowercase();
        release_of_key.is_none_or(|key| key.is_some() && key == release)
            && query.get("agentReleaseId").is_none_or(|id| id.parse().ok() == release)
            && query.get("search").is_none_or(|words| label.contains(&words.to_lowercase()))
    };
    let found = state.conversations().iter().filter(wanted);
    let mut items: Vec<(String, Json)> = found.map(|known| (known.id.clone(), facts(known))).collect();
    if newest_first {
        items.reverse();
    }
    paging::page(query, items)
}

pub(super) async fn one(State(shared): Server, Path(ids): Path<Ids>) -> Response {
    let found = shared.uipath.lock().conversation(&ids.id).map(facts);
    answer(&shared, found.ok_or_else(|| Failure::missing("Conversation")))
}

pub(super) async fn change(State(shared): Server, Path(ids): Path<Ids>, body: Bytes) -> Response {
    answer(&shared, changed(&shared, &ids, &body))
}

fn changed(shared: &Shared, ids: &Ids, body: &Bytes) -> Outcome {
    let body = read(body)?;
    let mut problems = Vec::new();
    check(&body, &mut problems);
    if !problems.is_empty() {
        return Err(Failure::invalid(problems));
    }
    let mut state = shared.uipath.lock();
    let conversation = state.conversation_mut(&ids.id).ok_or_else(|| Failure::missing("Conversation"))?;
    for name in ["label", "autogenerateLabel", "jobKey", "isLocalJobExecution", "agentInput"] {
        if let Some(value) = body.get(name) {
            conversation.facts.set(name, value.clone());
        }
    }
    conversation.facts.set("updatedAt", Clock::utc_millis());
    Ok(facts(conversation))
}

pub(super) async fn remove(State(shared): Server, Path(ids): Path<Ids>) -> Response {
    let outcome = {
        let mut state = shared.uipath.lock();
        let run = state.conversation(&ids.id).and_then(|known| known.run.as_ref()).map(|run| run.exchange.clone());
        if let Some(exchange) = run {
            clients::stop(&mut state, &ids.id, &exchange);
        }
        let removed = state.remove(&ids.id);
        for session in removed.iter().flat_map(|conversation| &conversation.sessions) {
            if let Some(client) = state.client(*session) {
                let ended = envelope::of_session(&ids.id, "endSession", Object::new().into());
                emit(&client.socket, &ended.to_string());
            }
        }
        removed.as_ref().map(facts).ok_or_else(|| Failure::missing("Conversation"))
    };
    answer(&shared, outcome)
}
