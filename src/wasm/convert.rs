//! Every conversion between JS values and ours.

use js_sys::{Function, JSON, JsString, Promise, Reflect};
use serde::Serialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::call::Settled;
use crate::error::Error;
use crate::json;
use crate::protocol::SessionKey;
use crate::protocol::uipath::{Opening, Settings as Service, Surface};

#[wasm_bindgen]
extern "C" {
    // `Promise.resolve` and `String` run the value's own code, so they may throw.
    #[wasm_bindgen(js_namespace = Promise, js_name = resolve, catch)]
    fn promise_of(value: &JsValue) -> Result<Promise, JsValue>;

    #[wasm_bindgen(js_name = String, catch)]
    fn text_of(value: &JsValue) -> Result<JsString, JsValue>;
}

/// The flat option bag. The facade built it itself, from checked texts: nothing of the app's is in it.
///
/// Read member by member: the reading half of `serde-wasm-bindgen` brings messages that can write floats, 20 kB of them.
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
    pub(super) feed: bool,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from a float saturates")]
pub(super) fn options(bag: &JsValue) -> Result<Options, Error> {
    let needed = |field: &'static str| {
        text_at(bag, field).ok_or_else(|| Error::InvalidArgument { field, message: "a text".into() })
    };
    let flag = |name: &str| Reflect::get(bag, &name.into()).is_ok_and(|value| value.is_truthy());
    Ok(Options {
        url: needed("url")?,
        session_key: text_at(bag, "sessionKey"),
        id: needed("id")?,
        request: text_at(bag, "request"),
        resume_within: float_at(bag, "resumeWithin").unwrap_or_default() as u64,
        results: flag("results"),
        feed: flag("feed"),
        asks_key: flag("asksKey"),
    })
}

/// How a conversation of a service is joined or made.
pub(super) struct Joining {
    pub(super) service: Service,
    pub(super) opening: Opening,
    /// Milliseconds.
    pub(super) resume_within: u64,
    pub(super) answer_unflagged: bool,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from a float saturates")]
pub(super) fn joining(bag: &JsValue) -> Result<Joining, Error> {
    Ok(Joining {
        service: service(bag)?,
        opening: match (text_at(bag, "request"), text_at(bag, "id")) {
            (Some(request), _) => Opening::Create { request },
            (None, id) => Opening::Attach { id: id.unwrap_or_default() },
        },
        resume_within: float_at(bag, "resumeWithin").unwrap_or_default() as u64,
        answer_unflagged: Reflect::get(bag, &"answerUnflagged".into()).is_ok_and(|value| value.is_truthy()),
    })
}

/// Where a conversation service is, from the same kind of bag.
pub(super) fn service(bag: &JsValue) -> Result<Service, Error> {
    let needed = |field: &'static str| text_at(bag, field).ok_or_else(|| Error::invalid(field, "a text"));
    let surface = text_at(bag, "surfaceName")
        .map(|name| Surface { name, version: text_at(bag, "surfaceVersion").unwrap_or_default() });
    Ok(Service {
        url: needed("url")?,
        organization: needed("organization")?,
        tenant: needed("tenant")?,
        token: text_at(bag, "sessionKey").map_or(SessionKey::Asked, SessionKey::Fixed),
        socket_path: text_at(bag, "socketPath"),
        external_user: text_at(bag, "externalUser"),
        surface,
    })
}

/// A value of ours as a JS one.
pub(super) fn to_js(value: &impl Serialize) -> Result<JsValue, JsValue> {
    JSON::parse(&json::text(value))
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
    Reflect::get(value, &name.into()).ok()?.as_string()
}

/// A small whole number; `None` also when reading it throws.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from a float saturates")]
pub(super) fn number_at(value: &JsValue, name: &str) -> Option<u16> {
    float_at(value, name).map(|number| number as u16)
}

fn float_at(value: &JsValue, name: &str) -> Option<f64> {
    Reflect::get(value, &name.into()).ok()?.as_f64()
}

/// Calls a method without arguments.
pub(super) fn call_at(value: &JsValue, name: &str) -> Result<JsValue, JsValue> {
    Reflect::get(value, &name.into())?.dyn_into::<Function>()?.call0(value)
}
