//! What the app is told, and in which shape. The shapes are those of `types.d.ts`.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::call::Step;
use crate::error::Error;
use crate::json;
use crate::protocol::NoticeCode;
use crate::tool::Drift;

use super::state::{Conversation, Failure};
use super::{Effect, Event, Topic};

#[derive(Serialize)]
struct OpeningAnswer<'a> {
    id: &'a str,
    created: bool,
    status: &'static str,
    tools: Drift,
}

#[derive(Serialize)]
struct TurnEnd<'a> {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Failure>,
}

#[derive(Serialize)]
struct Message<'a> {
    id: Option<&'a str>,
    role: &'a str,
    source: &'a str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    citations: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Label<'a> {
    text: &'a str,
    generated: bool,
}

#[derive(Serialize)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<&'a str>,
    kind: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Notice<'a> {
    code: NoticeCode,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<&'a str>,
}

#[derive(Serialize)]
struct ErrorEvent<'a> {
    code: &'static str,
    message: String,
    details: &'a Error,
}

impl Conversation {
    pub(super) fn opening_answer(&self) -> String {
        let (id, created) = self.opened.as_ref().map_or(("", false), |opened| (opened.id.as_str(), opened.created));
        let tools = self.registry.compare();
        json::text(&OpeningAnswer { id, created, status: self.status.as_str(), tools })
    }

    pub(super) fn turn_end(&self) -> String {
        json::text(&TurnEnd { status: self.status.as_str(), error: self.failure.as_ref() })
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
        self.emit(Topic::Message, &Message { id, role, source, text, citations });
    }

    pub(super) fn tell_label(&mut self, text: &str, generated: bool) {
        self.emit(Topic::Label, &Label { text, generated });
    }

    pub(super) fn tell_delta(&mut self, item: Option<&str>, reasoning: bool, content: &str) {
        let kind = if reasoning { "reasoning" } else { "text" };
        self.emit(Topic::Delta, &Delta { item, kind, content });
    }

    pub(super) fn tell_notice(&mut self, code: NoticeCode, message: &str, event_id: Option<&str>) {
        self.emit(Topic::Notice, &Notice { code, message, event_id });
    }

    pub(super) fn tell_error(&mut self, error: &Error) {
        let event = ErrorEvent { code: error.code(), message: error.to_string(), details: error };
        self.emit(Topic::Error, &event);
    }

    pub(super) fn emit(&mut self, topic: Topic, value: &impl Serialize) {
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
