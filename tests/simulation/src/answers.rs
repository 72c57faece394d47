//! What must hold of the answers that UiPath's agent waits for: each leaves once, at its time, and is one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::reached::Situation;
use crate::world::{Who, World, trace};

/// What is known about answers and who could know what.
#[derive(Default)]
pub struct Answers {
    confirmations: BTreeMap<u32, Arrival>,
    ends: BTreeMap<u32, Arrival>,
    /// Calls of which a page knows that they may run, and that they are over without an answer of its own.
    let_through: BTreeSet<(Who, u32)>,
    over: BTreeSet<(Who, u32)>,
    /// Calls that a page has refused.
    refused: BTreeSet<(Who, u32)>,
    /// When what a page has last read was so.
    looks: BTreeMap<Who, u64>,
}

/// An answer that reached the service.
struct Arrival {
    sent: Sent,
    at: u64,
    conn: usize,
    body: String,
}

/// What was so when a packet was sent.
#[derive(Clone, Copy)]
pub struct Sent {
    pub at: u64,
    /// The how manyth session of its socket it was.
    pub session: u32,
    /// As of when its page had read how things are.
    pub looked: Option<u64>,
}

impl Answers {
    pub fn looked(&mut self, who: Who, at: u64) {
        let last = self.looks.entry(who).or_default();
        *last = at.max(*last);
    }

    /// What it had read before says nothing about what it is in doubt of now.
    pub fn unread(&mut self, who: Who) {
        self.looks.remove(&who);
    }

    pub fn last_look(&self, who: Who) -> Option<u64> {
        self.looks.get(&who).copied()
    }

    pub fn knows_go_signal(&self, who: Who, call: u32) -> bool {
        self.let_through.contains(&(who, call))
    }

    pub fn knows_end(&self, who: Who, call: u32) -> bool {
        self.over.contains(&(who, call))
    }
}

/// The call that an envelope is about, and the member that says what.
fn about(envelope: &Value) -> Option<(&str, &Value)> {
    let exchange = &envelope["exchange"];
    let call = exchange["message"].get("toolCall")?;
    Some((exchange["exchangeId"].as_str()?, call))
}

impl World {
    fn call_of<'v>(&self, envelope: &'v Value) -> Option<(u32, &'v Value)> {
        let (exchange, call) = about(envelope)?;
        Some((self.service.number_at(exchange, call["toolCallId"].as_str()?)?, call))
    }

    /// A page has heard an envelope of the service's, on the socket that it has.
    pub fn heard_about_calls(&mut self, who: Who, conn: usize, packet: &str) {
        if packet.contains(r#""sessionStarted""#) {
            self.network.conns[conn].started = true;
            self.network.conns[conn].sessions += 1;
        } else if packet.contains(r#""endSession""#) {
            self.network.conns[conn].started = false;
        }
        if !packet.contains("executingToolCall") && !packet.contains("endToolCall") {
            return;
        }
        let Some(at) = packet.find('[') else { return };
        let event: Value = serde_json::from_str(&packet[at..]).unwrap();
        let Some((number, call)) = self.call_of(&event[1]) else { return };
        if call.get("executingToolCall").is_some() {
            self.answers.let_through.insert((who, number));
        } else {
            self.answers.over.insert((who, number));
        }
    }

    /// A page sends a packet.
    pub fn check_packet(&mut self, who: Who, conn: usize, packet: &str) {
        if !packet.starts_with("42") || packet.contains(r#""startSession""#) {
            return;
        }
        if !self.network.conns[conn].started {
            return self.checks.fail(&format!("{who} speaks before its session stands"));
        }
        if !packet.contains("ToolCall\"") {
            return;
        }
        let event: Value = serde_json::from_str(&packet[2..]).unwrap();
        let Some((number, call)) = self.call_of(&event[1]) else { return };
        let over = self.answers.knows_end(who, number);
        if call.get("endToolCall").is_some() && (over || self.answers.refused.contains(&(who, number))) {
            return self.checks.fail(&format!("{who} answers call {number}, and knows that it is over"));
        }
        let Some(confirmation) = call.get("confirmToolCall") else { return };
        if over || self.answers.knows_go_signal(who, number) {
            return self.checks.fail(&format!("{who} says yes or no to call {number}, and knows that that is done"));
        }
        if confirmation["approved"] == false {
            self.answers.refused.insert((who, number));
        }
    }

    /// An answer reaches the service.
    pub fn check_answer(&mut self, conn: usize, envelope: &Value, sent: Sent) {
        let Some((number, call)) = self.call_of(envelope) else { return };
        let Some(truth) = self.service.call(number) else { return };
        if self.service.exchanges[truth.exchange].end.is_some() {
            return;
        }
        let alone = self.checks.storage_lost;
        let who = self.network.conns[conn].who;
        let (arrivals, body, what) = if let Some(body) = call.get("confirmToolCall") {
            if truth.let_through.is_some() && truth.confirmed.is_none() {
                return self.checks.fail(&format!("{who} says yes or no to call {number}, which needs none"));
            }
            (&mut self.answers.confirmations, body, "confirmation")
        } else if let Some(body) = call.get("endToolCall") {
            let wrong = if truth.wish.asks() && truth.confirmed.is_none() {
                Some("before a person was heard")
            } else if truth.refused && !alone {
                Some("that was refused")
            } else if matches!(truth.wish, crate::service::Wish::Own(..)) {
                Some("of the agent's own")
            } else {
                None
            };
            if let Some(wrong) = wrong {
                return self.checks.fail(&format!("{who} answers call {number} {wrong}"));
            }
            (&mut self.answers.ends, body, "answer")
        } else {
            return;
        };
        trace!(self, "service gets the {what} of call {number} from {who}");
        let arrival = Arrival { sent, at: self.now, conn, body: body.to_string() };
        let Some(first) = arrivals.get(&number) else {
            arrivals.insert(number, arrival);
            return;
        };
        let (early, late) = if first.sent.at <= sent.at { (first, &arrival) } else { (&arrival, first) };
        // A second one may come of a doubt: the page looked, or could not, before the first had arrived.
        let wrong = if alone {
            None
        } else if first.conn == conn && first.sent.session == sent.session {
            Some("in the same session")
        } else if late.sent.looked.is_some_and(|looked| looked > early.at) {
            Some("though the service showed the first")
        } else if what == "confirmation" && late.sent.looked.is_none() {
            Some("without a look")
        } else if what == "answer" && first.body != arrival.body {
            Some("and is another one")
        } else {
            None
        };
        self.reached.note(Situation::AnsweredAgain);
        if let Some(wrong) = wrong {
            self.checks.fail(&format!("a second {what} of call {number} comes from {who} {wrong}"));
        }
    }
}
