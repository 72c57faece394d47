//! The runtime: it thinks, asks for calls, waits for their answers in their order, and ends the exchange.

use crate::reached::Situation;

use super::{Awaits, Call, Early, End, Message, Out, Part, Service, Step, Wish, text};

/// What the runtime is to be woken for.
#[derive(Clone, Copy, Debug)]
pub enum Alarm {
    Think(u32),
    /// The agent's own side ends a call.
    End(usize),
}

/// The agent at work on one exchange.
pub(super) struct Run {
    exchange: usize,
    message: String,
    /// The calls of this turn that it waits for, in order, with what has been taken of each.
    round: Vec<(usize, Option<Early>)>,
    /// Calls that its own side has still to end.
    own: u32,
    thinks: bool,
}

impl Service {
    pub(super) fn run_is_of(&self, exchange: usize) -> bool {
        self.run.as_ref().is_some_and(|run| run.exchange == exchange)
    }

    pub(super) fn start_next(&mut self, now: u64) {
        if self.run.is_some() {
            return;
        }
        let Some(exchange) = self.orders.pop_front() else { return };
        self.run = Some(Run { exchange, message: String::new(), round: Vec::new(), own: 0, thinks: true });
        let length = self.chance.between(5, 900);
        self.after(length, now);
    }

    pub(super) fn end_run(&mut self, now: u64) {
        let Some(run) = self.run.take() else { return };
        for call in self.calls.iter_mut().filter(|call| call.exchange == run.exchange) {
            call.awaits = Awaits::Nothing;
        }
        self.generation += 1;
        self.start_next(now);
    }

    /// The time that the runtime waited for has come.
    pub fn alarm(&mut self, alarm: Alarm, now: u64) {
        match alarm {
            Alarm::Think(generation) if generation == self.generation => self.think(now),
            Alarm::Think(_) => {}
            Alarm::End(call) => self.end_own(call, now),
        }
    }

