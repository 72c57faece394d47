//! All calls of a conversation and what moves them.

use serde_json::value::RawValue;

use crate::list::List;
use crate::net::Millis;
use crate::recent::Recent;
use crate::tool::{Registry, Schemas};

use super::open_call::{Call, late, record, tell};
use super::{Action, CallId, CheckId, Ending, FailureCode, Limits, Outcome, RunId, State};

/// Calls that may wait to be let through. More than that were left behind by turns that are over.
const ANNOUNCED: usize = 1_024;

/// The calls. Each method is one thing that happened; what must be done about it is added to `out`.
///
/// A call moves forward only. It is let through once, claimed once, run once and settled once, however often and in whatever
/// order the happenings come.
#[derive(Debug, Default)]
pub struct Calls {
    pub(super) limits: Limits,
    /// Whether the agent waits for each outcome, so that no other page may be at work when one is told.
    pub(super) answering: bool,
    pub(super) open: List<CallId, Call>,
    /// What remains of an ended call is its name, so that it is not taken for a new one.
    pub(super) ended: Recent,
    /// Calls that are to start, in the order they were let through: effects of one call may be the ground of the next.
    pub(super) line: Vec<CallId>,
    pub(super) checks: List<CheckId, CallId>,
    pub(super) runs: List<RunId, CallId>,
    next: u32,
}

impl Calls {
    /// The calls of a server that waits for answers, or does not.
    pub fn new(answering: bool, limits: Limits) -> Self {
        Self { limits, answering, ..Self::default() }
    }

    /// The agent wants a call.
    pub fn announced(
        &mut self,
        id: &CallId,
        tool: &str,
        (arguments, schemas): (Box<RawValue>, Schemas),
        registry: &Registry,
        now: Millis,
        out: &mut Vec<Action>,
    ) {
        if self.ended.contains(id.as_str()) {
            return;
        }
        let (tool, wire) = (&*registry.plain(tool.to_owned()), tool.to_owned());
        match self.open.get_mut(id) {
            None => {
                self.make_room(out);
                let call = Call { wire, schemas, ..Call::new(State::Announced, tool, Some(arguments.clone())) };
                self.open.add(id.clone(), call);
                tell(id, tool, State::Announced, "the agent asks for it", Some(arguments), None, out);
            }
            Some(call) if call.state == State::Authorised && call.arguments.is_none() => {
                tool.clone_into(&mut call.tool);
                call.wire = wire;
                call.arguments = Some(arguments.clone());
                tell(id, tool, State::Authorised, "let through before it was seen", Some(arguments), None, out);
                self.begin(id, registry, now, out);
            }
            Some(_) => {}
        }
    }

    /// Gives up the oldest call that was announced and never let through, when there are too many.
    pub(super) fn make_room(&mut self, out: &mut Vec<Action>) {
        let mut waits = self.open.iter().filter(|(_, call)| !call.state.is_under_way());
        let oldest = waits.next().map(|(id, call)| (id.clone(), call.tool.clone()));
        if let Some((id, tool)) = oldest
            && waits.count() + 1 >= ANNOUNCED
        {
            self.withdrawn(&id, &tool, "too many calls wait to be let through", out);
        }
    }

    /// A person is asked about a call that is not let through.
    pub fn waiting(&mut self, id: &CallId, out: &mut Vec<Action>) {
        if let Some(call) = self.open.get_mut(id).filter(|call| call.state == State::Announced) {
            call.state = State::Waiting;
            call.asked = true;
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
        now: Millis,
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
                self.begin(id, registry, now, out);
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
            self.server_ended(&id, &tool, reason, out);
        }
    }

    /// The server could not show a call that it let through.
    pub fn unavailable(&mut self, id: &CallId, message: String, out: &mut Vec<Action>) {
        if self.open.get(id).is_some_and(|call| call.state == State::Authorised && call.arguments.is_none()) {
            self.fail(id, FailureCode::CallUnavailable, message, out);
        }
    }

    /// The server took the call back. Once it is let through that no longer counts: the first word wins.
    pub fn withdrawn(&mut self, id: &CallId, tool: &str, reason: &str, out: &mut Vec<Action>) {
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

    /// The server has ended the call itself, whatever its state. The page that has it hears that too, and may have ended it
    /// before: how is in the ledger.
    pub fn server_ended(&mut self, id: &CallId, tool: &str, reason: &str, out: &mut Vec<Action>) {
        let state = self.open.get(id).map(|call| call.state);
        if state == Some(State::Elsewhere) {
            return;
        }
        if state.is_some_and(State::is_under_way) {
            let outcome = Outcome::Cancelled { message: reason.to_owned() };
            record(id, &outcome, out);
            self.drop_call(id, reason, Ending::Server(outcome), out);
        } else if self.end_unauthorised(id, out) {
            tell(id, tool, State::Withdrawn, reason, None, None, out);
        }
    }

    /// Nobody knows how far a call came: it is not run, and the agent is told.
    pub fn orphaned(&mut self, id: &CallId, tool: &str, reason: &str, out: &mut Vec<Action>) {
        if self.ended.contains(id.as_str()) || self.open.get(id).is_some_and(|call| call.state.is_under_way()) {
            return;
        }
        if self.open.get(id).is_none() {
            self.open.add(id.clone(), Call::new(State::Announced, tool, None));
        }
        let message = reason.to_owned();
        self.finish(id, "nothing is known of it", Outcome::Interrupted { message }, out);
    }

    /// Ends a call that was not let through, seen before or not. Whether that was so.
    pub(super) fn end_unauthorised(&mut self, id: &CallId, out: &mut Vec<Action>) -> bool {
        let waits = |call: &Call| matches!(call.state, State::Announced | State::Waiting);
        if self.ended.contains(id.as_str()) || !self.open.get(id).is_none_or(waits) {
            late(id, "the server took the call back after it was let through", out);
            return false;
        }
        self.open.take(id);
        self.ended.add(id.as_str());
        true
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

    /// Names a validation.
    pub fn next_check(&mut self) -> CheckId {
        CheckId(self.number())
    }

    pub(super) fn number(&mut self) -> u32 {
        self.next = self.next.wrapping_add(1);
        self.next
    }
}
