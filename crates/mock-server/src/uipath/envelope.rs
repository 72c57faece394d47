//! The JSON object that travels under the one event name, in both directions.

use uuid::Uuid;

use crate::json::{Json, Object};
use crate::object;

/// The name of every event.
pub(super) const EVENT: &str = "ConversationEvent";

/// Members that hold further members; what is not among them is an event.
const NESTING: [&str; 7] =
    ["exchange", "message", "contentPart", "toolCall", "interrupt", "asyncInputStream", "asyncToolCall"];

/// What an envelope is about.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Facts {
    pub(super) conversation: String,
    /// The names of the events in it, outermost first: `startMessage`, `chunk`, …
    pub(super) kinds: Vec<String>,
    pub(super) call: Option<String>,
    /// Only where a call starts.
    pub(super) tool: Option<String>,
}

impl Facts {
    pub(super) fn of(envelope: &Json) -> Self {
        let conversation = envelope.text("conversationId").unwrap_or_default().to_owned();
        let mut facts = Self { conversation, ..Self::default() };
        let mut open = vec![envelope];
        while let Some(level) = open.pop() {
            for (name, value) in level.as_object().into_iter().flat_map(Object::iter) {
                if name == "toolCallId" {
                    facts.call = value.as_str().map(str::to_owned);
                } else if NESTING.contains(&name) {
                    open.push(value);
                } else if !name.ends_with("Id") {
                    facts.kinds.push(name.to_owned());
                }
                if name == "startToolCall" {
                    facts.tool = value.text("toolName").map(str::to_owned);
                }
            }
        }
        facts
    }

    /// The conversation, if its id is one of ours.
    pub(super) fn id(&self) -> Option<Uuid> {
        self.conversation.parse().ok()
    }
}

/// `{"conversationId": …}` with one member more.
pub(super) fn of_session(conversation: &str, name: &str, body: Json) -> Json {
    object! { "conversationId" => conversation, name => body }
}

/// An envelope with these members of an exchange.
pub(super) fn of_exchange(conversation: &str, exchange: &str, members: Json) -> Json {
    of_session(conversation, "exchange", with(object! { "exchangeId" => exchange }, members))
}

/// An object with more members.
pub(super) fn with(mut object: Json, members: Json) -> Json {
    if let Json::Object(members) = members {
        for (name, value) in members {
            object.set(&name, value);
        }
    }
    object
}

/// An `exchangeError` that begins.
pub(super) fn exchange_error(conversation: &str, exchange: &str, id: &str, message: &str) -> Json {
    let error = object! { "errorId" => id, "startError" => object! { "message" => message } };
    of_exchange(conversation, exchange, object! { "exchangeError" => error })
}
