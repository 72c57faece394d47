//! How calls come to their end: each once.

use super::open_call::{record, tell};
use super::{AbortCause, Action, CallId, Calls, Ending, FailureCode, Outcome, State};

impl Calls {
    /// The app no longer wants a call, wherever it runs. `false` when there is no such open call.
    pub fn cancel(&mut self, id: &CallId, message: &str, out: &mut Vec<Action>) -> bool {
        let Some(call) = self.open.get(id) else { return false };
        let outcome = Outcome::Cancelled { message: message.to_owned() };
        let unclaimed = call.state <= State::Claiming;
        if self.answering && unclaimed {
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

    pub(super) fn drop_call(&mut self, id: &CallId, message: &str, ending: Ending, out: &mut Vec<Action>) {
        let run = self.open.get(id).and_then(|call| call.run);
        if let Some(run) = run.filter(|run| self.runs.get(run).is_some()) {
            out.push(Action::Abort { run, cause: AbortCause::Cancelled(message.to_owned()) });
        }
        self.end(id, "cancelled", ending, out);
    }

    pub(super) fn fail(&mut self, id: &CallId, code: FailureCode, message: String, out: &mut Vec<Action>) {
        let reason = match code {
            FailureCode::HandlerThrew => "the handler threw",
            FailureCode::ResultNotSerializable => "the result is not JSON",
            FailureCode::InvalidSchema => "the tool's schema is wrong",
            FailureCode::SchemaEngineUnavailable => "the schema engine could not be loaded",
            FailureCode::ValidatorThrew => "the app's validator failed",
            FailureCode::CheckTimedOut => "the check took too long",
            FailureCode::CallUnavailable => "the server could not show the call",
            FailureCode::ArgumentsTooLarge => "the arguments are too large",
            FailureCode::ResultTooLarge => "the result is too large",
            FailureCode::TooManyCalls => "too many calls are on their way",
            FailureCode::ResultWithheld => "a guard kept the result back",
        };
        self.finish(id, reason, Outcome::Failed { code, name: String::new(), message }, out);
    }

    /// Ends a call that need not be ours. Where the agent waits for answers it must be: another page could be at work.
    pub(super) fn finish(&mut self, id: &CallId, reason: &'static str, outcome: Outcome, out: &mut Vec<Action>) {
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
            out.push(Action::Claim { call: id.clone(), tool: call.tool.clone(), lease: call.terms.timeout });
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

    pub(super) fn end(&mut self, id: &CallId, reason: &str, ending: Ending, out: &mut Vec<Action>) {
        let Some(call) = self.open.take(id) else { return };
        self.forget_checks_of(id);
        // No handler will answer for it.
        if let Some(run) = call.run.filter(|_| call.state != State::Running) {
            self.runs.take(&run);
        }
        self.ended.add(id.as_str());
        tell(id, &call.tool, State::Settled, reason, None, Some(ending), out);
        if let Some(place) = self.line.iter().position(|waits| waits == id) {
            self.line.remove(place);
            self.advance(out);
        }
    }
}
