//! What an agent-server can do with a conversation beside letting it speak, and what the house is told of the answer.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::error::Error;
use crate::json::{self, Json, Object};
use crate::protocol;

use super::info;

/// The deeds. JSON is in the server's own words.
#[derive(Debug)]
pub(super) enum Deed {
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
pub(super) struct Fork {
    /// The id of the copy; absent, the server chooses.
    pub(super) conversation_id: Option<String>,
    /// The last event of the copy; absent, all are copied.
    pub(super) event_id: Option<String>,
    /// The title of the copy.
    pub(super) title: Option<String>,
    /// JSON text of an object of texts.
    pub(super) tags: Option<Box<RawValue>>,
}

/// Which of a server's conversations.
#[derive(Debug)]
pub(super) struct Listing {
    /// So many at most, 1 to 100.
    pub(super) limit: Option<u32>,
    /// Where the page starts.
    pub(super) page: Option<String>,
    /// Only those that do this.
    pub(super) status: Option<String>,
    /// In this order, in the server's words.
    pub(super) order: Option<String>,
}

impl Fork {
    fn read(fields: &Object) -> Result<Self, Error> {
        Ok(Self {
            conversation_id: maybe(fields, "conversationId", Object::string)?,
            event_id: maybe(fields, "eventId", Object::string)?,
            title: maybe(fields, "title", Object::string)?,
            tags: fields.get("tags").map(Json::to_raw),
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
    Error::invalid("options", message)
}

impl Deed {
    /// A deed by its name in JS.
    pub(super) fn read(deed: &protocol::Deed) -> Result<Self, Error> {
        let given = &deed.given;
        let text = || match given.get() {
            "null" => Ok(None),
            _ => Json::from(given).string().map(Cow::into_owned).map(Some).ok_or_else(|| invalid("must be a text")),
        };
        let fields = || Object::of(given).ok_or_else(unusable);
        Ok(match deed.name.as_str() {
            "pause" => Self::Pause,
            "interrupt" => Self::Interrupt,
            "fork" => Self::Fork(Fork::read(&fields()?)?),
            "delete" => Self::Delete,
            "update" => Self::Update(given.clone()),
            "navigate" => Self::Navigate(text()?),
            "switchLlm" => Self::SwitchLlm(given.clone()),
            "ask" => Self::Ask(text()?.unwrap_or_default()),
            "condense" => Self::Condense,
            "setPolicy" => Self::Policy(given.clone()),
            "list" => Self::List(Listing::read(&fields()?)?),
            _ => return Err(Error::invalid("deed", "unknown to this server")),
        })
    }
}

/// The form of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `null`.
    Nothing,
    /// `null`, and that is the end of the conversation.
    Deleted,
    /// The server's object as it is.
    Whole,
    /// The agent's words.
    Response,
    /// A page of conversations: `{"conversations", "next"}`.
    Conversations,
}

impl Form {
    pub(super) fn of(deed: &Deed) -> Self {
        match deed {
            Deed::Fork(_) => Self::Whole,
            Deed::Delete => Self::Deleted,
            Deed::Ask(_) => Self::Response,
            Deed::List(_) => Self::Conversations,
            Deed::Pause
            | Deed::Interrupt
            | Deed::Update(_)
            | Deed::Navigate(_)
            | Deed::SwitchLlm(_)
            | Deed::Condense
            | Deed::Policy(_) => Self::Nothing,
        }
    }

    /// The result as JSON text.
    pub(super) fn read(self, body: String) -> Result<String, Error> {
        match self {
            Self::Whole if Object::read(&body).is_some() => Ok(body),
            Self::Whole => Err(Error::BadResponse { what: "reading what came of it" }),
            Self::Nothing | Self::Deleted => {
                // Servers up to 1.56 say in this way that they do not know the conversation.
                let answer = Object::read(&body).unwrap_or_default();
                if answer.get("success").is_some_and(|success| success.get() == "false") {
                    return Err(Error::NotFound { detail: "the server did nothing".into() });
                }
                Ok("null".to_owned())
            }
            Self::Response => {
                let answer = Object::read(&body).and_then(|answer| answer.string("response"));
                let response = answer.ok_or(Error::BadResponse { what: "asking the agent" })?;
                Ok(json::text(&response))
            }
            Self::Conversations => info::page(&body, "conversations", "listing the conversations"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(form: Form, body: &str) -> Result<String, &'static str> {
        form.read(body.to_owned()).map_err(|error| error.code())
    }

    #[test]
    fn each_answer_takes_its_form() {
        assert_eq!(read(Form::Nothing, r#"{"success":true}"#).as_deref(), Ok("null"));
        assert_eq!(read(Form::Whole, r#"{"id":"a","x":1.50}"#).as_deref(), Ok(r#"{"id":"a","x":1.50}"#));
        assert_eq!(read(Form::Response, r#"{"response":"a \"b\""}"#).as_deref(), Ok(r#""a \"b\"""#));
        let page = r#"{"items":[{"id":"a","stats":1.0}],"next_page_id":"b"}"#;
        let told = r#"{"conversations":[{"id":"a","stats":1.0}],"next":"b"}"#;
        assert_eq!(read(Form::Conversations, page).as_deref(), Ok(told));
        let last = r#"{"items":[],"next_page_id":null}"#;
        assert_eq!(read(Form::Conversations, last).as_deref(), Ok(r#"{"conversations":[],"next":null}"#));
    }

    #[test]
    fn answers_that_are_something_else_are_errors() {
        assert_eq!(read(Form::Nothing, r#"{"success":false}"#), Err("not_found"));
        for form in [Form::Response, Form::Conversations] {
            for body in ["", "[]", "{}"] {
                assert_eq!(read(form, body), Err("bad_response"), "{body}");
            }
        }
        for body in ["", "[]", "<html>", r#"{"id":"#] {
            assert_eq!(read(Form::Whole, body), Err("bad_response"), "{body}");
        }
    }
}
