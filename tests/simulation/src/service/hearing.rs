//! What the service makes of what clients say.

use serde_json::Value;

use crate::reached::Situation;

use super::{Awaits, Early, End, Exchange, Message, Part, Service};

impl Service {
    /// An envelope about an exchange.
    pub fn hear(&mut self, envelope: &Value, now: u64) {
        let exchange = &envelope["exchange"];
        let Some(id) = exchange["exchangeId"].as_str() else { return };
        let at = self.exchange(id);
        let message = &exchange["message"];
        if let Some(id) = message["messageId"].as_str() {
            if message.get("toolCall").is_some() {
                self.answered(at, &message["toolCall"], now);
            } else {
                self.said(at, id, message, now);
            }
        }
        if exchange.get("endExchange").is_some() {
            self.stop(at, now);
        }
    }

    fn exchange(&mut self, id: &str) -> usize {
        if let Some(at) = self.exchanges.iter().position(|exchange| exchange.id == id) {
            return at;
        }
        self.exchanges.push(Exchange { id: id.to_owned(), messages: Vec::new(), end: None, ordered: false });
        self.exchanges.len() - 1
    }

    fn said(&mut self, at: usize, id: &str, event: &Value, now: u64) {
        let messages = &mut self.exchanges[at].messages;
        if !messages.iter().any(|message| message.id == id) {
            messages.push(Message {
                id: id.to_owned(),
                role: "user",
                begun: now,
                parts: Vec::new(),
                calls: Vec::new(),
            });
        }
        let message = messages.iter_mut().find(|message| message.id == id).unwrap();
        let part = &event["contentPart"];
        if let Some(id) = part["contentPartId"].as_str() {
            if !message.parts.iter().any(|part| part.id == id) {
                message.parts.push(Part { id: id.to_owned(), text: String::new(), incomplete: true });
            }
            let known = message.parts.iter_mut().find(|part| part.id == id).unwrap();
            known.text.push_str(part["chunk"]["data"].as_str().unwrap_or_default());
            if part.get("endContentPart").is_some() {
                known.incomplete = false;
            }
        }
        if event.get("endMessage").is_some() {
            self.order(at, id, now);
        }
    }

    /// A complete message is what the agent is started for, once for each exchange.
    fn order(&mut self, at: usize, message: &str, now: u64) {
        let exchange = &mut self.exchanges[at];
        if exchange.ordered || exchange.end.is_some() {
            return;
        }
        exchange.ordered = true;
        let said = exchange.messages.iter().find(|said| said.id == message).unwrap();
        let text: String = said.parts.iter().map(|part| part.text.as_str()).collect();
        *self.said.entry(text).or_default() += 1;
        if !self.rests() {
            self.reached.note(Situation::SaidDuringRun);
        }
        self.orders.push_back(at);
        self.start_next(now);
    }

    /// An answer about a call goes to the runtime, unless its exchange is over.
    fn answered(&mut self, at: usize, event: &Value, now: u64) {
        if self.exchanges[at].end.is_some() {
            return;
        }
        let wire = event["toolCallId"].as_str().unwrap_or_default();
        let Some(call) = self.calls.iter_mut().find(|call| call.exchange == at && call.wire == wire) else { return };
        if let Some(confirmation) = event.get("confirmToolCall") {
            let approved = confirmation["approved"] == true;
            let input = confirmation.get("input").map_or_else(|| call.arguments.clone(), Value::to_string);
            call.confirmed = Some((approved, input.clone()));
            call.refused |= !approved;
            call.early = Some(Early::Confirmation(approved, input));
        } else if let Some(end) = event.get("endToolCall") {
            if call.result.is_none() {
                call.result = Some(end.to_string());
            }
            call.early = Some(Early::End);
        }
        if call.awaits != Awaits::Nothing {
            self.go_on(now);
        }
    }

    /// A client ends an exchange: the agent's work on it, too.
    fn stop(&mut self, at: usize, now: u64) {
        self.orders.retain(|order| *order != at);
        if self.exchanges[at].end.is_none() {
            self.exchanges[at].end = Some(End::Client);
            self.reached.note(Situation::StoppedByClient);
        }
        if self.run_is_of(at) {
            self.end_run(now);
        }
    }
}
