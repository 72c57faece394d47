//! The one connection that carries all conversations with a service: when it is opened, kept, replaced and given up.
//!
//! What it carries is up to its members; each is told when the connection stands, since a session is of one connection.

use std::mem;

use crate::error::Error;
use crate::list::List;
use crate::net::{Backoff, Millis, SocketId};
use crate::protocol::key::Keys;
use crate::protocol::{Carried, Carry, Surroundings, Wire, WireEffect};

use super::packet;
use super::pipe::Pipe;
use super::settings::{Place, Settings};

/// First connections that may fail in a row before the members are refused.
const FIRST_ATTEMPTS: u32 = 5;
/// The close code of a socket that we gave up.
pub(super) const OURS: u16 = 1000;

/// Names one conversation on the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(pub u32);

/// What happens to the line.
pub enum LineInput {
    /// A conversation asks for something.
    Carry {
        /// Which.
        member: MemberId,
        /// What.
        what: Carry,
    },
    /// A socket, the key, or what is around the page.
    Wire(Wire),
    /// The time that [`Line::next_wakeup`] gave has come.
    Tick,
}

/// What the line wants done.
pub enum LineEffect {
    /// A socket is to be opened, closed or written to, or the key is asked for.
    Wire(WireEffect),
    /// A conversation is to hear this.
    Carried {
        /// Which.
        member: MemberId,
        /// What.
        what: Carried,
    },
}

/// The connection of all conversations with one service under one token.
pub struct Line {
    place: Place,
    keys: Keys,
    /// The members with the ids of their conversations.
    pub(super) members: List<MemberId, String>,
    /// The socket that carries.
    pub(super) up: Option<Pipe>,
    /// What is to become the next one.
    attempt: Attempt,
    opened: u32,
    pub(super) backoff: Backoff,
    trust: Trust,
    /// Whether the browser says that there is no network.
    offline: bool,
    /// Whether the page was put aside.
    away: bool,
    out: Vec<LineEffect>,
}

/// What the server has made of our tokens.
#[derive(Clone, Copy)]
struct Trust {
    /// Whether it has ever let us in: then it is only a matter of time.
    proven: bool,
    /// Whether it has just refused one.
    refused: bool,
}

enum Attempt {
    None,
    At(Millis),
    /// The app is asked for the token.
    Key,
    Pipe(Pipe),
}

impl Line {
    /// A line that is not open yet. The seed decides all jitter.
    pub fn new(settings: Settings, seed: u64) -> Result<Self, Error> {
        let (place, token) = Place::new(settings)?;
        Ok(Self {
            place,
            keys: Keys::new(token),
            members: List::default(),
            up: None,
            attempt: Attempt::None,
            opened: 0,
            backoff: Backoff::new(seed),
            trust: Trust { proven: false, refused: false },
            offline: false,
            away: false,
            out: Vec::new(),
        })
    }

    /// Something happened. What must be done about it, in order.
    pub fn handle(&mut self, input: LineInput, now: Millis) -> Vec<LineEffect> {
        match input {
            LineInput::Carry { member, what } => self.carry(member, what, now),
            LineInput::Wire(wire) => self.wire(wire, now),
            LineInput::Tick => self.tick(now),
        }
        mem::take(&mut self.out)
    }

    /// When [`LineInput::Tick`] is needed next.
    pub fn next_wakeup(&self) -> Option<Millis> {
        let attempt = match &self.attempt {
            Attempt::At(at) if self.may_connect() => Some(*at),
            Attempt::Pipe(pipe) => Some(pipe.until()),
            Attempt::None | Attempt::At(_) | Attempt::Key => None,
        };
        attempt.into_iter().chain(self.up.as_ref().map(Pipe::until)).min()
    }

    fn carry(&mut self, member: MemberId, what: Carry, now: Millis) {
        match what {
            Carry::Join { conversation } => {
                self.members.take(&member);
                self.members.add(member, conversation);
                match (&self.up, &self.attempt) {
                    (Some(pipe), _) => self.tell(member, Carried::Up { limit: pipe.largest() }),
                    (None, Attempt::None) => self.connect(now),
                    (None, Attempt::Key | Attempt::Pipe(_)) => self.tell(member, Carried::Connecting),
                    // The service is in trouble: one more conversation is no reason to hurry.
                    (None, Attempt::At(_)) => {}
                }
            }
            Carry::Send(envelope) => {
                if let Some(pipe) = self.up.as_ref().filter(|_| self.members.get(&member).is_some()) {
                    let socket = pipe.socket;
                    self.send(socket, packet::wrap(&envelope));
                }
            }
            Carry::Renew => self.renew(now),
            Carry::Leave => {
                self.members.take(&member);
                if self.members.iter().next().is_none() {
                    self.hang_up();
                }
            }
        }
    }

