//! All calls of a conversation and what moves them.

use std::collections::VecDeque;

use serde_json::value::RawValue;

use crate::json;
use crate::list::List;
use crate::net::Millis;
use crate::recent::Recent;
use crate::tool::{Against, Registry, Report, SchemaId, Schemas};

use super::{
    AbortCause, Action, CallId, CheckId, Claim, Ending, EngineError, FailureCode, Outcome, RunId, Settled, State, Step,
    Verdict,
};

/// Calls that may wait to be let through. More than that were left behind by turns that are over.
const ANNOUNCED: usize = 1_024;

/// The calls. Each method is one thing that happened; what must be done about it is added to `out`.
///
/// A call moves forward only. It is let through once, claimed once, run once and settled once, however often and in whatever
/// order the happenings come.
#[derive(Debug, Default)]
pub struct Calls {
    /// Whether the agent waits for each outcome, so that no other page may be at work when one is told.
    pub(super) answering: bool,
    pub(super) open: List<CallId, Call>,
    /// What remains of an ended call is its name, so that it is not taken for a new one.
    ended: Recent,
    /// Calls that are to start, in the order they were let through: effects of one call may be the ground of the next.
    line: VecDeque<CallId>,
    pub(super) checks: List<CheckId, CallId>,
    pub(super) runs: List<RunId, CallId>,
    next: u32,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) state: State,
    pub(super) tool: String,
    pub(super) arguments: Option<Box<RawValue>>,
    schemas: Schemas,
    pub(super) limits: Limits,
    /// Whether nothing but its place in the line keeps it from starting.
    ready: bool,
    /// Whether a turn has ended since it was announced.
    stale: bool,
    pub(super) run: Option<RunId>,
    pub(super) deadline: Option<Millis>,
    /// What the handler returned, while it is being checked, and why it counts.
    result: Option<(Box<RawValue>, &'static str)>,
    /// How it ends without a run, once it is ours.
    verdict: Option<(&'static str, Outcome)>,
    /// What follows when the arguments that a guard gave are checked.
    pub(super) reviewed: Option<Verdict>,
}

/// What the tool's declaration said when the call was let through.
#[derive(Debug, Clone, Default)]
pub(super) struct Limits {
    pub(super) input: Option<Against>,
    output: Option<Against>,
    pub(super) timeout: Millis,
    reviewed: bool,
}

impl Calls {
    /// The calls of a server that waits for answers, or does not.
    pub fn new(answering: bool) -> Self {
        Self { answering, ..Self::default() }
    }

    /// The agent wants a call.
    pub fn announced(
        &mut self,
        id: &CallId,
        tool: &str,
        arguments: Box<RawValue>,
        schemas: Schemas,
        registry: &Registry,
        out: &mut Vec<Action>,
    ) {
        if self.ended.contains(id.as_str()) {
            return;
        }
        match self.open.get_mut(id) {
            None => {
                self.make_room(out);
                let call = Call { schemas, ..Call::new(State::Announced, tool, Some(arguments.clone())) };
                self.open.add(id.clone(), call);
                tell(id, tool, State::Announced, "the agent asks for it", Some(arguments), None, out);
            }
            Some(call) if call.state == State::Authorised && call.arguments.is_none() => {
                tool.clone_into(&mut call.tool);
                call.arguments = Some(arguments.clone());
                tell(id, tool, State::Authorised, "let through before it was seen", Some(arguments), None, out);
                self.begin(id, registry, out);
            }
            Some(_) => {}
        }
    }

    /// Gives up the oldest call that was announced and never let through, when there are too many.
    fn make_room(&mut self, out: &mut Vec<Action>) {
        let mut waits = self.open.iter().filter(|(_, call)| !call.state.is_under_way());
        let oldest = waits.next().map(|(id, call)| (id.clone(), call.tool.clone()));
        if let Some((id, tool)) = oldest
            && waits.count() + 1 >= ANNOUNCED
        {
            self.withdrawn(&id, &tool, "too many calls wait to be let through".to_owned(), out);
        }
    }

    /// A person is asked about a call that is not let through.
    pub fn waiting(&mut self, id: &CallId, out: &mut Vec<Action>) {
        if let Some(call) = self.open.get_mut(id).filter(|call| call.state == State::Announced) {
            call.state = State::Waiting;
            tell(id, &call.tool, State::Waiting, "waits for approval", None, None, out);
        }
    }

    /// A person is asked about every call that is not let through.
    pub fn waiting_all(&mut self, out: &mut Vec<Action>) {
        let ids: Vec<_> = self.open.iter().map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.waiting(&id, out);
        }
    }

    /// The call may run, perhaps with other arguments than the agent wanted.
    pub fn authorised(
        &mut self,
        id: &CallId,
        reason: &'static str,
        arguments: Option<Box<RawValue>>,
        registry: &Registry,
        out: &mut Vec<Action>,
    ) {
        if self.ended.contains(id.as_str()) {
            return late(id, "an acknowledgement after the call had ended", out);
        }
        match self.open.get_mut(id) {
            None => {
                self.open.add(id.clone(), Call::new(State::Authorised, "", None));
                out.push(Action::Fetch(id.clone()));
            }
            Some(call) if matches!(call.state, State::Announced | State::Waiting) => {
                let stale = call.stale;
                call.state = State::Authorised;
                call.tell_changed(id, reason, arguments, out);
                if stale {
                    let message = "the turn that asked for it was over before it was let through".to_owned();
                    return self.settle(id, "too late to be of use", Outcome::Cancelled { message }, out);
                }
                self.begin(id, registry, out);
            }
            Some(_) => {}
        }
    }

    /// The turn is over: what was announced in it and not let through belongs to the past.
    pub fn turn_over(&mut self) {
        for (_, call) in self.open.iter_mut().filter(|(_, call)| !call.state.is_under_way()) {
            call.stale = true;
        }
    }

    /// The turn is over, and with it every call of it: nobody waits for an answer any more.
    pub fn all_over(&mut self, reason: &str, out: &mut Vec<Action>) {
        let open: Vec<_> = self.open.iter().map(|(id, call)| (id.clone(), call.tool.clone())).collect();
        for (id, tool) in open {
            self.server_ended(&id, &tool, reason.to_owned(), out);
        }
    }

    /// The server could not show a call that it let through.
    pub fn unavailable(&mut self, id: &CallId, message: String, out: &mut Vec<Action>) {
        if self.open.get(id).is_some_and(|call| call.state == State::Authorised && call.arguments.is_none()) {
            self.fail(id, FailureCode::CallUnavailable, message, out);
        }
    }

    /// The server took the call back. Once it is let through that no longer counts: the first word wins.
    pub fn withdrawn(&mut self, id: &CallId, tool: &str, reason: String, out: &mut Vec<Action>) {
        if self.end_unauthorised(id, out) {
            tell(id, tool, State::Withdrawn, reason, None, None, out);
        }
    }

    /// A person or a hook said no.
    pub fn rejected(&mut self, id: &CallId, tool: &str, message: String, out: &mut Vec<Action>) {
        if self.end_unauthorised(id, out) {
            tell(id, tool, State::Settled, "rejected", None, Some(Ending::Server(Outcome::Rejected { message })), out);
        }
    }

    /// The server has ended the call itself, whatever its state.
    pub fn server_ended(&mut self, id: &CallId, tool: &str, reason: String, out: &mut Vec<Action>) {
        let under_way = self.open.get(id).is_some_and(|call| call.state.is_under_way());
        if under_way {
            let outcome = Outcome::Cancelled { message: reason.clone() };
            record(id, &outcome, out);
            self.drop_call(id, &reason, Ending::Server(outcome), out);
        } else if self.end_unauthorised(id, out) {
            tell(id, tool, State::Withdrawn, reason, None, None, out);
        }
    }

    /// Nobody knows how far a call came: it is not run, and the agent is told.
    pub fn orphaned(&mut self, id: &CallId, tool: &str, out: &mut Vec<Action>) {
        if self.ended.contains(id.as_str()) || self.open.get(id).is_some_and(|call| call.state.is_under_way()) {
            return;
        }
        if self.open.get(id).is_none() {
            self.open.add(id.clone(), Call::new(State::Announced, tool, None));
        }
        let message = "its go signal was missed: it may or may not have done its work".to_owned();
        self.finish(id, "nothing is known of it", Outcome::Interrupted { message }, out);
    }

    /// Ends a call that was not let through, seen before or not. Whether that was so.
    fn end_unauthorised(&mut self, id: &CallId, out: &mut Vec<Action>) -> bool {
        let waits = |call: &Call| matches!(call.state, State::Announced | State::Waiting);
        if self.ended.contains(id.as_str()) || !self.open.get(id).is_none_or(waits) {
            late(id, "the server took the call back after it was let through", out);
            return false;
        }
        self.open.take(id);
        self.ended.add(id.name());
        true
    }

    /// A validation ended.
    pub fn checked(&mut self, check: CheckId, result: Result<Report, EngineError>, now: Millis, out: &mut Vec<Action>) {
        let Some(id) = self.checks.take(&check) else { return };
        let Some(call) = self.open.get_mut(&id) else { return };
        let returned = call.result.take();
        match (result, returned) {
            (Err(EngineError::Schema(message)), _) => self.fail(&id, FailureCode::InvalidSchema, message, out),
            (Err(EngineError::Unavailable(message)), _) => {
                self.fail(&id, FailureCode::SchemaEngineUnavailable, message, out);
            }
            (Ok(report), None) if report.valid && call.state == State::Guarding => self.review_passed(&id, now, out),
            (Ok(report), None) if report.valid => {
                call.ready = true;
                self.advance(out);
            }
            (Ok(report), None) => {
                let outcome = Outcome::InvalidArguments { issues: report.issues };
                self.finish(&id, "the arguments do not fit the schema", outcome, out);
            }
            (Ok(report), Some((result, reason))) if report.valid => {
                self.settle(&id, reason, Outcome::Ok { result }, out);
            }
            (Ok(report), Some(_)) => {
                let outcome = Outcome::InvalidOutput { issues: report.issues };
                self.settle(&id, "the result does not fit the output schema", outcome, out);
            }
        }
    }

    /// The ledger answered.
    pub fn claimed(&mut self, id: &CallId, claim: Claim, now: Millis, out: &mut Vec<Action>) {
        let run = RunId(self.number());
        let Some(call) = self.open.get_mut(id).filter(|call| call.state == State::Claiming) else { return };
        match claim {
            Claim::Won => {
                if let Some((reason, outcome)) = call.verdict.take() {
                    return self.settle(id, reason, outcome, out);
                }
                call.run = Some(run);
                let reviewed = call.limits.reviewed;
                self.runs.add(run, id.clone());
                if reviewed { self.review(id, now, out) } else { self.start(id, now, out) }
            }
            Claim::Held => {
                call.state = State::Elsewhere;
                tell(id, &call.tool, State::Elsewhere, "another page has it", None, None, out);
                out.push(Action::Watch(id.clone()));
            }
            Claim::Abandoned => self.interrupted(id, out),
            Claim::Settled(outcome) => self.end(id, "it has run before", Ending::Elsewhere(outcome), out),
        }
    }

    /// The ledger has a call that was begun and not ended, from before we came.
    pub fn recalled(&mut self, id: &CallId, tool: &str, claim: Claim, out: &mut Vec<Action>) {
        if self.ended.contains(id.as_str()) || self.open.get(id).is_some() {
            return;
        }
        self.open.add(id.clone(), Call::new(State::Elsewhere, tool, None));
        match claim {
            Claim::Won | Claim::Held => {
                tell(id, tool, State::Elsewhere, "another page has it", None, None, out);
                out.push(Action::Watch(id.clone()));
            }
            Claim::Abandoned => self.interrupted(id, out),
            Claim::Settled(outcome) => self.end(id, "it has run before", Ending::Elsewhere(outcome), out),
        }
    }

    /// The ledger has the outcome of a call, or knows that its page is gone.
    pub fn watched(&mut self, id: &CallId, claim: Claim, out: &mut Vec<Action>) {
        let Some(call) = self.open.get(id) else { return };
        match (claim, call.state) {
            (Claim::Settled(outcome), State::Elsewhere) => {
                self.end(id, "it ended in another page", Ending::Elsewhere(outcome), out);
            }
            // Somebody cancelled it from another page.
            (Claim::Settled(outcome), State::Guarding | State::Confirming | State::Running) => {
                if let Some(run) = call.run {
                    out.push(Action::Abort { run, cause: AbortCause::Cancelled("ended from another page".into()) });
                }
                self.end(id, "it was ended from another page", Ending::Elsewhere(outcome), out);
            }
            (Claim::Abandoned, State::Elsewhere) => self.interrupted(id, out),
            _ => {}
        }
    }

    fn interrupted(&mut self, id: &CallId, out: &mut Vec<Action>) {
        let message = "the page that ran it is gone, and it may or may not have done its work".to_owned();
        self.settle(id, "its page is gone", Outcome::Interrupted { message }, out);
    }

    /// A handler ended.
    pub fn handler_settled(&mut self, run: RunId, settled: Settled, out: &mut Vec<Action>) {
        let Some(id) = self.runs.take(&run) else { return };
        let check = CheckId(self.number());
        let Some(call) = self.open.get_mut(&id) else {
            return late(&id, "the handler ended after its call had its outcome", out);
        };
        call.deadline = None;
        match settled {
            Settled::Threw { name, message } => {
                let outcome = Outcome::Failed { code: FailureCode::HandlerThrew, name, message };
                self.settle(&id, "the handler threw", outcome, out);
            }
            Settled::Withheld { message } => self.fail(&id, FailureCode::ResultWithheld, message, out),
            Settled::NotSerializable { message } => {
                self.fail(&id, FailureCode::ResultNotSerializable, message, out);
            }
            Settled::Returned(text) => self.returned(id, check, text, "the handler returned", out),
            Settled::Replaced(text) => self.returned(id, check, text, "a guard gave another result", out),
        }
    }

    fn returned(&mut self, id: CallId, check: CheckId, text: String, reason: &'static str, out: &mut Vec<Action>) {
        let Some(call) = self.open.get_mut(&id) else { return };
        match (RawValue::from_string(text), call.limits.output.clone()) {
            (Err(_), _) => {
                self.fail(&id, FailureCode::ResultNotSerializable, "the result is no JSON".to_owned(), out);
            }
            (Ok(result), None) => self.settle(&id, reason, Outcome::Ok { result }, out),
            (Ok(result), Some(against)) => {
                let instance = result.get().to_owned();
                call.result = Some((result, reason));
                self.checks.add(check, id);
                out.push(Action::Check { check, against, instance });
            }
        }
    }

    /// The app no longer wants a call, wherever it runs. `false` when there is no such open call.
    pub fn cancel(&mut self, id: &CallId, message: &str, out: &mut Vec<Action>) -> bool {
        let Some(call) = self.open.get(id) else { return false };
        let outcome = Outcome::Cancelled { message: message.to_owned() };
        if self.answering && matches!(call.state, State::Authorised | State::Validating | State::Claiming) {
            self.finish(id, "cancelled", outcome, out);
            return true;
        }
        record(id, &outcome, out);
        self.drop_call(id, message, Ending::Here(outcome), out);
        true
    }

    /// The same for every call that is let through.
    pub fn cancel_all(&mut self, message: &str, out: &mut Vec<Action>) {
        let open: Vec<_> =
            self.open.iter().filter(|(_, call)| call.state.is_under_way()).map(|(id, _)| id.clone()).collect();
        for id in open {
            self.cancel(&id, message, out);
        }
    }

    /// The page no longer takes part: its own calls are cancelled, and what another page runs is left to that.
    pub fn leave(&mut self, message: &str, out: &mut Vec<Action>) {
        let open: Vec<_> = self.open.iter().map(|(id, call)| (id.clone(), call.state)).collect();
        for (id, state) in open {
            let outcome = Outcome::Cancelled { message: message.to_owned() };
            match state {
                State::Elsewhere => {
                    let call = self.open.take(&id);
                    let tool = call.map(|call| call.tool).unwrap_or_default();
                    tell(&id, &tool, State::Withdrawn, "it is left to the page that runs it", None, None, out);
                }
                State::Guarding | State::Confirming | State::Running => {
                    record(&id, &outcome, out);
                    self.drop_call(&id, message, Ending::Here(outcome), out);
                }
                // Another page may still run it.
                _ => self.drop_call(&id, message, Ending::Server(outcome), out),
            }
        }
    }

    fn drop_call(&mut self, id: &CallId, message: &str, ending: Ending, out: &mut Vec<Action>) {
        let run = self.open.get(id).and_then(|call| call.run);
        if let Some(run) = run.filter(|run| self.runs.get(run).is_some()) {
            out.push(Action::Abort { run, cause: AbortCause::Cancelled(message.to_owned()) });
        }
        self.end(id, "cancelled", ending, out);
    }

    /// Time went on.
    pub fn tick(&mut self, now: Millis, out: &mut Vec<Action>) {
        let late: Vec<_> = self
            .open
            .iter()
            .filter(|(_, call)| call.deadline.is_some_and(|deadline| deadline <= now))
            .map(|(id, call)| (id.clone(), call.run, call.limits.timeout))
            .collect();
        for (id, run, timeout) in late {
            if let Some(run) = run {
                out.push(Action::Abort { run, cause: AbortCause::TimedOut });
            }
            self.settle(&id, "the handler took too long", Outcome::TimedOut { timeout: timeout.0 }, out);
        }
    }

    /// When [`Calls::tick`] is needed next.
    pub fn next_deadline(&self) -> Option<Millis> {
        self.open.iter().filter_map(|(_, call)| call.deadline).min()
    }

    /// Whether a call is let through and has not ended.
    pub fn any_under_way(&self) -> bool {
        self.open.iter().any(|(_, call)| call.state.is_under_way())
    }

    /// Whether a call is let through and not in the ledger: if the page ended now, nobody would know of it.
    pub fn any_unclaimed(&self) -> bool {
        let unclaimed = |state| matches!(state, State::Authorised | State::Validating | State::Claiming);
        self.open.iter().any(|(_, call)| unclaimed(call.state))
    }

    fn begin(&mut self, id: &CallId, registry: &Registry, out: &mut Vec<Action>) {
        let check = CheckId(self.number());
        let Some(call) = self.open.get_mut(id) else { return };
        let Some(entry) = registry.get(&call.tool).filter(|entry| entry.tool.has_handler) else {
            let outcome = Outcome::MissingHandler { tool: call.tool.clone(), registered: registry.handled() };
            return self.finish(id, "no handler has this name", outcome, out);
        };
        let against = |declared: Option<SchemaId>, received: &Option<Box<RawValue>>| {
            declared.map(Against::Declared).or_else(|| received.clone().map(Against::Received))
        };
        call.limits = Limits {
            input: against(entry.input, &call.schemas.input),
            output: against(entry.output, &call.schemas.output),
            timeout: entry.tool.timeout,
            reviewed: entry.tool.reviewed,
        };
        self.line.push_back(id.clone());
        let Some(against) = call.limits.input.clone() else {
            call.ready = true;
            return self.advance(out);
        };
        call.state = State::Validating;
        let instance = call.arguments.as_deref().map_or("{}", RawValue::get).to_owned();
        tell(id, &call.tool, State::Validating, "the arguments are checked", None, None, out);
        self.checks.add(check, id.clone());
        out.push(Action::Check { check, against, instance });
    }

    /// Claims what has come to the front of the line and is ready.
    fn advance(&mut self, out: &mut Vec<Action>) {
        while let Some(id) = self.line.front()
            && let Some(call) = self.open.get_mut(id).filter(|call| call.ready)
        {
            call.state = State::Claiming;
            tell(id, &call.tool, State::Claiming, "the ledger is asked", None, None, out);
            out.push(Action::Claim { call: id.clone(), tool: call.tool.clone(), lease: call.limits.timeout });
            self.line.pop_front();
        }
    }

    fn fail(&mut self, id: &CallId, code: FailureCode, message: String, out: &mut Vec<Action>) {
        let reason = match code {
            FailureCode::HandlerThrew => "the handler threw",
            FailureCode::ResultNotSerializable => "the result is not JSON",
            FailureCode::InvalidSchema => "the tool's schema is wrong",
            FailureCode::SchemaEngineUnavailable => "the schema engine could not be loaded",
            FailureCode::CallUnavailable => "the server could not show the call",
            FailureCode::ResultWithheld => "a guard kept the result back",
        };
        self.finish(id, reason, Outcome::Failed { code, name: String::new(), message }, out);
    }

    /// Ends a call that need not be ours. Where the agent waits for answers it must be: another page could be at work.
    fn finish(&mut self, id: &CallId, reason: &'static str, outcome: Outcome, out: &mut Vec<Action>) {
        let Some(call) = self.open.get_mut(id) else { return };
        let claimed = call.state > State::Claiming;
        if claimed || !self.answering {
            return self.settle(id, reason, outcome, out);
        }
        let asked = call.state == State::Claiming;
        call.verdict = Some((reason, outcome));
        call.state = State::Claiming;
        if !asked {
            tell(id, &call.tool, State::Claiming, "the ledger is asked", None, None, out);
            out.push(Action::Claim { call: id.clone(), tool: call.tool.clone(), lease: call.limits.timeout });
        }
        if let Some(place) = self.line.iter().position(|waits| waits == id) {
            self.line.remove(place);
            self.advance(out);
        }
    }

    pub(super) fn settle(&mut self, id: &CallId, reason: &str, outcome: Outcome, out: &mut Vec<Action>) {
        // What is in the ledger gets its outcome there. What never came so far may still run in a page that can run it.
        if self.open.get(id).is_some_and(|call| call.state >= State::Claiming) {
            record(id, &outcome, out);
        }
        self.end(id, reason, Ending::Here(outcome), out);
    }

    fn end(&mut self, id: &CallId, reason: &str, ending: Ending, out: &mut Vec<Action>) {
        let Some(call) = self.open.take(id) else { return };
        // No handler will answer for it.
        if let Some(run) = call.run.filter(|_| call.state != State::Running) {
            self.runs.take(&run);
        }
        self.ended.add(id.name());
        tell(id, &call.tool, State::Settled, reason, None, Some(ending), out);
        if let Some(place) = self.line.iter().position(|waits| waits == id) {
            self.line.remove(place);
            self.advance(out);
        }
    }

    /// Names a validation.
    pub fn next_check(&mut self) -> CheckId {
        CheckId(self.number())
    }

    fn number(&mut self) -> u32 {
        self.next = self.next.wrapping_add(1);
        self.next
    }
}

