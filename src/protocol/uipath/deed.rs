//! What UiPath's service can do with conversations beside letting them speak, and what the house is told of the answer.

use std::borrow::Cow;

use crate::error::Error;
use crate::json::{self, Json, Object};
use crate::net::{Method, Request};
use crate::protocol;

use super::form::Form;
use super::rest::{Address, Rest};
use super::write::{Path, Writer};

/// How a deed is done.
pub(super) enum Deed {
    /// By a request, whose answer has this form.
    Ask(Request, Form),
    /// By an event, after which this is the result.
    Tell(String, String),
    /// By ending an exchange: this one, or the one that is under way.
    EndExchange(Option<String>),
}

/// Which conversation a deed is about, if the app does not say, and how its events are written.
pub(super) struct Own<'a> {
    pub(super) id: Option<&'a str>,
    pub(super) writer: &'a Writer,
    /// A name for what has none.
    pub(super) fresh: &'a str,
}

impl Deed {
    /// A deed by its name in JS.
    pub(super) fn read(deed: &protocol::Deed, rest: &Rest, own: &Own) -> Result<Self, Error> {
        let given = match deed.given.get() {
            "null" => Object::default(),
            text => Object::read(text).ok_or_else(|| Error::invalid("options", "must be an object"))?,
        };
        let given = Given(given);
        let conversation = || given.maybe("conversationId").or(own.id.map(Cow::Borrowed)).ok_or_else(no_conversation);
        let ask = |address: &Address, form| Ok(Self::Ask(rest.get(address), form));
        let body = || Some(deed.given.get().to_owned());
        match deed.name.as_str() {
            "agents" => {
                ask(&Address::new(&[("/agent", "")]).with("folderId", given.maybe("folderId").as_deref()), Form::Whole)
            }
            "agent" => {
                let (folder, agent) = (given.must("folderId")?, given.must("agentId")?);
                ask(&Address::new(&[("/agent", &folder), ("", &agent)]), Form::Whole)
            }
            "conversations" => ask(&given.conversations(), Form::Page("conversations")),
            "conversation" => ask(&Address::new(&[("/conversation", &conversation()?)]), Form::Whole),
            "update" => {
                let address = Address::new(&[("/conversation", own.id.ok_or_else(no_conversation)?)]);
                Ok(Self::Ask(rest.request(Method::Patch, &address, body()), Form::Whole))
            }
            "delete" => {
                let id = conversation()?;
                let form = if own.id == Some(&*id) { Form::Deleted } else { Form::Nothing };
                let address = Address::new(&[("/conversation", &id)]);
                Ok(Self::Ask(rest.request(Method::Delete, &address, None), form))
            }
            "exchanges" => ask(&given.exchanges(&conversation()?), Form::Page("exchanges")),
            "exchange" => {
                let address =
                    Address::new(&[("/conversation", &conversation()?), ("/exchange", &given.must("exchangeId")?)]);
                ask(&address.with("messageSort", given.maybe("messageSort").as_deref()), Form::Whole)
            }
            "message" => ask(&given.message(&conversation()?, "")?, Form::Whole),
            "contentPart" => {
                let part = given.must("contentPartId")?;
                ask(&given.message(&conversation()?, &part)?, Form::Whole)
            }
            "feedback" => {
                let exchange = given.must("exchangeId")?;
                let address =
                    Address::new(&[("/conversation", &conversation()?), ("/exchange", &exchange), ("/feedback", "")]);
                Ok(Self::Ask(rest.request(Method::Post, &address, Some(given.feedback()?)), Form::Nothing))
            }
            "settings" => ask(&Address::new(&[("/user/settings", "")]), Form::Whole),
            "updateSettings" => {
                let address = Address::new(&[("/user/settings", "")]);
                Ok(Self::Ask(rest.request(Method::Patch, &address, body()), Form::Whole))
            }
            "attachment" => {
                let body = ["{\"name\":", &json::text(&given.must("name")?), "}"].concat();
                let address = Address::new(&[("/conversation", &conversation()?), ("/attachment", "")]);
                Ok(Self::Ask(rest.request(Method::Post, &address, Some(body)), Form::Upload))
            }
            _ => given.event(&deed.name, own),
        }
    }
}

/// What a deed was given.
struct Given<'a>(Object<'a>);

