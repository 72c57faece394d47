//! The machine: which server, which conversation, then what comes over the wire and what the house wants.

use crate::error::Error;
use crate::net::{Liveness, Millis, Request};
use crate::protocol::{Command, CommandId, Connection, Opened, Outlet, Protocol, Signal, Wire, WireEffect};
use crate::tool::{RunOn, Tool, ToolName};

use super::deed::Form;
use super::feed::Feed;
use super::link::Link;
use super::meaning::Reader;
use super::messages::Messages;
use super::opening::{self, Opening};
use super::position::Position;
use super::requests::{Answered, Purpose, Requests};
use super::rest::Rest;
use super::stream::Stream;
use super::suspicion::Suspicion;
use super::version::{self, Socket};
use super::{info, rules};
use crate::protocol::key::{Keys, SessionKey};

/// Which server, and how it knows us.
pub struct Settings {
    /// The base URL.
    pub url: String,
    /// The session key.
    pub session_key: SessionKey,
}

/// One conversation on an OpenHands agent-server.
pub struct OpenHands {
    pub(super) rest: Rest,
    pub(super) requests: Requests,
    opening: Opening,
    /// The body of the create request, until it is sent.
    body: Option<String>,
    /// From where on the log is ours.
    position: Option<Position>,
    socket: Socket,
    pub(super) link: Link,
    pub(super) liveness: Liveness,
    pub(super) suspicion: Suspicion,
    /// There is one as soon as the server has opened the conversation.
    pub(super) stream: Option<Stream>,
    /// What takes its place when the app feeds us.
    pub(super) feed: Option<Feed>,
    pub(super) messages: Messages,
    pub(super) random: fastrand::Rng,
    /// Whether everything was there once: until then no failure is bridged over.
    pub(super) ready: bool,
    /// Whether it was said that the server lets something wait that was asked of it.
    pub(super) told_slow: bool,
    ended: bool,
}

impl OpenHands {
    /// A conversation that is not open yet. What can be checked without the server is checked here.
    pub fn new(settings: Settings, opening: Opening) -> Result<Self, Error> {
        let opening = opening.normalised()?;
        opening.check()?;
        Ok(Self {
            rest: Rest::new(&settings.url)?,
            requests: Requests::new(Keys::new(settings.session_key)),
            opening,
            body: None,
            position: None,
            socket: Socket::Session,
            link: Link::new(0),
            liveness: Liveness::default(),
            suspicion: Suspicion::default(),
            stream: None,
            feed: None,
            messages: Messages::default(),
            random: fastrand::Rng::with_seed(0),
            ready: false,
            told_slow: false,
            ended: false,
        })
    }

    /// The conversation's id.
    pub(super) fn id(&self) -> &str {
        self.opening.id()
    }

    pub(super) fn fetch(&mut self, what: Request, purpose: Purpose, now: Millis, out: &mut Outlet) {
        self.requests.send(what, purpose, now, out);
    }

    /// The conversation is over.
    pub(super) fn end(&mut self, error: Error, out: &mut Outlet) {
        if !self.ended {
            self.close(out);
            out.say(Signal::Ended(error));
        }
    }

    /// Whether nothing is missing.
    pub(super) fn is_caught_up(&self) -> bool {
        self.stream.as_ref().is_some_and(Stream::is_caught_up)
    }

