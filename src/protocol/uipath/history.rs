//! Exchanges as the REST interface keeps them. There are two spellings, the service's and that of UiPath's own SDK.

use std::rc::Rc;

use serde_json::value::RawValue;

use crate::error::Error;
use crate::json::{self, Json, Object};

use super::message::Text;

/// One exchange.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) exchange: Rc<str>,
    pub(super) messages: Vec<MessageRecord>,
}

/// One message.
#[derive(Debug)]
pub(super) struct MessageRecord {
    pub(super) id: Rc<str>,
    pub(super) role: String,
    /// When it began, in a form that sorts as text; empty where the service does not say.
    created: String,
    pub(super) text: Text,
    /// How many content parts there are, of any kind.
    pub(super) parts: usize,
    /// Whether the service says that something of it is missing.
    pub(super) incomplete: bool,
    pub(super) calls: Vec<CallRecord>,
}

/// One call.
#[derive(Debug)]
pub(super) struct CallRecord {
    pub(super) id: Rc<str>,
    pub(super) tool: String,
    /// JSON text of an object.
    pub(super) input: Box<RawValue>,
    pub(super) confirm: bool,
    /// What a person answered.
    pub(super) confirmed: Option<bool>,
    /// Whether there is a result.
    pub(super) ended: bool,
    pub(super) input_schema: Option<Box<RawValue>>,
    /// Whether it is the client's, where the service says so.
    pub(super) flagged: Option<bool>,
    /// The question that an old agent asked about it, unanswered.
    pub(super) interrupt: Option<Rc<str>>,
}

impl CallRecord {
    /// Whether a person's answer is waited for.
    pub(super) fn is_asked(&self) -> bool {
        (self.confirm || self.interrupt.is_some()) && self.confirmed.is_none() && !self.ended
    }
}

impl Record {
    /// Reads an exchange.
    pub(super) fn read(value: Json) -> Option<Self> {
        let exchange = Object::of(value)?;
        let id = id(&exchange, "exchangeId")?;
        let mut messages = Vec::new();
        for message in exchange.list("messages").unwrap_or_default() {
            messages.extend(MessageRecord::read(message));
        }
        Some(Self { exchange: id, messages })
    }

    /// Reads the body of an answer that is one exchange.
    pub(super) fn read_body(body: &str) -> Result<Self, Error> {
        Json::read(body).and_then(Self::read).ok_or(Error::BadResponse { what: "reading an exchange" })
    }

    /// The calls, with their messages.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&MessageRecord, &CallRecord)> {
        self.messages.iter().flat_map(|message| message.calls.iter().map(move |call| (message, call)))
    }

    pub(super) fn call(&self, id: &str) -> Option<&CallRecord> {
        self.calls().map(|(_, call)| call).find(|call| *call.id == *id)
    }

    pub(super) fn into_message(self, id: &str) -> Option<MessageRecord> {
        self.messages.into_iter().find(|message| *message.id == *id)
    }

    /// When the agent began with it, if it has.
    pub(super) fn begun(&self) -> Option<&str> {
        let begun = self.messages.iter().find(|message| message.role != "user");
        begun.map(|message| message.created.as_str())
    }

    /// Whether it looks as if the agent had nothing more to say: an exchange has no mark for its end.
    pub(super) fn looks_over(&self) -> bool {
        let all_ended = self.calls().all(|(_, call)| call.ended);
        let last = self.messages.last();
        all_ended && last.is_some_and(|last| last.role == "assistant" && !last.incomplete && !last.text.is_empty())
    }
}

impl MessageRecord {
    fn read(value: Json) -> Option<Self> {
        let message = Object::of(value)?;
        let parts: Vec<_> = objects(&message, "contentParts");
        let mut text = Text::default();
        for part in &parts {
            text.append(part_text(part));
        }
        let interrupts = objects(&message, "interrupts");
        let mut calls = Vec::new();
        for call in objects(&message, "toolCalls") {
            calls.extend(CallRecord::read(&call, &interrupts));
        }
        Some(Self {
            id: id(&message, "messageId")?,
            role: message.text("role"),
            created: message.string("createdAt").or_else(|| message.string("createdTime")).unwrap_or_default(),
            text,
            parts: parts.len(),
            incomplete: parts.iter().any(|part| part.flag("isIncomplete")),
            calls,
        })
    }
}

/// The text of a content part, if it is one.
fn part_text(part: &Object) -> Text {
    let mut text = Text::default();
    if part.text("mimeType").starts_with("text/") {
        text.push(&part.object("data").text("inline"));
        for citation in objects(part, "citations") {
            let number =
                |name| citation.integer(name).and_then(|number| usize::try_from(number).ok()).unwrap_or_default();
            let id = citation.string("citationId").or_else(|| citation.string("id")).unwrap_or_default();
            text.cite(id, number("offset"), number("length"), citation.get("sources"));
        }
    }
    text
}

impl CallRecord {
    fn read(call: &Object, interrupts: &[Object]) -> Option<Self> {
        let id = id(call, "toolCallId")?;
        let input = call.get("input").or_else(|| call.object("arguments").get("inline")).map(unwrapped);
        let input = input.filter(|input| input.starts_with('{')).unwrap_or_else(|| "{}".to_owned());
        let asks = |interrupt: &&Object| {
            let value = interrupt.get("interruptValue").or_else(|| interrupt.get("value"));
            let value = value.and_then(Object::of).unwrap_or_default();
            value.text("toolCallId") == *id && interrupt.get("endValue").is_none()
        };
        let question = interrupts.iter().find(asks).and_then(|interrupt| interrupt.string("interruptId"));
        let confirmation = call.object("confirmation");
        Some(Self {
            tool: call.string("name").or_else(|| call.string("toolName")).unwrap_or_default(),
            input: json::raw(&input)?,
            confirm: call.flag("requireConfirmation") || question.is_some(),
            confirmed: confirmation.bool("approved"),
            ended: call.get("result").is_some(),
            input_schema: call.get("inputSchema").map(Json::to_raw),
            flagged: call.bool("isClientSideTool"),
            interrupt: question.map(Into::into),
            id,
        })
    }
}

