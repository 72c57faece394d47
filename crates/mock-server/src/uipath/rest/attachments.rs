//! Attachments: a URL to upload to, which this server serves itself.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

use crate::json::Json;
use crate::object;
use crate::shared::Shared;

use super::Ids;
use super::conversations::read;
use super::failure::{Failure, Outcome, answer};

type Server = State<Arc<Shared>>;

/// Where files are uploaded to.
pub(super) const UPLOADS: &str = "/uipath-files/";
/// A header that an upload must carry, as the announcement lists it.
const HEADER: (&str, &str) = ("x-mock-upload", "yes");

/// An announced file.
#[derive(Debug)]
pub(crate) struct Attachment {
    pub(crate) id: String,
    pub(crate) conversation: String,
    pub(crate) name: String,
    pub(crate) uri: String,
    pub(crate) requires_auth: bool,
    /// What was uploaded: its type and its bytes.
    pub(crate) content: Option<(String, Bytes)>,
}

/// All announced files.
pub(crate) type Attachments = Vec<Attachment>;

pub(super) async fn announce(State(shared): Server, Path(ids): Path<Ids>, body: Bytes) -> Response {
    answer(&shared, announced(&shared, &ids, &body))
}

fn announced(shared: &Shared, ids: &Ids, body: &Bytes) -> Outcome {
    let body = read(body)?;
    let name = body.text("name").filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Failure::invalid(vec![("name".to_owned(), "a text is required".to_owned())]))?;
    let mut state = shared.uipath.lock();
    if !state.knows(&ids.id) {
        return Err(Failure::missing("Conversation"));
    }
    let id = Uuid::new_v4().to_string();
    let uri = format!("urn:uipath:cas:file:orchestrator:{id}");
    let requires_auth = state.levers.upload_requires_auth;
    let lists = object! {
        "keys" => vec![Json::from(HEADER.0)],
        "values" => vec![Json::from(HEADER.1)],
    };
    let mut access = object! {
        "url" => format!("http://{}{UPLOADS}{id}", shared.address()), "verb" => "PUT", "headers" => lists,
    };
    if requires_auth {
        access.set("requiresAuth", true);
    }
    state.attachments.push(Attachment {
        id,
        conversation: ids.id.clone(),
        name: name.to_owned(),
        uri: uri.clone(),
        requires_auth,
        content: None,
    });
    Ok(object! { "uri" => uri, "name" => name, "fileUploadAccess" => access })
}

pub(super) async fn upload(State(shared): Server, Path(id): Path<String>, headers: HeaderMap, body: Bytes) -> Response {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let mut state = shared.uipath.lock();
    let token = text(AUTHORIZATION.as_str()).and_then(|value| value.strip_prefix("Bearer "));
    let authorized = token.is_some_and(|token| state.accepts(token));
    let Some(file) = state.attachments.iter_mut().find(|file| file.id == id) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    // A token is for the service alone: a storage that is not asked for one refuses it, too.
    if file.requires_auth != authorized || (!file.requires_auth && token.is_some()) {
        return StatusCode::FORBIDDEN.into_response();
    }
    if text("x-ms-blob-type") != Some("BlockBlob") || text(HEADER.0) != Some(HEADER.1) {
        return StatusCode::BAD_REQUEST.into_response();
    }
    file.content = Some((text("content-type").unwrap_or_default().to_owned(), body));
    StatusCode::CREATED.into_response()
}
