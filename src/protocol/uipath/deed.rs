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
        let Some(ask) = ASKS.iter().find(|ask| ask.name == deed.name) else { return given.event(&deed.name, own) };
        let address = given.address(ask, own)?;
        let body = match ask.sends {
            Sends::Nothing => None,
            Sends::Given => Some(deed.given.get().to_owned()),
            Sends::Name => Some(["{\"name\":", &json::text(&given.must("name")?), "}"].concat()),
            Sends::Feedback => Some(given.feedback()?),
        };
        let elsewhere = || given.maybe("conversationId").is_some_and(|id| own.id != Some(&*id));
        let form = if ask.form == Form::Deleted && elsewhere() { Form::Nothing } else { ask.form };
        Ok(Self::Ask(rest.request(ask.method, &address, body), form))
    }
}

/// A deed that is a request.
struct Ask {
    /// The deed's name in JS.
    name: &'static str,
    method: Method,
    /// Segments with a colon are what was given under this name; `:` alone is the conversation that is open.
    path: &'static str,
    /// What was given of this goes into the query.
    query: &'static [&'static str],
    sends: Sends,
    form: Form,
}

/// The body of a request.
enum Sends {
    Nothing,
    /// All that was given.
    Given,
    /// A file's name.
    Name,
    Feedback,
}

impl Ask {
    const fn get(name: &'static str, path: &'static str, query: &'static [&'static str], form: Form) -> Self {
        Self { name, method: Method::Get, path, query, sends: Sends::Nothing, form }
    }

    const fn send(name: &'static str, method: Method, path: &'static str, sends: Sends, form: Form) -> Self {
        Self { name, method, path, query: &[], sends, form }
    }
}

const ASKS: &[Ask] = &[
    Ask::get("agents", "/agent", &["folderId"], Form::Whole),
    Ask::get("agent", "/agent/:folderId/:agentId", &[], Form::Whole),
    Ask::get(
        "conversations",
        "/conversation",
        &["limit", "cursor", "sort", "agentReleaseKey", "agentReleaseId", "search"],
        Form::Page("conversations"),
    ),
    Ask::get("conversation", "/conversation/:conversationId", &[], Form::Whole),
    Ask::send("update", Method::Patch, "/conversation/:", Sends::Given, Form::Whole),
    Ask::send("delete", Method::Delete, "/conversation/:conversationId", Sends::Nothing, Form::Deleted),
    Ask::get(
        "exchanges",
        "/conversation/:conversationId/exchange",
        &["limit", "cursor", "exchangeSort", "messageSort"],
        Form::Page("exchanges"),
    ),
    Ask::get("exchange", "/conversation/:conversationId/exchange/:exchangeId", &["messageSort"], Form::Whole),
    Ask::get("message", "/conversation/:conversationId/exchange/:exchangeId/message/:messageId", &[], Form::Whole),
    Ask::get(
        "contentPart",
        "/conversation/:conversationId/exchange/:exchangeId/message/:messageId/contentPart/:contentPartId",
        &[],
        Form::Whole,
    ),
    Ask::send(
        "feedback",
        Method::Post,
        "/conversation/:conversationId/exchange/:exchangeId/feedback",
        Sends::Feedback,
        Form::Nothing,
    ),
    Ask::get("settings", "/user/settings", &[], Form::Whole),
    Ask::send("updateSettings", Method::Patch, "/user/settings", Sends::Given, Form::Whole),
    Ask::send("attachment", Method::Post, "/conversation/:conversationId/attachment", Sends::Name, Form::Upload),
];

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

    /// Where a request goes.
    fn address(&self, ask: &Ask, own: &Own) -> Result<Address, Error> {
        let mut address = Address::new(&[]);
        for segment in ask.path.split('/').skip(1) {
            match segment.strip_prefix(':') {
                None => address.name(segment),
                Some("") => address.segment(own.id.ok_or_else(no_conversation)?),
                Some("conversationId") => {
                    let given = self.maybe("conversationId");
                    address.segment(given.as_deref().or(own.id).ok_or_else(no_conversation)?);
                }
                Some(name) => address.segment(&self.must(name)?),
            }
        }
        for name in ask.query {
            // The filters have other names in UiPath's own SDK.
            let renamed = match *name {
                "agentReleaseKey" => "agentKey",
                "agentReleaseId" => "agentId",
                "search" => "label",
                name => name,
            };
            address = address.with(name, self.maybe(name).or_else(|| self.maybe(renamed)).as_deref());
        }
        Ok(address)
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
                Deed::Tell(stream("startAsyncInputStream", &self.only(&STREAM), &id), result)
            }
            "streamChunk" => {
                let data = ["{\"data\":", &json::text(&self.must("data")?), "}"].concat();
                Deed::Tell(stream("chunk", &data, &self.must("streamId")?), nothing())
            }
            "endStream" => {
                Deed::Tell(stream("endAsyncInputStream", &self.only(&STREAM_END), &self.must("streamId")?), nothing())
            }
            "endExchange" => Deed::EndExchange(self.maybe("exchangeId").map(Cow::into_owned)),
            _ => return Err(Error::invalid("deed", "unknown to this server")),
        })
    }

    /// An object of these members, as they were given.
    fn only(&self, names: &[&str]) -> String {
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
