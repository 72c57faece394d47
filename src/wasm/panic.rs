//! What happens when our own code panics. Nothing that JS or a server does should get here.

use std::cell::{Cell, RefCell};
use std::panic::PanicHookInfo;
use std::thread::LocalKey;

use js_sys::Function;
use wasm_bindgen::JsValue;

thread_local! {
    static REPORT: RefCell<Option<Function>> = const { RefCell::new(None) };
    static WATCH: RefCell<Option<Function>> = const { RefCell::new(None) };
    static DOING: Cell<&'static str> = const { Cell::new("") };
}

/// Installs the hook of this instance. `report` gets the message, rejects what is pending, and logs once. `watch` looks at
/// [`doing_what`] as soon as nothing runs any more.
pub(super) fn install(report: Function, watch: Function) {
    REPORT.set(Some(report));
    WATCH.set(Some(watch));
    std::panic::set_hook(Box::new(hook));
}

/// Says what the current task does. A trap that is no panic, as for want of memory, calls no hook, and a task has no caller whom an
/// exception could reach: so somebody looks afterwards whether [`done`] was said.
pub(super) fn doing(label: &'static str) {
    DOING.set(label);
    // One that throws watches nothing.
    _ = function(&WATCH).map(|watch| watch.call1(&JsValue::UNDEFINED, &JsValue::UNDEFINED));
}

/// The current task has come to where it waits, or to its end.
pub(super) fn done() {
    DOING.set("");
}

/// What the current task does. With nothing on the stack: what the one did that never came to its end.
pub(super) fn doing_what() -> &'static str {
    DOING.get()
}

fn function(slot: &'static LocalKey<RefCell<Option<Function>>>) -> Option<Function> {
    slot.with(|slot| slot.try_borrow().ok().and_then(|slot| slot.clone()))
}

fn hook(info: &PanicHookInfo) {
    lost(&info.to_string());
}

/// The end of the stack unwinds nothing, so the instance is given up: the next call gets a new one.
pub(super) fn lost(what: &str) {
    wasm_bindgen::handler::schedule_reinit();
    if let Some(report) = function(&REPORT) {
        let doing = DOING.get();
        let place = if doing.is_empty() { "a call" } else { doing };
        let message = [place, ": ", what].concat();
        // A report that throws changes nothing: the trap comes anyway.
        let _ = report.call1(&JsValue::UNDEFINED, &message.into());
    }
}
