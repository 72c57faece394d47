//! The machine: which conversation of which service, then what comes over the wire and what the house wants.

use std::mem;
use std::rc::Rc;

use crate::error::Error;
use crate::net::{Backoff, Millis};
use crate::protocol::key::Keys;
use crate::protocol::{Carry, Command, CommandId, Meaning, Outlet, Protocol, Signal, Status, Wire, WireEffect};
use crate::recent::Recent;
use crate::tool::{Tool, ToolName};

use super::call::Calls;
use super::exchange::Exchanges;
use super::history;
use super::message::Message;
use super::names;
use super::opening::Opening;
use super::outbox::Outbox;
use super::requests::{Answered, Purpose, Requests};
use super::rest::Rest;
use super::session::Session;
use super::settings::{Place, Settings};
use super::tools::Tools;
use super::write::Writer;

/// One conversation with a UiPath agent.
pub struct UiPath {
    pub(super) rest: Rest,
    pub(super) requests: Requests,
    opening: Opening,
    /// The conversation's id, once there is one.
    id: Option<String>,
    pub(super) writer: Writer,
    pub(super) tools: Tools,
    pub(super) session: Session,
    pub(super) calls: Calls,
    /// Calls of which the go signal was heard and not the beginning: what was read before that does not show it.
    pub(super) gone: Recent,
    pub(super) exchanges: Exchanges,
    pub(super) outbox: Outbox,
    /// Messages of which some was missed, with their exchanges, while their words are read.
    pub(super) torn: Vec<(Rc<str>, Message)>,
    /// What is wrong with the conversation as a whole: nothing is said meanwhile.
    pub(super) conditions: Vec<String>,
    /// What the house was told last.
    pub(super) status: Status,
    pub(super) random: fastrand::Rng,
    /// Between looks at exchanges that could not be read, and between sessions that do not last.
    pub(super) backoff: Backoff,
    /// Whether calls without the flag are answered when they stay open.
    pub(super) answers_unflagged: bool,
    /// Whether everything was there once: until then no failure is bridged over.
    pub(super) ready: bool,
    /// What was to be said before the conversation had its id.
    early: Vec<(CommandId, Command)>,
    ended: bool,
}

impl UiPath {
    /// A conversation that is not open yet. What can be checked without the service is checked here.
    pub fn new(settings: Settings, opening: Opening) -> Result<Self, Error> {
        opening.body()?;
        let (place, token) = Place::new(settings)?;
        let id = match &opening {
            Opening::Create { .. } => None,
            Opening::Attach { id } => Some(id.clone()),
        };
        Ok(Self {
            rest: Rest::new(place),
            requests: Requests::new(Keys::new(token)),
            opening,
            writer: Writer::new(id.as_deref().unwrap_or_default()),
            id,
            tools: Tools::default(),
            session: Session::default(),
            calls: Calls::default(),
            gone: Recent::default(),
            exchanges: Exchanges::default(),
            outbox: Outbox::default(),
            torn: Vec::new(),
            conditions: Vec::new(),
            status: Status::Idle,
            random: fastrand::Rng::with_seed(0),
            backoff: Backoff::new(0),
            answers_unflagged: false,
            ready: false,
            early: Vec::new(),
            ended: false,
        })
    }

    /// Answers calls with an error that have the name of a tool, but not the flag of a client's call, and stay open: an agent
    /// with a guardrail forgets the flag and waits. What the agent's own side runs for long is answered, too.
    #[must_use]
    pub fn answering_unflagged(mut self) -> Self {
        self.answers_unflagged = true;
        self
    }

    /// The conversation's id, once there is one.
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The same for addresses, where there is always one.
    pub(super) fn path_id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    /// Whether the conversation was there before us.
    pub(super) fn joined(&self) -> bool {
        matches!(self.opening, Opening::Attach { .. })
    }

    /// A name for something new: a random UUID as UiPath's own SDK writes it.
    pub(super) fn fresh_id(&mut self) -> Rc<str> {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        let mut bits = self.random.u128(..);
        bits = bits & !(0xf << 76) | (0x4 << 76);
        bits = bits & !(0x3 << 62) | (0x2 << 62);
        let mut id = String::with_capacity(36);
        for place in (0..32).rev() {
            if matches!(place, 23 | 19 | 15 | 11) {
                id.push('-');
            }
            let digit = usize::try_from((bits >> (place * 4)) & 0xf).ok().and_then(|digit| DIGITS.get(digit));
            id.extend(digit.map(|digit| char::from(*digit)));
        }
        id.into()
    }

    /// The conversation is over.
    pub(super) fn end(&mut self, error: Error, out: &mut Outlet) {
        if !self.ended {
            self.close(out);
            out.say(Signal::Ended(error));
        }
    }

    /// What the conversation does now, if that is news.
    pub(super) fn change_status(&mut self, status: Status, meanings: &mut Vec<Meaning>) {
        if self.status != status {
            self.status = status.clone();
            meanings.push(Meaning::Status(status));
        }
    }

    /// An exchange is under way. While a person is asked, about another one perhaps, that is what counts.
    pub(super) fn runs(&mut self, meanings: &mut Vec<Meaning>) {
        if self.calls.questions().is_empty() {
            self.change_status(Status::Running, meanings);
        }
    }

