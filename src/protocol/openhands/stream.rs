//! The two sockets behind one face: frames in, readings out.

use crate::error::Error;
use crate::protocol::{NoticeCode, Outlet, Page, Signal};

use super::legacy::{Legacy, Step};
use super::meaning::{Reader, Reading, server_error};
use super::session::{Cursor, Frame};
use super::version::Socket;

/// The events of one conversation, in their order, over reconnections.
pub(super) struct Stream {
    kind: Kind,
    pub(super) reader: Reader,
    caught_up: bool,
}

enum Kind {
    Session(Cursor),
    Legacy(Legacy),
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
        let kind = match socket {
            Socket::Session if created => Kind::Session(Cursor::from_the_start()),
            Socket::Session => Kind::Session(Cursor::default()),
            Socket::Legacy => Kind::Legacy(Legacy::new(created)),
        };
        Self { kind, reader: Reader::default(), caught_up: false }
    }

    /// The route and the query of the next socket.
    pub(super) fn address(&self) -> (&'static str, String) {
        match &self.kind {
            Kind::Session(cursor) => ("session", cursor.query()),
            Kind::Legacy(_) => ("events", String::new()),
        }
    }

    /// A new socket is being opened.
    pub(super) fn connecting(&mut self) {
        self.caught_up = false;
        if let Kind::Legacy(legacy) = &mut self.kind {
            legacy.connected();
        }
    }

    /// A frame came.
    pub(super) fn frame(&mut self, text: String, out: &mut Outlet) -> Next {
        let step = match &mut self.kind {
            Kind::Session(_) => return self.session_frame(&text, out),
            Kind::Legacy(legacy) => legacy.frame(text),
        };
        self.legacy_step(step, out)
    }

    /// A page that was asked for came.
    pub(super) fn page(&mut self, body: &str, out: &mut Outlet) -> Result<Next, Error> {
        let step = match &mut self.kind {
            Kind::Session(_) => Step::Wait,
            Kind::Legacy(legacy) => legacy.page(body)?,
        };
        Ok(self.legacy_step(step, out))
    }

    /// An event by itself, whose place in the log does not matter.
    pub(super) fn event(&mut self, raw: &str, out: &mut Outlet) {
        match self.reader.read(raw) {
            Some(reading) => deliver(reading, out),
            None => notice(out, NoticeCode::MalformedFrame, "an event is no JSON object"),
        }
    }

    fn legacy_step(&mut self, step: Step, out: &mut Outlet) -> Next {
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
                self.caught_up = true;
                Next::CaughtUp
            }
        }
    }

    fn logged_event(&mut self, text: &str, out: &mut Outlet) {
        let Some(reading) = self.reader.read(text) else {
            return notice(out, NoticeCode::MalformedFrame, "a frame is no JSON object");
        };
        if let (true, Kind::Legacy(legacy), Some(id)) = (reading.logged, &mut self.kind, &reading.delivery.id) {
            legacy.delivered(id);
        }
        deliver(reading, out);
    }

    fn session_frame(&mut self, text: &str, out: &mut Outlet) -> Next {
        let Kind::Session(cursor) = &mut self.kind else { return Next::Nothing };
        match Frame::read(text) {
            None => notice(out, NoticeCode::MalformedFrame, "a frame is no envelope"),
            Some(Frame::Sync(sync)) => {
                if cursor.synced(&sync).is_err() {
                    notice(out, NoticeCode::LogRewound, "the server's log is shorter than what was seen of it");
                }
            }
            Some(Frame::Durable { seq, event }) => {
                if let Some(seq) = seq {
                    cursor.advance(seq);
                }
                self.event(event.get(), out);
            }
            Some(Frame::Transient { event }) => self.event(event.get(), out),
            Some(Frame::Delta { item, reasoning, content }) => out.say(Signal::Delta { item, reasoning, content }),
            Some(Frame::Aborted { item, reason }) => {
                let message = [item.as_deref().unwrap_or("a text"), " ends unfinished: ", &reason].concat();
                notice(out, NoticeCode::StreamAborted, &message);
            }
            Some(Frame::Error { code, detail }) => out.say(server_error(&code, &detail)),
            Some(Frame::Started) => {}
            Some(Frame::Unknown(kind)) => notice(out, NoticeCode::UnknownFrame, &kind),
        }
        match &self.kind {
            Kind::Session(cursor) if cursor.is_caught_up() && !self.caught_up => {
                self.caught_up = true;
                Next::CaughtUp
            }
            _ => Next::Nothing,
        }
    }
}

fn deliver(reading: Reading, out: &mut Outlet) {
    out.say(Signal::Delivered(reading.delivery));
    out.signals.extend(reading.asides);
}

fn notice(out: &mut Outlet, code: NoticeCode, message: &str) {
    out.say(Signal::Notice { code, message: message.to_owned() });
}
