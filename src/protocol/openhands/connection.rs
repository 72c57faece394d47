//! The connection: opening sockets, hearing them, and what their end means.

use crate::error::Error;
use crate::json;
use crate::net::{Millis, SocketId, Verdict};
use crate::protocol::{Connection, Outlet, Page, Signal, Surroundings, WireEffect};

use super::info;
use super::link::Closed;
use super::machine::OpenHands;
use super::requests::{Answered, Purpose};
use super::stream::Next;
use super::suspicion::{Finding, Question};

/// The close code of a socket that we gave up.
const OURS: u16 = 1000;

impl OpenHands {
    /// Begins an attempt, if one is allowed.
    pub(super) fn connect(&mut self, reason: &'static str, now: Millis, out: &mut Outlet) {
        if self.stream.is_none() || !self.link.may_connect() {
            return;
        }
        out.say(Signal::Connection(Connection::Connecting { reason }));
        if self.requests.keys.are_asked() {
            self.link.needs_key();
            self.requests.ask_key(out);
        } else {
            self.open_socket(now, out);
        }
    }

    pub(super) fn open_socket(&mut self, now: Millis, out: &mut Outlet) {
        let Some(stream) = &mut self.stream else { return };
        stream.connecting();
        let (route, query) = stream.address();
        let url = self.rest.socket(route, self.id(), &query);
        let socket = self.link.next();
        self.liveness.connecting(now);
        self.suspicion.connecting();
        out.effects.push(WireEffect::OpenSocket { socket, url });
    }