    fn wire(&mut self, wire: Wire, now: Millis) {
        match wire {
            Wire::Frame { socket, text } => match &self.attempt {
                Attempt::Pipe(pipe) if pipe.socket == socket => self.knocking(socket, &text, now),
                _ if self.up.as_ref().is_some_and(|pipe| pipe.socket == socket) => self.frame(socket, &text, now),
                // Of a socket that was replaced.
                _ => {}
            },
            Wire::Closed { socket, code, reason } => {
                let reason = if reason.is_empty() { "the socket broke or was closed" } else { &reason };
                if self.up.as_ref().is_some_and(|pipe| pipe.socket == socket) {
                    self.up = None;
                    self.lost(reason, code, now);
                } else if matches!(&self.attempt, Attempt::Pipe(pipe) if pipe.socket == socket) {
                    self.failed(reason, code, &Error::Unreachable, now);
                }
            }
            Wire::Key(key) => self.key(key, now),
            Wire::Surroundings(surroundings) => self.surroundings(surroundings, now),
            Wire::Opened { .. } | Wire::Answered { .. } | Wire::Fed { .. } | Wire::Carried(_) => {}
        }
    }

    fn tick(&mut self, now: Millis) {
        match &self.attempt {
            Attempt::At(at) if *at <= now && self.may_connect() => self.connect(now),
            Attempt::Pipe(pipe) if pipe.is_overdue(now) => {
                self.close(pipe.socket);
                self.failed("the server did not let us in in time", OURS, &Error::Unreachable, now);
            }
            Attempt::None | Attempt::At(_) | Attempt::Key | Attempt::Pipe(_) => {}
        }
        self.check_silence(now);
    }

    fn check_silence(&mut self, now: Millis) {
        if let Some(pipe) = self.up.take_if(|pipe| pipe.is_overdue(now)) {
            self.close(pipe.socket);
            self.lost("the socket is half-open: nothing comes", OURS, now);
        }
    }

    fn may_connect(&self) -> bool {
        !self.offline && !self.away
    }

    /// Begins an attempt, if one is allowed.
    fn connect(&mut self, now: Millis) {
        if !self.may_connect() {
            self.attempt = Attempt::None;
            return;
        }
        if self.up.is_none() {
            self.tell_all(&Carried::Connecting);
        }
        if self.keys.are_asked() {
            self.attempt = Attempt::Key;
            if self.keys.ask() {
                self.out.push(LineEffect::Wire(WireEffect::AskKey));
            }
        } else {
            self.open(now);
        }
    }

    fn open(&mut self, now: Millis) {
        self.opened = self.opened.wrapping_add(1);
        let socket = SocketId(self.opened);
        self.attempt = Attempt::Pipe(Pipe::new(socket, now));
        let url = self.place.socket().to_owned();
        self.out.push(LineEffect::Wire(WireEffect::OpenSocket { socket, url }));
    }

    /// A fresh connection before this one ends.
    fn renew(&mut self, now: Millis) {
        if self.up.is_some() && matches!(self.attempt, Attempt::None) {
            self.connect(now);
        }
    }

    /// The app gave its token, or none.
    fn key(&mut self, key: Result<String, String>, now: Millis) {
        let (given, problem) = match key {
            Ok(key) => (Some(key), None),
            Err(message) => (None, Some(message)),
        };
        if !self.keys.given(given) || !matches!(self.attempt, Attempt::Key) {
            return;
        }
        match problem {
            None if self.may_connect() => self.open(now),
            None => self.attempt = Attempt::None,
            Some(_) if !self.trust.proven => self.refuse(&Error::Unauthorized),
            Some(message) => {
                let reason = ["the app has no token: ", &message].concat();
                self.failed(&reason, OURS, &Error::Unauthorized, now);
            }
        }
    }

    /// A packet from a socket that has not let us in.
    fn knocking(&mut self, socket: SocketId, text: &str, now: Millis) {
        let Attempt::Pipe(pipe) = &mut self.attempt else { return };
        match packet::read(text) {
            Some(packet::Packet::Open(greeting)) => {
                pipe.greeted(greeting);
                let connect = packet::connect(self.keys.current());
                self.send(socket, connect);
            }
            Some(packet::Packet::Ping) => self.send(socket, packet::PONG.to_owned()),
            Some(packet::Packet::Connected) => self.admitted(now),
            Some(packet::Packet::Refused(refusal)) => self.refused(socket, &refusal, now),
            Some(packet::Packet::Disconnect) => {
                self.close(socket);
                self.failed("the server did not let us in", OURS, &Error::Unreachable, now);
            }
            Some(packet::Packet::Idle | packet::Packet::Event(_) | packet::Packet::Binary) | None => {}
        }
    }

    /// The server has let us in: this is the connection from now on.
    fn admitted(&mut self, now: Millis) {
        let Attempt::Pipe(mut pipe) = mem::replace(&mut self.attempt, Attempt::None) else { return };
        pipe.heard(now);
        let limit = pipe.largest();
        self.trust = Trust { proven: true, refused: false };
        if let Some(old) = self.up.replace(pipe) {
            self.leave(old.socket);
        }
        self.tell_all(&Carried::Up { limit });
    }

