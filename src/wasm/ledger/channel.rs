//! Outcomes told from page to page, and asked for: `BroadcastChannel`.

use serde::Serialize;
use serde_json::value::RawValue;
use wasm_bindgen::JsValue;
use web_sys::BroadcastChannel;

use crate::call::Key;
use crate::json::{self, Json, Object};
use crate::wasm::convert;
use crate::wasm::hooks::Hooks;
use crate::wasm::listen::{Listener, listen};

const NAME: &str = "pagehand";

/// What one page tells the others, as JSON text. Without an outcome it asks for it.
#[derive(Serialize)]
struct Told {
    conversation: String,
    subject: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Box<RawValue>>,
}

impl Told {
    fn read(text: &str) -> Option<Self> {
        let fields = Object::read(text)?;
        Some(Self {
            conversation: fields.string("conversation")?,
            subject: fields.string("subject")?,
            outcome: fields.contains("outcome").then(|| fields.get("outcome").map(Json::to_raw).unwrap_or_default()),
        })
    }
}

/// An open channel; it is closed when it is dropped.
pub(super) struct Channel {
    channel: BroadcastChannel,
    _listener: Listener,
}

impl Channel {
    /// `None` where there is no such thing.
    pub(super) fn open(hooks: &Hooks, heard: impl Fn(Key, Option<Box<RawValue>>) + 'static) -> Option<Self> {
        let channel = BroadcastChannel::new(NAME).ok()?;
        let listener = listen(hooks, &channel, "message", move |event| {
            let told = convert::text_at(&event, "data").and_then(|text| Told::read(&text));
            if let Some(Told { conversation, subject, outcome }) = told {
                heard(Key { conversation: conversation.into(), subject: subject.into() }, outcome);
            }
        });
        // In Node an open channel keeps the process alive; elsewhere there is no such method.
        let _ = convert::call_at(&channel, "unref");
        Some(Self { _listener: listener.ok()?, channel })
    }

    /// Tells the outcome of an entry, or asks for it.
    pub(super) fn tell(&self, key: &Key, outcome: Option<&RawValue>) {
        let (conversation, subject) = (key.conversation.to_string(), key.subject.to_string());
        let told = Told { conversation, subject, outcome: outcome.map(ToOwned::to_owned) };
        // Throws only when it is closed.
        let _ = self.channel.post_message(&JsValue::from(json::text(&told)));
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.channel.close();
    }
}
