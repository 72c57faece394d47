//! Makes a long conversation without running one.

use crate::json::{Json, Object, python_dumps};
use crate::script::Call;

use super::conversation::{Conversation, LlmCall, State, Status};
use super::messages::text_content;
use super::step::Batch;

/// Calls between two messages of the user.
const CALLS: usize = 10;
/// About what makes an `ActionEvent` 640 bytes long, as those of real agents.
const TEXT: &str = "a sentence as an agent writes it";

impl Conversation {
    /// Appends events as turns of a user and an agent that calls a client tool, until there are so many more.
    pub(crate) fn fill(&self, events: usize) -> Result<(), String> {
        let mut state = self.lock();
        state.prepare_agent().map_err(|failure| failure.to_string())?;
        let mut filling = Filling { left: events, call: 0, log_length: state.log.len() };
        while filling.left > 0 {
            filling.turn(&mut state)?;
        }
        state.set_status(Status::Finished);
        Ok(())
    }
}

struct Filling {
    left: usize,
    call: usize,
    log_length: usize,
}

impl Filling {
    fn turn(&mut self, state: &mut State) -> Result<(), String> {
        let text = format!("Message before call {}: {TEXT}.", self.call);
        state.add_user_message(vec![text_content(&text)]).map_err(|failure| failure.to_string())?;
        state.set_status(Status::Running);
        for _ in 0..CALLS {
            self.count(state);
            if self.left == 0 {
                break;
            }
            self.call += 1;
            let call = sample_call(state, self.call).ok_or("the conversation has no client tool")?;
            let response_id = format!("chatcmpl-filled-{:06}", self.call);
            state.calls.push(LlmCall { response_id: response_id.clone(), latency: 0.0 });
            let id = uuid::Uuid::new_v4().to_string();
            let action = state.announce(&id, Some(TEXT), &call, &response_id);
            let action = action.ok_or_else(|| format!("cannot make up arguments for {}", call.name))?;
            state.execute(&Batch { actions: vec![action], overtaken: false });
            state.publish_stats();
        }
        self.count(state);
        Ok(())
    }

    fn count(&mut self, state: &State) {
        let length = state.log.len();
        self.left = self.left.saturating_sub(length - self.log_length);
        self.log_length = length;
    }
}

/// A call of the first client tool, with arguments of the simple types that its schema requires.
fn sample_call(state: &State, number: usize) -> Option<Call> {
    let tool = state.client_tools.first()?;
    let schema = tool.get("parameters")?;
    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
    let mut arguments = Object::new();
    for name in required.iter().filter_map(Json::as_str) {
        let property = schema.get("properties").and_then(|properties| properties.get(name));
        arguments.set(name, sample(property.unwrap_or(&Json::Null), number));
    }
    Some(Call {
        id: format!("call_{number:06}_0"),
        name: tool.text("name")?.to_owned(),
        arguments: python_dumps(&arguments.into()),
    })
}

fn sample(schema: &Json, number: usize) -> Json {
    if let Some(first) = schema.get("enum").and_then(Json::as_array).and_then(<[Json]>::first) {
        return first.clone();
    }
    match schema.text("type") {
        Some("integer" | "number") => number.into(),
        Some("boolean") => true.into(),
        Some("array") => Vec::new().into(),
        Some("object") => Object::new().into(),
        _ => format!("number {number}").into(),
    }
}
