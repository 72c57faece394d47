//! What an envelope does: what it means to the house, and what it shows about what was sent.

use std::rc::Rc;

use crate::net::Millis;
use crate::protocol::{Carry, Condition, Delivery, Meaning, NoticeCode, Outlet, Signal, Status, WireEffect};

use super::envelope;
use super::event::{At, Chunk, Event, Happening};
use super::history::Record;
use super::machine::UiPath;
use super::message::{Message, Text};
use super::outbox::{Item, Stage, What};
use super::requests::{Answered, Purpose};

/// What one envelope comes to.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) meanings: Vec<Meaning>,
    /// What follows the event itself.
    pub(super) after: Outlet,
}

impl Heard {
    pub(super) fn notice(&mut self, code: NoticeCode, message: &str) {
        self.after.say(Signal::Notice { code, message: message.to_owned() });
    }
}

impl UiPath {
    /// An envelope came.
    pub(super) fn hear(&mut self, text: String, now: Millis, out: &mut Outlet) {
        let mut heard = Heard::default();
        let Some(events) = envelope::read(&text) else {
            let message = "an envelope that is no object".to_owned();
            return out.say(Signal::Notice { code: NoticeCode::MalformedFrame, message });
        };
        for event in events {
            self.take(event, now, &mut heard);
        }
        out.say(Signal::Delivered(Delivery { id: None, raw: text, meanings: heard.meanings }));
        out.signals.append(&mut heard.after.signals);
        out.effects.append(&mut heard.after.effects);
        self.alive(now, out);
        self.flush(now, out);
    }

    /// Something came over the connection.
    pub(super) fn alive(&mut self, now: Millis, out: &mut Outlet) {
        let arrived = self.outbox.alive(now);
        arrive(arrived, out);
    }

    fn take(&mut self, Event { at, what }: Event, now: Millis, heard: &mut Heard) {
        if matches!(what, Happening::ExchangeStirred) {
            self.hear_exchange(&at, now, heard);
        } else if let Some(exchange) = self.exchanges.get(&at.exchange) {
            exchange.release(&at.message, &mut heard.meanings);
        }
        match what {
            Happening::SessionStarted => self.session_started(now, &mut heard.after),
            // The service wants us on another connection.
            Happening::SessionEnding => heard.after.effects.push(WireEffect::Carry(Carry::Renew)),
            Happening::SessionEnded => self.session_ended(now, &mut heard.after),
            Happening::Label { text, generated } => heard.after.say(Signal::Label { text, generated }),
            Happening::ExchangeStirred | Happening::PartEnded => {}
            Happening::ExchangeEnded => self.exchange_over(&at.exchange, Status::Finished, heard),
            Happening::MessageStarted { role } => self.message_started(&at, &role, heard),
            Happening::MessageEnded => self.message_ended(&at, heard),
            Happening::PartStarted { mime } => {
                if let Some(message) = self.message(&at) {
                    message.start_part(&at.item, &mime);
                }
            }
            Happening::Chunk(chunk) => self.chunk(&at, &chunk, heard),
            Happening::CallStarted(start) => self.call_started(at, &start, heard),
            Happening::CallConfirmed { approved } => self.call_confirmed(&at, approved, heard),
            Happening::CallExecuting { input } => self.call_executing(&at, input, now, heard),
            Happening::CallEnded(end) => self.call_ended(&at, &end, heard),
            Happening::BackgroundCall => {
                heard.notice(NoticeCode::UnknownEvent, "a call beside all exchanges, which pages do not run");
            }
            Happening::InterruptStarted { kind, value } => self.interrupt_started(at, &kind, &value, heard),
            Happening::InterruptEnded { approved } => self.interrupt_ended(&at, approved, heard),
            Happening::Condition(condition) => self.condition(&at, condition, heard),
            Happening::Unknown(name) => {
                heard.notice(NoticeCode::UnknownEvent, &["an envelope with the member ", &name].concat());
            }
        }
    }

    /// Something of an exchange: it is under way, unless it is over.
    fn hear_exchange(&mut self, at: &At, now: Millis, heard: &mut Heard) {
        if self.exchanges.hear(&at.exchange, now) {
            self.runs(&mut heard.meanings);
        }
        // Also one that was to be sent again: nobody but us could begin its exchange.
        let said = |item: &Item| matches!(&item.what, What::Say(say) if say.exchange == at.exchange);
        let arrived = self.outbox.proven(said);
        arrive(arrived, &mut heard.after);
    }

    /// The agent has gone on: it has the answers that were sent.
    pub(super) fn went_on(&mut self, exchange: &Rc<str>, heard: &mut Heard) {
        let answered = |item: &Item| {
            let sent = matches!(item.stage, Stage::Sent(_) | Stage::Doubt | Stage::Again);
            matches!(&item.what, What::Answer(answer) if sent && answer.exchange == *exchange)
        };
        let arrived = self.outbox.proven(answered);
        arrive(arrived, &mut heard.after);
    }

    fn message_started(&mut self, at: &At, role: &str, heard: &mut Heard) {
        self.went_on(&at.exchange, heard);
        let Some(exchange) = self.exchanges.get(&at.exchange) else { return };
        if exchange.is_told(&at.message) || exchange.message(&at.message).is_some_and(|message| !message.torn) {
            return heard.notice(NoticeCode::DuplicateEvent, "a message began again");
        }
        exchange.take(&at.message);
        exchange.messages.push(Message::new(&at.message, role, false));
    }

