//! What the house asks of a protocol.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::call::CallId;
use crate::error::Error;
use crate::json::{self, Object};

/// Names one command; the answer is [`Signal::Done`](super::Signal::Done).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u32);

/// One thing to do on the server. The comment says what the command is done with.
#[derive(Debug)]
pub enum Command {
    /// Add a user message. Done with `null`.
    Say {
        /// JSON text of an array of content parts.
        content: Box<RawValue>,
        /// Whether the agent runs.
        run: bool,
    },
    /// Let the agent go on. Done with `null`.
    Run,
    /// Read a page of the log. Done with the JSON text of the page.
    History(Page),
    /// Ask for the status; it comes as [`Signal::Polled`](super::Signal::Polled). Done with `null`.
    Poll,
    /// Fetch a call that was let through before it was seen; it comes as a delivery. Done with `null`.
    Fetch(CallId),
    /// Answer what waits for approval, all of it. Done with `null`.
    Decide {
        /// Whether the calls may run.
        accept: bool,
        /// Why not.
        reason: String,
    },
    /// Something that is the server's alone. Done with the JSON text of its answer.
    Do(Deed),
}

/// What a server can do with a conversation beside letting it speak. JSON is in the server's own words.
#[derive(Debug)]
pub enum Deed {
    /// Stop between two steps.
    Pause,
    /// Stop at once.
    Interrupt,
    /// Copy the conversation.
    Fork(Fork),
    /// Delete it.
    Delete,
    /// Change its title or tags: JSON text of an object.
    Update(Box<RawValue>),
    /// Make this event the end of what the agent sees.
    Navigate(Option<String>),
    /// Use another model: JSON text of an object.
    SwitchLlm(Box<RawValue>),
    /// Ask the agent something beside the conversation.
    Ask(String),
    /// Shorten what the agent remembers.
    Condense,
    /// Ask before calls by another policy: JSON text of an object.
    Policy(Box<RawValue>),
    /// List the server's conversations.
    List(Listing),
}

/// How a conversation is copied.
#[derive(Debug)]
pub struct Fork {
    /// The id of the copy; absent, the server chooses.
    pub conversation_id: Option<String>,
    /// The last event of the copy; absent, all are copied.
    pub event_id: Option<String>,
    /// The title of the copy.
    pub title: Option<String>,
    /// JSON text of an object of texts.
    pub tags: Option<Box<RawValue>>,
}

/// Which of a server's conversations.
#[derive(Debug)]
pub struct Listing {
    /// So many at most, 1 to 100.
    pub limit: Option<u32>,
    /// Where the page starts.
    pub page: Option<String>,
    /// Only those that do this.
    pub status: Option<String>,
    /// In this order, in the server's words.
    pub order: Option<String>,
}

impl Fork {
    fn read(fields: &Object) -> Result<Self, Error> {
        Ok(Self {
            conversation_id: maybe(fields, "conversationId", Object::string)?,
            event_id: maybe(fields, "eventId", Object::string)?,
            title: maybe(fields, "title", Object::string)?,
            tags: fields.get("tags").map(ToOwned::to_owned),
        })
    }
}

impl Listing {
    fn read(fields: &Object) -> Result<Self, Error> {
        Ok(Self {
            limit: maybe(fields, "limit", |fields, name| u32::try_from(fields.integer(name)?).ok())?,
            page: maybe(fields, "page", Object::string)?,
            status: maybe(fields, "status", Object::string)?,
            order: maybe(fields, "order", Object::string)?,
        })
    }
}

/// A member that may be absent, but not of another type.
fn maybe<'a, T>(fields: &Object<'a>, name: &str, read: fn(&Object<'a>, &str) -> Option<T>) -> Result<Option<T>, Error> {
    let value = read(fields, name);
    if value.is_none() && fields.get(name).is_some() { Err(unusable()) } else { Ok(value) }
}

fn unusable() -> Error {
    invalid("of unusable types")
}

fn invalid(message: &str) -> Error {
    Error::InvalidArgument { field: "options", message: message.to_owned() }
}

impl Deed {
    /// A deed by its name in JS, with the JSON text of what it takes.
    pub fn read(name: &str, given: String) -> Result<Self, Error> {
        let raw = |given| RawValue::from_string(given).map_err(|_| invalid("must be JSON"));
        let text = |given| match raw(given)? {
            absent if absent.get() == "null" => Ok(None),
            given => json::string(&given).map(Cow::into_owned).map(Some).ok_or_else(|| invalid("must be a text")),
        };
        let fields = |given| Object::read(given).ok_or_else(unusable);
        Ok(match name {
            "pause" => Self::Pause,
            "interrupt" => Self::Interrupt,
            "fork" => Self::Fork(Fork::read(&fields(&given)?)?),
            "delete" => Self::Delete,
            "update" => Self::Update(raw(given)?),
            "navigate" => Self::Navigate(text(given)?),
            "switchLlm" => Self::SwitchLlm(raw(given)?),
            "ask" => Self::Ask(text(given)?.unwrap_or_default()),
            "condense" => Self::Condense,
            "setPolicy" => Self::Policy(raw(given)?),
            "list" => Self::List(Listing::read(&fields(&given)?)?),
            _ => return Err(Error::InvalidArgument { field: "deed", message: "unknown".into() }),
        })
    }
}

/// Which page of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Events on the page, 1 to 100.
    pub limit: u32,
    /// Newest first.
    pub newest_first: bool,
    /// Where the page starts.
    pub page: Option<String>,
}
