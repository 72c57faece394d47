//! One step in the life of a call, as the app is told.

use serde_json::value::RawValue;

use crate::json::{Edit, Members, Write};

use super::{CallId, Ending, State};

/// What happened to a call. The JSON is `CallEvent` of `types.d.ts`.
#[derive(Debug, Clone)]
pub struct Step {
    /// The call.
    pub call_id: CallId,
    /// The tool's name.
    pub tool: String,
    /// Where the call is now.
    pub state: State,
    /// Why, in a few words.
    pub reason: String,
    /// The arguments, in the step that first knows them.
    pub arguments: Option<Box<RawValue>>,
    /// How the arguments differ from what the agent wanted, in the step that first knows it.
    pub edits: Vec<Edit>,
    /// The outcome, in the last step.
    pub outcome: Option<Ending>,
}

impl Write for Step {
    fn write(&self, text: &mut String) {
        let mut members = Members::of(text);
        members.set("callId", &self.call_id).set("tool", &self.tool).set("state", &self.state);
        members.set("reason", &self.reason).set_some("arguments", self.arguments.as_ref());
        let edits = (!self.edits.is_empty()).then_some(&self.edits);
        members.set_some("edits", edits).set_some("outcome", self.outcome.as_ref()).end();
    }
}
