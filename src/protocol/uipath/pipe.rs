//! One socket: how long it may take to let us in, and how long it may be silent then.

use crate::net::{Millis, SocketId};

use super::packet::Greeting;

/// How long a socket may take from its opening until the server lets us in.
const ADMISSION: Millis = Millis(20_000);

/// One socket, from its opening on.
pub(super) struct Pipe {
    pub(super) socket: SocketId,
    greeting: Greeting,
    /// When it is good for nothing any more, unless something comes before.
    until: Millis,
    /// Whether it has carried anything.
    pub(super) useful: bool,
}

impl Pipe {
    /// It is being opened.
    pub(super) fn new(socket: SocketId, now: Millis) -> Self {
        let greeting = Greeting { silence: 45_000, largest: u64::MAX };
        Self { socket, greeting, until: now + ADMISSION, useful: false }
    }

    /// The server has said what it promises.
    pub(super) fn greeted(&mut self, greeting: Greeting) {
        self.greeting = greeting;
    }

    /// Something came over a socket that has let us in.
    pub(super) fn heard(&mut self, now: Millis) {
        self.until = now + Millis(self.greeting.silence);
    }

    /// The largest message that the server takes, in bytes.
    pub(super) fn largest(&self) -> u64 {
        self.greeting.largest
    }

    pub(super) fn until(&self) -> Millis {
        self.until
    }

    pub(super) fn is_overdue(&self, now: Millis) -> bool {
        self.until <= now
    }
}
