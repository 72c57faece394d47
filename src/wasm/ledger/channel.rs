//! Outcomes told from page to page, and asked for: `BroadcastChannel`.

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
fn written(key: &Key, outcome: Option<&RawValue>) -> String {
    json::text(&json::object(|told| {
        told.set("conversation", &key.conversation).set("subject", &key.subject);
        told.set_some("outcome", outcome.as_ref());
    }))
}

fn read(text: &str) -> Option<(Key, Option<Box<RawValue>>)> {
    let fields = Object::read(text)?;
    let key = Key { conversation: fields.string("conversation")?.into(), subject: fields.string("subject")?.into() };
    Some((key, fields.raw("outcome").map(Json::to_raw)))
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
            if let Some((key, outcome)) = convert::text_at(&event, "data").and_then(|text| read(&text)) {
                heard(key, outcome);
            }
        });
        // In Node an open channel keeps the process alive; elsewhere there is no such method.
        let _ = convert::call(&channel, "unref", &JsValue::UNDEFINED, &JsValue::UNDEFINED);
        Some(Self { _listener: listener.ok()?, channel })
    }

    /// Tells the outcome of an entry, or asks for it.
    pub(super) fn tell(&self, key: &Key, outcome: Option<&RawValue>) {
        // Throws only when it is closed.
        let _ = self.channel.post_message(&JsValue::from(written(key, outcome)));
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.channel.close();
    }
}
