//! What is to be sent, and what was sent without anything to show that it arrived: the service acknowledges nothing.

use std::rc::Rc;

use serde_json::value::RawValue;

use crate::call::CallId;
use crate::net::Millis;
use crate::protocol::CommandId;

use super::history::{MessageRecord, Record};

/// After this long, anything that comes over the same connection shows that what was sent arrived.
const ARRIVED: Millis = Millis(5_000);

/// One thing to send.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) what: What,
    pub(super) stage: Stage,
    /// Who waits for it.
    pub(super) command: Option<CommandId>,
}

#[derive(Debug)]
pub(super) enum What {
    /// The outcome of a call.
    Answer(Answer),
    /// What a person said about a call: the whole envelope.
    Confirm { call: CallId, exchange: Rc<str>, wire: Rc<str>, text: String },
    /// A message, which begins an exchange.
    Say(Say),
    /// The end of an exchange: a whole envelope, which may come twice.
    Stop { text: String },
    /// What is said about a call that came after the stop, and follows it: a whole envelope.
    Late { call: CallId, confirms: bool, text: String },
    /// Anything else: a whole envelope, and what it is done with.
    Event { text: String, result: String },
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) call: CallId,
    pub(super) exchange: Rc<str>,
    /// Unknown as long as nothing but the name of the call is.
    pub(super) message: Option<Rc<str>>,
    pub(super) wire: Rc<str>,
    /// JSON text of the `endToolCall`.
    pub(super) end: String,
}

#[derive(Debug)]
pub(super) struct Say {
    pub(super) exchange: Rc<str>,
    pub(super) message: Rc<str>,
    /// Whole envelopes.
    pub(super) frames: Vec<String>,
    pub(super) content: Box<RawValue>,
    /// What a look at the exchange must find: so many parts, and this text.
    pub(super) parts: usize,
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Waiting,
    Sent(Millis),
    /// It may have arrived or not.
    Doubt,
    /// The same, and it leaves once more unless a look comes first.
    Again,
}

/// What a look at an exchange says about an item in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finding {
    Arrived,
    Absent,
    /// A message that is all there, but for its end perhaps: nothing shows that.
    Unended,
    /// A message that is not all there.
    InPart,
}

impl Item {
    pub(super) fn exchange(&self) -> Option<&Rc<str>> {
        match &self.what {
            What::Answer(answer) => Some(&answer.exchange),
            What::Confirm { exchange, .. } => Some(exchange),
            What::Say(say) => Some(&say.exchange),
            What::Stop { .. } | What::Late { .. } | What::Event { .. } => None,
        }
    }

    pub(super) fn is_reply(&self) -> bool {
        matches!(self.what, What::Answer(_) | What::Confirm { .. })
    }

    fn finding(&self, record: Option<&Record>) -> Finding {
        let there = match (&self.what, record) {
            // Where the agent has said something, it was asked.
            (What::Say(say), Some(record)) if !record.messages.iter().any(|message| message.role == "assistant") => {
                let whole = |message: &MessageRecord| message.parts == say.parts && message.text.as_str() == say.text;
                return if record.messages.iter().any(whole) { Finding::Unended } else { Finding::InPart };
            }
            (What::Say(_), Some(_)) => true,
            (_, None) | (What::Stop { .. } | What::Late { .. } | What::Event { .. }, _) => false,
            (What::Answer(answer), Some(record)) => record.call(&answer.wire).is_some_and(|call| call.ended),
            (What::Confirm { wire, .. }, Some(record)) => {
                record.call(wire).is_some_and(|call| call.ended || (call.confirmed.is_some() || !call.confirm))
            }
        };
        if there { Finding::Arrived } else { Finding::Absent }
    }
}

/// The items, in the order in which they were given.
#[derive(Debug, Default)]
pub(super) struct Outbox(Vec<Item>);

impl Outbox {
    pub(super) fn add(&mut self, what: What, stage: Stage, command: Option<CommandId>) {
        self.0.push(Item { what, stage, command });
    }

