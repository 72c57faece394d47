//! One WebSocket at a time, and when to open the next.

use crate::error::Error;
use crate::net::{Backoff, Millis, SocketId};

/// First connections that may fail in a row before opening fails.
const FIRST_ATTEMPTS: u32 = 5;

/// The connection's life. A socket that was replaced is not listened to any more.
pub(super) struct Link {
    socket: Option<SocketId>,
    opened: u32,
    backoff: Backoff,
    retry_at: Option<Millis>,
    /// Whether a frame ever came: then the server and the key were right once, and we go on trying.
    proven: bool,
}

/// What a closed socket means.
pub(super) enum Closed {
    /// It was not the current one.
    Stale,
    /// The next attempt, after this delay.
    Retry(Millis),
    /// No attempt can succeed.
    Fatal(Error),
}

impl Link {
    pub(super) fn new(seed: u64) -> Self {
        Self { socket: None, opened: 0, backoff: Backoff::new(seed), retry_at: None, proven: false }
    }

    /// The name of the next socket.
    pub(super) fn next(&mut self) -> SocketId {
        self.opened = self.opened.wrapping_add(1);
        let socket = SocketId(self.opened);
        self.socket = Some(socket);
        self.retry_at = None;
        socket
    }

    pub(super) fn current(&self) -> Option<SocketId> {
        self.socket
    }

    pub(super) fn is_current(&self, socket: SocketId) -> bool {
        self.socket == Some(socket)
    }

    /// A frame came.
    pub(super) fn heard(&mut self) {
        self.proven = true;
    }

    /// The connection is of use, which a first frame alone does not show.
    pub(super) fn useful(&mut self) {
        self.backoff.reset();
    }

    /// A socket is gone.
    pub(super) fn closed(&mut self, socket: SocketId, code: u16, reason: &str, now: Millis) -> Closed {
        if !self.is_current(socket) {
            return Closed::Stale;
        }
        self.socket = None;
        match code {
            4001 => Closed::Fatal(Error::Unauthorized),
            4004 => Closed::Fatal(Error::NotFound { detail: reason.to_owned() }),
            1008 => Closed::Fatal(Error::RequestRefused { status: code, detail: reason.to_owned() }),
            _ => self.retry(now),
        }
    }

    /// Gives the current socket up, to try again later.
    pub(super) fn give_up(&mut self, now: Millis) -> (Option<SocketId>, Closed) {
        (self.socket.take(), self.retry(now))
    }

    fn retry(&mut self, now: Millis) -> Closed {
        let delay = self.backoff.next_delay();
        if !self.proven && self.backoff.attempts() >= FIRST_ATTEMPTS {
            return Closed::Fatal(Error::Unreachable);
        }
        self.retry_at = Some(now + delay);
        Closed::Retry(delay)
    }

    /// Whether it is time for the next attempt.
    pub(super) fn is_due(&self, now: Millis) -> bool {
        self.retry_at.is_some_and(|at| at <= now)
    }

    pub(super) fn next_deadline(&self) -> Option<Millis> {
        self.retry_at
    }

    /// Ends the connection for good.
    pub(super) fn end(&mut self) -> Option<SocketId> {
        self.retry_at = None;
        self.socket.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_no_attempt_can_mend_are_fatal() {
        for (code, error) in [(4001, "unauthorized"), (4004, "not_found"), (1008, "request_refused")] {
            let mut link = Link::new(1);
            let socket = link.next();
            let Closed::Fatal(fatal) = link.closed(socket, code, "", Millis(0)) else { panic!("{code}") };
            assert_eq!(fatal.code(), error);
        }
    }

    #[test]
    fn all_other_codes_are_tried_again() {
        for code in [1000, 1001, 1006, 1011, 1012, 1013] {
            let mut link = Link::new(1);
            let socket = link.next();
            assert!(matches!(link.closed(socket, code, "", Millis(0)), Closed::Retry(_)), "{code}");
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
}
