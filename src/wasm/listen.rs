//! Closures that JS holds: event listeners, timers and callbacks, the only three. All stop when they are dropped.
//!
//! JS gets them through [`Hooks::guard`]: the facade sees a trap inside, and a closure whose instance is lost is not
//! called any more. They are boxed first: what is done with them is compiled once, and not for each.

use js_sys::Function;
use wasm_bindgen::prelude::*;
use web_sys::{Event, EventTarget};

use super::hooks::Hooks;

#[wasm_bindgen]
extern "C" {
    // The global functions, for workers and Node have no window.
    #[wasm_bindgen(js_name = setTimeout, catch)]
    fn set_timeout(function: &Function, milliseconds: u32) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(js_name = clearTimeout, catch)]
    fn clear_timeout(timer: &JsValue) -> Result<(), JsValue>;
}

/// A function that gives JS a value, for as long as it is kept.
pub(super) struct Callback {
    pub(super) function: Function,
    _closure: Closure<Called>,
}

type Called = dyn Fn(JsValue) -> JsValue;

/// Makes a function for JS to call.
pub(super) fn callback(hooks: &Hooks, called: impl Fn(JsValue) -> JsValue + 'static) -> Result<Callback, JsValue> {
    callback_boxed(hooks, Box::new(called))
}

fn callback_boxed(hooks: &Hooks, called: Box<Called>) -> Result<Callback, JsValue> {
    let closure = Closure::wrap(called);
    Ok(Callback { function: hooks.guard(closure.as_ref())?, _closure: closure })
}

/// Listens until it is dropped.
pub(super) struct Listener {
    target: EventTarget,
    kind: &'static str,
    callback: Callback,
}

/// Listens to one kind of event.
pub(super) fn listen(
    hooks: &Hooks,
    target: &EventTarget,
    kind: &'static str,
    heard: impl Fn(Event) + 'static,
) -> Result<Listener, JsValue> {
    let heard = move |event: JsValue| {
        heard(event.unchecked_into());
        JsValue::UNDEFINED
    };
    listen_boxed(hooks, target, kind, Box::new(heard))
}

fn listen_boxed(
    hooks: &Hooks,
    target: &EventTarget,
    kind: &'static str,
    heard: Box<Called>,
) -> Result<Listener, JsValue> {
    let callback = callback_boxed(hooks, heard)?;
    target.add_event_listener_with_callback(kind, &callback.function)?;
    Ok(Listener { target: target.clone(), kind, callback })
}

impl Drop for Listener {
    fn drop(&mut self) {
        // A target that refuses is one of the app's making; the guard stays between it and the closure.
        let _ = self.target.remove_event_listener_with_callback(self.kind, &self.callback.function);
    }
}

/// Waits until it is dropped.
pub(super) struct Timer {
    timer: JsValue,
    _callback: Callback,
}

/// Calls something once, later.
pub(super) fn after(hooks: &Hooks, milliseconds: u32, due: impl Fn() + 'static) -> Result<Timer, JsValue> {
    let due = move |_| {
        due();
        JsValue::UNDEFINED
    };
    after_boxed(hooks, milliseconds, Box::new(due))
}

fn after_boxed(hooks: &Hooks, milliseconds: u32, due: Box<Called>) -> Result<Timer, JsValue> {
    let callback = callback_boxed(hooks, due)?;
    let timer = set_timeout(&callback.function, milliseconds)?;
    Ok(Timer { timer, _callback: callback })
}

impl Drop for Timer {
    fn drop(&mut self) {
        let _ = clear_timeout(&self.timer);
    }
}
