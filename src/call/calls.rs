//! All calls of a conversation and what moves them.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use serde_json::value::RawValue;

use crate::list::List;
use crate::net::Millis;
use crate::tool::{Registry, Report, SchemaId, ToolName};

use super::{AbortCause, Action, CallId, CheckId, EngineError, FailureCode, Outcome, RunId, Settled, State, Step};

/// The calls. Each method is one thing that happened; what must be done about it is added to `out`.
///
/// A call moves forward only. It is let through once, claimed once, run once and settled once, however often and in whatever
/// order the happenings come.
#[derive(Debug, Default)]
pub struct Calls {
    open: List<CallId, Call>,
    /// What remains of an ended call is its name, so that it is never taken for a new one.
    ended: HashSet<Rc<str>>,
    /// Calls that are to start, in the order they were let through: effects of one call may be the ground of the next.
    line: VecDeque<CallId>,
    checks: List<CheckId, CallId>,
    runs: List<RunId, CallId>,
    next: u32,
}

#[derive(Debug)]
struct Call {
    state: State,
    tool: String,
    arguments: Option<Box<RawValue>>,
    limits: Limits,
    /// Whether nothing but its place in the line keeps it from starting.
    ready: bool,
    run: Option<RunId>,
    deadline: Option<Millis>,
    /// What the handler returned, while it is being checked.
    result: Option<Box<RawValue>>,
}

/// What the tool's declaration said when the call was let through.
#[derive(Debug, Clone, Copy, Default)]
struct Limits {
    output: Option<SchemaId>,
    timeout: Millis,
}