    /// A request has ended.
    fn conclude(&mut self, purpose: Purpose, result: Answered, now: Millis, out: &mut Outlet) {
        match purpose {
            Purpose::ServerInfo => self.probed(result, now, out),
            Purpose::Open => self.opened(result, now, out),
            Purpose::Log(socket) if self.link.is_current(socket) => self.log_read(result, now, out),
            Purpose::Alive(socket) if self.link.is_current(socket) => self.alive(&result, now, out),
            Purpose::Newest(socket) if self.link.is_current(socket) => self.newest(&result, now, out),
            Purpose::Log(_) | Purpose::Alive(_) | Purpose::Newest(_) => {}
            Purpose::Verify => self.verified(result, now, out),
            Purpose::Probe(question) => self.suspected(question, result, now, out),
            Purpose::Say { command, run } => self.said(command, run, result, now, out),
            Purpose::Look(command) => self.looked(command, result, now, out),
            Purpose::Run { command, backoff, instead } => self.ran(command, backoff, instead, result, now, out),
            Purpose::Decide(command) => out.done(command, result.map(|_| "null".to_owned())),
            Purpose::Deed(command, form) => {
                let result = result.and_then(|(_, body)| form.read(body));
                let deleted = form == Form::Deleted && result.is_ok();
                out.done(command, result);
                if deleted {
                    self.end(Error::Closed { reason: "deleted".into() }, out);
                }
            }
            Purpose::History(command) => {
                out.done(command, result.and_then(|(_, body)| info::page(&body, "events", "reading the log")));
            }
            Purpose::Poll(command) => {
                let result = result.and_then(|(_, body)| info::read_status(&body));
                if let Ok(status) = &result {
                    out.say(Signal::Polled(status.clone()));
                }
                out.done(command, result.map(|_| "null".to_owned()));
            }
            Purpose::Waiting { command, tail } => self.waiting_read(command, tail, result, now, out),
            Purpose::Call { command, call, attempt } => self.call_read(command, call, attempt, result, now, out),
        }
    }

    fn probed(&mut self, result: Answered, now: Millis, out: &mut Outlet) {
        match result.and_then(|(_, body)| version::choose_socket(&body)) {
            Err(error) => self.end(error, out),
            Ok(socket) => {
                self.socket = socket;
                let request = match self.body.take() {
                    Some(body) => self.rest.create(body),
                    None => self.rest.conversation(self.id()),
                };
                self.fetch(request, Purpose::Open, now, out);
            }
        }
    }

    fn opened(&mut self, result: Answered, now: Millis, out: &mut Outlet) {
        match result.and_then(|(status, body)| info::read(status == 201, &body)) {
            Err(error) => self.end(error, out),
            Ok(mut opened) => {
                if matches!(self.opening, Opening::Feed { .. }) {
                    return self.fed(opened, out);
                }
                opened.loses_messages = self.socket.loses_messages();
                self.stream = Some(Stream::new(self.socket, &opened, self.position.take()));
                out.say(Signal::Opened(opened));
                self.connect("opening", now, out);
            }
        }
    }

    /// The app has a connection of its own.
    fn fed(&mut self, opened: Opened, out: &mut Outlet) {
        let mut reader = Reader::default();
        reader.known = opened.tools.clone().unwrap_or_default();
        self.feed = Some(Feed::new(reader));
        self.ready = true;
        out.say(Signal::Opened(opened));
        out.say(Signal::Ready);
    }

    /// The app answered the question for a key.
    fn key(&mut self, key: Result<String, String>, now: Millis, out: &mut Outlet) {
        match key {
            Ok(key) => {
                if self.requests.keys.given(Some(key)) {
                    self.requests.release(now, out);
                    if self.link.waits_for_key() {
                        self.link.drop();
                        if self.link.may_connect() {
                            self.open_socket(now, out);
                        }
                    }
                }
            }
            Err(_) if !self.requests.keys.given(None) => {}
            Err(_) if !self.ready => self.end(Error::Unauthorized, out),
            Err(message) => {
                let reason = ["the app has no key: ", &message].concat();
                for purpose in self.requests.refuse() {
                    match purpose {
                        Purpose::Log(socket) if self.link.is_current(socket) => self.replace(&reason, now, out),
                        other => self.conclude(other, Err(Error::Unauthorized), now, out),
                    }
                }
                if self.link.waits_for_key() {
                    let closed = self.link.retry(now);
                    self.lost(closed, 1000, reason, now, out);
                }
            }
        }
    }
}

