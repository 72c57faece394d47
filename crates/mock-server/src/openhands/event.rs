//! Events: built once with their nulls, sent without them.

use crate::json::{Json, Object};

/// Members of an event whose own null members are left out on the wire, too.
const NESTED: [&str; 5] = ["action", "tool_call", "llm_message", "observation", "classification"];

/// An event in its two forms.
#[derive(Debug)]
pub(crate) struct Event {
    /// The id; empty for a foreign event that has none.
    pub(crate) id: String,
    /// The class name.
    pub(crate) kind: String,
    /// As `GET events/{id}` gives it, nulls included.
    pub(crate) full: Json,
    /// As sockets and searches give it.
    pub(crate) wire: Json,
    /// `wire` as text.
    pub(crate) text: String,
}

impl Event {
    /// An event from its full form.
    pub(crate) fn new(full: Json) -> Self {
        let wire = prune(&full);
        Self {
            id: full.text("id").unwrap_or_default().to_owned(),
            kind: full.text("kind").unwrap_or_default().to_owned(),
            text: wire.to_string(),
            wire,
            full,
        }
    }

    /// An event exactly as someone gave it, for unknown kinds and odd shapes.
    pub(crate) fn verbatim(event: Json) -> Self {
        Self {
            id: event.text("id").unwrap_or_default().to_owned(),
            kind: event.text("kind").unwrap_or_default().to_owned(),
            text: event.to_string(),
            wire: event.clone(),
            full: event,
        }
    }

    pub(crate) fn tool(&self) -> Option<&str> {
        self.wire.text("tool_name")
    }

    pub(super) fn field(&self, key: &str) -> &str {
        self.wire.text(key).unwrap_or_default()
    }
}

/// Common fields, then `fields`, then the kind: the order on the wire.
pub(super) fn assemble(
    id: &str,
    timestamp: &str,
    source: &str,
    parent: Option<&str>,
    fields: Json,
    kind: &str,
) -> Event {
    let mut all = Object::new();
    all.set("id", id);
    all.set("timestamp", timestamp);
    all.set("source", source);
    all.set("parent_id", parent);
    if let Json::Object(fields) = fields {
        for (key, value) in fields {
            all.set(&key, value);
        }
    }
    all.set("kind", kind);
    Event::new(Json::Object(all))
}

fn prune(event: &Json) -> Json {
    let Json::Object(members) = event else { return event.clone() };
    let kept = members.iter().filter(|(_, value)| !value.is_null());
    Json::Object(
        kept.map(|(key, value)| {
            let value = if NESTED.contains(&key) { shallow(value) } else { value.clone() };
            (key.to_owned(), value)
        })
        .collect(),
    )
}

fn shallow(value: &Json) -> Json {
    let Json::Object(members) = value else { return value.clone() };
    let kept = members.iter().filter(|(_, value)| !value.is_null());
    Json::Object(kept.map(|(key, value)| (key.to_owned(), value.clone())).collect())
}