    /// A request has ended.
    fn conclude(&mut self, purpose: Purpose, result: Answered, now: Millis, out: &mut Outlet) {
        match purpose {
            Purpose::Open => self.opened(result, now, out),
            Purpose::Newest { session, attempt } => self.newest(session, attempt, result, now, out),
            Purpose::Look { session, exchange } => self.looked(session, &exchange, result, now, out),
            Purpose::Words { exchange, message } => self.words(&exchange, &message, result, out),
            Purpose::Poll { command, session, exchange } => {
                self.polled(command, session, &exchange, result, now, out);
            }
            Purpose::Waiting(command) => Self::what_waits(command, result, out),
            Purpose::History(command) => out.done(command, result.and_then(|body| history::page(&body, "events"))),
            Purpose::Deed(command, form) => {
                let token = self.requests.token();
                let result = result.and_then(|body| form.read(body, &self.rest, token));
                let deleted = form == super::form::Form::Deleted && result.is_ok();
                out.done(command, result);
                if deleted {
                    self.end(Error::Closed { reason: "deleted".into() }, out);
                }
            }
        }
    }

    fn opened(&mut self, result: Answered, now: Millis, out: &mut Outlet) {
        match result.and_then(|body| self.opening.opened(&body)) {
            Err(error) => self.end(error, out),
            Ok(opened) => {
                let id = opened.id.clone();
                self.writer = Writer::new(&id);
                self.id = Some(id.clone());
                out.say(Signal::Opened(opened));
                self.session.made = now;
                self.session.on_line = true;
                out.effects.push(WireEffect::Carry(Carry::Join { conversation: id }));
                for (id, command) in mem::take(&mut self.early) {
                    self.command(id, command, now, out);
                }
            }
        }
    }
}

impl Protocol for UiPath {
    fn check(&self, tool: &Tool, others: &[&Tool]) -> Result<(), Error> {
        names::check(tool, others)
    }

    // The next exchange declares it.
    fn declare(&mut self, tool: &Tool, others: &[&Tool]) -> Result<(), Error> {
        names::check(tool, others)?;
        self.tools.add(tool);
        Ok(())
    }

    fn undeclare(&mut self, name: &ToolName) {
        self.tools.take_back(name);
    }

    fn binds(&self) -> bool {
        false
    }

    fn answers(&self) -> bool {
        true
    }

    fn open(&mut self, tools: &[&Tool], _: Option<String>, seed: u64, _: Millis, out: &mut Outlet) {
        self.random = fastrand::Rng::with_seed(seed);
        self.backoff = Backoff::new(seed);
        for tool in tools {
            self.tools.add(tool);
        }
        match self.opening.body() {
            Err(error) => self.end(error, out),
            Ok(Some(body)) => self.requests.send(self.rest.create(body), Purpose::Open, out),
            Ok(None) => self.requests.send(self.rest.conversation(self.path_id()), Purpose::Open, out),
        }
    }

    fn wire(&mut self, wire: Wire, now: Millis, out: &mut Outlet) {
        if self.ended {
            return;
        }
        match wire {
            Wire::Answered { request, answer } => {
                if let Some((purpose, result)) = self.requests.answered(request, answer, out) {
                    self.conclude(purpose, result, now, out);
                }
            }
            Wire::Key(key) => {
                for purpose in self.requests.key(key, out) {
                    self.conclude(purpose, Err(Error::Unauthorized), now, out);
                }
            }
            Wire::Carried(carried) => self.carried(carried, now, out),
            // The line has the socket and sees to it, and there is no conversation over a connection of the app's.
            Wire::Opened { .. }
            | Wire::Frame { .. }
            | Wire::Closed { .. }
            | Wire::Surroundings(_)
            | Wire::Fed { .. } => {}
        }
    }

    fn command(&mut self, id: CommandId, command: Command, now: Millis, out: &mut Outlet) {
        if self.id.is_none() && matches!(command, Command::Say { .. }) {
            return self.early.push((id, command));
        }
        self.carry_out(id, command, out);
        self.flush(now, out);
    }

    fn close(&mut self, out: &mut Outlet) {
        if mem::replace(&mut self.ended, true) {
            return;
        }
        self.requests.clear();
        self.leave(out);
    }

    fn tick(&mut self, now: Millis, out: &mut Outlet) {
        if !self.ended {
            self.requests.tick(now, out);
            self.watch_session(now, out);
            self.watch_calls(now, out);
        }
    }

    fn next_deadline(&self) -> Option<Millis> {
        if self.ended {
            return None;
        }
        let deadlines = [self.requests.next_deadline(), self.session.next_deadline(), self.calls.next_deadline()];
        deadlines.into_iter().flatten().min()
    }

    fn ledger_key(&self) -> String {
        [self.rest.name(), " ", self.path_id()].concat()
    }

    // A conversation that is joined again is known by its exchanges and the ledger: there is no log to have a place in.
    fn position(&self) -> Option<String> {
        None
    }
}

/// Sends an envelope on the session's connection.
pub(super) fn send(envelope: String, out: &mut Outlet) {
    out.effects.push(WireEffect::Carry(Carry::Send(envelope)));
}
