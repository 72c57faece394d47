//! The two sockets behind one face: frames in, readings out.

use crate::error::Error;
use crate::protocol::{NoticeCode, Outlet, Page, Signal};

use super::meaning::{Reader, Reading, server_error};
use super::reconciliation::{Reconciliation, Step};
use super::session::{Cursor, Frame, Sync};
use super::version::Socket;

/// The server's reason for closing a session socket (1013) whose next frame would be over 4 MiB. With the same cursor it
/// would do so for ever.
const TOO_LARGE: &str = "frame_too_large";

/// The events of one conversation, in their order, over reconnections.
pub(super) struct Stream {
    socket: Socket,
    /// Our place in the replay of the session socket.
    cursor: Cursor,
    /// Our place in the log.
    log: Reconciliation,
    /// Whether this connection catches up by reading the log instead of by replay.
    reads_log: bool,
    pub(super) reader: Reader,
    caught_up: bool,
}

/// What must follow a frame.
pub(super) enum Next {
    Nothing,
    /// Nothing is missing any more.
    CaughtUp,
    /// Read this page of the log and give it to [`Stream::page`].
    Ask(Page),
}

impl Stream {
    /// Of a conversation that is new, or of one that is joined.
    pub(super) fn new(socket: Socket, created: bool) -> Self {
        Self {
            socket,
            cursor: if created { Cursor::from_the_start() } else { Cursor::default() },
            log: Reconciliation::new(created),
            reads_log: socket == Socket::Legacy,
            reader: Reader::default(),
            caught_up: false,
        }
    }

    /// The route and the query of the next socket.
    pub(super) fn address(&self) -> (&'static str, String) {
        match self.socket {
            Socket::Session if self.reads_log => ("session", String::new()),
            Socket::Session => ("session", self.cursor.query()),
            Socket::Legacy => ("events", String::new()),
        }
    }

    /// A new socket is being opened.
    pub(super) fn connecting(&mut self) {
        self.caught_up = false;
        self.log.connecting();
    }

    /// The socket was closed, for this reason.
    pub(super) fn closed(&mut self, reason: &str) {
        self.reads_log |= reason == TOO_LARGE;
    }

    /// Whether nothing is missing.
    pub(super) fn is_caught_up(&self) -> bool {
        self.caught_up
    }

    /// A frame came.
    pub(super) fn frame(&mut self, text: String, out: &mut Outlet) -> Next {
        if self.socket == Socket::Session {
            return self.session_frame(&text, out);
        }
        // The first frame of any kind is the proof of the subscription.
        let page = self.log.is_quiet().then(|| self.log.subscribed());
        let next = self.event_in_order(text, out);
        page.map_or(next, Next::Ask)
    }

    /// A page that was asked for came.
    pub(super) fn page(&mut self, body: &str, out: &mut Outlet) -> Result<Next, Error> {
        let step = self.log.page(body)?;
        Ok(self.step(step, out))
    }

    /// An event by itself, whose place in the log does not matter.
    pub(super) fn event(&mut self, raw: &str, out: &mut Outlet) {
        match self.reader.read(raw) {
            Some(reading) => deliver(reading, out),
            None => notice(out, NoticeCode::MalformedFrame, "an event is no JSON object"),
        }
    }

    /// An event of the socket, which waits while the log is being read.
    fn event_in_order(&mut self, text: String, out: &mut Outlet) -> Next {
        let step = self.log.event(text);
        self.step(step, out)
    }

    fn step(&mut self, step: Step, out: &mut Outlet) -> Next {
        match step {
            Step::Wait => Next::Nothing,
            Step::Ask(page) => Next::Ask(page),
            Step::Event(text) => {
                self.logged_event(&text, out);
                Next::Nothing
            }
            Step::CaughtUp { events, rewound } => {
                if rewound {
                    notice(out, NoticeCode::LogRewound, "the server's log does not know the last event any more");
                }
                for text in events {
                    self.logged_event(&text, out);
                }
                self.reads_log = self.socket == Socket::Legacy;
                self.caught_up = true;
                Next::CaughtUp
            }
        }
    }

    fn logged_event(&mut self, text: &str, out: &mut Outlet) {
        let Some(reading) = self.reader.read(text) else {
            return notice(out, NoticeCode::MalformedFrame, "a frame is no JSON object");
        };
        if let (true, Some(id)) = (reading.logged, &reading.delivery.id) {
            self.log.delivered(id);
        }
        deliver(reading, out);
    }

    fn session_frame(&mut self, text: &str, out: &mut Outlet) -> Next {
        match Frame::read(text) {
            None => notice(out, NoticeCode::MalformedFrame, "a frame is no envelope"),
            Some(Frame::Sync(sync)) => return self.synced(&sync, out),
            Some(Frame::Durable { seq, event }) => {
                if let Some(seq) = seq {
                    self.cursor.advance(seq);
                }
                self.event_in_order(event.get().to_owned(), out);
            }
            Some(Frame::Transient { event }) => {
                self.event_in_order(event.get().to_owned(), out);
            }
            Some(Frame::Delta { item, reasoning, content }) => out.say(Signal::Delta { item, reasoning, content }),
            Some(Frame::Aborted { item, reason }) => {
                let message = [item.as_deref().unwrap_or("a text"), " ends unfinished: ", &reason].concat();
                notice(out, NoticeCode::StreamAborted, &message);
            }
            Some(Frame::Error { code, detail }) => out.say(server_error(&code, &detail)),
            Some(Frame::Started) => {}
            Some(Frame::Unknown(kind)) => notice(out, NoticeCode::UnknownFrame, &kind),
        }
        self.replayed()
    }

    fn synced(&mut self, sync: &Sync, out: &mut Outlet) -> Next {
        if self.cursor.synced(sync).is_err() {
            notice(out, NoticeCode::LogRewound, "the server's log is shorter than what was seen of it");
        }
        self.log.begin_after(sync.events());
        if self.reads_log { Next::Ask(self.log.subscribed()) } else { self.replayed() }
    }

    /// Whether the replay has just come to its end.
    fn replayed(&mut self) -> Next {
        if self.reads_log || self.caught_up || !self.cursor.is_caught_up() {
            return Next::Nothing;
        }
        self.caught_up = true;
        Next::CaughtUp
    }
}

fn deliver(reading: Reading, out: &mut Outlet) {
    out.say(Signal::Delivered(reading.delivery));
    out.signals.extend(reading.asides);
}

fn notice(out: &mut Outlet, code: NoticeCode, message: &str) {
    out.say(Signal::Notice { code, message: message.to_owned() });
}
