//! The wire as every protocol sees it.

use crate::error::Error;
use crate::net::{Answer, Request, RequestId, SocketId};

use super::{CommandId, Signal};

/// What comes over the wire.
pub enum Wire {
    /// A request ended.
    Answered {
        /// Which.
        request: RequestId,
        /// How.
        answer: Answer,
    },
    /// A socket is open.
    Opened {
        /// Which.
        socket: SocketId,
    },
    /// A text frame.
    Frame {
        /// From which socket.
        socket: SocketId,
        /// Its text.
        text: String,
    },
    /// The app gives what it heard over a connection of its own.
    Fed {
        /// A frame's text, or an event's.
        text: String,
        /// Whether it was there before the app came.
        past: bool,
    },
    /// A socket is closed, whatever led to it.
    Closed {
        /// Which.
        socket: SocketId,
        /// The close code; 1006 when there was none.
        code: u16,
        /// The server's words.
        reason: String,
    },
    /// The key that was asked for.
    Key(Result<String, String>),
    /// The network came or went, or the page did.
    Surroundings(Surroundings),
}

/// What happens around the page, as far as it says something about the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surroundings {
    /// The browser says that there is a network.
    Online,
    /// The browser says that there is none.
    Offline,
    /// The page is looked at again: timers may have slept.
    Shown,
    /// The page is put aside, perhaps for good: an open socket would keep it from being restored whole.
    Leaving,
    /// The page was put aside and is back.
    Back,
}

/// What goes out.
pub enum WireEffect {
    /// Send a request; answer with [`Wire::Answered`].
    Fetch {
        /// Names it.
        request: RequestId,
        /// The request.
        what: Request,
    },
    /// Open a WebSocket, without subprotocols.
    OpenSocket {
        /// Names it.
        socket: SocketId,
        /// Where.
        url: String,
    },
    /// Send a text frame.
    SendText {
        /// On which socket.
        socket: SocketId,
        /// The text.
        text: String,
    },
    /// Ask the app for the key of the next connection; answer with [`Wire::Key`].
    AskKey,
    /// Close a socket with code 1000. Nothing more is heard of it.
    CloseSocket {
        /// Which.
        socket: SocketId,
    },
}

/// Where a protocol puts what it wants done and what it has to say, in order.
#[derive(Default)]
pub struct Outlet {
    /// To be done.
    pub effects: Vec<WireEffect>,
    /// To be heard.
    pub signals: Vec<Signal>,
}

impl Outlet {
    /// Adds a signal.
    pub fn say(&mut self, signal: Signal) {
        self.signals.push(signal);
    }

    /// A command has ended.
    pub fn done(&mut self, command: CommandId, result: Result<String, Error>) {
        self.say(Signal::Done { command, result });
    }
}
