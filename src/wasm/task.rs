//! The one place where futures are spawned.

use std::future::{Future, poll_fn};
use std::pin::Pin;

use wasm_bindgen_futures::spawn_local;

use super::panic;

/// Spawns a future. The label says in a panic's message what was being done: a spawned future has no caller to tell.
pub(super) fn spawn(label: &'static str, future: impl Future<Output = ()> + 'static) {
    spawn_boxed(label, Box::pin(future));
}

/// Once for all futures: what is around them would be compiled again for each kind.
fn spawn_boxed(label: &'static str, mut future: Pin<Box<dyn Future<Output = ()>>>) {
    spawn_local(poll_fn(move |context| {
        panic::doing(label);
        let polled = future.as_mut().poll(context);
        panic::done();
        polled
    }));
}