    /// The message that something came of. Its beginning may have been missed.
    fn message(&mut self, at: &At) -> Option<&mut Message> {
        let exchange = self.exchanges.get(&at.exchange)?;
        if exchange.is_told(&at.message) {
            return None;
        }
        if exchange.message(&at.message).is_none() {
            exchange.messages.push(Message::new(&at.message, "", true));
        }
        exchange.message(&at.message)
    }

    fn chunk(&mut self, at: &At, chunk: &Chunk, heard: &mut Heard) {
        let Some(message) = self.message(at) else { return };
        let by_agent = message.role == "assistant";
        if let Some(content) = message.chunk(&at.item, chunk).filter(|_| by_agent) {
            let (item, content) = (Some(at.message.to_string()), content.to_owned());
            heard.after.say(Signal::Delta { item, reasoning: false, content });
        }
    }

    fn message_ended(&mut self, at: &At, heard: &mut Heard) {
        self.went_on(&at.exchange, heard);
        let Some(exchange) = self.exchanges.get(&at.exchange) else { return };
        if !exchange.tell(&at.message) {
            return;
        }
        let message = exchange.take(&at.message).unwrap_or_else(|| Message::new(&at.message, "", true));
        if message.torn {
            // Its words are read before the house has the message: what was heard of them may not be all.
            self.torn.push((Rc::clone(&at.exchange), message));
            let request = self.rest.exchange(self.path_id(), &at.exchange);
            let purpose = Purpose::Words { exchange: Rc::clone(&at.exchange), message: Rc::clone(&at.message) };
            return self.requests.send(request, purpose, &mut heard.after);
        }
        heard.meanings.extend(said(message));
    }

    /// The words of a message of which some were missed; what was heard must do where they cannot be read.
    pub(super) fn words(&mut self, exchange: &str, message: &str, result: Answered, out: &mut Outlet) {
        let is_it = |(of, torn): &(Rc<str>, Message)| **of == *exchange && *torn.id == *message;
        let Some(at) = self.torn.iter().position(is_it) else { return };
        let (_, torn) = self.torn.remove(at);
        let read =
            result.and_then(|body| Record::read_body(&body)).ok().and_then(|record| record.into_message(message));
        let meaning = match read {
            Some(read) => spoken(read.text, message, &read.role),
            None => said(torn),
        };
        out.say(Signal::Found(meaning.into_iter().collect()));
    }

    /// The turn is over with this status, or an older exchange is.
    pub(super) fn exchange_over(&mut self, id: &Rc<str>, status: Status, heard: &mut Heard) {
        self.exchange_left(id, status, heard);
        let concerned = |item: &Item| item.exchange() == Some(id) && (item.is_reply() || item.stage != Stage::Waiting);
        let arrived = self.outbox.proven(concerned);
        if arrived.iter().any(|item| item.stage == Stage::Waiting) {
            heard.notice(
                NoticeCode::LateSignal,
                "an exchange was over before what was said about its calls could be sent",
            );
        }
        arrive(arrived, &mut heard.after);
    }

    /// The same while what was said about its calls may still leave.
    pub(super) fn exchange_left(&mut self, id: &Rc<str>, status: Status, heard: &mut Heard) {
        let Some((exchange, turn)) = self.exchanges.end(id) else { return };
        if exchange.messages.iter().any(|message| !message.is_empty()) {
            heard.notice(NoticeCode::StreamAborted, "an exchange ended in the midst of a message");
        }
        self.calls_over(id, heard);
        if turn {
            self.status = status.clone();
            heard.meanings.push(Meaning::TurnOver(status));
        }
    }

    fn condition(&mut self, at: &At, condition: Condition, heard: &mut Heard) {
        let (level, over, code) = (condition.level, condition.over, condition.code.clone());
        let detail = condition.message.clone().unwrap_or_default();
        heard.after.say(Signal::Condition(condition));
        match level {
            "conversation" => {
                self.conditions.retain(|other| *other != code);
                if !over {
                    self.conditions.push(code);
                }
            }
            // No end follows.
            "exchange" if !over && !self.exchanges.is_over(&at.exchange) => {
                heard.meanings.push(Meaning::RunFailed { code, detail });
                self.exchange_over(&at.exchange, Status::Error, heard);
            }
            _ => {}
        }
    }

    /// A session begins with nothing wrong.
    pub(super) fn clear_conditions(&mut self, out: &mut Outlet) {
        let id = self.path_id().to_owned();
        for code in std::mem::take(&mut self.conditions) {
            let id = id.clone();
            let over = Condition { code, level: "conversation", id, over: true, message: None, details: None };
            out.say(Signal::Condition(over));
        }
    }
}

fn said(message: Message) -> Option<Meaning> {
    let (id, role) = (Rc::clone(&message.id), message.role.clone());
    spoken(message.into_text(), &id, &role)
}

/// What a message says. One that only holds calls says nothing.
fn spoken(text: Text, id: &str, role: &str) -> Option<Meaning> {
    Some(text).filter(|text| !text.is_empty()).map(|text| text.said(id, role))
}

/// These have arrived: who waits for them is told.
pub(super) fn arrive(items: Vec<Item>, out: &mut Outlet) {
    for command in items.into_iter().filter_map(|item| item.command) {
        out.done(command, Ok("null".to_owned()));
    }
}