/// What the first SDKs wrote as a text that holds JSON.
fn unwrapped(value: Json) -> String {
    value.string().map_or_else(|| value.get().to_owned(), std::borrow::Cow::into_owned)
}

fn id(of: &Object, name: &str) -> Option<Rc<str>> {
    of.string(name).or_else(|| of.string("id")).map(Into::into)
}

fn objects<'a>(of: &Object<'a>, name: &str) -> Vec<Object<'a>> {
    let mut objects = Vec::new();
    for item in of.list(name).unwrap_or_default() {
        objects.extend(Object::of(item));
    }
    objects
}

/// The exchanges of a page.
pub(super) fn records(body: &str) -> Result<Vec<Record>, Error> {
    let page = Object::read(body).and_then(|page| page.list("data"));
    let items = page.ok_or(Error::BadResponse { what: "reading the exchanges" })?;
    let mut records = Vec::new();
    for item in items {
        records.extend(Record::read(item));
    }
    Ok(records)
}

/// Turns a page into the house's form: its items under this name, and `next`.
pub(super) fn page(body: &str, name: &str) -> Result<String, Error> {
    let bad = || Error::BadResponse { what: "reading a page" };
    let page = Object::read(body).ok_or_else(bad)?;
    let data = page.get("data").filter(|data| data.get().starts_with('[')).ok_or_else(bad)?;
    let next = page.string("cursor").or_else(|| page.string("nextCursor"));
    Ok(["{\"", name, "\":", data.get(), ",\"next\":", &json::text(&next), "}"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(text: &str) -> Record {
        Record::read_body(text).unwrap()
    }

    #[test]
    fn both_spellings_are_read() {
        for text in [
            r#"{"exchangeId":"x","messages":[{"messageId":"m","role":"assistant","contentParts":[],"toolCalls":[{"toolCallId":"c","name":"n","input":{"a":1}}]}]}"#,
            r#"{"id":"x","messages":[{"id":"m","role":"assistant","toolCalls":[{"id":"c","toolName":"n","arguments":{"inline":"{\"a\":1}"}}]}]}"#,
        ] {
            let record = record(text);
            let (message, call) = record.calls().next().unwrap();
            assert_eq!((&*record.exchange, &*message.id, &*call.id, &*call.tool), ("x", "m", "c", "n"));
            assert_eq!((call.input.get(), call.ended, call.confirmed), (r#"{"a":1}"#, false, None));
        }
    }

    #[test]
    fn a_call_says_what_was_answered() {
        let record = record(
            r#"{"exchangeId":"x","messages":[{"messageId":"m","role":"assistant","toolCalls":[
                {"toolCallId":"a","name":"n","requireConfirmation":true,"inputSchema":{},"confirmation":{"approved":false}},
                {"toolCallId":"b","name":"n","result":{"output":{}}},
                {"toolCallId":"c","name":"n","input":"no object","isClientSideTool":true},
                {"toolCallId":"d","name":"n"},
                {"toolCallId":"e","name":"n"}],
              "interrupts":[{"interruptId":"i","interruptValue":{"toolCallId":"d"}},
                {"interruptId":"j","interruptValue":{"toolCallId":"e"},"endValue":{"approved":true}}]}]}"#,
        );
        let call = |id| record.call(id).unwrap();
        assert_eq!((call("a").confirm, call("a").confirmed, call("a").ended), (true, Some(false), false));
        assert!(call("b").ended);
        assert_eq!((call("c").input.get(), call("c").flagged), ("{}", Some(true)));
        assert_eq!((call("d").confirm, call("d").interrupt.as_deref()), (true, Some("i")));
        assert_eq!((call("e").confirm, call("e").interrupt.as_deref()), (false, None));
    }

    #[test]
    fn an_exchange_looks_over_once_the_agent_has_spoken_and_waits_for_nothing() {
        let with = |messages: &str| record(&format!(r#"{{"exchangeId":"x","messages":[{messages}]}}"#)).looks_over();
        let said = r#"{"messageId":"m","role":"assistant","contentParts":[{"mimeType":"text/markdown","data":{"inline":"x"}}]}"#;
        let asked =
            r#"{"messageId":"u","role":"user","contentParts":[{"mimeType":"text/plain","data":{"inline":"x"}}]}"#;
        assert!(with(&[asked, said].join(",")));
        assert!(!with(asked));
        assert!(!with(""));
        assert!(!with(&said.replace(r#""data""#, r#""isIncomplete":true,"data""#)));
        assert!(!with(
            &[r#"{"messageId":"m","role":"assistant","toolCalls":[{"toolCallId":"c","name":"n"}]}"#, said].join(",")
        ));
    }

    #[test]
    fn pages_take_the_houses_form() {
        assert_eq!(
            page(r#"{"data":[{"x":1.50}],"cursor":"c"}"#, "events").unwrap(),
            r#"{"events":[{"x":1.50}],"next":"c"}"#
        );
        assert_eq!(page(r#"{"data":[]}"#, "conversations").unwrap(), r#"{"conversations":[],"next":null}"#);
        for body in ["", "[]", "{}", r#"{"data":5}"#] {
            assert_eq!(page(body, "events").unwrap_err().code(), "bad_response");
        }
    }
}