    pub(super) fn socket_opened(&mut self, socket: SocketId, now: Millis, out: &mut Outlet) {
        if !self.link.is_current(socket) {
            return;
        }
        self.liveness.opened(now);
        self.suspicion.opened(now);
        // The first frame, and only these two members: a server that asks for no key takes any other for a message.
        if let Some(key) = self.requests.keys.current() {
            let key = json::text(key);
            let text = [r#"{"type":"auth","session_api_key":"#, &key, "}"].concat();
            out.effects.push(WireEffect::SendText { socket, text });
        }
        out.say(Signal::Connection(Connection::Connected { reason: "the socket is open" }));
    }

    pub(super) fn frame(&mut self, socket: SocketId, text: String, now: Millis, out: &mut Outlet) {
        if !self.link.is_current(socket) {
            return;
        }
        self.link.heard();
        self.liveness.heard(now);
        self.suspicion.heard();
        let Some(stream) = &mut self.stream else { return };
        let next = stream.frame(text, out);
        if stream.is_caught_up() {
            self.link.hopeful();
        }
        self.follow(next, socket, now, out);
    }

    fn follow(&mut self, next: Next, socket: SocketId, now: Millis, out: &mut Outlet) {
        self.hear_messages(now, out);
        self.hear_question(out);
        match next {
            Next::Nothing => {}
            Next::CaughtUp => {
                self.ready = true;
                out.say(Signal::Ready);
            }
            Next::Ask(page) => self.fetch(self.rest.search(self.id(), &page), Purpose::Log(socket), now, out),
        }
    }

    /// A page of the log came for the current socket.
    pub(super) fn log_read(&mut self, result: Answered, now: Millis, out: &mut Outlet) {
        let (Some(stream), Some(socket)) = (&mut self.stream, self.link.current()) else { return };
        match result.and_then(|(_, body)| stream.page(&body, out)) {
            Ok(next) => self.follow(next, socket, now, out),
            Err(error @ (Error::Unauthorized | Error::NotFound { .. })) => self.end(error, out),
            // Without the log the socket is of no use: begin again.
            Err(error) => self.replace(&error.to_string(), now, out),
        }
    }

    pub(super) fn socket_closed(&mut self, socket: SocketId, code: u16, reason: String, now: Millis, out: &mut Outlet) {
        if !self.link.is_current(socket) {
            return;
        }
        if let Some(stream) = &mut self.stream {
            stream.closed(&reason);
        }
        self.liveness.down();
        if let Some(question) = self.suspicion.died(code, now) {
            self.ask(question, now, out);
        }
        let closed = self.link.closed(socket, code, &reason, now);
        self.lost(closed, code, reason, now, out);
    }

    /// Closes the current socket, to try again later.
    pub(super) fn replace(&mut self, reason: &str, now: Millis, out: &mut Outlet) {
        self.hang_up(out);
        let closed = self.link.retry(now);
        self.lost(closed, OURS, reason.to_owned(), now, out);
    }

    fn hang_up(&mut self, out: &mut Outlet) {
        if let Some(stream) = &mut self.stream {
            stream.closed("");
        }
        self.liveness.down();
        out.effects.extend(self.link.drop().map(|socket| WireEffect::CloseSocket { socket }));
    }

    pub(super) fn lost(&mut self, closed: Closed, close_code: u16, reason: String, now: Millis, out: &mut Outlet) {
        self.told_slow = false;
        match closed {
            Closed::Stale => {}
            Closed::Retry(delay) => {
                let reason = if reason.is_empty() { "the socket broke or was closed".into() } else { reason };
                let retry_in = delay.map_or(0, |delay| delay.0);
                out.say(Signal::Connection(Connection::Lost { reason, close_code, retry_in }));
            }
            Closed::Verify => self.fetch(self.rest.conversation(self.id()), Purpose::Verify, now, out),
            Closed::Fatal(error) => self.end(error, out),
        }
    }

    /// The server said whether the conversation is gone.
    pub(super) fn verified(&mut self, result: Answered, now: Millis, out: &mut Outlet) {
        match result {
            Err(error @ (Error::NotFound { .. } | Error::Unauthorized)) => self.end(error, out),
            Ok(_) | Err(_) if self.link.verified() => {
                let closed = self.link.retry(now);
                let reason = "the socket said that there is no such conversation".to_owned();
                self.lost(closed, 4004, reason, now, out);
            }
            Ok(_) | Err(_) => {}
        }
    }

    /// Does what must be done about the socket.
    pub(super) fn judge(&mut self, verdict: Verdict, now: Millis, out: &mut Outlet) {
        let Some(socket) = self.link.current() else { return };
        match verdict {
            Verdict::Replace(reason) => self.replace(reason, now, out),
            Verdict::Waiting => {
                let reason = "the server has not spoken yet: one of its tools may be running";
                out.say(Signal::Connection(Connection::Waiting { reason }));
            }
            Verdict::AskServer => {
                self.fetch(self.rest.conversation(self.id()), Purpose::Alive(socket), now, out);
            }
            Verdict::AskNewest => {
                self.fetch(self.rest.search(self.id(), &newest()), Purpose::Newest(socket), now, out);
            }
        }
    }

    /// The server was asked whether it is there.
    pub(super) fn alive(&mut self, result: &Answered, now: Millis, out: &mut Outlet) {
        if let Err(error @ Error::NotFound { .. }) = result {
            return self.end(error.clone(), out);
        }
        if let Some(verdict) = self.liveness.reached(!is_unanswered(result), now) {
            self.judge(verdict, now, out);
        }
    }

    /// The server was asked for what is newest.
    pub(super) fn newest(&mut self, result: &Answered, now: Millis, out: &mut Outlet) {
        let has = |id: String| self.stream.as_ref().is_some_and(|stream| stream.has(&id));
        let known = match result {
            Ok((_, body)) => Some(info::first_event(body).is_none_or(has)),
            Err(error @ Error::NotFound { .. }) => return self.end(error.clone(), out),
            Err(_) if is_unanswered(result) => None,
            // It is there, and has reasons not to say more.
            Err(_) => Some(true),
        };
        if let Some(verdict) = self.liveness.newest(known, now) {
            self.judge(verdict, now, out);
        }
    }

    fn ask(&mut self, question: Question, now: Millis, out: &mut Outlet) {
        let request = match question {
            Question::Server => self.rest.server_info(),
            Question::Conversation => self.rest.conversation(self.id()),
            Question::Log => self.rest.search(self.id(), &newest()),
        };
        self.fetch(request, Purpose::Probe(question), now, out);
    }

    /// One of the questions about a conversation whose sockets die was answered.
    pub(super) fn suspected(&mut self, question: Question, result: Answered, now: Millis, out: &mut Outlet) {
        match self.suspicion.answered(question, result.err()) {
            Finding::Nothing => {}
            Finding::Ask(next) => self.ask(next, now, out),
            Finding::Over(error) => self.end(error, out),
        }
    }

    /// Something happened around the page.
    pub(super) fn surroundings(&mut self, what: Surroundings, now: Millis, out: &mut Outlet) {
        match what {
            Surroundings::Offline => self.link.offline = true,
            Surroundings::Online => {
                self.link.offline = false;
                self.hurry("the network is back", now, out);
            }
            Surroundings::Shown => self.hurry("the page is looked at again", now, out),
            Surroundings::Leaving => {
                let left = std::mem::replace(&mut self.link.away, true);
                if self.stream.is_some() && !left {
                    self.replace("the page was put aside", now, out);
                }
            }
            Surroundings::Back => {
                self.link.away = false;
                self.hurry("the page is back", now, out);
            }
        }
    }

    /// There is reason to look at once: timers may have slept, and the network may be another.
    fn hurry(&mut self, reason: &'static str, now: Millis, out: &mut Outlet) {
        if self.link.is_down() {
            self.link.hopeful();
            self.connect(reason, now, out);
        } else if let Some(verdict) = self.liveness.check() {
            self.judge(verdict, now, out);
        }
    }
}

/// The newest event of the log.
fn newest() -> Page {
    Page { limit: 1, newest_first: true, page: None }
}

fn is_unanswered(result: &Answered) -> bool {
    matches!(result, Err(Error::Unreachable | Error::RequestTimeout))
}
