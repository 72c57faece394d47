//! The two sockets behind one face: frames in, readings out.

use crate::error::Error;
use crate::protocol::{Meaning, NoticeCode, Opened, Outlet, Page, Signal, Status};

use super::event::Event;
use super::meaning::{Reader, server_error};
use super::position::Position;
use super::reconciliation::{Live, Past, Reconciliation, Step};
use super::session::{Cursor, Frame, Sync};
use super::version::Socket;

/// The server's reason for closing a session socket (1013) whose next frame would be over 4 MiB. With the same cursor it
/// would do so for ever.
const TOO_LARGE: &str = "frame_too_large";

/// What lies so far back came before. What is nearer is known by its id, should a server not keep to its order.
const LONG_AGO: i64 = 2_048;

/// The events of one conversation, in their order, over reconnections.
pub(super) struct Stream {
    socket: Socket,
    /// Our place in the replay of the session socket.
    cursor: Cursor,
    /// Our place in the log.
    log: Reconciliation,
    /// Whether this connection catches up by reading the log instead of by replay.
    reads_log: bool,
    reader: Reader,
    caught_up: bool,
    position: Option<String>,
    /// The end of what was past when we joined.
    joined: Option<Position>,
    /// Whether our place has changed since its text was made.
    moved: bool,
    /// What the conversation does, as far as was delivered.
    status: Status,
    /// The user's messages that were delivered since they were asked for: ids and texts.
    messages: Vec<(String, String)>,
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
    /// Of a conversation that was opened, from this place in its log on. Without one, what is in the log by now is past,
    /// unless the conversation is new.
    pub(super) fn new(socket: Socket, opened: &Opened, position: Option<Position>) -> Self {
        let position = if opened.created { Some(Position::start()) } else { position };
        let seq = position.as_ref().and_then(|position| position.seq);
        let mut reader = Reader::default();
        reader.known = opened.tools.clone().unwrap_or_default();
        let numbered = socket == Socket::Session && (position.is_none() || seq.is_some());
        Self {
            socket,
            cursor: Cursor::after(seq),
            log: Reconciliation::new(position.as_ref(), opened.status.clone()),
            reads_log: !numbered,
            reader,
            caught_up: false,
            position: position.map(|position| position.to_text()),
            joined: None,
            moved: false,
            status: opened.status.clone(),
            messages: Vec::new(),
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

    /// The socket is gone, for this reason.
    pub(super) fn closed(&mut self, reason: &str) {
        self.caught_up = false;
        self.reads_log |= reason == TOO_LARGE;
    }

    /// Whether nothing is missing.
    pub(super) fn is_caught_up(&self) -> bool {
        self.caught_up
    }

    /// How far the log has been delivered.
    pub(super) fn position(&self) -> Option<&String> {
        self.position.as_ref()
    }

    /// Whether everything that follows a place was delivered here.
    pub(super) fn covers(&self, place: &Position) -> bool {
        let since = |joined: &Position| match (joined.seq, place.seq) {
            (Some(joined), Some(seq)) => seq >= joined,
            _ => self.log.is_since(place.last.as_deref(), joined.last.as_deref()),
        };
        self.log.is_whole() || self.joined.as_ref().is_some_and(since)
    }

    /// The id of the last event that was delivered.
    pub(super) fn last(&self) -> Option<&str> {
        self.log.last()
    }

    /// Whether an event has come over the socket or was read.
    pub(super) fn has(&self, id: &str) -> bool {
        self.log.has(id)
    }

    /// Whether something waits for approval, as far as was delivered.
    pub(super) fn waits(&self) -> bool {
        self.status == Status::WaitingForConfirmation
    }

    /// The user's messages that were delivered since this was asked last.
    pub(super) fn take_messages(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.messages)
    }

    /// A frame came.
    pub(super) fn frame(&mut self, text: String, out: &mut Outlet) -> Next {
        let next = match self.socket {
            Socket::Session => self.session_frame(&text, out),
            Socket::Legacy => {
                // The first frame of any kind is the proof of the subscription.
                let page = if self.log.is_quiet() { self.log.subscribed(true) } else { None };
                let next = self.event_in_order(None, text, out);
                page.map_or(next, Next::Ask)
            }
        };
        self.keep_position();
        next
    }

    /// A page that was asked for came.
    pub(super) fn page(&mut self, body: &str, out: &mut Outlet) -> Result<Next, Error> {
        let (past, step) = self.log.page(body, self.reads_log)?;
        if let Some((events, status)) = past {
            self.join((events, status), out);
        }
        let next = self.step(step, out);
        self.keep_position();
        Ok(next)
    }

    /// An action by itself, whose answer has come.
    pub(super) fn fetched(&mut self, raw: &str, out: &mut Outlet) {
        match self.reader.read_answered(raw) {
            Some(reading) => {
                out.say(Signal::Delivered(reading.delivery));
                out.signals.extend(reading.asides);
            }
            None => notice(out, NoticeCode::MalformedFrame, "an event is no JSON object"),
        }
    }

    /// The end of the log was read: what is under way.
    fn join(&mut self, (events, status): Past, out: &mut Outlet) {
        self.moved = true;
        // A conversation that runs says nothing by that alone; nor does one whose status comes with what is ours.
        let status = status.unwrap_or(Status::Running);
        let found = self.reader.catch_up(&events, &status);
        self.hear_status(&found);
        out.say(Signal::Found(found));
        if self.cursor.delivered().is_none() && !self.reads_log {
            self.cursor.skip();
        }
        self.joined = Some(Position { seq: self.cursor.delivered(), last: self.log.last().map(str::to_owned) });
    }

    /// An event of the socket, which waits while the log is being read.
    fn event_in_order(&mut self, seq: Option<i64>, text: String, out: &mut Outlet) -> Next {
        let step = self.log.event(Live { seq, text });
        self.step(step, out)
    }

    fn step(&mut self, step: Step, out: &mut Outlet) -> Next {
        match step {
            Step::Wait => Next::Nothing,
            Step::Ask(page) => Next::Ask(page),
            Step::Event(event) => {
                self.logged_event(&event, out);
                Next::Nothing
            }
            Step::Some { events, next } => {
                for event in events {
                    self.logged_event(&event, out);
                }
                Next::Ask(next)
            }
            Step::CaughtUp { events, rewound } => {
                if rewound {
                    notice(out, NoticeCode::LogRewound, "the server's log does not know the last event any more");
                }
                self.moved = true;
                if self.reads_log && self.socket == Socket::Session {
                    self.cursor.skip();
                    self.cursor.replay_is_over();
                    self.reads_log = false;
                }
                for event in events {
                    self.logged_event(&event, out);
                }
                self.replayed()
            }
        }
    }

    fn logged_event(&mut self, live: &Live, out: &mut Outlet) {
        let further = live.seq.is_some_and(|seq| self.cursor.delivered().is_none_or(|delivered| seq > delivered));
        if let Some(seq) = live.seq {
            if self.cursor.delivered().is_some_and(|delivered| delivered.saturating_sub(seq) >= LONG_AGO) {
                return out.say(Signal::Repeated(live.id()));
            }
            self.cursor.advance(seq);
            self.moved = true;
        }
        let Some(event) = Event::read(&live.text) else {
            return notice(out, NoticeCode::MalformedFrame, "a frame is no JSON object");
        };
        if let (true, Some(id)) = (further, &event.id) {
            self.log.come_to(id);
        }
        // A slow socket without numbers brings what was read in the log before. With numbers it is ours from its first one on.
        if live.seq.is_none() && event.id.as_deref().is_some_and(|id| self.log.has_dealt_with(id)) {
            return out.say(Signal::Repeated(event.id));
        }
        let reading = self.reader.understand(event, &live.text);
        if let (true, Some(id)) = (reading.logged, &reading.delivery.id)
            && self.log.delivered(id)
        {
            self.moved = true;
            let said = reading.delivery.meanings.iter().filter_map(|meaning| match meaning {
                Meaning::Message { source, text, .. } if source == "user" => Some((id.clone(), text.clone())),
                _ => None,
            });
            self.messages.extend(said);
        }
        self.hear_status(&reading.delivery.meanings);
        out.say(Signal::Delivered(reading.delivery));
        out.signals.extend(reading.asides);
    }

    fn hear_status(&mut self, meanings: &[Meaning]) {
        for meaning in meanings {
            if let Meaning::Status(status) | Meaning::TurnOver(status) = meaning {
                self.status.clone_from(status);
            }
        }
    }

    fn session_frame(&mut self, text: &str, out: &mut Outlet) -> Next {
        match Frame::read(text) {
            None => notice(out, NoticeCode::MalformedFrame, "a frame is no envelope"),
            Some(Frame::Sync(sync)) => return self.synced(&sync, out),
            Some(Frame::Durable { seq, event }) => {
                if let Some(seq) = seq {
                    self.cursor.received(seq);
                }
                self.event_in_order(seq, event.get().to_owned(), out);
            }
            Some(Frame::Transient { event }) => {
                self.cursor.replay_is_over();
                self.event_in_order(None, event.get().to_owned(), out);
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
            // What is new in it is found by what we know of it, if we know anything.
            if self.log.has_joined() {
                self.reads_log = true;
            } else {
                self.log.forget_place();
            }
        }
        match self.log.subscribed(self.reads_log) {
            Some(page) => Next::Ask(page),
            None => self.replayed(),
        }
    }

    /// Whether everything that was missed has just been delivered.
    fn replayed(&mut self) -> Next {
        if self.caught_up || !self.log.is_live() || !self.cursor.is_caught_up() {
            return Next::Nothing;
        }
        self.caught_up = true;
        Next::CaughtUp
    }

    /// Until the end of the log has been read our place is where it was.
    fn keep_position(&mut self) {
        if !std::mem::take(&mut self.moved) || !self.log.has_joined() {
            return;
        }
        let last = self.log.last().map(str::to_owned);
        let seq = match self.socket {
            Socket::Session => self.cursor.delivered(),
            Socket::Legacy => last.is_none().then_some(-1),
        };
        self.position = Some(Position { seq, last }.to_text());
    }
}

fn notice(out: &mut Outlet, code: NoticeCode, message: &str) {
    out.say(Signal::Notice { code, message: message.to_owned() });
}