impl Calls {
    /// The agent wants a call.
    pub fn announced(
        &mut self,
        id: &CallId,
        tool: &str,
        arguments: Box<RawValue>,
        registry: &Registry,
        out: &mut Vec<Action>,
    ) {
        if self.ended.contains(id.as_str()) {
            return;
        }
        match self.open.get_mut(id) {
            None => {
                self.open.add(id.clone(), Call::new(State::Announced, tool, Some(arguments.clone())));
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

    /// A person is asked about every call that is not let through.
    pub fn waiting_all(&mut self, out: &mut Vec<Action>) {
        for (id, call) in self.open.iter_mut().filter(|(_, call)| call.state == State::Announced) {
            call.state = State::Waiting;
            tell(id, &call.tool, State::Waiting, "waits for approval", None, None, out);
        }
    }

    /// The call may run.
    pub fn authorised(&mut self, id: &CallId, reason: &'static str, registry: &Registry, out: &mut Vec<Action>) {
        if self.ended.contains(id.as_str()) {
            return late(id, "an acknowledgement after the call had ended", out);
        }
        match self.open.get_mut(id) {
            None => {
                self.open.add(id.clone(), Call::new(State::Authorised, "", None));
                out.push(Action::Fetch(id.clone()));
            }
            Some(call) if matches!(call.state, State::Announced | State::Waiting) => {
                call.state = State::Authorised;
                tell(id, &call.tool, State::Authorised, reason, None, None, out);
                self.begin(id, registry, out);
            }
            Some(_) => {}
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
            tell(id, tool, State::Settled, "rejected", None, Some(Outcome::Rejected { message }), out);
        }
    }

    /// Ends a call that was not let through, seen before or not. Whether that was so.
    fn end_unauthorised(&mut self, id: &CallId, out: &mut Vec<Action>) -> bool {
        let waits = |call: &Call| matches!(call.state, State::Announced | State::Waiting);
        if self.ended.contains(id.as_str()) || !self.open.get(id).is_none_or(waits) {
            late(id, "the server took the call back after it was let through", out);
            return false;
        }
        self.open.take(id);
        self.ended.insert(id.name());
        true
    }

    /// A validation ended.
    pub fn checked(&mut self, check: CheckId, result: Result<Report, EngineError>, out: &mut Vec<Action>) {
        let Some(id) = self.checks.take(&check) else { return };
        let Some(call) = self.open.get_mut(&id) else { return };
        let returned = call.result.take();
        match (result, returned) {
            (Err(EngineError::Schema(message)), _) => self.fail(&id, FailureCode::InvalidSchema, message, out),
            (Err(EngineError::Unavailable(message)), _) => {
                self.fail(&id, FailureCode::SchemaEngineUnavailable, message, out);
            }
            (Ok(report), None) if report.valid => {
                call.ready = true;
                self.advance(out);
            }
            (Ok(report), None) => {
                let outcome = Outcome::InvalidArguments { issues: report.issues };
                self.settle(&id, "the arguments do not fit the schema", outcome, out);
            }
            (Ok(report), Some(result)) if report.valid => {
                self.settle(&id, "the handler returned", Outcome::Ok { result }, out);
            }
            (Ok(report), Some(_)) => {
                let outcome = Outcome::InvalidOutput { issues: report.issues };
                self.settle(&id, "the result does not fit the output schema", outcome, out);
            }
        }
    }

    /// The ledger answered.
    pub fn claimed(&mut self, id: &CallId, won: bool, now: Millis, out: &mut Vec<Action>) {
        let run = RunId(self.number());
        let Some(call) = self.open.get_mut(id).filter(|call| call.state == State::Claiming) else { return };
        if !won {
            tell(id, &call.tool, State::Withdrawn, "it runs elsewhere, or has run", None, None, out);
            self.open.take(id);
            self.ended.insert(id.name());
            return;
        }
        call.state = State::Running;
        call.run = Some(run);
        call.deadline = Some(now + call.limits.timeout);
        let arguments = call.arguments.as_deref().map_or("{}", RawValue::get).to_owned();
        tell(id, &call.tool, State::Running, "the handler starts", None, None, out);
        out.push(Action::Run { run, tool: ToolName::received(&call.tool), call: id.clone(), arguments });
        self.runs.add(run, id.clone());
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
            Settled::NotSerializable { message } => {
                self.fail(&id, FailureCode::ResultNotSerializable, message, out);
            }
            Settled::Returned(text) => match (RawValue::from_string(text), call.limits.output) {
                (Err(error), _) => {
                    self.fail(&id, FailureCode::ResultNotSerializable, error.to_string(), out);
                }
                (Ok(result), None) => self.settle(&id, "the handler returned", Outcome::Ok { result }, out),
                (Ok(result), Some(schema)) => {
                    let instance = result.get().to_owned();
                    call.result = Some(result);
                    self.checks.add(check, id);
                    out.push(Action::Check { check, schema, instance });
                }
            },
        }
    }

    /// The app no longer wants a call. `false` when there is no such open call.
    pub fn cancel(&mut self, id: &CallId, message: &str, out: &mut Vec<Action>) -> bool {
        let Some(call) = self.open.get(id) else { return false };
        if let Some(run) = call.run.filter(|run| self.runs.get(run).is_some()) {
            out.push(Action::Abort { run, cause: AbortCause::Cancelled(message.to_owned()) });
        }
        self.settle(id, "cancelled", Outcome::Cancelled { message: message.to_owned() }, out);
        true
    }

    /// The app no longer wants any call.
    pub fn cancel_all(&mut self, message: &str, out: &mut Vec<Action>) {
        let open: Vec<_> = self.open.iter().map(|(id, _)| id.clone()).collect();
        for id in open {
            self.cancel(&id, message, out);
        }
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

    fn begin(&mut self, id: &CallId, registry: &Registry, out: &mut Vec<Action>) {
        let check = CheckId(self.number());
        let Some(call) = self.open.get_mut(id) else { return };
        let Some(entry) = registry.get(&call.tool).filter(|entry| entry.tool.has_handler) else {
            let outcome = Outcome::MissingHandler { tool: call.tool.clone(), registered: registry.handled() };
            return self.settle(id, "no handler has this name", outcome, out);
        };
        call.limits = Limits { output: entry.output, timeout: entry.tool.timeout };
        self.line.push_back(id.clone());
        let Some(schema) = entry.input else {
            call.ready = true;
            return self.advance(out);
        };
        call.state = State::Validating;
        let instance = call.arguments.as_deref().map_or("{}", RawValue::get).to_owned();
        tell(id, &call.tool, State::Validating, "the arguments are checked", None, None, out);
        self.checks.add(check, id.clone());
        out.push(Action::Check { check, schema, instance });
    }

    /// Claims what has come to the front of the line and is ready.
    fn advance(&mut self, out: &mut Vec<Action>) {
        while let Some(id) = self.line.front()
            && let Some(call) = self.open.get_mut(id).filter(|call| call.ready)
        {
            call.state = State::Claiming;
            tell(id, &call.tool, State::Claiming, "the ledger is asked", None, None, out);
            out.push(Action::Claim(id.clone()));
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
        };
        self.settle(id, reason, Outcome::Failed { code, name: String::new(), message }, out);
    }

    fn settle(&mut self, id: &CallId, reason: &str, outcome: Outcome, out: &mut Vec<Action>) {
        let Some(call) = self.open.take(id) else { return };
        self.ended.insert(id.name());
        tell(id, &call.tool, State::Settled, reason, None, Some(outcome), out);
        if let Some(place) = self.line.iter().position(|waits| waits == id) {
            self.line.remove(place);
            self.advance(out);
        }
    }

    fn number(&mut self) -> u32 {
        self.next = self.next.wrapping_add(1);
        self.next
    }
}

impl Call {
    fn new(state: State, tool: &str, arguments: Option<Box<RawValue>>) -> Self {
        let limits = Limits::default();
        Self { state, tool: tool.to_owned(), arguments, limits, ready: false, run: None, deadline: None, result: None }
    }
}

fn tell(
    id: &CallId,
    tool: &str,
    state: State,
    reason: impl Into<String>,
    arguments: Option<Box<RawValue>>,
    outcome: Option<Outcome>,
    out: &mut Vec<Action>,
) {
    let (call_id, tool, reason) = (id.clone(), tool.to_owned(), reason.into());
    out.push(Action::Tell(Step { call_id, tool, state, reason, arguments, outcome }));
}

fn late(id: &CallId, what: &'static str, out: &mut Vec<Action>) {
    out.push(Action::Late { call: id.clone(), what });
}
