//! What the agent says, level by level.

use crate::clock::Clock;
use crate::json::Json;
use crate::object;

use super::super::envelope::{of_exchange, with};
use super::super::runtimes::{report, say};
use super::call::Call;
use super::play::{Agent, Stop};

impl Agent {
    pub(super) fn report(&self, line: Json) {
        report(&self.shared, &self.conversation, line);
    }

    /// Sends an envelope, if the exchange still is ours.
    pub(super) fn put(&self, envelope: &Json) -> Result<(), Stop> {
        let mut state = self.shared.uipath.lock();
        let ours = state.conversation(&self.conversation).and_then(|conversation| conversation.run.as_ref());
        if ours.is_none_or(|run| run.serial != self.serial) {
            return Err(Stop::Ended);
        }
        say(&mut state, &self.conversation, envelope, &envelope.to_string());
        Ok(())
    }

    pub(super) fn exchange(&self, members: Json) -> Result<(), Stop> {
        self.put(&of_exchange(&self.conversation, &self.exchange, members))
    }

    /// Sends members of a message.
    pub(super) fn message(&self, id: &str, members: Json) -> Result<(), Stop> {
        self.exchange(object! { "message" => with(object! { "messageId" => id }, members) })
    }

    /// Sends members of a tool call.
    pub(super) fn call(&self, message: &str, call: &Call, members: Json) -> Result<(), Stop> {
        self.message(message, object! { "toolCall" => with(object! { "toolCallId" => &call.id }, members) })
    }

    /// The end of a call that is not the client's.
    pub(super) fn end(&self, message: &str, call: &Call, result: &Json) -> Result<(), Stop> {
        let body = with(object! { "timestamp" => Clock::utc_millis() }, result.clone());
        self.call(message, call, object! { "endToolCall" => body })
    }
}
