//! Requests under way, and what their answers are for.

use std::mem;

use crate::call::CallId;
use crate::error::Error;
use crate::list::List;
use crate::net::{Answer, Backoff, Method, Millis, Request, RequestId, SocketId};
use crate::protocol::key::Keys;
use crate::protocol::{CommandId, Outlet, WireEffect};

use super::answer;
use super::deed::Form;
use super::suspicion::Question;
use super::tail::Tail;

/// How long something may be asked of the server before a word about it.
const SLOW: Millis = Millis(5_000);

/// What an answer is for.
pub(super) enum Purpose {
    ServerInfo,
    Open,
    /// A page of the log for the stream on this socket.
    Log(SocketId),
    /// Whether the server is there while this socket is silent.
    Alive(SocketId),
    /// What is newest while this socket is silent.
    Newest(SocketId),
    /// Whether the conversation is gone, as a socket said.
    Verify,
    /// Whether the conversation can still be loaded.
    Probe(Question),
    Say {
        command: CommandId,
        run: bool,
    },
    /// Whether a message without an answer is in the log.
    Look(CommandId),
    Decide(CommandId),
    Deed(CommandId, Form),
    Run {
        command: CommandId,
        backoff: Backoff,
        /// What kept a message that is there from running.
        instead: Option<Error>,
    },
    History(CommandId),
    Poll(CommandId),
    /// A page of the end of the log, to see what waits for approval.
    Waiting {
        command: CommandId,
        tail: Tail,
    },
    Call {
        command: CommandId,
        call: CallId,
        attempt: u32,
    },
}

/// A body and its status, or the error.
pub(super) type Answered = Result<(u16, String), Error>;

/// The requests of one conversation, with the key that goes with them.
pub(super) struct Requests {
    pub(super) keys: Keys,
    open: List<RequestId, Open>,
    /// Requests that wait for a key, and whether they were sent before.
    held: Vec<(Request, Purpose, bool)>,
    /// Requests to be sent at a time.
    later: Vec<(Millis, Request, Purpose)>,
    next: u32,
}

struct Open {
    purpose: Purpose,
    /// To be sent again, should the key be refused.
    again: Option<Request>,
    slow: Slow,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slow {
    Never,
    At(Millis),
    Yes,
}

impl Requests {
    pub(super) fn new(keys: Keys) -> Self {
        Self { keys, open: List::default(), held: Vec::new(), later: Vec::new(), next: 0 }
    }

    /// Sends a request, once there is a key if there must be one.
    pub(super) fn send(&mut self, what: Request, purpose: Purpose, now: Millis, out: &mut Outlet) {
        if self.keys.are_missing() {
            self.held.push((what, purpose, false));
            return self.ask_key(out);
        }
        self.start(what, purpose, self.keys.are_asked(), now, out);
    }

    /// Sends a request at a time.
    pub(super) fn send_later(&mut self, at: Millis, what: Request, purpose: Purpose) {
        self.later.push((at, what, purpose));
    }

    fn start(&mut self, mut what: Request, purpose: Purpose, repeatable: bool, now: Millis, out: &mut Outlet) {
        self.next = self.next.wrapping_add(1);
        let request = RequestId(self.next);
        let again = repeatable.then(|| what.clone());
        // Reading waits for nothing on the server.
        let may_wait = what.method != Method::Get && !matches!(purpose, Purpose::Open);
        let slow = if may_wait { Slow::At(now + SLOW) } else { Slow::Never };
        if let Some(key) = self.keys.current() {
            what.headers.push(("X-Session-API-Key", key.to_owned()));
        }
        self.open.add(request, Open { purpose, again, slow });
        out.effects.push(WireEffect::Fetch { request, what });
    }

    /// An answer came. What it was for, unless it is of no more interest. A request whose key was refused was not carried out:
    /// it goes again, once, with a new key.
    pub(super) fn answered(
        &mut self,
        request: RequestId,
        answer: Answer,
        out: &mut Outlet,
    ) -> Option<(Purpose, Answered)> {
        let open = self.open.take(&request)?;
        let result = answer::read(answer);
        match (&result, open.again) {
            (Err(Error::Unauthorized), Some(what)) => {
                self.held.push((what, open.purpose, true));
                self.ask_key(out);
                None
            }
            _ => Some((open.purpose, result)),
        }
    }

    /// Asks the app for a key.
    pub(super) fn ask_key(&mut self, out: &mut Outlet) {
        if self.keys.ask() {
            out.effects.push(WireEffect::AskKey);
        }
    }

    /// The key is there: what waited for it goes.
    pub(super) fn release(&mut self, now: Millis, out: &mut Outlet) {
        for (what, purpose, repeated) in mem::take(&mut self.held) {
            self.start(what, purpose, !repeated, now, out);
        }
    }

    /// There is no key: what waited for it, which ends here.
    pub(super) fn refuse(&mut self) -> impl Iterator<Item = Purpose> + use<> {
        mem::take(&mut self.held).into_iter().map(|(_, purpose, _)| purpose)
    }

    /// Takes out the runs that were to be asked for again. What is left of them are their commands, and why.
    pub(super) fn cancel_runs(&mut self) -> Vec<(CommandId, Option<Error>)> {
        let mut ended = Vec::new();
        for later in mem::take(&mut self.later) {
            match later {
                (_, _, Purpose::Run { command, instead, .. }) => ended.push((command, instead)),
                other => self.later.push(other),
            }
        }
        ended
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.open = List::default();
        self.held.clear();
        self.later.clear();
    }

    /// Time went on. Whether something has become slow.
    pub(super) fn tick(&mut self, now: Millis, out: &mut Outlet) -> bool {
        for (at, what, purpose) in mem::take(&mut self.later) {
            if at <= now {
                self.send(what, purpose, now, out);
            } else {
                self.later.push((at, what, purpose));
            }
        }
        let mut slow = false;
        for (_, open) in self.open.iter_mut() {
            if matches!(open.slow, Slow::At(at) if at <= now) {
                open.slow = Slow::Yes;
                slow = true;
            }
        }
        slow
    }

    /// Whether something that was asked of the server is slow.
    pub(super) fn are_slow(&self) -> bool {
        self.open.iter().any(|(_, open)| open.slow == Slow::Yes)
    }

    /// When [`Requests::tick`] is needed next.
    pub(super) fn next_deadline(&self) -> Option<Millis> {
        let slow = self.open.iter().filter_map(|(_, open)| match open.slow {
            Slow::At(at) => Some(at),
            Slow::Never | Slow::Yes => None,
        });
        self.later.iter().map(|(at, ..)| *at).chain(slow).min()
    }
}