    fn think(&mut self, now: u64) {
        let Some(exchange) = self.run.as_ref().map(|run| run.exchange) else { return };
        let over = self.script.is_empty() || self.chance.per_mille(300);
        match if over { None } else { self.script.pop() } {
            None => {
                self.begin_message(exchange, true, now);
                self.end_message();
                self.end_exchange(exchange, End::Agent, r#""endExchange":{}"#);
                self.end_run(now);
            }
            Some(Step::Fail) => {
                self.reached.note(Situation::Failed);
                let error = format!(r#""exchangeError":{}"#, text::error("AGENT_RUNTIME_ERROR", true));
                self.end_exchange(exchange, End::Error, &error);
                self.end_run(now);
            }
            Some(Step::Calls(wishes)) => {
                let words = self.chance.per_mille(300);
                self.begin_message(exchange, words, now);
                for wish in wishes {
                    self.announce(exchange, wish, now);
                }
                if let Some(run) = &mut self.run {
                    run.thinks = false;
                }
                self.go_on(now);
            }
        }
    }

    fn end_exchange(&mut self, exchange: usize, end: End, members: &str) {
        self.exchanges[exchange].end.get_or_insert(end);
        let envelope = text::of_exchange(&self.exchanges[exchange].id, members);
        self.out.push(Out::All(envelope));
    }

    fn say(&mut self, members: &str) {
        let Some(run) = &self.run else { return };
        let envelope = text::of_message(&self.exchanges[run.exchange].id, &run.message, members);
        self.out.push(Out::All(envelope));
    }

    fn begin_message(&mut self, exchange: usize, words: bool, now: u64) {
        let id = format!("lc_run--{}", self.fresh());
        let Some(run) = &mut self.run else { return };
        run.message.clone_from(&id);
        let mut message = Message { id, role: "assistant", begun: now, parts: Vec::new(), calls: Vec::new() };
        let start = r#""startMessage":{"role":"assistant"}"#;
        if !words {
            self.exchanges[exchange].messages.push(message);
            return self.say(start);
        }
        message.parts.push(Part { id: "p".into(), text: "words".into(), incomplete: false });
        self.exchanges[exchange].messages.push(message);
        let part = |member: &str| format!(r#""contentPart":{{"contentPartId":"p",{member}}}"#);
        let begin = part(r#""startContentPart":{"mimeType":"text/markdown"}"#);
        self.say(&format!("{start},{begin}"));
        self.say(&part(r#""chunk":{"data":"words"}"#));
        self.say(&part(r#""endContentPart":{}"#));
    }

    fn end_message(&mut self) {
        self.say(r#""endMessage":{}"#);
    }

    fn announce(&mut self, exchange: usize, wish: Wish, now: u64) {
        let short = ["call_0", "call_1", "call_2"][self.chance.index(3)];
        let taken = self.calls.iter().any(|call| call.exchange == exchange && call.wire == short);
        let wire = if taken { format!("call_{}", self.fresh() + 10) } else { short.to_owned() };
        let valid = !matches!(wish, Wish::Unfit(_));
        let arguments = self.arguments(valid);
        let awaits = match wish {
            _ if wish.asks() => Awaits::Confirmation,
            Wish::Client(..) | Wish::Unfit(_) | Wish::Hidden(_) | Wish::Unknown => Awaits::End,
            Wish::Blocked(..) | Wish::Own(..) => Awaits::Nothing,
        };
        let Some(run) = &mut self.run else { return };
        let message = run.message.clone();
        let place = self.calls.len();
        self.exchanges[exchange].messages.last_mut().unwrap().calls.push(place);
        self.calls.push(Call {
            id: format!("{}/{wire}", self.exchanges[exchange].id),
            exchange,
            message,
            wire,
            wish,
            arguments: arguments.clone(),
            valid,
            let_through: None,
            refused: false,
            confirmed: None,
            result: None,
            early: None,
            awaits,
        });
        let mut start = format!(r#"{{"toolName":"{}","input":{arguments}"#, wish.tool());
        if wish.asks() {
            start.extend([r#","requireConfirmation":true,"inputSchema":"#, crate::tools::STRICT]);
        }
        if wish.is_flagged() {
            start.push_str(r#","isClientSideTool":true"#);
        }
        start.push('}');
        self.say_of(place, "startToolCall", &start);
        if awaits == Awaits::Nothing {
            run_of(&mut self.run).own += 1;
        } else {
            run_of(&mut self.run).round.push((place, None));
        }
        if awaits != Awaits::Confirmation {
            self.let_through(place, now);
        }
        if let Wish::Blocked(_, length) | Wish::Own(length, false) = wish {
            self.out.push(Out::Timer { at: now + length, alarm: Alarm::End(place) });
        }
    }

    fn arguments(&mut self, valid: bool) -> String {
        let number = self.fresh();
        match (valid, self.chance.below(4)) {
            (false, _) => format!(r#"{{"mode":"unfit","n":{number}}}"#),
            (true, 0) => "{}".to_owned(),
            (true, 1) => format!(r#"{{"n":{number}.0,"deep":{{"x":null}}}}"#),
            (true, _) => format!(r#"{{"mode":"fit","n":{number}}}"#),
        }
    }

    fn say_of(&mut self, place: usize, member: &str, value: &str) {
        let call = &self.calls[place];
        let envelope = text::of_call(&self.exchanges[call.exchange].id, &call.message, &call.wire, member, value);
        self.out.push(Out::All(envelope));
    }

    fn let_through(&mut self, place: usize, now: u64) {
        let call = &mut self.calls[place];
        call.let_through.get_or_insert(now);
        let input = format!(r#"{{"input":{}}}"#, call.arguments);
        self.say_of(place, "executingToolCall", &input);
    }

    /// The agent's own side ends a call.
    fn end_own(&mut self, place: usize, now: u64) {
        let call = &self.calls[place];
        if !self.run_is_of(call.exchange) {
            return;
        }
        let end = if matches!(call.wish, Wish::Blocked(..)) {
            self.reached.note(Situation::EndedByService);
            r#"{"isError":true,"output":"Execution was blocked by guardrail [g]"}"#
        } else {
            r#"{"output":{"found":1}}"#
        };
        self.end_call(place, end);
        run_of(&mut self.run).own -= 1;
        self.go_on(now);
    }

    fn end_call(&mut self, place: usize, end: &str) {
        self.calls[place].result = Some(end.to_owned());
        self.calls[place].awaits = Awaits::Nothing;
        self.say_of(place, "endToolCall", end);
    }

    /// Takes answers in the order of the calls, and goes on once it has all of them.
    pub(super) fn go_on(&mut self, now: u64) {
        while let Some(run) = &mut self.run
            && !run.thinks
        {
            if let Some(at) = run.round.iter().position(|(_, taken)| taken.is_none()) {
                let place = run.round[at].0;
                let Some(early) = self.calls[place].early.take() else { return };
                run.round[at].1 = Some(early.clone());
                if let (Awaits::Confirmation, Early::Confirmation(true, input)) = (self.calls[place].awaits, early) {
                    let call = &mut self.calls[place];
                    call.valid = !input.contains("unfit");
                    call.arguments = input;
                    self.let_through(place, now);
                }
                continue;
            }
            let round = std::mem::take(&mut run.round);
            if !round.is_empty() {
                self.resume(round, now);
                continue;
            }
            if run.own > 0 {
                return;
            }
            run.thinks = true;
            self.end_message();
            let length = self.chance.between(5, 900);
            return self.after(length, now);
        }
    }

    /// All calls that were waited for have their answers.
    fn resume(&mut self, round: Vec<(usize, Option<Early>)>, now: u64) {
        for (place, taken) in round {
            let call = &mut self.calls[place];
            match (call.awaits, taken) {
                (Awaits::Confirmation, Some(Early::Confirmation(true, _))) => {
                    if let Wish::Own(length, _) = call.wish {
                        call.awaits = Awaits::Nothing;
                        run_of(&mut self.run).own += 1;
                        self.out.push(Out::Timer { at: now + length, alarm: Alarm::End(place) });
                    } else {
                        call.awaits = Awaits::End;
                        run_of(&mut self.run).round.push((place, None));
                    }
                }
                (Awaits::Confirmation, Some(Early::Confirmation(false, _))) => {
                    self.reached.note(Situation::Rejected);
                    self.end_call(place, r#"{"output":{"meta":"Cancelled by user"},"isError":false}"#);
                }
                (Awaits::Confirmation, _) => {
                    self.end_call(place, r#"{"isError":true,"output":"1 validation error: approved is required"}"#);
                }
                // The answer of the client is not echoed.
                (Awaits::End | Awaits::Nothing, _) => call.awaits = Awaits::Nothing,
            }
        }
    }
}

fn run_of(run: &mut Option<Run>) -> &mut Run {
    run.as_mut().expect("the agent is at work")
}
