//! The wire as every protocol sees it.

use crate::error::Error;
use crate::net::{Answer, Request, RequestId, SocketId};

use super::{CommandId, NoticeCode, Signal};

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
    /// What a connection says that several conversations share.
    Carried(Carried),
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
    /// Ask something of the connection that several conversations share.
    Carry(Carry),
    /// Ask the app for the key of the next connection; answer with [`Wire::Key`].
    AskKey,
    /// Close a socket with code 1000. Nothing more is heard of it.
    CloseSocket {
        /// Which.
        socket: SocketId,
    },
}

/// What a conversation asks of a connection that it shares with others.
#[derive(Debug)]
pub enum Carry {
    /// Take part. [`Carried::Up`] follows, now or when the connection stands.
    Join {
        /// The id that names the conversation in what comes.
        conversation: String,
    },
    /// Send a text; nothing becomes of it unless the connection is up.
    Send(String),
    /// Move to a fresh connection before this one ends: [`Carried::Up`] follows.
    Renew,
    /// Take part no longer. Nothing follows.
    Leave,
}

/// What a shared connection says to one of its conversations.
#[derive(Debug, Clone)]
pub enum Carried {
    /// It is being opened.
    Connecting,
    /// It stands. Said again when it is another one: everything starts anew.
    Up {
        /// The largest text in bytes that the other side takes, framing included.
        limit: u64,
    },
    /// It is gone, and comes back by itself.
    Down {
        /// Why.
        reason: String,
        /// The close code.
        close_code: u16,
        /// Milliseconds until the next attempt.
        retry_in: u64,
    },
    /// A text for this conversation.
    Text(String),
    /// Something came over it that has nothing to say: what was sent a while ago has arrived.
    Alive,
    /// Something came that is for none of the conversations, or that nobody understands.
    Odd {
        /// What.
        code: NoticeCode,
        /// A sentence.
        message: String,
    },
    /// It is gone for good.
    Refused(Error),
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
