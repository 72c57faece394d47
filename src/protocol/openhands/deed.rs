//! What the house is told of an answer to something that is the server's alone.

use crate::error::Error;
use crate::json::{self, Object};
use crate::protocol::Deed;

/// The form of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `null`.
    Nothing,
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
            Deed::Ask(_) => Self::Response,
            Deed::List(_) => Self::Conversations,
            Deed::Pause
            | Deed::Interrupt
            | Deed::Delete
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
            Self::Whole => Ok(body),
            Self::Nothing => {
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
            Self::Conversations => {
                let bad = Error::BadResponse { what: "listing the conversations" };
                let found = Object::read(&body).ok_or_else(|| bad.clone())?;
                let items = found.get("items").ok_or(bad)?;
                let next = json::text(&found.string("next_page_id"));
                Ok([r#"{"conversations":"#, items.get(), r#","next":"#, &next, "}"].concat())
            }
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
    }
}
