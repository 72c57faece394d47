//! The REST routes of a conversation, and those that need no key.

use std::sync::{Arc, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State as Extract};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};

use crate::json::Json;
use crate::object;
use crate::shared::Shared;

use super::conversation::complete_policy;
use super::defaults::{CAPABILITIES, read};
use super::info::runtime_info;
use super::key::need_key;
use super::reply::{Failure, json, success};
use super::request::{find, find_or_refuse, find_unloaded, read_body};
use super::validate::Complaints;
use super::{create, events_api, fork, interruption, listing, llm_api, run, sockets};

type Server = Extract<Arc<Shared>>;

pub(crate) fn router(shared: &Arc<Shared>) -> Router {
    let key = axum::middleware::from_fn_with_state(Arc::clone(shared), need_key);
    let api = Router::new()
        .route("/api/tools/", get(tools))
        .route("/api/conversations", post(create::create).get(listing::by_ids))
        .route("/api/conversations/search", get(listing::search))
        .route("/api/conversations/count", get(listing::count))
        .route("/api/conversations/{id}", get(info).delete(remove).patch(change))
        .route("/api/conversations/{id}/run", post(start))
        .route("/api/conversations/{id}/pause", post(pause))
        .route("/api/conversations/{id}/interrupt", post(interrupt))
        .route("/api/conversations/{id}/confirmation_policy", post(set_policy))
        .route("/api/conversations/{id}/security_analyzer", post(set_analyzer))
        .route("/api/conversations/{id}/fork", post(fork::fork))
        .route("/api/conversations/{id}/navigate", post(fork::navigate))
        .route("/api/conversations/{id}/switch_llm", post(llm_api::switch_llm))
        .route("/api/conversations/{id}/switch_profile", post(llm_api::switch_profile))
        .route("/api/conversations/{id}/runtime", get(runtime))
        .route("/api/conversations/{id}/ask_agent", post(llm_api::ask_agent))
        .route("/api/conversations/{id}/condense", post(llm_api::condense))
        .route("/api/conversations/{id}/secrets", post(llm_api::secrets))
        .merge(events_api::routes())
        .route_layer(key);
    let open = Router::new()
        .route("/alive", get(ok))
        .route("/health", get(ok))
        .route("/ready", get(ready))
        .route("/server_info", get(server_info))
        .route("/api/{*rest}", any(nothing_here));
    // Static files take the place of the server's description at `/`, as in the real server.
    let open = if shared.config.static_dir.is_none() { open.route("/", get(server_info)) } else { open };
    api.merge(open).merge(sockets::routes()).with_state(Arc::clone(shared))
}

async fn ok() -> Response {
    json(StatusCode::OK, &object! { "status" => "ok" })
}

async fn ready() -> Response {
    json(StatusCode::OK, &object! { "status" => "ready" })
}

async fn nothing_here() -> Response {
    Failure::not_found().into_response()
}

/// `GET /server_info`.
async fn server_info(Extract(server): Server) -> Response {
    let version = &server.config.version;
    let uptime = server.started.elapsed().as_secs();
    let seconds = Json::Number(format!("{uptime}.0"));
    let tools = server.registry.lock().unwrap_or_else(PoisonError::into_inner).names();
    let tools: Vec<Json> = tools.into_iter().filter(|name| name.as_str() != Some("browser_tool_set")).collect();
    let mut info = object! {
        "uptime" => seconds.clone(),
        "idle_time" => seconds,
        "title" => "OpenHands Agent Server",
        "version" => version,
        "sdk_version" => version,
        "tools_version" => version,
        "workspace_version" => "unknown",
        "build_git_sha" => "unknown",
        "build_git_ref" => "unknown",
        "python_version" => "none: pagehand mock server",
        "usable_tools" => tools,
        "runtime_idle_timeout_seconds" => Json::Null,
    };
    if server.config.at_least(1, 58) {
        info.set("conversation_runtime", "local");
        info.set("available_conversation_runtimes", Vec::new());
    }
    info.set("capabilities", read(CAPABILITIES));
    if server.config.at_least(1, 58) {
        info.set("app_backend_ingress_url", Json::Null);
    }
    info.set("max_foreground_terminal_timeout_seconds", Json::Null);
    info.set("docs", "/docs");
    info.set("redoc", "/redoc");
    json(StatusCode::OK, &info)
}

