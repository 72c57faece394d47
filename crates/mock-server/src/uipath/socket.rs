//! Socket.IO by the library: who may connect, and what becomes of events.

use std::fmt::{Display, Formatter};
use std::future::ready;
use std::sync::Arc;

use axum::http::HeaderMap;
use serde_json::value::RawValue;
use socketioxide::SocketIo;
use socketioxide::extract::{Data, SocketRef, TryData};
use socketioxide::handler::ConnectHandler;
use socketioxide::service::SocketIoService;

use crate::faults::Fault;
use crate::json::{Json, parse};
use crate::query::Query;
use crate::shared::Shared;

use super::envelope::EVENT;
use super::rest::may_connect;
use super::{clients, runtimes};

/// The protocol, apart from the wire.
pub(super) type Engine = SocketIoService<()>;

/// Events that may wait for a slow client.
const BUFFER: usize = 1 << 16;
/// What a message may weigh inside; the wire has the limit that clients see.
const MESSAGE_LIMIT: usize = 64 << 20;

/// A CONNECT that is refused.
#[derive(Debug)]
pub(super) struct Refused;

impl Display for Refused {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        out.write_str("Unauthorized")
    }
}

/// The protocol engine of a server.
pub(super) fn engine(shared: &Arc<Shared>) -> Engine {
    let settings = &shared.config.uipath;
    let (service, io) = SocketIo::builder()
        .ping_interval(settings.ping_interval)
        .ping_timeout(settings.ping_timeout)
        .max_payload(settings.max_payload)
        .max_buffer_size(BUFFER)
        .ws_max_message_size(MESSAGE_LIMIT)
        .ws_max_frame_size(MESSAGE_LIMIT)
        .build_with_inner_svc(());
    let (admits, greets) = (Arc::clone(shared), Arc::clone(shared));
    // Everything is done before the first await, so that events are handled in the order of their frames. The handlers
    // are there before the client learns that it is connected.
    let admit = move |socket: SocketRef, auth: TryData<Box<RawValue>>| ready(admit(&admits, &socket, auth));
    let greet = move |socket: SocketRef| {
        if let Some(conversation) = runtime_of(&socket.req_parts().headers) {
            runtimes::connected(&greets, &conversation, &socket);
        }
        ready(())
    };
    io.ns("/", greet.with(admit));
    service
}

fn admit(shared: &Arc<Shared>, socket: &SocketRef, auth: TryData<Box<RawValue>>) -> Result<(), Refused> {
    if let Some(conversation) = runtime_of(&socket.req_parts().headers) {
        if !shared.uipath.lock().knows(&conversation) {
            return Err(Refused);
        }
        listen(shared, socket, move |shared, _, raw| runtimes::heard(shared, &conversation, raw));
        return Ok(());
    }
    let auth: Json = auth.0.ok().and_then(|auth| parse(auth.get()).ok()).unwrap_or_default();
    let token = auth.text("token").unwrap_or_default();
    let query = Query::read(socket.req_parts().uri.query().unwrap_or_default());
    let rejects = |fault: &Fault| matches!(fault, Fault::RejectKey).then_some(());
    let welcome = shared.faults.fire(None, rejects).is_none() && shared.uipath.lock().accepts(token);
    if !welcome || !may_connect(token, query.get("x-uipath-external-user-id")) {
        return Err(Refused);
    }
    shared.uipath.lock().joined(socket, token);
    listen(shared, socket, clients::heard);
    Ok(())
}

/// The conversation whose runtime a request comes from.
pub(super) fn runtime_of(headers: &HeaderMap) -> Option<String> {
    headers.get("x-uipath-conversationid").and_then(|id| id.to_str().ok()).map(str::to_owned)
}

fn listen(
    shared: &Arc<Shared>,
    socket: &SocketRef,
    hear: impl Fn(&Arc<Shared>, &SocketRef, &str) + Clone + Send + Sync + 'static,
) {
    let hearing = Arc::clone(shared);
    // The library takes a raw value for all arguments at once, the name of the event before them.
    socket.on(EVENT, move |socket: SocketRef, Data::<Box<RawValue>>(raw)| {
        let arguments: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
        if let Some(envelope) = arguments.get(1) {
            hear(&hearing, &socket, envelope.get());
        }
        ready(())
    });
    let leaving = Arc::clone(shared);
    socket.on_disconnect(move |socket: SocketRef| {
        leaving.uipath.lock().left(&socket);
        ready(())
    });
}
