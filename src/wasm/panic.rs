//! What happens when our own code panics. Nothing that JS or a server does should get here.

use std::cell::{Cell, RefCell};
use std::panic::PanicHookInfo;

use js_sys::Function;
use wasm_bindgen::JsValue;

thread_local! {
    static REPORT: RefCell<Option<Function>> = const { RefCell::new(None) };
    static DOING: Cell<&'static str> = const { Cell::new("") };
}

/// Installs the hook of this instance. `report` gets the message, rejects what is pending, and logs once.
pub(super) fn install(report: Function) {
    REPORT.with(|slot| {
        if let Ok(mut slot) = slot.try_borrow_mut() {
            *slot = Some(report);
        }
    });
    std::panic::set_hook(Box::new(hook));
}

/// Says what the current task does.
pub(super) fn doing(label: &'static str) {
    DOING.set(label);
}

/// The trap follows at once and runs no destructor, so the instance is given up: the next call gets a new one.
fn hook(info: &PanicHookInfo) {
    wasm_bindgen::handler::schedule_reinit();
    let report = REPORT.with(|slot| slot.try_borrow().ok().and_then(|slot| slot.clone()));
    if let Some(report) = report {
        let doing = DOING.get();
        let place = if doing.is_empty() { "a call" } else { doing };
        let message = [place, ": ", &info.to_string()].concat();
        // A report that throws changes nothing: the trap comes anyway.
        let _ = report.call1(&JsValue::UNDEFINED, &message.into());
    }
}
