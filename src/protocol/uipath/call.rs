//! The calls of a conversation, as far as their server has brought them.

use std::rc::Rc;

use serde_json::value::RawValue;

use crate::call::CallId;
use crate::net::Millis;
use crate::protocol::{PendingCall, Schemas};

use super::event::At;

/// Calls that are remembered, at most: an ended one only so that what comes late is known as such.
const REMEMBERED: usize = 512;

/// How long a call that nobody knows may stay without news.
pub(super) const GRACE: Millis = Millis(5_000);

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The agent wants it.
    Announced,
    /// A person is asked.
    Asking,
    /// Somebody said yes; the go signal follows once all earlier calls are done with.
    Confirmed,
    /// Somebody said no; the server ends it.
    Refused,
    /// It was there before we came, or came while we were away: nobody here knows how far it is.
    Seen,
    /// It may run.
    Executing,
    /// The agent was told its outcome.
    Answered,
    /// The server has ended it.
    Ended,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: CallId,
    pub(super) at: At,
    /// The name as the app declared it, else as it is on the wire.
    pub(super) tool: String,
    /// Whether it is the client's to run.
    pub(super) flagged: bool,
    /// Whether the app has a tool of this name.
    pub(super) registered: bool,
    /// JSON text of an object.
    pub(super) input: Box<RawValue>,
    pub(super) schemas: Schemas,
    /// What an old agent asked about it with.
    pub(super) interrupt: Option<Rc<str>>,
    pub(super) state: State,
    /// When silence about it becomes news.
    pub(super) due: Option<Millis>,
    /// Whether an earlier call was open when that was last looked at.
    pub(super) held: bool,
}

impl Call {
    /// One of which only the end was heard. A page that is gone may have left an outcome of it: that is not sent.
    pub(super) fn ended(at: &At) -> Self {
        Self {
            id: name(&at.exchange, &at.item),
            at: at.clone(),
            tool: String::new(),
            flagged: false,
            registered: false,
            input: Box::default(),
            schemas: Schemas::default(),
            interrupt: None,
            state: State::Ended,
            due: None,
            held: false,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        !matches!(self.state, State::Answered | State::Ended)
    }

    fn question(&self) -> PendingCall {
        PendingCall {
            call_id: self.id.clone(),
            tool: self.tool.clone(),
            arguments: self.input.clone(),
            summary: None,
            risk: None,
            client: self.flagged,
            editable: true,
            schema: self.schemas.input.clone(),
        }
    }
}

/// The name of a call in the house: an id is the model's own, and may recur in another exchange.
pub(super) fn name(exchange: &str, call: &str) -> CallId {
    CallId::new([exchange, "/", call].concat())
}

/// The exchange and the id on the wire of a call that only its name is known of.
pub(super) fn parts(name: &CallId) -> Option<(&str, &str)> {
    name.as_str().split_once('/')
}

/// The calls, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Call>);

impl Calls {
    pub(super) fn add(&mut self, call: Call) {
        if self.0.len() >= REMEMBERED
            && let Some(oldest) = self.0.iter().position(|call| !call.is_open())
        {
            self.0.remove(oldest);
        }
        self.0.push(call);
    }

    pub(super) fn forget(&mut self, at: &At) {
        self.0.retain(|call| call.at.exchange != at.exchange || call.at.item != at.item);
    }

    pub(super) fn at(&mut self, at: &At) -> Option<&mut Call> {
        self.0.iter_mut().find(|call| call.at.exchange == at.exchange && call.at.item == at.item)
    }

    pub(super) fn get(&mut self, id: &CallId) -> Option<&mut Call> {
        self.0.iter_mut().find(|call| call.id == *id)
    }

    /// The call that an old agent asks about.
    pub(super) fn asked_with(&mut self, interrupt: &str) -> Option<&mut Call> {
        self.0.iter_mut().find(|call| call.interrupt.as_deref() == Some(interrupt))
    }

    /// The open calls of an exchange.
    pub(super) fn open_in<'a>(&'a mut self, exchange: &'a str) -> impl Iterator<Item = &'a mut Call> {
        self.0.iter_mut().filter(move |call| *call.at.exchange == *exchange && call.is_open())
    }

    /// Everything that a person is asked about.
    pub(super) fn questions(&self) -> Vec<Vec<PendingCall>> {
        self.0.iter().filter(|call| call.state == State::Asking).map(|call| vec![call.question()]).collect()
    }

    /// A call about which there was silence for long enough, and not only because a go signal waits for all earlier calls of
    /// its exchange: then the time begins anew once they are done with.
    pub(super) fn take_due(&mut self, now: Millis) -> Option<&mut Call> {
        for at in 0..self.0.len() {
            let (earlier, rest) = self.0.split_at_mut_checked(at)?;
            let call = rest.first_mut()?;
            if call.due.is_none_or(|due| due > now) {
                continue;
            }
            let blocks = |other: &Call| other.at.exchange == call.at.exchange && other.is_open();
            let held = call.state == State::Confirmed && earlier.iter().any(blocks);
            if std::mem::replace(&mut call.held, held) || held {
                call.due = Some(now + GRACE);
                continue;
            }
            call.due = None;
            return self.0.get_mut(at);
        }
        None
    }

    pub(super) fn next_deadline(&self) -> Option<Millis> {
        self.0.iter().filter_map(|call| call.due).min()
    }
}
