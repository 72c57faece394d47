//! What the app has to say about a call before its handler starts: guards look at it, a person may be asked.
//!
//! Both happen on the page that has the call, so they happen once.

use serde_json::value::RawValue;

use crate::net::Millis;
use crate::tool::{Against, HandlerId, ToolName};

use super::open_call::{Call, tell};
use super::{Action, CallId, Calls, Outcome, RunId, State};

/// What a review came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The handler may start.
    Allow,
    /// A person is to decide.
    Ask,
    /// It must not.
    Block {
        /// Why.
        reason: String,
    },
}

impl Calls {
    pub(super) fn review(&mut self, id: &CallId, now: Millis, out: &mut Vec<Action>) {
        let Some((run, handler, call)) = self.started(id) else { return };
        call.state = State::Guarding;
        call.deadline = Some(now + call.terms.timeout);
        tell(id, &call.tool, State::Guarding, "the app looks at it", None, None, out);
        let arguments = call.arguments.as_deref().map_or("{}", RawValue::get).to_owned();
        let tool = ToolName::received(&call.tool);
        out.push(Action::Review { run, handler, tool, call: id.clone(), arguments });
    }

    /// The app has looked at a call, and may have given it other arguments.
    pub fn reviewed(
        &mut self,
        run: RunId,
        verdict: Verdict,
        arguments: Option<Box<RawValue>>,
        now: Millis,
        out: &mut Vec<Action>,
    ) {
        let Some(id) = self.runs.get(&run).cloned() else { return };
        let check = self.next_check();
        let Some(call) = self.open.get_mut(&id).filter(|call| call.state == State::Guarding) else { return };
        call.deadline = None;
        if let Verdict::Block { reason } = verdict {
            return self.settle(&id, "a guard said no", Outcome::Rejected { message: reason }, out);
        }
        call.reviewed = Some(verdict);
        match arguments {
            None => self.review_passed(&id, now, out),
            Some(arguments) => {
                call.tell_changed(&id, "a guard gave it other arguments", Some(arguments), out);
                let instance = call.arguments.as_deref().map_or("{}", RawValue::get).to_owned();
                match call.terms.input.clone() {
                    None => self.review_passed(&id, now, out),
                    Some(against) => self.check(&id, (check, against, instance), now, out),
                }
            }
        }
    }

    pub(super) fn review_passed(&mut self, id: &CallId, now: Millis, out: &mut Vec<Action>) {
        let Some(call) = self.open.get_mut(id) else { return };
        // Nobody is asked twice.
        if call.reviewed.take() != Some(Verdict::Ask) || call.asked {
            return self.start(id, now, out);
        }
        call.state = State::Confirming;
        tell(id, &call.tool, State::Confirming, "a person is asked", None, None, out);
        let (call_id, tool) = (id.clone(), call.tool.clone());
        let arguments = call.arguments.clone().unwrap_or_default();
        out.push(Action::Ask { call: call_id, tool, arguments });
    }

    /// The person who was asked has answered: yes, perhaps with other arguments, which have been checked; or no, and why.
    pub fn confirmed(
        &mut self,
        id: &CallId,
        answer: Result<Option<Box<RawValue>>, String>,
        now: Millis,
        out: &mut Vec<Action>,
    ) {
        let Some(call) = self.open.get_mut(id).filter(|call| call.state == State::Confirming) else { return };
        match answer {
            Ok(None) => self.start(id, now, out),
            Ok(arguments) => {
                call.tell_changed(id, "a person gave it other arguments", arguments, out);
                self.start(id, now, out);
            }
            Err(message) => self.settle(id, "a person said no", Outcome::Rejected { message }, out),
        }
    }

    /// What is held against a call's arguments.
    pub(crate) fn input_of(&self, id: &CallId) -> Option<Against> {
        self.open.get(id).and_then(|call| call.terms.input.clone())
    }

    pub(super) fn start(&mut self, id: &CallId, now: Millis, out: &mut Vec<Action>) {
        let Some((run, handler, call)) = self.started(id) else { return };
        call.state = State::Running;
        call.deadline = Some(now + call.terms.timeout);
        let arguments = call.arguments.as_deref().map_or("{}", RawValue::get).to_owned();
        tell(id, &call.tool, State::Running, "the handler starts", None, None, out);
        out.push(Action::Run { run, handler, tool: ToolName::received(&call.tool), call: id.clone(), arguments });
    }

    /// A call that is ours, and what it is to be started with.
    fn started(&mut self, id: &CallId) -> Option<(RunId, HandlerId, &mut Call)> {
        self.open.get_mut(id).and_then(|call| Some((call.run?, call.terms.handler?, call)))
    }

    /// Whether an open call may still be started with this handler.
    pub fn uses(&self, handler: HandlerId) -> bool {
        self.open.iter().any(|(_, call)| call.terms.handler == Some(handler))
    }
}
