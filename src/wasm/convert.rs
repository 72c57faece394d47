//! Every conversion between JS values and ours.

use js_sys::{Function, JSON, JsString, Promise, Reflect};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::call::Settled;
use crate::error::Error;

#[wasm_bindgen]
extern "C" {
    // `Promise.resolve` and `String` run the value's own code, so they may throw.
    #[wasm_bindgen(js_namespace = Promise, js_name = resolve, catch)]
    fn promise_of(value: &JsValue) -> Result<Promise, JsValue>;

    #[wasm_bindgen(js_name = String, catch)]
    fn text_of(value: &JsValue) -> Result<JsString, JsValue>;
}

/// The flat option bag. The facade built it itself, from checked texts: nothing of the app's is in it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Options {
    pub(super) url: String,
    pub(super) session_key: Option<String>,
    /// Whether the key is asked for, by [`Hooks::key`](super::hooks::Hooks::key).
    pub(super) asks_key: bool,
    pub(super) id: String,
    pub(super) request: Option<String>,
    /// Milliseconds.
    pub(super) resume_within: u64,
    pub(super) results: bool,
    /// Whether the app has a connection of its own.
    #[serde(default)]
    pub(super) feed: bool,
}

pub(super) fn options(bag: JsValue) -> Result<Options, Error> {
    serde_wasm_bindgen::from_value(bag)
        .map_err(|error| Error::InvalidArgument { field: "options", message: error.to_string() })
}

/// A value of ours as a JS one.
pub(super) fn to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    JSON::parse(&serde_json::to_string(value).map_err(|error| JsValue::from(error.to_string()))?)
}

/// A JS value as one of ours, if it is one.
pub(super) fn from_js<T: DeserializeOwned>(value: &JsValue) -> Option<T> {
    serde_json::from_str(&JSON::stringify(value).ok()?.as_string()?).ok()
}

/// Waits for a value, a promise or a thenable. An exception and a rejection are the same.
pub(super) async fn resolved(value: Result<JsValue, JsValue>) -> Result<JsValue, JsValue> {
    JsFuture::from(promise_of(&value?)?).await
}

/// A handler's value as JSON text, by the rules of `JSON.stringify`; `undefined` is `null`.
pub(super) fn returned(value: &JsValue) -> Settled {
    if value.is_undefined() {
        return Settled::Returned("null".into());
    }
    match JSON::stringify(value) {
        // For a function or a symbol `JSON.stringify` gives `undefined`.
        Ok(text) => match text.as_string() {
            Some(text) => Settled::Returned(text),
            None => Settled::NotSerializable { message: "the result is a function or a symbol".into() },
        },
        Err(thrown) => Settled::NotSerializable { message: description(&thrown).1 },
    }
}

/// Whatever a handler threw.
pub(super) fn threw(value: &JsValue) -> Settled {
    let (name, message) = description(value);
    Settled::Threw { name, message }
}

/// The name and message of a thrown value, which may be anything: an error, a text, `undefined`, an object whose getters
/// throw. What is no error has no name, and its text is its message.
pub(super) fn description(value: &JsValue) -> (String, String) {
    if value.is_object() {
        if let Some(message) = text_at(value, "message") {
            return (text_at(value, "name").unwrap_or_default(), message);
        }
        if let Some(json) = JSON::stringify(value).ok().and_then(|text| text.as_string()) {
            return (String::new(), json);
        }
    }
    let text = text_of(value).ok().and_then(|text| text.as_string());
    (String::new(), text.unwrap_or_else(|| "a value that cannot be shown".into()))
}

/// A text property; `None` also when reading it throws.
pub(super) fn text_at(value: &JsValue, name: &str) -> Option<String> {
    Reflect::get(value, &name.into()).ok()?.as_string()
}

/// A small whole number; `None` also when reading it throws.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from a float saturates")]
pub(super) fn number_at(value: &JsValue, name: &str) -> Option<u16> {
    Reflect::get(value, &name.into()).ok()?.as_f64().map(|number| number as u16)
}

/// Calls a method without arguments.
pub(super) fn call_at(value: &JsValue, name: &str) -> Result<JsValue, JsValue> {
    Reflect::get(value, &name.into())?.dyn_into::<Function>()?.call0(value)
}
