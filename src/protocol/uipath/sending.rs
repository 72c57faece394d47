//! What leaves, once a session stands and nothing is missing.

use std::rc::Rc;

use crate::error::Error;
use crate::net::Millis;
use crate::protocol::{CommandId, Meaning, NoticeCode, Outlet, Signal, Status};

use super::answering;
use super::call::State;
use super::machine::{UiPath, send};
use super::message::Text;
use super::outbox::{Answer, Item, Say, Stage, What};
use super::packet;
use super::write::Path;

impl UiPath {
    /// Sends what can be sent: replies first, and nothing is said while the conversation has an error.
    pub(super) fn flush(&mut self, now: Millis, out: &mut Outlet) {
        while self.session.is_live()
            && let Some(Item { what, command, .. }) = self.outbox.take_next(self.conditions.is_empty())
        {
            match what {
                What::Answer(answer) => self.send_answer(answer, command, now, out),
                What::Confirm { call, exchange, wire, text } => {
                    if !self.fits(&text) {
                        if let Some(call) = self.calls.get(&call) {
                            call.state = State::Asking;
                        }
                        too_large(command, "arguments", out);
                        let mut meanings = Vec::new();
                        self.ask(&mut meanings);
                        out.say(Signal::Found(meanings));
                        continue;
                    }
                    send(text.clone(), out);
                    self.outbox.add(What::Confirm { call, exchange, wire, text }, Stage::Sent(now), command);
                }
                What::Say(say) => self.send_say(say, command, now, out),
                What::Stop { text } => {
                    send(text.clone(), out);
                    if let Some(command) = command {
                        out.done(command, Ok("null".to_owned()));
                    }
                    self.outbox.add(What::Stop { text }, Stage::Sent(now), None);
                }
                What::Late { text, .. } => send(text, out),
                What::Event { text, .. } if !self.fits(&text) => too_large(command, "options", out),
                What::Event { text, result } => {
                    send(text, out);
                    if let Some(command) = command {
                        out.done(command, Ok(result));
                    }
                }
            }
        }
    }

    /// Whether the service takes an envelope of this size: a larger one would cost the connection.
    fn fits(&self, envelope: &str) -> bool {
        packet::size(envelope) <= self.session.limit
    }

    fn send_answer(&mut self, mut answer: Answer, command: Option<CommandId>, now: Millis, out: &mut Outlet) {
        // The agent's side finds the call by its own id.
        let message = answer.message.clone().unwrap_or_else(|| Rc::clone(&answer.wire));
        let envelope =
            |end: &str| self.writer.write(Path::Call(&answer.exchange, &message, &answer.wire), "endToolCall", end);
        let mut text = envelope(&answer.end);
        if !self.fits(&text) {
            // Whoever says it says the same.
            let (size, limit) = (answer.end.len().to_string(), self.session.limit.to_string());
            let words = ["The result has ", &size, " bytes and the connection takes ", &limit, ": it was not sent."];
            let end = answering::error(&words);
            text = envelope(&end);
            answer.end = end;
            let message = ["call ", answer.call.as_str(), ": ", &words.concat()].concat();
            out.say(Signal::Notice { code: NoticeCode::ResultTooLarge, message });
        }
        send(text, out);
        self.outbox.add(What::Answer(answer), Stage::Sent(now), command);
    }

    fn send_say(&mut self, say: Say, command: Option<CommandId>, now: Millis, out: &mut Outlet) {
        if !say.frames.iter().all(|frame| self.fits(frame)) {
            return too_large(command, "content", out);
        }
        if let Some(exchange) = self.exchanges.get(&say.exchange) {
            exchange.heard = now;
        } else {
            self.exchanges.supersede();
            self.exchanges.begin(&say.exchange, now);
        }
        let new = self.exchanges.get(&say.exchange).is_some_and(|exchange| exchange.tell(&say.message));
        let mut meanings = Vec::new();
        if new {
            // The service does not say it again to who said it.
            let mut text = Text::default();
            text.push(&say.text);
            meanings.push(text.said(&say.message, "user"));
            self.status = Status::Running;
            meanings.push(Meaning::Status(Status::Running));
            if !self.calls.questions().is_empty() {
                // About another exchange.
                self.change_status(Status::WaitingForConfirmation, &mut meanings);
            }
        }
        out.say(Signal::Found(meanings));
        for frame in &say.frames {
            send(frame.clone(), out);
        }
        if let Some(command) = command {
            out.done(command, Ok("null".to_owned()));
        }
        self.outbox.add(What::Say(say), Stage::Sent(now), None);
    }
}

fn too_large(command: Option<CommandId>, field: &'static str, out: &mut Outlet) {
    if let Some(command) = command {
        out.done(command, Err(Error::invalid(field, "larger than the service takes in one message")));
    }
}
