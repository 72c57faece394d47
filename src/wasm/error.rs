//! Our errors as JS errors. The facade's factory makes them, so that there is one class in one place.

use wasm_bindgen::prelude::*;

use crate::error::Error;
use crate::json;

use super::hooks::Hooks;

/// The JS error for one of ours.
pub(super) fn to_js(hooks: &Hooks, error: &Error) -> JsValue {
    let made = hooks.error(error.code(), &error.to_string(), &json::text(error), error.retryable());
    // A factory that throws gives an error all the same.
    made.unwrap_or_else(|thrown| thrown)
}
