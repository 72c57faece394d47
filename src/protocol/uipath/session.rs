//! The session: what one connection is to one conversation. It is started anew on each, and nothing is sent before it stands.

use crate::error::Error;
use crate::net::Millis;
use crate::protocol::{Carried, Carry, Connection, NoticeCode, Outlet, Signal, WireEffect};

use super::machine::{UiPath, send};
use super::write::Path;

/// How long the service may take to start a session.
const START: Millis = Millis(30_000);
/// How long what was sent over a connection that is gone may still be on its way: what is read before that may not show it.
const SETTLED: Millis = Millis(2_000);
/// How soon a session must start in a conversation that we made, so that nobody else can have said anything in it.
const ALONE: Millis = Millis(2_000);
/// Sessions that may not start in a row before opening fails.
const FIRST_ATTEMPTS: u32 = 2;
/// The close code of a session that ended on a socket that lives.
const ENDED: u16 = 1000;

/// The session of one conversation.
#[derive(Default)]
pub(super) struct Session {
    stage: Stage,
    /// Whether we take part in the line.
    pub(super) on_line: bool,
    /// How many were started: what belongs to an earlier one is known as such.
    pub(super) number: u32,
    /// The largest message that the service takes, in bytes.
    pub(super) limit: u64,
    /// Sessions in a row that did not start.
    failures: u32,
    /// When what was sent last has arrived or is lost.
    settled: Millis,
    /// When the conversation was made, if we made it.
    pub(super) made: Millis,
    /// Looks at exchanges that are still to be answered before anything is sent.
    pub(super) pending: u32,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// There is no connection.
    #[default]
    Off,
    /// The connection stands, and the session is to be started at this time.
    Pausing(Millis),
    /// The service was asked.
    Starting(Millis),
    /// It stands, and what was missed is being read.
    Reading,
    /// It stands and nothing is missing.
    Live,
}

impl Session {
    pub(super) fn is_live(&self) -> bool {
        self.stage == Stage::Live
    }

    /// Whether a session stands, with or without everything read.
    pub(super) fn stands(&self) -> bool {
        matches!(self.stage, Stage::Reading | Stage::Live)
    }

    pub(super) fn is_current(&self, number: u32) -> bool {
        self.stands() && self.number == number
    }

    pub(super) fn read(&mut self) {
        self.stage = Stage::Live;
    }

    pub(super) fn next_deadline(&self) -> Option<Millis> {
        match self.stage {
            Stage::Pausing(at) | Stage::Starting(at) => Some(at),
            Stage::Off | Stage::Reading | Stage::Live => None,
        }
    }
}

impl UiPath {
    /// The line says something.
    pub(super) fn carried(&mut self, what: Carried, now: Millis, out: &mut Outlet) {
        match what {
            Carried::Connecting => {
                out.say(Signal::Connection(Connection::Connecting { reason: "the connection is being opened" }));
            }
            Carried::Up { limit } => {
                self.interrupted(now);
                self.session.limit = limit;
                out.say(Signal::Connection(Connection::Connected { reason: "the service has let us in" }));
                self.start_session(now, out);
            }
            Carried::Down { reason, close_code, retry_in } => {
                self.interrupted(now);
                self.session.stage = Stage::Off;
                out.say(Signal::Connection(Connection::Lost { reason, close_code, retry_in }));
            }
            Carried::Text(text) => self.hear(text, now, out),
            Carried::Alive => self.alive(now, out),
            Carried::Odd { code, message } => out.say(Signal::Notice { code, message }),
            Carried::Refused(error) => self.end(error, out),
        }
    }

    /// From here on something may be missed, and what was sent last may not have arrived.
    fn interrupted(&mut self, now: Millis) {
        if self.outbox.doubt() {
            self.session.settled = now + SETTLED;
        }
        self.exchanges.tear();
    }

    fn start_session(&mut self, now: Millis, out: &mut Outlet) {
        self.session.stage = Stage::Starting(now + START);
        let start = self.writer.write(Path::Session, "startSession", "{}");
        send(start, out);
    }

    /// The service has started the session.
    pub(super) fn session_started(&mut self, now: Millis, out: &mut Outlet) {
        if !matches!(self.session.stage, Stage::Starting(_)) {
            return;
        }
        self.session.stage = Stage::Reading;
        self.session.number = self.session.number.wrapping_add(1);
        self.session.failures = 0;
        self.clear_conditions(out);
        // Who makes a conversation is alone with it, unless it took long until they could take part.
        if self.ready || self.joined() || self.session.made + ALONE <= now {
            let settled = self.session.settled.max(now);
            self.recover(settled, settled > now, out);
        } else {
            self.recovered(now, out);
        }
    }

    /// Nothing is missing.
    pub(super) fn recovered(&mut self, now: Millis, out: &mut Outlet) {
        self.session.read();
        if std::mem::replace(&mut self.ready, true) {
            out.say(Signal::Connection(Connection::Ready { reason: "nothing is missing" }));
        } else {
            out.say(Signal::Ready);
        }
        self.flush(now, out);
    }

    /// The service has ended the session: another one is started, not at once if that happens again and again.
    pub(super) fn session_ended(&mut self, now: Millis, out: &mut Outlet) {
        if !self.session.stands() {
            return;
        }
        self.interrupted(now);
        let delay = self.backoff.next_delay();
        self.session.stage = Stage::Pausing(now + delay);
        let reason = "the service ended the session".to_owned();
        out.say(Signal::Connection(Connection::Lost { reason, close_code: ENDED, retry_in: delay.0 }));
    }

    /// Time went on.
    pub(super) fn watch_session(&mut self, now: Millis, out: &mut Outlet) {
        match self.session.stage {
            Stage::Pausing(at) if at <= now => self.start_session(now, out),
            Stage::Starting(until) if until <= now => {
                self.session.failures = self.session.failures.saturating_add(1);
                if !self.ready && self.session.failures >= FIRST_ATTEMPTS {
                    return self.end(Error::RequestTimeout, out);
                }
                self.session.stage = Stage::Starting(now + START);
                let message = "the service did not start the session in time: another connection is tried".to_owned();
                out.say(Signal::Notice { code: NoticeCode::ServerError, message });
                out.effects.push(WireEffect::Carry(Carry::Renew));
            }
            Stage::Off | Stage::Pausing(_) | Stage::Starting(_) | Stage::Reading | Stage::Live => {}
        }
    }

    /// Takes leave.
    pub(super) fn leave(&mut self, out: &mut Outlet) {
        if self.session.stands() {
            let end = self.writer.write(Path::Session, "endSession", "{}");
            send(end, out);
        }
        self.session.stage = Stage::Off;
        if std::mem::take(&mut self.session.on_line) {
            out.effects.push(WireEffect::Carry(Carry::Leave));
        }
    }
}
