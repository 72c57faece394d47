//! WebSockets.
//!
//! Events are read by shape, not by class: in Node, or with a polyfill, the class is not a global one.

use std::cell::Cell;
use std::rc::Rc;

use wasm_bindgen::JsValue;
use web_sys::{BinaryType, Event, WebSocket};

use crate::conversation::{Input, Wire};
use crate::net::SocketId;

use super::convert;
use super::hooks::Hooks;
use super::inputs::Inputs;
use super::listen::{Listener, listen};
use super::slots::Slots;

/// The close code of a socket that was never properly closed.
const ABNORMAL: u16 = 1006;

/// Frames up to a third of this, which are nearly all, are read into a buffer that is made once.
const BUFFER: usize = 0x1_0000;

thread_local! {
    static FRAME: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The text of a frame. wasm-bindgen's own way to read a text looks at it letter by letter in JS.
fn text(hooks: &Hooks, event: &Event) -> Option<String> {
    let mut buffer = FRAME.take();
    buffer.resize(BUFFER, 0);
    let length = hooks.text(event, &mut buffer).ok().and_then(|length| usize::try_from(length).ok());
    let bytes = length.and_then(|length| buffer.get(..length));
    let short = bytes.and_then(|bytes| str::from_utf8(bytes).ok()).map(str::to_owned);
    FRAME.set(buffer);
    short.or_else(|| convert::text_at(event, "data"))
}

/// An open or opening socket. Dropping it silences it first and closes it then, so no event finds a freed listener.
struct Socket {
    socket: WebSocket,
    listeners: Vec<Listener>,
}

/// The sockets that are open or opening.
pub(super) struct Sockets(Slots<SocketId, Rc<Socket>>);

impl Sockets {
    pub(super) fn new() -> Self {
        Self(Slots::new())
    }

    /// Opens a socket. A refused URL looks like a socket that failed: the core has one way to deal with both.
    pub(super) fn open(&self, hooks: &Hooks, inputs: &Inputs, id: SocketId, url: &str) {
        if let Ok(socket) = self.make(hooks, inputs, id, url) {
            self.0.insert(id, Rc::new(socket));
        } else {
            let reason = "the socket could not be made".into();
            inputs.push(Input::Wire(Wire::Closed { socket: id, code: ABNORMAL, reason }));
        }
    }

    /// Sends a text.
    pub(super) fn send(&self, id: SocketId, text: &str) {
        if let Some(socket) = self.0.get(id) {
            socket.send(text);
        }
    }

    /// Closes a socket. Nothing is heard of it any more.
    pub(super) fn close(&self, id: SocketId) {
        drop(self.0.take(id));
    }

    /// Closes all.
    pub(super) fn close_all(&self) {
        drop(self.0.drain());
    }

    fn make(&self, hooks: &Hooks, inputs: &Inputs, id: SocketId, url: &str) -> Result<Socket, JsValue> {
        // Without a subprotocol: servers that negotiate none fail the handshake when one is asked for.
        let socket = WebSocket::new(url)?;
        // Blobs would be decoded later and out of order.
        socket.set_binary_type(BinaryType::Arraybuffer);
        // `error` tells nothing that `close`, which always follows, does not.
        let mut socket = Socket { socket, listeners: Vec::new() };
        socket.on("open", hooks, inputs, move |_| Input::Wire(Wire::Opened { socket: id }))?;
        let reader = hooks.clone();
        socket.on("message", hooks, inputs, move |event| {
            // A binary frame means nothing in the protocols we speak. It goes on as an empty text, which the core tells as
            // malformed.
            Input::Wire(Wire::Frame { socket: id, text: text(&reader, event).unwrap_or_default() })
        })?;
        let open = self.0.clone();
        socket.on("close", hooks, inputs, move |event| {
            open.take(id);
            let code = convert::number_at(event, "code").unwrap_or(ABNORMAL);
            Input::Wire(Wire::Closed {
                socket: id,
                code,
                reason: convert::text_at(event, "reason").unwrap_or_default(),
            })
        })?;
        Ok(socket)
    }
}

impl Socket {
    fn on(
        &mut self,
        kind: &'static str,
        hooks: &Hooks,
        inputs: &Inputs,
        input: impl Fn(&Event) -> Input + 'static,
    ) -> Result<(), JsValue> {
        let inputs = inputs.clone();
        let listener = listen(hooks, &self.socket, kind, move |event| inputs.push(input(&event)))?;
        self.listeners.push(listener);
        Ok(())
    }

    /// Sends a text, if the socket is open. Otherwise its close is on the way to the core, which sends again what
    /// matters; the browser would drop the text in silence.
    fn send(&self, text: &str) {
        if self.socket.ready_state() == WebSocket::OPEN {
            // Throws only while connecting.
            let _ = self.socket.send_with_str(text);
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.listeners.clear();
        // Throws for no code that is 1000.
        let _ = self.socket.close_with_code(1000);
    }
}
