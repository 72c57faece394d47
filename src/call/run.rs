//! A call from being let through to the end of its handler.

use serde_json::value::RawValue;

use crate::json;
use crate::net::Millis;
use crate::tool::{Against, Part, Registry, Report};

use super::limits::beyond;
use super::open_call::{Call, Terms, late, tell};
use super::repair;
use super::{
    AbortCause, Action, CallId, Calls, CheckId, Claim, Ending, EngineError, FailureCode, Outcome, RunId, Settled, State,
};

/// Why a call is not run that was made from another schema than the tool has here.
const OTHER_VERSION: &str = "it is of another version of the tool, with another schema";

impl Calls {
    pub(super) fn begin(&mut self, id: &CallId, registry: &Registry, now: Millis, out: &mut Vec<Action>) {
        let check = CheckId(self.number());
        let here = |call: &Call| call.state.is_under_way() && call.state != State::Elsewhere;
        let under_way = self.open.iter().filter(|(_, call)| here(call)).count();
        let Some(call) = self.open.get_mut(id) else { return };
        let entry = registry.get(&call.wire);
        let Some(entry) = entry.filter(|entry| entry.tool.has_handler) else {
            let outcome = Outcome::MissingHandler { tool: call.tool.clone(), registered: registry.handled() };
            let other = entry.is_none() && registry.other_version(&call.wire).is_some();
            let reason = if other { OTHER_VERSION } else { "no handler has this name" };
            return self.finish(id, reason, outcome, out);
        };
        let too_many = beyond("there are", under_way, "calls on their way", self.limits.pending_calls);
        if let Some(message) = too_many {
            return self.fail(id, FailureCode::TooManyCalls, message, out);
        }
        if let Some(message) = call.arguments.as_deref().and_then(|arguments| self.limits.too_large(arguments)) {
            return self.fail(id, FailureCode::ArgumentsTooLarge, message, out);
        }
        if call.arguments.as_deref().is_some_and(repair::is_nothing) {
            call.tell_changed(id, "no arguments count as an empty object", repair::empty(), out);
        }
        call.terms = Terms {
            input: Against::of(Part::Input, Some(entry), call.schemas.input.as_deref()),
            output: Against::of(Part::Output, Some(entry), call.schemas.output.as_deref()),
            timeout: entry.tool.timeout,
            reviewed: entry.tool.reviewed,
            handler: Some(entry.handler),
        };
        let wrong = call.arguments.as_deref().and_then(repair::no_object).filter(|_| call.terms.input.is_none());
        if let Some(outcome) = wrong {
            return self.finish(id, "the arguments are no object", outcome, out);
        }
        self.line.push(id.clone());
        let Some(against) = call.terms.input.clone() else {
            call.ready = true;
            return self.advance(out);
        };
        call.state = State::Validating;
        let instance = call.arguments.as_deref().map_or("{}", RawValue::get).to_owned();
        tell(id, &call.tool, State::Validating, "the arguments are checked", None, None, out);
        self.check(id, (check, against, instance), now, out);
    }

    /// Has a value of a call checked, which may take as long as its handler may.
    pub(super) fn check(
        &mut self,
        id: &CallId,
        (check, against, instance): (CheckId, Against, String),
        now: Millis,
        out: &mut Vec<Action>,
    ) {
        let Some(call) = self.open.get_mut(id) else { return };
        call.deadline = Some(now + call.terms.timeout);
        self.checks.add(check, id.clone());
        out.push(Action::Check { check, against, instance });
    }

