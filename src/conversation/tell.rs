//! What the app is told, and in which shape. The shapes are those of `types.d.ts`.

use serde_json::value::RawValue;

use crate::call::Step;
use crate::error::Error;
use crate::json::{self, Write, object};
use crate::protocol::NoticeCode;

use super::state::Conversation;
use super::{Effect, Event, Topic};

impl Conversation {
    pub(super) fn opening_answer(&self) -> String {
        let (id, created) = self.opened.as_ref().map_or(("", false), |opened| (opened.id.as_str(), opened.created));
        let tools = self.registry.compare();
        json::text(&object(|answer| {
            answer.set("id", &id).set("created", &created).set("status", &self.status.as_str()).set("tools", &tools);
        }))
    }

    pub(super) fn turn_end(&self) -> String {
        json::text(&object(|end| {
            end.set("status", &self.status.as_str()).set_some("error", self.failure.as_ref());
        }))
    }

    pub(super) fn tell_tools(&mut self) {
        let drift = self.registry.compare();
        self.emit(Topic::Tools, &drift);
    }

    pub(super) fn tell_call(&mut self, step: &Step) {
        self.emit(Topic::Call, step);
    }

    pub(super) fn tell_message(
        &mut self,
        id: Option<&str>,
        role: &str,
        source: &str,
        text: &str,
        citations: Option<&RawValue>,
    ) {
        let message = object(|message| {
            message.set("id", &id).set("role", &role).set("source", &source).set("text", &text);
            message.set_some("citations", citations.as_ref());
        });
        self.emit(Topic::Message, &message);
    }

    pub(super) fn tell_label(&mut self, text: &str, generated: bool) {
        let label = object(|label| {
            label.set("text", &text).set("generated", &generated);
        });
        self.emit(Topic::Label, &label);
    }

    pub(super) fn tell_delta(&mut self, item: Option<&str>, reasoning: bool, content: &str) {
        let kind = if reasoning { "reasoning" } else { "text" };
        let delta = object(|delta| {
            delta.set_some("item", item.as_ref()).set("kind", &kind).set("content", &content);
        });
        self.emit(Topic::Delta, &delta);
    }

    pub(super) fn tell_notice(&mut self, code: NoticeCode, message: &str, event_id: Option<&str>) {
        let notice = object(|notice| {
            notice.set("code", &code).set("message", &message).set_some("eventId", event_id.as_ref());
        });
        self.emit(Topic::Notice, &notice);
    }

    pub(super) fn tell_error(&mut self, error: &Error) {
        let event = object(|event| {
            event.set("code", &error.code()).set("message", &error.to_string()).set("details", error);
        });
        self.emit(Topic::Error, &event);
    }

    pub(super) fn emit(&mut self, topic: Topic, value: &dyn Write) {
        if self.heard.has(topic) {
            self.emit_text(topic, json::text(value));
        }
    }

    pub(super) fn emit_text(&mut self, topic: Topic, json: String) {
        if self.heard.has(topic) {
            self.out.push(Effect::Emit(Event { topic, json }));
        }
    }
}
