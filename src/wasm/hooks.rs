//! What the facade offers to a session: one object with these methods.

use js_sys::Function;
use wasm_bindgen::prelude::*;
use web_sys::{AbortSignal, Event};

use super::panic;

#[wasm_bindgen]
extern "C" {
    /// The facade's side of a session (`Hooks` in `pkg-template/live-session.js`).
    #[wasm_bindgen(typescript_type = "Hooks")]
    #[derive(Clone)]
    pub type Hooks;

    /// An event for the app: the topic's number and JSON text.
    #[wasm_bindgen(method, catch)]
    pub(super) fn emit(this: &Hooks, topic: u32, json: &str) -> Result<(), JsValue>;

    /// An operation is done: JSON text.
    #[wasm_bindgen(method, catch)]
    pub(super) fn settle(this: &Hooks, operation: u32, json: &str) -> Result<(), JsValue>;

    /// An operation failed, with an error that [`error`](Self::error) made.
    #[wasm_bindgen(method, catch)]
    pub(super) fn fail(this: &Hooks, operation: u32, error: &JsValue) -> Result<(), JsValue>;

    /// Makes the facade's error; `details` is JSON text.
    #[wasm_bindgen(method, catch)]
    pub(super) fn error(
        this: &Hooks,
        code: &str,
        message: &str,
        details: &str,
        retryable: bool,
    ) -> Result<JsValue, JsValue>;

    /// Wraps a closure of ours for JS to call, with what it returns: not once the session is over, and with an eye on
    /// traps.
    #[wasm_bindgen(method, catch)]
    pub(super) fn guard(this: &Hooks, closure: &JsValue) -> Result<Function, JsValue>;

    /// Writes the text of a message event into the buffer, as UTF-8, and answers with its length in bytes; -1 when the event
    /// has no text, or the buffer may be too small.
    #[wasm_bindgen(method, catch)]
    pub(super) fn text(this: &Hooks, event: &Event, buffer: &mut [u8]) -> Result<i32, JsValue>;

    /// A promise that is resolved when the session is over, be it that its instance is lost.
    #[wasm_bindgen(method, catch)]
    pub(super) fn ended(this: &Hooks) -> Result<JsValue, JsValue>;

    /// Asks the app for the key. A promise of a text that a header can carry.
    #[wasm_bindgen(method, catch)]
    pub(super) fn key(this: &Hooks) -> Result<JsValue, JsValue>;

    /// Lets the app look at a call of this handler's: JSON text of the arguments, and a signal that aborts when the call has ended. A promise
    /// of the JSON text `{"verdict": "allow" | "ask" | "block", "reason"?, "arguments"?}`.
    #[wasm_bindgen(method, catch)]
    pub(super) fn review(
        this: &Hooks,
        handler: &JsValue,
        tool: &str,
        call: &str,
        arguments: &str,
        signal: &AbortSignal,
    ) -> Result<JsValue, JsValue>;

    /// Compiles a schema. A promise; a rejection whose `code` is `invalid_schema` is about the schema itself.
    #[wasm_bindgen(method, catch)]
    pub(super) fn compile(this: &Hooks, schema: u32, text: &str) -> Result<JsValue, JsValue>;

    /// Checks JSON text against a schema: arguments, or an `output`, of the tool with this handler, or of one that is not
    /// declared. A promise of the JSON text of a report; a rejection whose `code` is `validator_threw` is about a validator
    /// of the app's own.
    #[wasm_bindgen(method, catch)]
    pub(super) fn check(
        this: &Hooks,
        schema: u32,
        instance: &str,
        output: bool,
        handler: &JsValue,
    ) -> Result<JsValue, JsValue>;
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(prefix: &str, value: &JsValue);
}

/// What would be waited for for ever, were this an ordinary failure: then rather the instance is given up, and everything that
/// waits is told. It comes where the stack ends.
pub(super) fn needed(result: Result<(), JsValue>) {
    if let Err(thrown) = result {
        panic::lost("an operation cannot be settled");
        wasm_bindgen::throw_val(thrown);
    }
}

/// Tells the console what has no other place to go: an exception from the facade's own hooks.
pub(super) fn report(result: Result<(), JsValue>) {
    if let Err(thrown) = result {
        console_error("pagehand:", &thrown);
    }
}
