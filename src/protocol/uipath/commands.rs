//! What the house wants of the conversation.

use std::rc::Rc;

use serde_json::value::RawValue;

use crate::call::CallId;
use crate::error::Error;
use crate::json::Object;
use crate::protocol::{self, Command, CommandId, NoticeCode, Outlet, Signal, Status};

use super::answering;
use super::call::{self, State};
use super::calling::reject;
use super::deed::{Deed, Own};
use super::hearing::Heard;
use super::history::{self, Record};
use super::machine::UiPath;
use super::outbox::{Answer, Stage, What};
use super::recovery::NEWEST;
use super::requests::{Answered, Purpose};
use super::write::Path;

/// What a person says about a call.
enum Word<'a> {
    /// Yes, perhaps with other arguments.
    Yes(Option<Box<RawValue>>),
    /// No, and why.
    No(&'a str),
}

impl UiPath {
    pub(super) fn carry_out(&mut self, id: CommandId, command: Command, out: &mut Outlet) {
        match command {
            Command::Say { content, run: true } => match self.compose(content) {
                Ok(say) => self.outbox.add(What::Say(say), Stage::Waiting, Some(id)),
                Err(error) => out.done(id, Err(error)),
            },
            Command::Say { run: false, .. } => out.done(id, Err(Error::invalid("run", "every message runs the agent"))),
            Command::Run | Command::Fetch(_) => {
                out.done(id, Err(Error::invalid("command", "this server has no such thing")));
            }
            Command::History(page) => {
                let (limit, newest) = (page.limit, page.newest_first);
                let request = self.rest.exchanges(self.path_id(), limit, newest, page.page.as_deref());
                self.requests.send(request, Purpose::History(id), out);
            }
            Command::Poll => self.poll(id, out),
            Command::Look => self.look_what_waits(id, out),
            Command::Decide { question, accept, reason, arguments } => {
                let word = if accept { Word::Yes(arguments) } else { Word::No(&reason) };
                self.decide(id, &question, word, out);
            }
            Command::Answer { call, outcome, doubtful } => self.answer(id, &call, &outcome, doubtful, out),
            Command::Stop => self.stop(id, out),
            Command::Do(deed) => self.do_deed(id, &deed, out),
        }
    }

    /// A person's answer about a call.
    fn decide(&mut self, id: CommandId, question: &CallId, word: Word, out: &mut Outlet) {
        let Some(call) = self.calls.get(question).filter(|call| call.state == State::Asking) else {
            return out.done(id, Err(Error::ApprovalAnswered));
        };
        let mut meanings = Vec::new();
        let value = match word {
            Word::Yes(Some(edited)) if Object::of(&edited).is_none() => {
                return out.done(id, Err(Error::invalid("arguments", "must be an object")));
            }
            Word::Yes(edited) => {
                call.state = State::Confirmed;
                let input = edited.as_ref().unwrap_or(&call.input);
                ["{\"approved\":true,\"input\":", input.get(), "}"].concat()
            }
            Word::No(reason) => {
                call.state = State::Refused;
                reject(call, reason, &mut meanings);
                "{\"approved\":false}".to_owned()
            }
        };
        let at = call.at.clone();
        let text = match call.interrupt.clone() {
            Some(interrupt) => {
                let path = Path::Interrupt(&at.exchange, &at.message, &interrupt);
                self.writer.write(path, "endInterrupt", &value)
            }
            None => self.writer.write(Path::Call(&at.exchange, &at.message, &at.item), "confirmToolCall", &value),
        };
        let confirm = What::Confirm { call: question.clone(), exchange: at.exchange, wire: at.item, text };
        self.outbox.add(confirm, Stage::Waiting, Some(id));
        self.ask(&mut meanings);
        out.say(Signal::Found(meanings));
    }

    /// The outcome of a call.
    fn answer(&mut self, id: CommandId, name: &CallId, outcome: &RawValue, doubtful: bool, out: &mut Outlet) {
        let end = answering::end_of_call(outcome);
        match self.calls.get(name).map(|call| call.state) {
            // A page that is gone had it.
            None => match call::parts(name) {
                Some((exchange, wire)) => {
                    let (call, exchange, wire) = (name.clone(), exchange.into(), wire.into());
                    let answer = Answer { call, exchange, message: None, wire, end };
                    self.doubt(answer, id, out);
                }
                None => out.done(id, Err(Error::UnknownCall { call: name.to_string() })),
            },
            Some(State::Answered) => out.done(id, Err(Error::UnknownCall { call: name.to_string() })),
            Some(State::Ended | State::Refused) => {
                let message = "an outcome of a call that the server has ended: it is not sent".to_owned();
                out.say(Signal::Notice { code: NoticeCode::LateSignal, message });
                out.done(id, Ok("null".to_owned()));
            }
            // An answer before the question is answered would fail the call with an error about that.
            Some(State::Asking) => self.decide(id, name, Word::No("cancelled"), out),
            Some(State::Announced | State::Confirmed | State::Seen | State::Executing) => {
                if let Some(answer) = self.answer_to(name, end) {
                    if doubtful {
                        self.doubt(answer, id, out);
                    } else {
                        self.outbox.add(What::Answer(answer), Stage::Waiting, Some(id));
                    }
                }
            }
        }
    }

