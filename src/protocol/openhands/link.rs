//! One WebSocket at a time, and when to open the next.

use crate::error::Error;
use crate::net::{Backoff, Millis, SocketId};

/// First connections that may fail in a row before opening fails.
const FIRST_ATTEMPTS: u32 = 5;

/// The connection's life. A socket that was replaced is not listened to any more.
pub(super) struct Link {
    state: State,
    opened: u32,
    backoff: Backoff,
    /// Whether a frame ever came: then the server and the key were right once, and we go on trying.
    proven: bool,
    /// Whether the browser says that there is no network.
    pub(super) offline: bool,
    /// Whether the page was put aside.
    pub(super) away: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// There is none, and nothing is to happen by itself.
    Down,
    /// The next attempt is at this time.
    Retrying(Millis),
    /// The key for the next attempt is asked for.
    NeedsKey,
    /// The server is asked whether the conversation is gone.
    Verifying,
    /// This is it.
    Socket(SocketId),
}

/// What a closed socket means.
pub(super) enum Closed {
    /// It was not the current one.
    Stale,
    /// The next attempt, after this delay; `None` while no attempt is allowed.
    Retry(Option<Millis>),
    /// The conversation may be gone: [`Link::retry`] if it is not.
    Verify,
    /// No attempt can succeed.
    Fatal(Error),
}

impl Link {
    pub(super) fn new(seed: u64) -> Self {
        let backoff = Backoff::new(seed);
        Self { state: State::Down, opened: 0, backoff, proven: false, offline: false, away: false }
    }

    /// Whether attempts are allowed.
    pub(super) fn may_connect(&self) -> bool {
        !self.offline && !self.away
    }

    /// An attempt begins with asking for the key.
    pub(super) fn needs_key(&mut self) {
        self.state = State::NeedsKey;
    }

    /// Whether an attempt waits for the key.
    pub(super) fn waits_for_key(&self) -> bool {
        self.state == State::NeedsKey
    }

    /// The name of the next socket.
    pub(super) fn next(&mut self) -> SocketId {
        self.opened = self.opened.wrapping_add(1);
        let socket = SocketId(self.opened);
        self.state = State::Socket(socket);
        socket
    }

    pub(super) fn current(&self) -> Option<SocketId> {
        match self.state {
            State::Socket(socket) => Some(socket),
            State::Down | State::Retrying(_) | State::NeedsKey | State::Verifying => None,
        }
    }

    pub(super) fn is_current(&self, socket: SocketId) -> bool {
        self.state == State::Socket(socket)
    }

    /// Whether nothing is under way that could become a connection.
    pub(super) fn is_down(&self) -> bool {
        matches!(self.state, State::Down | State::Retrying(_))
    }

    /// A frame came.
    pub(super) fn heard(&mut self) {
        self.proven = true;
    }

    /// The connection is of use, which a first frame alone does not show; or there is reason to hope.
    pub(super) fn hopeful(&mut self) {
        self.backoff.reset();
    }

    /// A socket is gone.
    pub(super) fn closed(&mut self, socket: SocketId, code: u16, reason: &str, now: Millis) -> Closed {
        if !self.is_current(socket) {
            return Closed::Stale;
        }
        self.state = State::Down;
        match code {
            4001 => Closed::Fatal(Error::Unauthorized),
            4004 => {
                self.state = State::Verifying;
                Closed::Verify
            }
            1008 => Closed::Fatal(Error::RequestRefused { status: code, detail: reason.to_owned() }),
            _ => self.retry(now),
        }
    }

    /// Whether the server is asked if the conversation is gone; it is not any more.
    pub(super) fn verified(&mut self) -> bool {
        let verifying = self.state == State::Verifying;
        if verifying {
            self.state = State::Down;
        }
        verifying
    }

    /// Gives up whatever there is.
    pub(super) fn drop(&mut self) -> Option<SocketId> {
        let socket = self.current();
        self.state = State::Down;
        socket
    }

    /// Plans the next attempt.
    pub(super) fn retry(&mut self, now: Millis) -> Closed {
        self.state = State::Down;
        if !self.may_connect() {
            return Closed::Retry(None);
        }
        let delay = self.backoff.next_delay();
        if !self.proven && self.backoff.attempts() >= FIRST_ATTEMPTS {
            return Closed::Fatal(Error::Unreachable);
        }
        self.state = State::Retrying(now + delay);
        Closed::Retry(Some(delay))
    }

    /// Whether it is time for the next attempt.
    pub(super) fn is_due(&self, now: Millis) -> bool {
        self.next_deadline().is_some_and(|at| at <= now)
    }

    pub(super) fn next_deadline(&self) -> Option<Millis> {
        match self.state {
            State::Retrying(at) if self.may_connect() => Some(at),
            State::Down | State::Retrying(_) | State::NeedsKey | State::Verifying | State::Socket(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_no_attempt_can_mend_are_fatal() {
        for (code, error) in [(4001, "unauthorized"), (1008, "request_refused")] {
            let mut link = Link::new(1);
            let socket = link.next();
            let Closed::Fatal(fatal) = link.closed(socket, code, "", Millis(0)) else { panic!("{code}") };
            assert_eq!(fatal.code(), error);
        }
    }

    #[test]
    fn a_conversation_that_is_said_to_be_gone_is_asked_about() {
        let mut link = Link::new(1);
        let socket = link.next();
        assert!(matches!(link.closed(socket, 4004, "", Millis(0)), Closed::Verify));
        assert_eq!(link.next_deadline(), None);
        assert!(link.verified());
        assert!(!link.verified());
    }

    #[test]
    fn all_other_codes_are_tried_again() {
        for code in [1000, 1001, 1006, 1011, 1012, 1013] {
            let mut link = Link::new(1);
            let socket = link.next();
            assert!(matches!(link.closed(socket, code, "", Millis(0)), Closed::Retry(Some(_))), "{code}");
            assert!(link.next_deadline().is_some());
        }
    }

    #[test]
    fn the_end_of_a_replaced_socket_changes_nothing() {
        let mut link = Link::new(1);
        let old = link.next();
        let new = link.next();
        assert!(matches!(link.closed(old, 1006, "", Millis(0)), Closed::Stale));
        assert!(link.is_current(new));
    }

    #[test]
    fn a_server_that_was_never_heard_is_given_up() {
        let mut link = Link::new(1);
        let mut attempts = 0;
        loop {
            attempts += 1;
            let socket = link.next();
            if let Closed::Fatal(error) = link.closed(socket, 1006, "", Millis(0)) {
                assert_eq!(error.code(), "unreachable");
                break;
            }
        }
        assert_eq!(attempts, FIRST_ATTEMPTS);
    }

    #[test]
    fn without_a_network_nothing_is_tried() {
        let mut link = Link::new(1);
        let socket = link.next();
        link.closed(socket, 1006, "", Millis(0));
        link.offline = true;
        assert_eq!(link.next_deadline(), None);
        let socket = link.next();
        assert!(matches!(link.closed(socket, 1006, "", Millis(0)), Closed::Retry(None)));
    }
}