impl Given<'_> {
    /// A text or a number, as text.
    fn maybe(&self, name: &str) -> Option<Cow<'_, str>> {
        let value = self.0.get(name)?;
        let plain = value.get();
        value.string().or_else(|| plain.starts_with(|c: char| c.is_ascii_digit()).then_some(Cow::Borrowed(plain)))
    }

    fn must(&self, name: &'static str) -> Result<Cow<'_, str>, Error> {
        self.maybe(name).filter(|text| !text.is_empty()).ok_or_else(|| Error::invalid(name, "must be given"))
    }

    /// An object, or the empty one.
    fn object(&self, name: &'static str) -> Result<&str, Error> {
        match self.0.get(name).map(Json::get) {
            None => Ok("{}"),
            Some(object) if object.starts_with('{') => Ok(object),
            Some(_) => Err(Error::invalid(name, "must be an object")),
        }
    }

    /// The filters have other names in UiPath's own SDK.
    fn conversations(&self) -> Address {
        let either = |raw: &str, renamed: &str| self.maybe(raw).or_else(|| self.maybe(renamed));
        Address::new(&[("/conversation", "")])
            .with("limit", self.maybe("limit").as_deref())
            .with("cursor", self.maybe("cursor").as_deref())
            .with("sort", self.maybe("sort").as_deref())
            .with("agentReleaseKey", either("agentReleaseKey", "agentKey").as_deref())
            .with("agentReleaseId", either("agentReleaseId", "agentId").as_deref())
            .with("search", either("search", "label").as_deref())
    }

    fn exchanges(&self, conversation: &str) -> Address {
        Address::new(&[("/conversation", conversation), ("/exchange", "")])
            .with("limit", self.maybe("limit").as_deref())
            .with("cursor", self.maybe("cursor").as_deref())
            .with("exchangeSort", self.maybe("exchangeSort").as_deref())
            .with("messageSort", self.maybe("messageSort").as_deref())
    }

    fn message(&self, conversation: &str, part: &str) -> Result<Address, Error> {
        let (exchange, message) = (self.must("exchangeId")?, self.must("messageId")?);
        let part = if part.is_empty() { ("", "") } else { ("/contentPart", part) };
        Ok(Address::new(&[("/conversation", conversation), ("/exchange", &exchange), ("/message", &message), part]))
    }

    fn feedback(&self) -> Result<String, Error> {
        let rating = self.maybe("rating").unwrap_or_default();
        if !matches!(&*rating, "positive" | "negative") {
            return Err(Error::invalid("rating", "positive or negative"));
        }
        let mut body = ["{\"rating\":\"", &rating, "\""].concat();
        if let Some(comment) = self.0.string("comment") {
            body.extend([",\"comment\":", &json::text(&comment)]);
        }
        body.push('}');
        Ok(body)
    }

    /// What is an event and no request.
    fn event(&self, name: &str, own: &Own) -> Result<Deed, Error> {
        own.id.ok_or_else(no_conversation)?;
        let nothing = || "null".to_owned();
        let stream = |member, value: &str, id: &str| own.writer.write(Path::Stream(id), member, value);
        Ok(match name {
            "sendMetaEvent" => Deed::Tell(self.meta(own.writer)?, nothing()),
            "answerInterrupt" => {
                let (exchange, message, id) =
                    (self.must("exchangeId")?, self.must("messageId")?, self.must("interruptId")?);
                let answer = self.0.get("answer").map_or("{}", Json::get);
                let path = Path::Interrupt(&exchange, &message, &id);
                Deed::Tell(own.writer.write(path, "endInterrupt", answer), nothing())
            }
            "startStream" => {
                let id = self.maybe("streamId").unwrap_or(Cow::Borrowed(own.fresh));
                self.must("mimeType")?;
                let result = ["{\"streamId\":", &json::text(&id), "}"].concat();
                let kept = STREAM.iter().filter(|name| self.0.contains(name));
                Deed::Tell(stream("startAsyncInputStream", &self.only(kept), &id), result)
            }
            "streamChunk" => {
                let data = ["{\"data\":", &json::text(&self.must("data")?), "}"].concat();
                Deed::Tell(stream("chunk", &data, &self.must("streamId")?), nothing())
            }
            "endStream" => {
                let kept = STREAM_END.iter().filter(|name| self.0.contains(name));
                Deed::Tell(stream("endAsyncInputStream", &self.only(kept), &self.must("streamId")?), nothing())
            }
            "endExchange" => Deed::EndExchange(self.maybe("exchangeId").map(Cow::into_owned)),
            _ => return Err(Error::invalid("deed", "unknown to this server")),
        })
    }

    /// An object of these members, as they were given.
    fn only<'n>(&self, names: impl Iterator<Item = &'n &'static str>) -> String {
        let mut text = String::from("{");
        for name in names {
            let Some(value) = self.0.get(name) else { continue };
            if text.len() > 1 {
                text.push(',');
            }
            text.extend(["\"", name, "\":", value.get()]);
        }
        text.push('}');
        text
    }

    /// An event of the app's own, of the conversation or as deep in it as ids are given.
    fn meta(&self, writer: &Writer) -> Result<String, Error> {
        let event = self.object("event")?;
        let write = |path| writer.write(path, "metaEvent", event);
        let Some(exchange) = self.maybe("exchangeId") else { return Ok(write(Path::Session)) };
        let Some(message) = self.maybe("messageId") else { return Ok(write(Path::Exchange(&exchange))) };
        match (self.maybe("contentPartId"), self.maybe("toolCallId")) {
            (None, None) => Ok(write(Path::Message(&exchange, &message))),
            (Some(part), None) => Ok(write(Path::Part(&exchange, &message, &part))),
            (None, Some(call)) => Ok(write(Path::Call(&exchange, &message, &call))),
            (Some(_), Some(_)) => Err(Error::invalid("toolCallId", "is not within a content part")),
        }
    }
}

/// What a stream of input begins and ends with.
const STREAM: [&str; 6] = [
    "mimeType",
    "startOfSpeechSensitivity",
    "endOfSpeechSensitivity",
    "prefixPaddingMs",
    "silenceDurationMs",
    "metaData",
];
const STREAM_END: [&str; 2] = ["lastChunkContentPartSequence", "metaData"];

fn no_conversation() -> Error {
    Error::invalid("conversationId", "must be given, since no conversation is open")
}
