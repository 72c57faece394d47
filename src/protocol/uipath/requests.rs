//! Requests under way, and what their answers are for.

use std::rc::Rc;

use crate::error::Error;
use crate::list::List;
use crate::net::{Answer, Millis, Request, RequestId};
use crate::protocol::key::Keys;
use crate::protocol::{CommandId, Outlet, WireEffect};

use super::answer;
use super::form::Form;

/// What an answer is for.
pub(super) enum Purpose {
    /// The conversation.
    Open,
    /// The newest exchanges, for this session.
    Newest {
        session: u32,
        attempt: u32,
    },
    /// One exchange, for what may have been missed of it.
    Look {
        session: u32,
        exchange: Rc<str>,
    },
    /// One exchange, for the words of a message of which some were missed.
    Words {
        exchange: Rc<str>,
        message: Rc<str>,
    },
    /// One exchange, since nothing comes of it.
    Poll {
        command: CommandId,
        session: u32,
        exchange: Rc<str>,
    },
    /// The turn, for what it waits for.
    Waiting(CommandId),
    History(CommandId),
    Deed(CommandId, Form),
}

/// A body, or the error.
pub(super) type Answered = Result<String, Error>;

/// The requests of one conversation, with the token that goes with them.
pub(super) struct Requests {
    keys: Keys,
    open: List<RequestId, (Purpose, Option<Request>)>,
    /// Requests that wait for a token, and whether they were sent before.
    held: Vec<(Request, Purpose, bool)>,
    /// Requests to be sent at a time.
    later: Vec<(Millis, Request, Purpose)>,
    next: u32,
}

impl Requests {
    pub(super) fn new(keys: Keys) -> Self {
        Self { keys, open: List::default(), held: Vec::new(), later: Vec::new(), next: 0 }
    }

    /// The token, if there is one.
    pub(super) fn token(&self) -> Option<&str> {
        self.keys.current()
    }

    /// Sends a request, once there is a token if there must be one.
    pub(super) fn send(&mut self, what: Request, purpose: Purpose, out: &mut Outlet) {
        if self.keys.are_missing() {
            self.held.push((what, purpose, false));
            return self.ask_key(out);
        }
        self.start(what, purpose, self.keys.are_asked(), out);
    }

    /// Sends a request at a time.
    pub(super) fn send_later(&mut self, at: Millis, what: Request, purpose: Purpose) {
        self.later.push((at, what, purpose));
    }

    fn start(&mut self, mut what: Request, purpose: Purpose, repeatable: bool, out: &mut Outlet) {
        self.next = self.next.wrapping_add(1);
        let request = RequestId(self.next);
        let again = repeatable.then(|| what.clone());
        if let Some(token) = self.keys.current() {
            what.headers.push(("Authorization", ["Bearer ", token].concat()));
        }
        self.open.add(request, (purpose, again));
        out.effects.push(WireEffect::Fetch { request, what });
    }

    /// An answer came. What it was for, unless it is of no more interest. A request whose token was refused was not carried
    /// out: it goes again, once, with a new token.
    pub(super) fn answered(
        &mut self,
        request: RequestId,
        answer: Answer,
        out: &mut Outlet,
    ) -> Option<(Purpose, Answered)> {
        let (purpose, again) = self.open.take(&request)?;
        match (answer::read(answer), again) {
            (Err(Error::Unauthorized), Some(what)) => {
                self.held.push((what, purpose, true));
                self.ask_key(out);
                None
            }
            (result, _) => Some((purpose, result)),
        }
    }

    fn ask_key(&mut self, out: &mut Outlet) {
        if self.keys.ask() {
            out.effects.push(WireEffect::AskKey);
        }
    }

    /// The app answered the question for a token. What waited for it goes, or ends here.
    pub(super) fn key(&mut self, key: Result<String, String>, out: &mut Outlet) -> Vec<Purpose> {
        let key = key.ok();
        let refused = key.is_none();
        if !self.keys.given(key) {
            return Vec::new();
        }
        let held = std::mem::take(&mut self.held);
        if refused {
            return held.into_iter().map(|(_, purpose, _)| purpose).collect();
        }
        for (what, purpose, repeated) in held {
            self.start(what, purpose, !repeated, out);
        }
        Vec::new()
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.open = List::default();
        self.held.clear();
        self.later.clear();
    }

    /// Time went on.
    pub(super) fn tick(&mut self, now: Millis, out: &mut Outlet) {
        let (due, later): (Vec<_>, Vec<_>) = self.later.drain(..).partition(|(at, ..)| *at <= now);
        self.later = later;
        for (_, what, purpose) in due {
            self.send(what, purpose, out);
        }
    }

    /// When [`Requests::tick`] is needed next.
    pub(super) fn next_deadline(&self) -> Option<Millis> {
        self.later.iter().map(|(at, ..)| *at).min()
    }
}
