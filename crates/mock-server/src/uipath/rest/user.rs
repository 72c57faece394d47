//! What is known of the user.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;

use crate::clock::Clock;
use crate::json::{Json, Object};
use crate::shared::Shared;

use super::conversations::read;
use super::failure::{Failure, answer};

type Server = State<Arc<Shared>>;

const FIELDS: [&str; 7] = ["name", "email", "role", "department", "company", "country", "timezone"];

/// A user of whom nothing is known yet.
pub(crate) fn new_user() -> Object {
    let mut user = Object::new();
    user.set("userId", "user-1");
    for name in FIELDS {
        user.set(name, Json::Null);
    }
    let now = Clock::utc_millis();
    user.set("createdAt", &now);
    user.set("updatedAt", &now);
    user
}

pub(super) async fn settings(State(shared): Server) -> Response {
    let user = shared.uipath.lock().user.clone();
    answer(&shared, Ok(user.into()))
}

pub(super) async fn change(State(shared): Server, body: Bytes) -> Response {
    let outcome = read(&body).and_then(|body| {
        let members = body.as_object().cloned().unwrap_or_default();
        let fits =
            |(name, value): (&str, &Json)| FIELDS.contains(&name) && (value.is_null() || value.as_str().is_some());
        if let Some((name, _)) = members.iter().find(|member| !fits(*member)) {
            return Err(Failure::invalid(vec![(name.to_owned(), "a text or null of a known field".to_owned())]));
        }
        let mut state = shared.uipath.lock();
        for (name, value) in members {
            state.user.set(&name, value);
        }
        state.user.set("updatedAt", Clock::utc_millis());
        Ok(state.user.clone().into())
    });
    answer(&shared, outcome)
}
