//! The machine itself: it hands inputs to the protocol and the calls, and turns what they say into effects.

use std::mem;
use std::rc::Rc;

use crate::call::{CallId, EngineError, LedgerEffect};
use crate::error::Error;
use crate::net::Millis;
use crate::protocol::{self, CommandId, Connection, Outlet, Status, Surroundings, Wire};

use super::approval::{Answer, Given, Wanted};

use super::state::{Conversation, Phase, Purpose};
use super::{Command, Content, Effect, Input, OperationId, Topic, Topics};

/// What becomes of a wish to run the agent.
enum Run {
    Free,
    /// It would approve what waits, and nobody said that it may.
    Refused,
    /// It approves what waits.
    Approves,
}

impl Conversation {
    /// Something happened. What must be done about it, in order.
    pub fn handle(&mut self, input: Input, now: Millis) -> Vec<Effect> {
        if let Phase::Closed(reason) = &self.phase {
            let reason = reason.clone();
            self.handle_closed(input, reason);
        } else {
            self.handle_open(input, now);
            if !self.turn.is_active() {
                self.registry.turn_over();
            }
            self.release(now);
            self.send_results(now);
            self.stop_when_told(now);
            self.settle_idle();
            self.write_place(now);
            self.forget_handlers();
        }
        mem::take(&mut self.out)
    }

    /// From now on only these topics are told; all of them are, until this is said.
    pub fn tell_only(&mut self, topics: Topics) {
        self.heard = topics;
    }

    /// When [`Input::Tick`] is needed next.
    pub fn next_wakeup(&self) -> Option<Millis> {
        if matches!(self.phase, Phase::Closed(_)) {
            return None;
        }
        let deadlines = [
            self.protocol.next_deadline(),
            self.calls.next_deadline(),
            self.turn.next_deadline(),
            self.next_writing(),
            self.next_late_check().map(|(until, _)| until),
        ];
        deadlines.into_iter().flatten().min()
    }

    fn handle_open(&mut self, input: Input, now: Millis) {
        match input {
            Input::App { operation, command } => self.app(operation, command, now),
            Input::Abandoned { operation } => self.abandon(operation),
            Input::Wire(wire) => self.wire(wire, now),
            Input::SchemaCompiled { schema, result } => {
                if let Err(EngineError::Schema(message)) = result {
                    for fault in self.registry.schema_faults(schema, &message) {
                        self.tell_error(&Error::InvalidTool(fault));
                    }
                }
            }
            Input::Validated { check, result } => {
                if !self.answer_checked(check, &result, now) {
                    self.calls_do(now, |calls, _, out| calls.checked(check, result, now, out));
                }
            }
            Input::Reviewed { run, verdict, arguments } => {
                self.calls_do(now, |calls, _, out| calls.reviewed(run, verdict, arguments, now, out));
            }
            Input::Ledger(input) => self.hear_ledger(input, now),
            Input::HandlerSettled { run, settled } => {
                self.calls_do(now, |calls, _, out| calls.handler_settled(run, settled, now, out));
            }
            Input::Tick => self.tick(now),
        }
    }

    fn handle_closed(&mut self, input: Input, reason: String) {
        if let Input::App { operation, command } = input {
            let result = match command {
                Command::Close => Ok("null".to_owned()),
                _ => Err(Error::Closed { reason }),
            };
            self.out.push(Effect::Settle { operation, result });
        }
    }

    fn app(&mut self, operation: OperationId, command: Command, now: Millis) {
        if let Some(error) = self.refused_by_limit(&command) {
            return self.settle(operation, Err(error));
        }
        match command {
            Command::Open => self.open(operation),
            Command::Close => {
                self.end(&Error::Closed { reason: "closed by the app".into() }, now);
                self.settle(operation, Ok("null".to_owned()));
            }
            Command::Declare(tool) => {
                let result = self.declare(operation, tool);
                self.settle(operation, result);
            }
            Command::Undeclare(name) => {
                let result = self.undeclare(&name);
                self.settle(operation, result);
            }
            Command::Cancel { call, reason } => {
                // Where the agent waits for a person's word about this call, that is the way to cancel it.
                if self.protocol.answers() && self.server_questions().contains(&call) {
                    return self.refuse(Some(operation), &call, reason, now);
                }
                let mut actions = Vec::new();
                let found = self.calls.cancel(&call, &reason, &mut actions);
                self.perform(actions, now);
                let unknown = || Error::UnknownCall { call: call.to_string() };
                self.settle(operation, found.then(|| "null".to_owned()).ok_or_else(unknown));
            }
            Command::Idle => self.idle.push(operation),
            Command::Send { content, run: false, .. } => self.say(Some(operation), content, false, now),
            Command::Send { content, approve, .. } => match self.may_run(approve) {
                Run::Refused => self.settle(operation, Err(Error::ApprovalPending)),
                Run::Approves => {
                    self.answer_approval(
                        None,
                        Wanted { operation: Some(operation), answer: Answer::Say(content) },
                        now,
                    );
                }
                Run::Free => self.speak(operation, content, now),
            },
            Command::Run { approve } => match self.may_run(approve) {
                Run::Refused => self.settle(operation, Err(Error::ApprovalPending)),
                Run::Approves => {
                    self.answer_approval(None, Wanted { operation: Some(operation), answer: Answer::Run }, now);
                }
                Run::Free => {
                    self.turn.begin(self.status != Status::Finished, now);
                    self.command(Purpose::App { operation: Some(operation), runs: true }, protocol::Command::Run, now);
                }
            },
            Command::Stop { reason } => self.stop(operation, &reason, now),
            Command::Answer { approval, accept, reason, arguments, say } => {
                let answer = Answer::Decide { accept, reason, arguments, say };
                let wanted = Wanted { operation: Some(operation), answer };
                self.answer_approval(Some(&approval), wanted, now);
            }
            Command::Do(deed) => {
                let purpose = Purpose::App { operation: Some(operation), runs: false };
                self.command(purpose, protocol::Command::Do(deed), now);
            }
            Command::History(page) => {
                let purpose = Purpose::App { operation: Some(operation), runs: false };
                self.command(purpose, protocol::Command::History(page), now);
            }
        }
    }