    /// What can leave now, replies first; messages only if they may.
    pub(super) fn take_next(&mut self, messages: bool) -> Option<Item> {
        let may = |item: &Item| match &item.what {
            What::Say(_) => messages,
            What::Answer(answer) => !self.is_unheard(answer),
            What::Confirm { .. } | What::Stop { .. } | What::Late { .. } | What::Event { .. } => true,
        };
        let waits = |item: &Item| matches!(item.stage, Stage::Waiting | Stage::Again) && may(item);
        let reply = self.0.iter().position(|item| waits(item) && item.is_reply());
        let at = reply.or_else(|| self.0.iter().position(waits))?;
        Some(self.0.remove(at))
    }

    /// Whether it is in doubt that the service has heard what a person said about a call: until it has, it takes the call's answer
    /// for that.
    fn is_unheard(&self, answer: &Answer) -> bool {
        let about_it = |what: &What| matches!(what, What::Confirm { exchange, wire, .. } if *exchange == answer.exchange && *wire == answer.wire);
        self.0.iter().any(|item| item.stage == Stage::Doubt && about_it(&item.what))
    }

    /// What was sent may not have arrived. Nothing that can be read tells whether a stop did, so it is sent again.
    /// Whether anything was.
    pub(super) fn doubt(&mut self) -> bool {
        let mut any = false;
        for item in self.0.iter_mut().filter(|item| matches!(item.stage, Stage::Sent(_) | Stage::Again)) {
            item.stage = if matches!(item.what, What::Stop { .. }) { Stage::Waiting } else { Stage::Doubt };
            any = true;
        }
        any
    }

    /// The exchanges that must be looked at.
    pub(super) fn doubtful(&self) -> Vec<Rc<str>> {
        let mut exchanges: Vec<Rc<str>> = Vec::new();
        for exchange in self.0.iter().filter(|item| item.stage == Stage::Doubt).filter_map(Item::exchange) {
            if !exchanges.contains(exchange) {
                exchanges.push(Rc::clone(exchange));
            }
        }
        exchanges
    }

    /// Whether an exchange must be looked at.
    pub(super) fn doubts(&self, exchange: &str) -> bool {
        self.doubtful().iter().any(|doubted| **doubted == *exchange)
    }

    /// Takes out what something has shown to have arrived.
    pub(super) fn proven(&mut self, proof: impl Fn(&Item) -> bool) -> Vec<Item> {
        let (arrived, rest) = std::mem::take(&mut self.0).into_iter().partition(proof);
        self.0 = rest;
        arrived
    }

    /// Something came over the connection.
    pub(super) fn alive(&mut self, now: Millis) -> Vec<Item> {
        self.proven(|item| matches!(item.stage, Stage::Sent(at) if at + ARRIVED <= now))
    }

    /// An exchange was looked at, and is not there where there is no record. What arrived, and the messages that did in part;
    /// the rest is sent again.
    pub(super) fn looked(&mut self, exchange: &str, record: Option<&Record>) -> (Vec<Item>, Vec<Item>) {
        let doubted = |item: &Item| matches!(item.stage, Stage::Doubt | Stage::Again);
        let concerned = |item: &Item| doubted(item) && item.exchange().is_some_and(|id| **id == *exchange);
        let arrived = self.proven(|item| concerned(item) && item.finding(record) == Finding::Arrived);
        let in_part = self.proven(|item| concerned(item) && item.finding(record) == Finding::InPart);
        for item in self.0.iter_mut().filter(|item| concerned(item)) {
            let unended = item.finding(record) == Finding::Unended;
            if let What::Say(say) = &mut item.what
                && unended
            {
                // An end that comes twice ends the message once.
                say.frames.drain(..say.frames.len().saturating_sub(1));
            }
            if let What::Answer(answer) = &mut item.what
                && answer.message.is_none()
            {
                let message = record.and_then(|record| record.calls().find(|(_, call)| call.id == answer.wire));
                answer.message = message.map(|(message, _)| Rc::clone(&message.id));
            }
            item.stage = Stage::Waiting;
        }
        (arrived, in_part)
    }

    /// An exchange cannot be looked at. An answer that comes twice counts once, so it is sent again; anything else would count
    /// twice.
    pub(super) fn blind(&mut self, exchange: &str) {
        for item in &mut self.0 {
            let concerned = item.exchange().is_some_and(|id| **id == *exchange);
            if concerned && item.stage == Stage::Doubt && matches!(item.what, What::Answer(_)) {
                item.stage = Stage::Again;
            }
        }
    }
}
