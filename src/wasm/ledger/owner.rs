//! Whether an owner lives: Web Locks.
//!
//! A session holds the lock with its name for as long as it lives, and the browser lets go of it when the page is gone. The
//! facade does when the session is over or its instance lost, for then nothing of ours runs any more.
//!
//! Others ask for the lock in shared mode, so that they do not get into each other's way, and let go at once.

use js_sys::global;
use wasm_bindgen::prelude::*;
use web_sys::AbortController;

use crate::call::Owner;
use crate::wasm::convert::{self, Plain, call, property};
use crate::wasm::hooks::Hooks;
use crate::wasm::listen::{Callback, callback};
use crate::wasm::moment::{Moment, within};

use super::PATIENCE;

#[wasm_bindgen]
extern "C" {
    /// `LockManager`.
    type Locks;
    #[wasm_bindgen(method, catch)]
    fn request(this: &Locks, name: &str, options: &JsValue, granted: &JsValue) -> Result<JsValue, JsValue>;
}

/// Asks for the lock of an owner, to be held until the facade says that the session has ended. What is returned has to be
/// kept; `None` where there are no locks.
pub(super) fn hold(hooks: &Hooks, owner: &Owner, granted: &Moment) -> Result<Option<Callback>, JsValue> {
    let Some(locks) = locks() else { return Ok(None) };
    let callback = callback(hooks, {
        let (granted, hooks) = (granted.clone(), hooks.clone());
        move |_| {
            granted.come();
            hooks.ended().unwrap_or_default()
        }
    })?;
    let held = locks.request(&name(owner), &Plain::new().made(), &callback.function)?;
    // A lock that is refused is never granted, and the wait tells.
    call(&held, "catch", &passing()?, &JsValue::UNDEFINED)?;
    Ok(Some(callback))
}

/// Whether an owner lives; `None` when nothing tells.
pub(super) async fn lives(hooks: &Hooks, owner: &Owner) -> Option<bool> {
    let free = within(hooks, PATIENCE, ask(owner, "ifAvailable", &JsValue::TRUE)).await?;
    Some(!free.ok()?.as_bool()?)
}

/// Waits for the end of an owner. Whether it came: otherwise nothing tells.
pub(super) async fn ended(owner: &Owner) -> bool {
    let Ok(waiting) = AbortController::new().map(Waiting) else { return false };
    ask(owner, "signal", &waiting.0.signal()).await.is_ok()
}

/// A request that is given up when it is dropped.
struct Waiting(AbortController);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn ask(owner: &Owner, option: &str, value: &JsValue) -> Result<JsValue, JsValue> {
    let locks = locks().ok_or(JsValue::UNDEFINED)?;
    let options = Plain::new();
    options.text("mode", "shared");
    options.value(option, value);
    convert::resolved(locks.request(&name(owner), &options.made(), &passing()?)).await
}

/// What is called with a lock and returns at once: it lets go of the lock, and tells whether there was one. A closure of
/// ours could do no more, and would have to be kept.
fn passing() -> Result<JsValue, JsValue> {
    property(&global(), "Boolean")
}

/// Pages that are not secure have none, and neither has every Node.
fn locks() -> Option<Locks> {
    let navigator = property(&global(), "navigator").ok()?;
    let locks = property(&navigator, "locks").ok()?;
    locks.is_object().then(|| locks.unchecked_into())
}

fn name(owner: &Owner) -> String {
    ["pagehand ", &*owner.0].concat()
}
