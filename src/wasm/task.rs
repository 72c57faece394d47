//! The one place where futures are spawned.

use std::future::{Future, poll_fn};
use std::pin::pin;

use wasm_bindgen_futures::spawn_local;

use super::panic;

/// Spawns a future. The label says in a panic's message what was being done: a spawned future has no caller to tell.
pub(super) fn spawn(label: &'static str, future: impl Future<Output = ()> + 'static) {
    spawn_local(async move {
        let mut future = pin!(future);
        poll_fn(|context| {
            panic::doing(label);
            future.as_mut().poll(context)
        })
        .await;
        panic::doing("");
    });
}
