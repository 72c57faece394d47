//! One call that has not ended, and what is said about it.

use serde_json::value::RawValue;

use crate::json::{self, Json};
use crate::net::Millis;
use crate::tool::{Against, HandlerId, Schemas};

use super::{Action, CallId, Ending, Outcome, RunId, State, Step, Verdict};

#[derive(Debug)]
pub(super) struct Call {
    pub(super) state: State,
    pub(super) tool: String,
    /// The name that the server calls the tool by.
    pub(super) wire: String,
    pub(super) arguments: Option<Box<RawValue>>,
    pub(super) schemas: Schemas,
    pub(super) terms: Terms,
    /// Whether nothing but its place in the line keeps it from starting.
    pub(super) ready: bool,
    /// Whether a person has been asked about it by the server.
    pub(super) asked: bool,
    /// Whether a turn has ended since it was announced.
    pub(super) stale: bool,
    pub(super) run: Option<RunId>,
    pub(super) deadline: Option<Millis>,
    /// What the handler returned, while it is being checked, and why it counts.
    pub(super) result: Option<(Box<RawValue>, &'static str)>,
    /// How it ends without a run, once it is ours.
    pub(super) verdict: Option<(&'static str, Outcome)>,
    /// What follows when the arguments that a guard gave are checked.
    pub(super) reviewed: Option<Verdict>,
}

/// What the tool's declaration said when the call was let through.
#[derive(Debug, Clone, Default)]
pub(super) struct Terms {
    pub(super) input: Option<Against>,
    pub(super) output: Option<Against>,
    pub(super) timeout: Millis,
    pub(super) reviewed: bool,
    pub(super) handler: Option<HandlerId>,
}

impl Call {
    pub(super) fn new(state: State, tool: &str, arguments: Option<Box<RawValue>>) -> Self {
        Self {
            state,
            tool: tool.to_owned(),
            wire: String::new(),
            arguments,
            terms: Terms::default(),
            ready: false,
            asked: false,
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
            step.edits = json::edits(self.arguments.as_deref().map(Json::from), &arguments);
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
    reason: &str,
    arguments: Option<Box<RawValue>>,
    outcome: Option<Ending>,
    out: &mut Vec<Action>,
) {
    let (call_id, tool, reason) = (id.clone(), tool.to_owned(), reason.to_owned());
    out.push(Action::Tell(Step { call_id, tool, state, reason, arguments, edits: Vec::new(), outcome }));
}

pub(super) fn record(id: &CallId, outcome: &Outcome, out: &mut Vec<Action>) {
    out.push(Action::Record { call: id.clone(), outcome: json::text(outcome) });
}

pub(super) fn late(id: &CallId, what: &'static str, out: &mut Vec<Action>) {
    out.push(Action::Late { call: id.clone(), what });
}
