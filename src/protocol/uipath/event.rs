//! What can happen in a conversation, as its envelopes say it.

use std::rc::Rc;

use crate::json::{Json, Object};
use crate::protocol::Condition;

/// Where something happened. What does not apply is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct At {
    pub(super) exchange: Rc<str>,
    pub(super) message: Rc<str>,
    /// A content part, a call or an interrupt.
    pub(super) item: Rc<str>,
}

/// One thing that happened.
#[derive(Debug)]
pub(super) struct Event<'a> {
    pub(super) at: At,
    pub(super) what: Happening<'a>,
}

#[derive(Debug)]
pub(super) enum Happening<'a> {
    SessionStarted,
    /// The service asks us to leave this connection.
    SessionEnding,
    SessionEnded,
    Label {
        text: String,
        generated: bool,
    },
    /// Something of an exchange came, be it its start.
    ExchangeStirred,
    ExchangeEnded,
    MessageStarted {
        role: String,
    },
    MessageEnded,
    PartStarted {
        mime: String,
    },
    Chunk(Chunk<'a>),
    PartEnded,
    CallStarted(CallStart<'a>),
    /// Somebody has answered the question about a call.
    CallConfirmed {
        approved: bool,
    },
    CallExecuting {
        input: Option<Json<'a>>,
    },
    CallEnded(CallEnd<'a>),
    /// A call beside all exchanges.
    BackgroundCall,
    /// What old agents ask with.
    InterruptStarted {
        kind: String,
        value: Object<'a>,
    },
    InterruptEnded {
        approved: bool,
    },
    Condition(Condition),
    /// A member of the envelope that this version does not know.
    Unknown(String),
}

/// A piece of a content part.
#[derive(Debug)]
pub(super) struct Chunk<'a> {
    pub(super) data: Option<String>,
    /// The id of a citation, or empty.
    pub(super) citation: String,
    /// The citation begins before this piece.
    pub(super) begins: bool,
    /// It ends after this piece.
    pub(super) ends: bool,
    pub(super) sources: Option<Json<'a>>,
}

/// The agent wants a call.
#[derive(Debug)]
pub(super) struct CallStart<'a> {
    /// The name as it is on the wire.
    pub(super) tool: String,
    /// An object, if the agent's side is sound.
    pub(super) input: Option<Json<'a>>,
    /// Whether a person is asked first.
    pub(super) confirm: bool,
    /// Whether it is the client's to run.
    pub(super) flagged: bool,
    pub(super) input_schema: Option<Json<'a>>,
    pub(super) output_schema: Option<Json<'a>>,
}

/// The service ends a call.
#[derive(Debug)]
pub(super) struct CallEnd<'a> {
    pub(super) output: Option<Json<'a>>,
    pub(super) error: bool,
}

impl CallEnd<'_> {
    /// Whether this is what becomes of a call that a person rejected.
    pub(super) fn is_rejection(&self) -> bool {
        let output = self.output.and_then(Object::of);
        output.is_some_and(|output| output.text("meta") == "Cancelled by user")
    }

    /// The agent's side's own words, if there are any.
    pub(super) fn words(&self) -> String {
        let output = self.output.and_then(Json::string);
        output.map_or_else(|| "the server ended it".to_owned(), |text| ["the server ended it: ", &text].concat())
    }
}
