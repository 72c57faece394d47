//! The exchanges of a conversation that are under way, with their messages.

use std::rc::Rc;

use crate::net::Millis;
use crate::protocol::Meaning;
use crate::recent::Recent;

use super::history::{MessageRecord, Record};
use super::message::Message;

/// Exchanges that are under way at once, at most.
const MOST: usize = 32;

/// One exchange: what a user says, and all that the agent does about it.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) id: Rc<str>,
    pub(super) messages: Vec<Message>,
    /// The messages that the house has.
    told: Vec<Rc<str>>,
    /// The last message that was read and not heard: what follows shows whether it was whole.
    kept: Option<MessageRecord>,
    /// Whether its end may have been missed.
    pub(super) uncertain: bool,
    /// Whether it looked over when it was read since.
    pub(super) looks_over: bool,
    /// When something of it last came.
    pub(super) heard: Millis,
}

/// The exchanges.
#[derive(Debug, Default)]
pub(super) struct Exchanges {
    open: Vec<Exchange>,
    /// The one that the turn is about.
    pub(super) current: Option<Rc<str>>,
    over: Recent,
    stopped: Recent,
}

impl Exchange {
    /// The house has this message.
    pub(super) fn tell(&mut self, message: &Rc<str>) -> bool {
        let new = !self.told.contains(message);
        if new {
            self.told.push(Rc::clone(message));
        }
        new
    }

    pub(super) fn is_told(&self, message: &str) -> bool {
        self.told.iter().any(|told| **told == *message)
    }

    pub(super) fn message(&mut self, id: &str) -> Option<&mut Message> {
        self.messages.iter_mut().find(|message| *message.id == *id)
    }

    pub(super) fn take(&mut self, id: &str) -> Option<Message> {
        let at = self.messages.iter().position(|message| *message.id == *id)?;
        Some(self.messages.remove(at))
    }

    /// What was read of the exchange after something may have been missed: the messages that the house has to hear of. The last
    /// one may still grow.
    pub(super) fn catch_up(&mut self, record: Record, whole: bool, meanings: &mut Vec<Meaning>) {
        let mut messages = record.messages;
        let last = if whole { None } else { messages.pop() };
        for message in messages {
            self.tell_read(message, meanings);
        }
        self.kept = last.filter(|last| last.role != "user" && !self.is_told(&last.id));
    }

    fn tell_read(&mut self, message: MessageRecord, meanings: &mut Vec<Meaning>) {
        self.take(&message.id);
        if !self.is_told(&message.id) && !message.text.is_empty() {
            meanings.push(message.text.said(&message.id, &message.role));
        }
        self.tell(&message.id);
    }

    /// Something came of this message, or of none: one that was kept before it is whole by now.
    pub(super) fn release(&mut self, now_of: &str, meanings: &mut Vec<Meaning>) {
        let Some(kept) = self.kept.take() else { return };
        if *kept.id != *now_of {
            return self.tell_read(kept, meanings);
        }
        if self.message(now_of).is_none() {
            self.messages.push(Message::new(&kept.id, &kept.role, true));
        }
    }
}

impl Exchanges {
    pub(super) fn get(&mut self, id: &str) -> Option<&mut Exchange> {
        self.open.iter_mut().find(|exchange| *exchange.id == *id)
    }

    /// The exchange that something came of; it begins with that, unless it is over. Whether it began.
    pub(super) fn hear(&mut self, id: &Rc<str>, now: Millis) -> bool {
        if self.is_over(id) {
            return false;
        }
        if let Some(exchange) = self.get(id) {
            exchange.heard = now;
            exchange.uncertain = false;
            exchange.looks_over = false;
            return false;
        }
        self.begin(id, now);
        true
    }

    /// An exchange begins.
    pub(super) fn begin(&mut self, id: &Rc<str>, now: Millis) {
        // One whose end never came, of another page perhaps.
        if self.open.len() >= MOST {
            self.open.remove(0);
        }
        self.open.push(Exchange {
            id: Rc::clone(id),
            messages: Vec::new(),
            told: Vec::new(),
            kept: None,
            uncertain: false,
            looks_over: false,
            heard: now,
        });
        self.current = Some(Rc::clone(id));
    }

    /// A message that the house has is said again in this exchange.
    pub(super) fn begin_again(&mut self, id: &Rc<str>, message: &Rc<str>, now: Millis) {
        self.begin(id, now);
        if let Some(exchange) = self.get(id) {
            exchange.tell(message);
        }
    }

    /// A new exchange is about to begin: one whose end was missed, to all appearance, is over.
    pub(super) fn supersede(&mut self) {
        if let Some(current) = self.current.clone()
            && self.get(&current).is_some_and(|exchange| exchange.uncertain && exchange.looks_over)
        {
            self.end(&current);
        }
    }

    /// An exchange is over. It, and whether the turn is: another one may be under way, ours or another page's.
    pub(super) fn end(&mut self, id: &Rc<str>) -> Option<(Exchange, bool)> {
        let at = self.open.iter().position(|exchange| exchange.id == *id)?;
        let exchange = self.open.remove(at);
        self.over.add(id);
        let current = self.current.as_ref() == Some(id);
        if current {
            self.current = self.open.last().map(|exchange| Rc::clone(&exchange.id));
        }
        Some((exchange, current && self.current.is_none()))
    }

    /// We ended it, whatever the agent's side makes of that.
    pub(super) fn stop(&mut self, id: &Rc<str>) {
        self.stopped.add(id);
    }

    pub(super) fn is_stopped(&self, id: &str) -> bool {
        self.stopped.contains(id)
    }

    pub(super) fn is_over(&self, id: &str) -> bool {
        self.over.contains(id)
    }

    /// Something may be missed from now on.
    pub(super) fn tear(&mut self) {
        for exchange in &mut self.open {
            exchange.uncertain = true;
            for message in &mut exchange.messages {
                message.torn = true;
            }
        }
    }

    pub(super) fn open(&self) -> impl Iterator<Item = &Exchange> {
        self.open.iter()
    }
}