    fn open(&mut self, operation: OperationId) {
        if !matches!(self.phase, Phase::New) {
            let error = Error::InvalidArgument { field: "open", message: "a conversation is opened once".into() };
            return self.settle(operation, Err(error));
        }
        self.phase = Phase::Recalling(Some(operation));
        let schemas = mem::take(&mut self.schemas);
        self.compile(schemas);
        self.out.push(Effect::Ledger(LedgerEffect::Recall { conversation: Rc::clone(&self.key) }));
    }

    /// Whether the agent may be made to run now.
    fn may_run(&self, approve: bool) -> Run {
        let waits = self.is_approval_open() || self.status == Status::WaitingForConfirmation;
        match (waits && !self.protocol.answers(), approve) {
            (false, _) => Run::Free,
            (true, false) => Run::Refused,
            (true, true) => Run::Approves,
        }
    }

    /// Whether the server would lose a message that came now.
    fn would_lose(&self) -> bool {
        self.opened.as_ref().is_some_and(|opened| opened.loses_messages)
            && (self.turn.is_active() || !self.held.is_empty())
    }

    /// Sends the next message that waited for the end of the turn.
    fn release(&mut self, now: Millis) {
        if !self.turn.is_active() && !self.is_approval_open() && !self.held.is_empty() {
            let (operation, content) = self.held.remove(0);
            self.say(Some(operation), content, true, now);
        }
    }

    /// Says something that runs the agent, now or when it would not be lost.
    pub(super) fn speak(&mut self, operation: OperationId, content: Content, now: Millis) {
        if self.would_lose() {
            self.held.push((operation, content));
        } else {
            self.say(Some(operation), content, true, now);
        }
    }

    /// Ends the turn. Every call gets its outcome first, and the agent its answers.
    fn stop(&mut self, operation: OperationId, reason: &str, now: Millis) {
        self.stopping.push(operation);
        for question in self.server_questions() {
            self.refuse(None, &question, reason.to_owned(), now);
        }
        self.calls_do(now, |calls, _, out| calls.cancel_all(reason, out));
    }

    /// Says no to what the server asks.
    fn refuse(&mut self, operation: Option<OperationId>, question: &CallId, reason: String, now: Millis) {
        let answer = Answer::Decide { accept: false, reason, arguments: None, say: None };
        self.answer_approval(Some(question.as_str()), Wanted { operation, answer }, now);
    }

    /// Goes on with stopping once no answer is left to be sent.
    fn stop_when_told(&mut self, now: Millis) {
        let waits = self.calls.any_under_way() || self.any_owed() || self.any_answer_to_send();
        if self.stopping.is_empty() || waits {
            return;
        }
        for operation in mem::take(&mut self.stopping) {
            self.command(Purpose::App { operation: Some(operation), runs: false }, protocol::Command::Stop, now);
        }
    }

    pub(super) fn say(&mut self, operation: Option<OperationId>, content: Content, run: bool, now: Millis) {
        if run {
            self.turn.begin(true, now);
        }
        let say = protocol::Command::Say { content: content.into_json(), run };
        self.command(Purpose::App { operation, runs: run }, say, now);
    }

    fn tick(&mut self, now: Millis) {
        let mut outlet = Outlet::default();
        self.protocol.tick(now, &mut outlet);
        self.absorb(outlet, now);
        self.calls_do(now, |calls, _, out| calls.tick(now, out));
        self.end_late_checks(now);
        if self.turn.poll_is_due(now) {
            self.command(Purpose::Poll, protocol::Command::Poll, now);
        }
    }

