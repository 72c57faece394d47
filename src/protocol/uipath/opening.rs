//! How a conversation is opened.

use crate::error::Error;
use crate::json::Object;
use crate::protocol::{Opened, Status};

/// The longest title, in characters.
const LONGEST_LABEL: usize = 100;
/// What an agent takes at its start has fewer characters of JSON than this.
const LARGEST_INPUT: usize = 4_000;

/// How to get at a conversation.
pub enum Opening {
    /// Create it with an agent.
    Create {
        /// JSON text of an object: `agentReleaseId`, `folderId`, and what else the service takes.
        request: String,
    },
    /// Join one that is there.
    Attach {
        /// Its id.
        id: String,
    },
}

impl Opening {
    /// The body of the create request; `None` when there is nothing to create.
    pub(super) fn body(&self) -> Result<Option<String>, Error> {
        let request = match self {
            Self::Create { request } => request,
            Self::Attach { id } if id.trim().is_empty() => {
                return Err(Error::invalid("conversationId", "the id of a conversation"));
            }
            Self::Attach { .. } => return Ok(None),
        };
        let bad = || Error::invalid("options", "an object that JSON can carry");
        let mut fields = Object::read(request).ok_or_else(bad)?;
        // The name that UiPath's own SDK has for it.
        fields.rename("agentId", "agentReleaseId");
        for field in ["agentReleaseId", "folderId"] {
            if fields.get(field).is_none() {
                return Err(Error::invalid(field, "which agent, and where it is"));
            }
        }
        if fields.text("label").chars().count() > LONGEST_LABEL {
            return Err(Error::invalid("label", "100 characters at most"));
        }
        if fields.get("agentInput").is_some_and(|input| input.get().chars().count() >= LARGEST_INPUT) {
            return Err(Error::invalid("agentInput", "less than 4000 characters of JSON"));
        }
        Ok(Some(fields.to_text()))
    }

    /// Reads the conversation that was created or joined.
    pub(super) fn opened(&self, body: &str) -> Result<Opened, Error> {
        let conversation = Object::read(body).unwrap_or_default();
        let id = conversation.string("conversationId").or_else(|| conversation.string("id"));
        Ok(Opened {
            id: id.ok_or(Error::BadResponse { what: "opening the conversation" })?,
            created: matches!(self, Self::Create { .. }),
            status: Status::Idle,
            tools: None,
            gate: None,
            loses_messages: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(request: &str) -> Result<Option<String>, Error> {
        Opening::Create { request: request.into() }.body()
    }

    #[test]
    fn the_apps_fields_travel_as_they_are() {
        let request = r#"{"agentReleaseId":7,"folderId":11,"label":"x","agentInput":{"inline":{"n":1.50}},"z":[1.0]}"#;
        assert_eq!(body(request).unwrap().unwrap(), request);
        assert_eq!(body(r#"{"agentId":7,"folderId":1}"#).unwrap().unwrap(), r#"{"agentReleaseId":7,"folderId":1}"#);
    }

    #[test]
    fn what_the_service_would_refuse_is_refused_by_its_field() {
        let long = format!(r#"{{"agentReleaseId":7,"folderId":1,"label":"{}"}}"#, "ä".repeat(101));
        let large = format!(r#"{{"agentReleaseId":7,"folderId":1,"agentInput":{{"inline":"{}"}}}}"#, "x".repeat(4_000));
        for (request, field) in [
            ("[]", "options"),
            ("{}", "agentReleaseId"),
            (r#"{"agentReleaseId":7,"folderId":null}"#, "folderId"),
            (&long, "label"),
            (&large, "agentInput"),
        ] {
            let Err(Error::InvalidArgument { field: told, .. }) = body(request) else { panic!("{request}") };
            assert_eq!(told, field);
        }
        assert!(body(&long.replacen('ä', "", 1)).is_ok());
        assert!(Opening::Attach { id: " ".into() }.body().is_err());
    }

    #[test]
    fn both_spellings_of_a_conversation_are_read() {
        let attach = Opening::Attach { id: "C".into() };
        for body in [r#"{"conversationId":"C"}"#, r#"{"id":"C"}"#] {
            assert_eq!(attach.opened(body).unwrap().id, "C");
        }
        assert_eq!(attach.opened("{}").err().map(|error| error.code()), Some("bad_response"));
    }
}
