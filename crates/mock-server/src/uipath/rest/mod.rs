//! REST: agents, conversations, their history, attachments, the user.

mod agents;
mod attachments;
mod conversations;
mod exchanges;
mod failure;
mod gate;
mod paging;
mod user;

use std::sync::Arc;

use axum::Router;
use axum::routing::{any, get, post, put};

use crate::shared::Shared;

pub(super) use attachments::Attachments;
pub(crate) use failure::fault as fault_answer;
pub(super) use gate::may_connect;
pub(super) use user::new_user;

/// What all paths have in common.
const BASE: &str = "/{org}/{tenant}/autopilotforeveryone_/api";

/// The ids that a path may name.
#[derive(Debug, serde::Deserialize)]
struct Ids {
    org: String,
    tenant: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    exchange: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    part: String,
}

/// Whether a path is one of REST.
pub(crate) fn is_rest(path: &str) -> bool {
    path.contains("/autopilotforeveryone_/api/") || path.starts_with(attachments::UPLOADS)
}

pub(super) fn router(shared: &Arc<Shared>) -> Router {
    let v1 = Router::new()
        .route("/agent", get(agents::list))
        .route("/agent/{folder}/{agent}", get(agents::one))
        .route("/agent/{folder}/{agent}/connections", get(agents::connections).put(agents::choose))
        .route("/agent/connections/auth", post(agents::auth))
        .route("/conversation", get(conversations::list).post(conversations::create))
        .route("/conversation/{id}", get(conversations::one).patch(conversations::change).delete(conversations::remove))
        .route("/conversation/{id}/attachment", post(attachments::announce))
        .route("/conversation/{id}/exchange", get(exchanges::list))
        .route("/conversation/{id}/exchange/{exchange}", get(exchanges::one))
        .route("/conversation/{id}/exchange/{exchange}/feedback", post(exchanges::feedback))
        .route("/conversation/{id}/exchange/{exchange}/message/{message}", get(exchanges::message))
        .route(
            "/conversation/{id}/exchange/{exchange}/message/{message}/contentPart/{part}",
            get(exchanges::content_part),
        )
        .route("/user/settings", get(user::settings).patch(user::change));
    let keyed = Router::new()
        .nest(&format!("{BASE}/v1"), v1)
        .route(&format!("{BASE}/utility/feature-flags"), get(agents::feature_flags))
        .route(&format!("{BASE}/{{*rest}}"), any(failure::nothing_here))
        .route_layer(axum::middleware::from_fn_with_state(Arc::clone(shared), gate::need_token));
    keyed
        .route(&format!("{}{{id}}", attachments::UPLOADS), put(attachments::upload))
        .route_layer(axum::middleware::from_fn(gate::cors))
        .with_state(Arc::clone(shared))
}