    fn wire(&mut self, wire: Wire, now: Millis) {
        if matches!(wire, Wire::Surroundings(Surroundings::Leaving)) && !self.calls.any_unclaimed() {
            self.write_place_now(true, now);
        }
        if self.is_too_large(&wire) {
            return;
        }
        let mut outlet = Outlet::default();
        self.protocol.wire(wire, now, &mut outlet);
        self.absorb(outlet, now);
    }

    pub(super) fn command(&mut self, purpose: Purpose, command: protocol::Command, now: Millis) {
        self.next_command = self.next_command.wrapping_add(1);
        let id = CommandId(self.next_command);
        self.commands.add(id, purpose);
        let mut outlet = Outlet::default();
        self.protocol.command(id, command, now, &mut outlet);
        self.absorb(outlet, now);
    }

    /// Carries out what the protocol wants, then hears what it says.
    pub(super) fn absorb(&mut self, outlet: Outlet, now: Millis) {
        self.out.extend(outlet.effects.into_iter().map(Effect::Wire));
        for signal in outlet.signals {
            self.hear(signal, now);
        }
    }

    pub(super) fn done(&mut self, id: CommandId, result: Result<String, Error>, now: Millis) {
        match self.commands.take(&id) {
            None | Some(Purpose::Poll) => {}
            Some(Purpose::Look) => {
                if let Err(error) = result {
                    self.approval_looked(&Err(error), now);
                }
            }
            Some(Purpose::Answer(given)) => self.answered(given, result, now),
            Some(Purpose::Results(owed)) => self.results_sent(owed, &result),
            Some(Purpose::Told(owed)) => self.answer_sent(&owed, &result),
            Some(Purpose::App { operation, runs }) => {
                if runs && result.is_err() {
                    self.turn.withdraw();
                }
                if let Some(operation) = operation {
                    self.settle(operation, result);
                }
            }
            Some(Purpose::Call(call)) => {
                let message = match result {
                    Ok(_) => "the server's answer does not describe the call".to_owned(),
                    Err(error) => error.to_string(),
                };
                self.calls_do(now, |calls, _, out| calls.unavailable(&call, message, out));
            }
        }
    }

    fn abandon(&mut self, operation: OperationId) {
        self.idle.retain(|waiting| *waiting != operation);
        self.stopping.retain(|waiting| *waiting != operation);
        for (_, purpose) in self.commands.iter_mut() {
            if let Purpose::App { operation: waiting, .. } = purpose
                && *waiting == Some(operation)
            {
                *waiting = None;
            }
        }
        if let Phase::Recalling(waiting) | Phase::Opening(waiting) = &mut self.phase
            && *waiting == Some(operation)
        {
            *waiting = None;
        }
    }

    /// Ends the conversation: nothing runs, nothing waits, nothing follows.
    pub(super) fn end(&mut self, error: &Error, now: Millis) {
        self.calls_do(now, |calls, _, out| calls.leave("the conversation is closed", out));
        if matches!(self.phase, Phase::Open) {
            self.write_place_now(true, now);
        }
        self.close_approvals(&|_| true, "the conversation is closed", error);
        self.tell_while_closing(now);
        let mut outlet = Outlet::default();
        self.protocol.close(&mut outlet);
        self.absorb(outlet, now);
        let mut waiting = Vec::new();
        match mem::replace(&mut self.phase, Phase::Closed(error.reason())) {
            Phase::Recalling(operation) | Phase::Opening(operation) => waiting.extend(operation),
            Phase::New | Phase::Open | Phase::Closed(_) => {}
        }
        for (_, purpose) in mem::take(&mut self.commands).iter() {
            match purpose {
                Purpose::App { operation, .. } | Purpose::Answer(Given { operation, .. }) => waiting.extend(*operation),
                Purpose::Call(_) | Purpose::Poll | Purpose::Look | Purpose::Results(_) | Purpose::Told(_) => {}
            }
        }
        waiting.extend(mem::take(&mut self.held).iter().map(|(operation, _)| *operation));
        waiting.append(&mut self.stopping);
        waiting.append(&mut self.idle);
        for operation in waiting {
            self.settle(operation, Err(error.clone()));
        }
        self.emit(Topic::Connection, &Connection::Closed { reason: error.reason(), code: error.code() });
    }

    /// Settles an operation, if anybody waits.
    pub(super) fn settle(&mut self, operation: impl Into<Option<OperationId>>, result: Result<String, Error>) {
        self.out.extend(operation.into().map(|operation| Effect::Settle { operation, result }));
    }

    fn settle_idle(&mut self) {
        if self.idle.is_empty()
            || self.turn.is_active()
            || self.calls.any_under_way()
            || !self.held.is_empty()
            || self.results_are_due()
        {
            return;
        }
        let end = self.turn_end();
        for operation in mem::take(&mut self.idle) {
            self.settle(operation, Ok(end.clone()));
        }
    }
}