impl Call {
    fn new(state: State, tool: &str, arguments: Option<Box<RawValue>>) -> Self {
        Self {
            state,
            tool: tool.to_owned(),
            arguments,
            limits: Limits::default(),
            ready: false,
            stale: false,
            run: None,
            deadline: None,
            result: None,
            schemas: Schemas::default(),
            verdict: None,
            reviewed: None,
        }
    }

    /// Tells a step, with other arguments from now on if there are any.
    pub(super) fn tell_changed(
        &mut self,
        id: &CallId,
        reason: &str,
        arguments: Option<Box<RawValue>>,
        out: &mut Vec<Action>,
    ) {
        let (call_id, tool, state) = (id.clone(), self.tool.clone(), self.state);
        let mut step =
            Step { call_id, tool, state, reason: reason.to_owned(), arguments: None, edits: Vec::new(), outcome: None };
        if let Some(arguments) = arguments {
            step.edits = json::edits(self.arguments.as_deref(), &arguments);
            if !step.edits.is_empty() {
                step.arguments = Some(arguments.clone());
            }
            self.arguments = Some(arguments);
        }
        out.push(Action::Tell(step));
    }
}

pub(super) fn tell(
    id: &CallId,
    tool: &str,
    state: State,
    reason: impl Into<String>,
    arguments: Option<Box<RawValue>>,
    outcome: Option<Ending>,
    out: &mut Vec<Action>,
) {
    let (call_id, tool, reason) = (id.clone(), tool.to_owned(), reason.into());
    out.push(Action::Tell(Step { call_id, tool, state, reason, arguments, edits: Vec::new(), outcome }));
}

fn record(id: &CallId, outcome: &Outcome, out: &mut Vec<Action>) {
    // Nothing in an outcome can fail to serialise.
    let outcome = serde_json::to_string(outcome).unwrap_or_else(|_| "null".to_owned());
    out.push(Action::Record { call: id.clone(), outcome });
}

fn late(id: &CallId, what: &'static str, out: &mut Vec<Action>) {
    out.push(Action::Late { call: id.clone(), what });
}