impl Protocol for OpenHands {
    fn check(&self, tool: &Tool, _: &[&Tool]) -> Result<(), Error> {
        rules::check_name(tool)?;
        // The server's tools are the truth of a conversation that exists: only what we declare to it has to please it.
        if !matches!(self.opening, Opening::Create { .. }) {
            return Ok(());
        }
        if let (RunOn::Announcement, Some(because)) = (tool.run_on, self.opening.gate()) {
            return Err(Error::AnnouncementRefused { tool: tool.name.to_string(), because });
        }
        rules::check(tool)
    }

    fn answers(&self) -> bool {
        false
    }

    // The server takes tools when a conversation is made, and then no more.
    fn declare(&mut self, tool: &Tool, _: &[&Tool]) -> Result<(), Error> {
        rules::check_name(tool)
    }

    // It keeps them as long as the conversation.
    fn undeclare(&mut self, _: &ToolName) {}

    fn binds(&self) -> bool {
        true
    }

    fn open(&mut self, tools: &[&Tool], position: Option<String>, seed: u64, now: Millis, out: &mut Outlet) {
        self.link = Link::new(seed);
        self.random = fastrand::Rng::with_seed(seed);
        // A text that names no place is none: what is in the log is past.
        self.position = position.as_deref().and_then(Position::read);
        if let Opening::Create { id, request } = &self.opening {
            match opening::create_body(id, request, tools) {
                Ok(body) => self.body = Some(body),
                Err(error) => return self.end(error, out),
            }
        }
        self.fetch(self.rest.server_info(), Purpose::ServerInfo, now, out);
    }

    fn wire(&mut self, wire: Wire, now: Millis, out: &mut Outlet) {
        match wire {
            Wire::Answered { request, answer } => {
                if let Some((purpose, result)) = self.requests.answered(request, answer, out) {
                    self.conclude(purpose, result, now, out);
                    self.answers_again(out);
                }
            }
            Wire::Opened { socket } => self.socket_opened(socket, now, out),
            Wire::Frame { socket, text } => self.frame(socket, text, now, out),
            Wire::Closed { socket, code, reason } => self.socket_closed(socket, code, reason, now, out),
            Wire::Fed { text, past } => {
                if let Some(feed) = &mut self.feed {
                    feed.take(&text, past, out);
                }
            }
            Wire::Key(key) => self.key(key, now, out),
            // Each conversation has a connection of its own.
            Wire::Carried(_) => {}
            Wire::Surroundings(surroundings) => self.surroundings(surroundings, now, out),
        }
    }

    fn command(&mut self, id: CommandId, command: Command, now: Millis, out: &mut Outlet) {
        self.carry_out(id, command, now, out);
    }

    fn close(&mut self, out: &mut Outlet) {
        self.ended = true;
        self.requests.clear();
        self.liveness.down();
        out.effects.extend(self.link.drop().map(|socket| WireEffect::CloseSocket { socket }));
    }

    fn tick(&mut self, now: Millis, out: &mut Outlet) {
        if self.requests.tick(now, out) && self.is_caught_up() && !self.told_slow {
            self.told_slow = true;
            let reason = "the server is busy: it has not taken yet what was asked of it";
            out.say(Signal::Connection(Connection::Waiting { reason }));
        }
        if self.link.is_due(now) {
            self.connect("trying again", now, out);
        }
        if let Some(verdict) = self.liveness.tick(now) {
            self.judge(verdict, now, out);
        }
    }

    fn next_deadline(&self) -> Option<Millis> {
        let deadlines = [self.requests.next_deadline(), self.link.next_deadline(), self.liveness.next_deadline()];
        deadlines.into_iter().flatten().min()
    }

    fn ledger_key(&self) -> String {
        [self.rest.base(), " ", self.id()].concat()
    }

    fn position(&self) -> Option<String> {
        self.stream.as_ref().and_then(Stream::position).cloned()
    }

    fn covers(&self, position: &str) -> bool {
        let place = Position::read(position);
        self.stream.as_ref().zip(place).is_some_and(|(stream, place)| stream.covers(&place))
    }
}
