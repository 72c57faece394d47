//! The agent: it thinks, asks for calls, waits for a person where the policy says so, and acts.

use crate::reached::Situation;

use super::script::{Answer, Wish};
use super::{Call, Pending, Phase, Server, text};

impl Server {
    /// The agent goes on, first with what it left undone.
    pub(super) fn begin(&mut self, now: u64) {
        self.become_status("running", now);
        self.stop_after = false;
        if self.pending.is_empty() {
            self.think(now);
        } else {
            self.execute(now);
        }
    }

    fn think(&mut self, now: u64) {
        self.phase = Phase::Thinking;
        self.unread = false;
        let length = self.chance.between(5, 900);
        self.after(length, now);
    }

    /// The time that the agent waited for has come.
    pub fn timer(&mut self, generation: u32, now: u64) {
        if generation != self.generation {
            return;
        }
        match self.phase {
            Phase::Resting => {}
            Phase::Thinking => self.answer(now),
            Phase::Executing => self.executed(now),
        }
    }

    fn answer(&mut self, now: u64) {
        let answer = self.script.pop().unwrap_or_else(|| vec![Wish::Finish]);
        if self.chance.per_mille(120) {
            return self.speak(now);
        }
        self.announce(&answer, now);
        if self.chance.per_mille(300) {
            self.write(now, |number| text::state(number, "stats", "{}"));
        }
        let asks = self.confirm && self.pending.iter().any(|pending| pending.wish != Wish::Finish);
        if !asks {
            return self.execute(now);
        }
        self.become_status("waiting_for_confirmation", now);
        if self.session && self.unread {
            self.reached.note(Situation::Superseded);
            self.become_status("running", now);
            self.reject_all("Superseded by a new user message", "user", now);
            return self.think(now);
        }
        self.phase = Phase::Resting;
        self.tell_full_state();
    }

    /// Words that end the turn.
    fn speak(&mut self, now: u64) {
        self.write(now, |number| text::message(number, "agent", "assistant", "words"));
        self.turn_ends(now);
    }

    fn turn_ends(&mut self, now: u64) {
        if self.session && self.unread {
            return self.think(now);
        }
        self.phase = Phase::Resting;
        self.stop_after = false;
        self.become_status("finished", now);
        self.tell_full_state();
    }

    fn announce(&mut self, answer: &Answer, now: u64) {
        for wish in answer {
            let short = ["call_0", "call_1", "call_2"][self.chance.index(3)];
            let fresh = format!("call_{}", self.next_event + 10);
            let taken = self.pending.iter().any(|pending| pending.call == short);
            let call = if taken { fresh } else { short.to_owned() };
            let tool = match *wish {
                Wish::Client(tool) | Wish::Unfit(tool) | Wish::Hooked(tool) => tool,
                Wish::Unknown => {
                    self.write(now, |number| text::invalid_action(number, "nowhere", &call));
                    self.write(now, |number| text::agent_error(number, "nowhere", &call, "Tool not found"));
                    continue;
                }
                Wish::Server(_) => "terminal",
                Wish::Finish => "finish",
            };
            let valid = !matches!(wish, Wish::Unfit(_));
            let arguments = self.arguments(valid);
            let number = self.write(now, |number| match *wish {
                Wish::Finish => text::server_action(number, tool, "FinishAction", &call),
                Wish::Server(_) => text::server_action(number, tool, "TerminalAction", &call),
                _ => text::client_action(number, tool, &arguments, &call),
            });
            if wish.is_client() {
                self.calls.insert(number, Call { tool, arguments, valid, acked: None, refused: false });
            }
            self.pending.push(Pending { number, tool, call, wish: *wish });
        }
    }

    fn arguments(&mut self, valid: bool) -> String {
        let number = self.next_event;
        match (valid, self.chance.below(4)) {
            (false, _) => format!(r#"{{"mode":"unfit","n":{number}}}"#),
            (true, 0) => "{}".to_owned(),
            (true, 1) => format!(r#"{{"n":{number}.0,"deep":{{"x":null}}}}"#),
            (true, _) => format!(r#"{{"mode":"fit","n":{number}}}"#),
        }
    }

    /// Does what is pending, all of it together.
    pub(super) fn execute(&mut self, now: u64) {
        self.phase = Phase::Executing;
        let mut length = self.chance.between(2, 12);
        for pending in &self.pending {
            match pending.wish {
                Wish::Finish => break,
                Wish::Server(takes) => length += takes,
                Wish::Client(_) | Wish::Unfit(_) | Wish::Hooked(_) | Wish::Unknown => {}
            }
        }
        if length > 1_000 {
            self.reached.note(Situation::Locked);
        }
        self.locked_until = now + length;
        self.after(length, now);
    }

    fn executed(&mut self, now: u64) {
        let mut finished = false;
        while !self.pending.is_empty() && !finished {
            let Pending { number: action, tool, call, wish } = self.pending.remove(0);
            match wish {
                Wish::Hooked(_) => {
                    self.refuse(action);
                    self.write(now, |number| text::rejection(number, tool, &call, action, "a hook says no", "hook"));
                }
                Wish::Client(_) | Wish::Unfit(_) => {
                    self.write(now, |number| text::observation(number, tool, &call, action, "ClientToolObservation"));
                    if let Some(call) = self.calls.get_mut(&action) {
                        call.acked.get_or_insert(now);
                    }
                }
                Wish::Server(_) | Wish::Finish | Wish::Unknown => {
                    self.write(now, |number| text::observation(number, tool, &call, action, "OtherObservation"));
                    finished = wish == Wish::Finish;
                }
            }
        }
        if finished {
            if !self.pending.is_empty() {
                self.reached.note(Situation::AfterFinish);
            }
            return self.turn_ends(now);
        }
        if self.stop_after {
            self.phase = Phase::Resting;
            self.stop_after = false;
            return self.tell_full_state();
        }
        self.think(now);
    }

    fn reject_all(&mut self, reason: &str, source: &str, now: u64) {
        for Pending { number: action, tool, call, .. } in std::mem::take(&mut self.pending) {
            self.refuse(action);
            self.write(now, |number| text::rejection(number, tool, &call, action, reason, source));
        }
    }

    pub(super) fn reject(&mut self, now: u64) {
        if self.status != "waiting_for_confirmation" {
            return;
        }
        self.become_status("idle", now);
        self.reject_all("no", "user", now);
        self.tell_full_state();
    }

    pub(super) fn pause(&mut self, now: u64) {
        if self.status == "waiting_for_confirmation" || !matches!(self.status, "idle" | "running") {
            return;
        }
        self.become_status("paused", now);
        self.write(now, |number| text::plain(number, "PauseEvent"));
        self.tell_full_state();
        self.stop_after = self.phase != Phase::Resting;
    }

    pub(super) fn interrupt(&mut self, now: u64) {
        match self.phase {
            Phase::Resting => return self.pause(now),
            Phase::Thinking => {}
            Phase::Executing => {
                self.reached.note(Situation::InterruptedBatch);
                for Pending { number: action, tool, call, .. } in std::mem::take(&mut self.pending) {
                    self.refuse(action);
                    let error = "Tool call interrupted before completion.";
                    self.write(now, |number| text::agent_error(number, tool, &call, error));
                }
            }
        }
        self.generation += 1;
        self.phase = Phase::Resting;
        self.stop_after = false;
        self.locked_until = now;
        self.become_status("paused", now);
        self.write(now, |number| text::plain(number, "InterruptEvent"));
        self.tell_full_state();
    }
}