    /// A validation ended.
    pub fn checked(&mut self, check: CheckId, result: Result<Report, EngineError>, now: Millis, out: &mut Vec<Action>) {
        let Some(id) = self.checks.take(&check) else { return };
        let Some(call) = self.open.get_mut(&id) else { return };
        let returned = call.result.take();
        call.deadline = None;
        match (result, returned) {
            (Err(EngineError::Schema(message)), _) => self.fail(&id, FailureCode::InvalidSchema, message, out),
            (Err(EngineError::Unavailable(message)), _) => {
                self.fail(&id, FailureCode::SchemaEngineUnavailable, message, out);
            }
            (Err(EngineError::Validator(message)), _) => self.fail(&id, FailureCode::ValidatorThrew, message, out),
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

    /// Claims what has come to the front of the line and is ready.
    pub(super) fn advance(&mut self, out: &mut Vec<Action>) {
        while let Some(id) = self.line.first()
            && let Some(call) = self.open.get_mut(id).filter(|call| call.ready)
        {
            call.state = State::Claiming;
            tell(id, &call.tool, State::Claiming, "the ledger is asked", None, None, out);
            out.push(Action::Claim { call: id.clone(), tool: call.tool.clone(), lease: call.terms.timeout });
            self.line.remove(0);
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
                let reviewed = call.terms.reviewed;
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

    /// A handler ended.
    pub fn handler_settled(&mut self, run: RunId, settled: Settled, now: Millis, out: &mut Vec<Action>) {
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
            Settled::Returned(text) => self.returned(&id, (check, &text), "the handler returned", now, out),
            Settled::Replaced(text) => self.returned(&id, (check, &text), "a guard gave another result", now, out),
        }
    }

    fn returned(
        &mut self,
        id: &CallId,
        (check, text): (CheckId, &str),
        reason: &'static str,
        now: Millis,
        out: &mut Vec<Action>,
    ) {
        let Some(call) = self.open.get_mut(id) else { return };
        if let Some(message) = beyond("the result has", text.len(), "bytes", self.limits.result_bytes) {
            return self.fail(id, FailureCode::ResultTooLarge, message, out);
        }
        match (json::raw(text), call.terms.output.clone()) {
            (None, _) => {
                self.fail(id, FailureCode::ResultNotSerializable, "the result is no JSON".to_owned(), out);
            }
            (Some(result), None) => self.settle(id, reason, Outcome::Ok { result }, out),
            (Some(result), Some(against)) => {
                let instance = result.get().to_owned();
                call.result = Some((result, reason));
                self.check(id, (check, against, instance), now, out);
            }
        }
    }

    /// Time went on.
    pub fn tick(&mut self, now: Millis, out: &mut Vec<Action>) {
        let late: Vec<_> = self
            .open
            .iter()
            .filter(|(_, call)| call.deadline.is_some_and(|deadline| deadline <= now))
            .map(|(id, call)| (id.clone(), call.run, call.terms.timeout))
            .collect();
        for (id, run, timeout) in late {
            if self.any_check_of(&id) {
                self.unchecked(&id, timeout, out);
                continue;
            }
            if let Some(run) = run {
                out.push(Action::Abort { run, cause: AbortCause::TimedOut });
            }
            self.settle(&id, "the handler took too long", Outcome::TimedOut { timeout: timeout.0 }, out);
        }
    }

    /// A check took too long. What comes of it later is about nothing any more.
    fn unchecked(&mut self, id: &CallId, timeout: Millis, out: &mut Vec<Action>) {
        self.forget_checks_of(id);
        let Some(call) = self.open.get_mut(id) else { return };
        call.deadline = None;
        let what = if call.result.is_some() { "the result was" } else { "the arguments were" };
        let message = [what, " not checked within ", &timeout.0.to_string(), " ms"].concat();
        self.fail(id, FailureCode::CheckTimedOut, message, out);
    }

    fn any_check_of(&self, id: &CallId) -> bool {
        self.checks.iter().any(|(_, of)| of == id)
    }

    pub(super) fn forget_checks_of(&mut self, id: &CallId) {
        let check = self.checks.iter().find_map(|(check, of)| (of == id).then_some(*check));
        if let Some(check) = check {
            self.checks.take(&check);
        }
    }

    /// When [`Calls::tick`] is needed next.
    pub fn next_deadline(&self) -> Option<Millis> {
        self.open.iter().filter_map(|(_, call)| call.deadline).min()
    }
}
