//! What happens to open sockets at once, without waiting for a frame as a fault does.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};

use crate::faults::Leg;
use crate::object;

use super::super::wire::{End, Order};
use super::{Refusal, Server, answer, bad};

#[derive(Debug, serde::Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
enum Action {
    /// The TCP connection ends without a close frame.
    Cut,
    /// A close frame is sent.
    Close { code: u16 },
    /// `41` is sent.
    Disconnect,
    /// Nothing is sent or read any more.
    HalfOpen,
    /// This text is sent.
    Raw { raw: String },
}

#[derive(Debug, serde::Deserialize)]
struct SocketOrder {
    #[serde(flatten)]
    action: Action,
    /// Whose sockets.
    #[serde(default)]
    leg: Leg,
}

impl SocketOrder {
    fn order(&self) -> Order {
        match &self.action {
            Action::Cut => Order::End(End::Abrupt),
            Action::Close { code } => Order::End(End::of(Some(*code), "")),
            Action::Disconnect => Order::Disconnect,
            Action::HalfOpen => Order::End(End::HalfOpen),
            Action::Raw { raw } => Order::Raw(raw.clone()),
        }
    }
}

pub(super) async fn all(State(shared): Server, body: Bytes) -> Response {
    match serde_json::from_slice::<SocketOrder>(&body) {
        Ok(order) => {
            let label = if order.leg == Leg::Runtime { "runtime-" } else { "client-" };
            let count = shared.uipath.wires().give(&order.order(), None, label);
            answer(Ok(object! { "sockets" => count }))
        }
        Err(error) => bad(error).into_response(),
    }
}

pub(super) async fn of_conversation(State(shared): Server, Path(id): Path<String>, body: Bytes) -> Response {
    let order = match serde_json::from_slice::<SocketOrder>(&body) {
        Ok(order) => order,
        Err(error) => return bad(error).into_response(),
    };
    let sockets: Option<Vec<String>> = {
        let state = shared.uipath.lock();
        state.conversation(&id).map(|conversation| match order.leg {
            Leg::Client => conversation.sessions.iter().map(ToString::to_string).collect(),
            Leg::Runtime => conversation.runtime.iter().map(|runtime| runtime.id.to_string()).collect(),
        })
    };
    let given = sockets.map(|sockets| shared.uipath.wires().give(&order.order(), Some(&sockets), ""));
    answer(given.map(|count| object! { "sockets" => count }).ok_or(Refusal::Missing("conversation")))
}