    /// The server does not let us in. A token may have run out between the question and now: it is asked for once more.
    fn refused(&mut self, socket: SocketId, refusal: &packet::Refusal, now: Millis) {
        self.close(socket);
        let unauthorized =
            refusal.code == Some(401) || refusal.message.as_bytes().windows(11).any(|part| part == b"nauthorized");
        let error = match refusal.code {
            _ if unauthorized => Error::Unauthorized,
            Some(status @ 400..=499) => Error::RequestRefused { status, detail: refusal.message.clone() },
            Some(_) | None => Error::Unreachable,
        };
        if unauthorized && self.keys.are_asked() && !mem::replace(&mut self.trust.refused, true) {
            return self.connect(now);
        }
        if !self.trust.proven && !matches!(error, Error::Unreachable) {
            return self.refuse(&error);
        }
        let reason = ["the server did not let us in: ", &refusal.message].concat();
        self.failed(&reason, OURS, &error, now);
    }

    /// An attempt came to nothing. The error is for when it was the last.
    fn failed(&mut self, reason: &str, close_code: u16, error: &Error, now: Millis) {
        self.attempt = Attempt::None;
        let Some(delay) = self.plan(now) else { return self.down(reason, close_code, 0) };
        if !self.trust.proven && self.backoff.attempts() >= FIRST_ATTEMPTS {
            return self.refuse(error);
        }
        self.down(reason, close_code, delay.0);
    }

    /// The connection is gone.
    pub(super) fn lost(&mut self, reason: &str, close_code: u16, now: Millis) {
        let retry_in = match self.attempt {
            Attempt::None => self.plan(now).map_or(0, |delay| delay.0),
            Attempt::At(at) => at.0.saturating_sub(now.0),
            Attempt::Key | Attempt::Pipe(_) => 0,
        };
        self.down(reason, close_code, retry_in);
        if matches!(self.attempt, Attempt::Key | Attempt::Pipe(_)) {
            self.tell_all(&Carried::Connecting);
        }
    }

    /// Plans the next attempt, if one is allowed.
    fn plan(&mut self, now: Millis) -> Option<Millis> {
        if !self.may_connect() {
            return None;
        }
        let delay = self.backoff.next_delay();
        self.attempt = Attempt::At(now + delay);
        Some(delay)
    }

    fn down(&mut self, reason: &str, close_code: u16, retry_in: u64) {
        if self.up.is_none() {
            self.tell_all(&Carried::Down { reason: reason.to_owned(), close_code, retry_in });
        }
    }

    /// There is no way in: the members are told, and are none any more.
    fn refuse(&mut self, error: &Error) {
        self.attempt = Attempt::None;
        self.trust.refused = false;
        self.backoff.reset();
        self.tell_all(&Carried::Refused(error.clone()));
        self.members = List::default();
    }

    fn surroundings(&mut self, what: Surroundings, now: Millis) {
        match what {
            Surroundings::Offline => self.offline = true,
            Surroundings::Online => {
                // The old socket may be one of a network that is gone, which only silence would tell.
                if mem::take(&mut self.offline) {
                    self.renew(now);
                }
                self.hurry(now);
            }
            Surroundings::Shown => {
                self.check_silence(now);
                self.hurry(now);
            }
            Surroundings::Leaving => {
                let left = mem::replace(&mut self.away, true);
                self.hang_up();
                if !left {
                    self.down("the page was put aside", OURS, 0);
                }
            }
            Surroundings::Back => {
                self.away = false;
                self.hurry(now);
            }
        }
    }

    /// There is reason to hope: no waiting.
    fn hurry(&mut self, now: Millis) {
        let idle = matches!(self.attempt, Attempt::None | Attempt::At(_));
        if self.up.is_none() && idle && self.members.iter().next().is_some() {
            self.backoff.reset();
            self.connect(now);
        }
    }

    /// Gives up whatever there is.
    fn hang_up(&mut self) {
        if let Some(pipe) = self.up.take() {
            self.leave(pipe.socket);
        }
        if let Attempt::Pipe(pipe) = mem::replace(&mut self.attempt, Attempt::None) {
            self.close(pipe.socket);
        }
    }

    /// Takes leave of the server.
    fn leave(&mut self, socket: SocketId) {
        self.send(socket, packet::DISCONNECT.to_owned());
        self.close(socket);
    }

    pub(super) fn close(&mut self, socket: SocketId) {
        self.out.push(LineEffect::Wire(WireEffect::CloseSocket { socket }));
    }

    pub(super) fn send(&mut self, socket: SocketId, text: String) {
        self.out.push(LineEffect::Wire(WireEffect::SendText { socket, text }));
    }

    pub(super) fn tell(&mut self, member: MemberId, what: Carried) {
        self.out.push(LineEffect::Carried { member, what });
    }

    pub(super) fn tell_all(&mut self, what: &Carried) {
        let all = self.members.iter().map(|(member, _)| LineEffect::Carried { member: *member, what: what.clone() });
        self.out.extend(all);
    }
}
