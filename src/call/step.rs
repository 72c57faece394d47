//! One step in the life of a call, as the app is told.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::json::Edit;

use super::{CallId, Ending, State};

/// What happened to a call. The JSON is `CallEvent` of `types.d.ts`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Box<RawValue>>,
    /// How the arguments differ from what the agent wanted, in the step that first knows it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
    /// The outcome, in the last step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Ending>,
}