async fn tools(Extract(server): Server) -> Response {
    let names = server.registry.lock().unwrap_or_else(PoisonError::into_inner).names();
    json(StatusCode::OK, &Json::Array(names))
}

async fn info(Extract(server): Server, Path(id): Path<String>) -> Result<Response, Failure> {
    let conversation = find_unloaded(&server, &id)?;
    Ok(json(StatusCode::OK, &listing::shown(&conversation)))
}

async fn runtime(Extract(server): Server, Path(id): Path<String>) -> Result<Response, Failure> {
    find_unloaded(&server, &id)?;
    Ok(json(StatusCode::OK, &runtime_info()))
}

async fn remove(Extract(server): Server, Path(id): Path<String>) -> Result<Response, Failure> {
    let conversation = find_or_refuse(&server, &id)?;
    server.conversations.remove(conversation.id());
    let mut state = conversation.lock();
    interruption::abandon(&mut state);
    state.deleted = true;
    Ok(success())
}

async fn change(Extract(server): Server, Path(id): Path<String>, body: Bytes) -> Result<Response, Failure> {
    let request = read_body(&body)?;
    let mut complaints = Complaints::default();
    complaints.title(&request, !server.config.at_least(1, 57));
    complaints.tags(&request);
    complaints.done()?;
    let conversation = match find(&server, &id) {
        Err(Failure::Detail(StatusCode::NOT_FOUND, _)) if !server.config.at_least(1, 57) => {
            return Ok(json(StatusCode::OK, &object! { "success" => false }));
        }
        found => found?,
    };
    let mut state = conversation.free().await;
    if let Some(title) = request.present("title").and_then(Json::as_str) {
        state.title = Some(title.to_owned());
    }
    if let Some(tags) = request.present("tags") {
        state.tags = tags.clone();
        state.log.append_state("tags", tags.clone());
    }
    state.touch();
    Ok(success())
}

async fn start(Extract(server): Server, Path(id): Path<String>) -> Result<Response, Failure> {
    let conversation = find(&server, &id)?;
    if !server.config.at_least(1, 45) {
        // Newer servers say at once that a run is under way.
        drop(conversation.free().await);
    }
    if conversation.lock().run.is_none() {
        run::check_capacity(&server, conversation.id())?;
    }
    if run::start(&server, &conversation)? {
        return Ok(success());
    }
    let detail = "Conversation already running. Wait for completion or pause first.".to_owned();
    Err(Failure::Detail(StatusCode::CONFLICT, detail))
}

async fn pause(Extract(server): Server, Path(id): Path<String>) -> Result<Response, Failure> {
    interruption::pause(&mut *find_or_refuse(&server, &id)?.free().await);
    Ok(success())
}

async fn interrupt(Extract(server): Server, Path(id): Path<String>) -> Result<Response, Failure> {
    interruption::interrupt(&mut find_or_refuse(&server, &id)?.lock());
    Ok(success())
}

async fn set_policy(Extract(server): Server, Path(id): Path<String>, body: Bytes) -> Result<Response, Failure> {
    let request = read_body(&body)?;
    let mut complaints = Complaints::default();
    complaints.policy("policy", request.get("policy").unwrap_or(&Json::Null));
    complaints.done()?;
    let conversation = find(&server, &id)?;
    let mut state = conversation.free().await;
    state.policy = complete_policy(request.get("policy").unwrap_or(&Json::Null));
    let policy = state.policy.clone();
    state.log.append_state("confirmation_policy", policy);
    Ok(success())
}

async fn set_analyzer(Extract(server): Server, Path(id): Path<String>, body: Bytes) -> Result<Response, Failure> {
    let request = read_body(&body)?;
    let conversation = find(&server, &id)?;
    let mut state = conversation.free().await;
    state.analyzer = request.get("security_analyzer").cloned().unwrap_or_default();
    let analyzer = state.analyzer.clone();
    state.log.append_state("security_analyzer", analyzer);
    Ok(success())
}
