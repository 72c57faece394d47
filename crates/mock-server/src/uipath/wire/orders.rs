//! What a control request does to open connections, at once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::json::parse;

use super::link::End;

/// What is done to a connection.
#[derive(Debug, Clone)]
pub(crate) enum Order {
    /// It ends.
    End(End),
    /// A text is sent.
    Raw(String),
    /// Its namespace is disconnected.
    Disconnect,
}

#[derive(Debug)]
struct Wire {
    label: String,
    /// The socket's id, once the engine has given it one.
    socket: Option<String>,
    orders: UnboundedSender<Order>,
}

/// The open connections.
#[derive(Debug, Default)]
pub(crate) struct Orders(Mutex<Vec<Wire>>);

impl Orders {
    fn wires(&self) -> MutexGuard<'_, Vec<Wire>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn open(&self, label: &str) -> UnboundedReceiver<Order> {
        let (orders, received) = unbounded_channel();
        self.wires().push(Wire { label: label.to_owned(), socket: None, orders });
        received
    }

    /// Learns a socket's id from the packet that accepts it.
    pub(super) fn connected(&self, label: &str, packet: &str) {
        let body = packet.strip_prefix("40").and_then(|body| parse(body).ok());
        let socket = body.and_then(|body| body.text("sid").map(str::to_owned));
        if let Some(wire) = self.wires().iter_mut().find(|wire| wire.label == label) {
            wire.socket = socket;
        }
    }

    pub(super) fn close(&self, label: &str) {
        self.wires().retain(|wire| wire.label != label);
    }

    /// Gives an order to the connections of these sockets, or with none to those whose label begins so; answers how
    /// many there are.
    pub(crate) fn give(&self, order: &Order, sockets: Option<&[String]>, label: &str) -> usize {
        let wires = self.wires();
        let meant = wires.iter().filter(|wire| match (sockets, &wire.socket) {
            (Some(sockets), Some(socket)) => sockets.contains(socket),
            (Some(_), None) => false,
            (None, _) => wire.label.starts_with(label),
        });
        meant.filter(|wire| wire.orders.send(order.clone()).is_ok()).count()
    }
}
