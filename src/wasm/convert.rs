//! Every conversion between JS values and ours.

use js_sys::{Array, Function, JSON, JsString, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::call::{Limits, Settled};
use crate::error::Error;
use crate::net::Millis;

#[wasm_bindgen]
extern "C" {
    // `Promise.resolve` and `String` run the value's own code, so they may throw.
    #[wasm_bindgen(js_namespace = Promise, js_name = resolve, catch)]
    fn promise_of(value: &JsValue) -> Result<Promise, JsValue>;

    #[wasm_bindgen(js_name = String, catch)]
    fn text_of(value: &JsValue) -> Result<JsString, JsValue>;
}

/// A plain object in the making.
pub(super) struct Plain(Object);

impl Plain {
    pub(super) fn new() -> Self {
        Self(Object::new())
    }

    pub(super) fn text(&self, name: &str, text: &str) {
        self.value(name, &text.into());
    }

    #[expect(clippy::cast_precision_loss, reason = "times are far below 2^53")]
    pub(super) fn time(&self, name: &str, time: Millis) {
        self.value(name, &JsValue::from_f64(time.0 as f64));
    }

    /// Nothing of a new object throws.
    pub(super) fn value(&self, name: &str, value: &JsValue) {
        let _ = Reflect::set(&self.0, &name.into(), value);
    }

    pub(super) fn made(self) -> JsValue {
        self.0.into()
    }
}

/// An array of two texts.
pub(super) fn pair(first: &str, second: &str) -> JsValue {
    Array::of2(&first.into(), &second.into()).into()
}

/// A JS value as JSON text, if it has one.
pub(super) fn json_of(value: &JsValue) -> Option<String> {
    JSON::stringify(value).ok()?.as_string()
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
        if let Some(json) = json_of(value) {
            return (String::new(), json);
        }
    }
    let text = text_of(value).ok().and_then(|text| text.as_string());
    (String::new(), text.unwrap_or_else(|| "a value that cannot be shown".into()))
}

/// A text property; `None` also when reading it throws.
pub(super) fn text_at(value: &JsValue, name: &str) -> Option<String> {
    property(value, name).ok()?.as_string()
}

/// A small whole number; `None` also when reading it throws.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from a float saturates")]
pub(super) fn number_at(value: &JsValue, name: &str) -> Option<u16> {
    float_at(value, name).map(|number| number as u16)
}

/// How long, or when, in milliseconds; `None` when it is not said.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from a float saturates")]
pub(super) fn millis_at(value: &JsValue, name: &str) -> Option<Millis> {
    float_at(value, name).map(|number| Millis(number as u64))
}

/// The limits that the app has set, of the others the usual ones.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from a float saturates")]
pub(super) fn limits_of(value: &JsValue) -> Limits {
    let mut limits = Limits::default();
    for (name, limit) in limits.by_name() {
        if let Some(set) = float_at(value, name) {
            *limit = set as usize;
        }
    }
    limits
}

/// Whether a property is there and no `false`.
pub(super) fn flag_at(value: &JsValue, name: &str) -> bool {
    property(value, name).is_ok_and(|value| value.is_truthy())
}

/// A text property that the facade always gives.
pub(super) fn needed_text_at(value: &JsValue, name: &'static str) -> Result<String, Error> {
    text_at(value, name).ok_or_else(|| Error::invalid(name, "a text"))
}

fn float_at(value: &JsValue, name: &str) -> Option<f64> {
    property(value, name).ok()?.as_f64()
}

/// A property. What is no object has none.
pub(super) fn property(value: &JsValue, name: &str) -> Result<JsValue, JsValue> {
    if value.is_object() { Reflect::get(value, &name.into()) } else { Ok(JsValue::UNDEFINED) }
}

/// Calls a method.
pub(super) fn call(value: &JsValue, name: &str, first: &JsValue, second: &JsValue) -> Result<JsValue, JsValue> {
    // What is no function has no `call` either, and that throws.
    property(value, name)?.unchecked_into::<Function>().call2(value, first, second)
}