    fn answer_to(&mut self, name: &CallId, end: String) -> Option<Answer> {
        let call = self.calls.get(name)?;
        call.state = State::Answered;
        call.due = None;
        let at = call.at.clone();
        Some(Answer { call: name.clone(), exchange: at.exchange, message: Some(at.message), wire: at.item, end })
    }

    /// An answer that may have been given before.
    fn doubt(&mut self, answer: Answer, id: CommandId, out: &mut Outlet) {
        let exchange = Rc::clone(&answer.exchange);
        self.outbox.add(What::Answer(answer), Stage::Doubt, Some(id));
        // Otherwise the next session begins with a look.
        if self.session.is_live() {
            self.look(&exchange, out);
        }
    }

    /// Asks how the turn is doing, if something about it may have been missed.
    fn poll(&mut self, id: CommandId, out: &mut Outlet) {
        let current = self.exchanges.current.clone();
        let uncertain = current.filter(|exchange| {
            self.outbox.doubts(exchange) || self.exchanges.get(exchange).is_some_and(|exchange| exchange.uncertain)
        });
        // A session begins with a look, once what was sent before has settled.
        match uncertain.filter(|_| self.session.is_live()) {
            Some(exchange) => {
                let request = self.rest.exchange(self.path_id(), &exchange);
                let session = self.session.number;
                self.requests.send(request, Purpose::Poll { command: id, session, exchange }, out);
            }
            None => out.done(id, Ok("null".to_owned())),
        }
    }

    /// Reads the newest exchanges, for who must know what they wait for.
    fn look_what_waits(&mut self, id: CommandId, out: &mut Outlet) {
        let request = self.rest.exchanges(self.path_id(), NEWEST, true, None);
        self.requests.send(request, Purpose::Waiting(id), out);
    }

    /// They were read, or not.
    pub(super) fn what_waits(id: CommandId, result: Answered, out: &mut Outlet) {
        match result.and_then(|body| history::records(&body)) {
            Ok(records) => {
                let asked = |record: &Record| -> Vec<CallId> {
                    let asked = record.calls().filter(|(_, call)| call.is_asked());
                    asked.map(|(_, call)| call::name(&record.exchange, &call.id)).collect()
                };
                out.say(Signal::Waiting(records.iter().flat_map(asked).collect()));
                out.done(id, Ok("null".to_owned()));
            }
            Err(error) => out.done(id, Err(error)),
        }
    }

    /// Ends all exchanges that are under way.
    fn stop(&mut self, id: CommandId, out: &mut Outlet) {
        let others = self.exchanges.open().map(|exchange| Rc::clone(&exchange.id));
        let others: Vec<Rc<str>> = others.filter(|id| self.exchanges.current.as_ref() != Some(id)).collect();
        for exchange in others {
            self.end_exchange(None, &exchange, out);
        }
        self.end_one(id, None, out);
    }

    /// Ends an exchange: this one, or the one under way.
    fn end_one(&mut self, id: CommandId, exchange: Option<&str>, out: &mut Outlet) {
        match exchange.map(Into::into).or_else(|| self.exchanges.current.clone()) {
            Some(exchange) => self.end_exchange(Some(id), &exchange, out),
            None => out.done(id, Ok("null".to_owned())),
        }
    }

    /// Ends an exchange. What was answered leaves first.
    fn end_exchange(&mut self, id: Option<CommandId>, exchange: &Rc<str>, out: &mut Outlet) {
        self.exchanges.stop(exchange);
        // What began it is not said again.
        self.outbox.proven(|item| matches!(&item.what, What::Say(say) if say.exchange == *exchange));
        let text = self.writer.write(Path::Exchange(exchange), "endExchange", "{}");
        self.outbox.add(What::Stop { text }, Stage::Waiting, id);
        let mut heard = Heard::default();
        self.exchange_left(exchange, Status::Paused, &mut heard);
        out.say(Signal::Found(heard.meanings));
        out.signals.append(&mut heard.after.signals);
    }

    fn do_deed(&mut self, id: CommandId, deed: &protocol::Deed, out: &mut Outlet) {
        let fresh = self.fresh_id();
        let own = Own { id: self.id(), writer: &self.writer, fresh: &fresh };
        match Deed::read(deed, &self.rest, &own) {
            Ok(Deed::Ask(request, form)) => self.requests.send(request, Purpose::Deed(id, form), out),
            Ok(Deed::Tell(text, result)) => self.outbox.add(What::Event { text, result }, Stage::Waiting, Some(id)),
            Ok(Deed::EndExchange(exchange)) => self.end_one(id, exchange.as_deref(), out),
            Err(error) => out.done(id, Err(error)),
        }
    }
}
