//! What happens around the page: the network, and whether anybody looks at it.

use js_sys::global;
use wasm_bindgen::prelude::*;
use web_sys::{Event, EventTarget};

use crate::conversation::{Input, Wire};
use crate::protocol::Surroundings;

use super::convert;
use super::hooks::Hooks;
use super::inputs::Inputs;
use super::listen::{Listener, listen as listen_to};

type Meaning = fn(&Event) -> Option<Surroundings>;

/// What the global object tells. Workers hear of the network only, and Node of nothing.
const GLOBAL: [(&str, Meaning); 4] = [
    ("online", |_| Some(Surroundings::Online)),
    ("offline", |_| Some(Surroundings::Offline)),
    ("pagehide", |_| Some(Surroundings::Leaving)),
    // Also fired by every load, of which nothing is to be told.
    ("pageshow", |event| convert::flag_at(event, "persisted").then_some(Surroundings::Back)),
];

/// What the document tells. A page that is frozen may be discarded without another word.
const DOCUMENT: [(&str, Meaning); 3] = [
    ("visibilitychange", |event| {
        let document = convert::property(event, "target").ok()?;
        (convert::text_at(&document, "visibilityState")? == "visible").then_some(Surroundings::Shown)
    }),
    ("freeze", |_| Some(Surroundings::Leaving)),
    ("resume", |_| Some(Surroundings::Back)),
];

/// Listens to what there is.
pub(super) fn listen(hooks: &Hooks, inputs: &Inputs) -> Vec<Listener> {
    let global: EventTarget = global().unchecked_into();
    let mut listeners = to_all(hooks, inputs, &global, &GLOBAL);
    if let Some(document) = convert::property(&global, "document").ok().filter(JsValue::is_object) {
        listeners.extend(to_all(hooks, inputs, document.unchecked_ref(), &DOCUMENT));
    }
    listeners
}

/// A target that cannot be listened to is one that tells nothing.
fn to_all(
    hooks: &Hooks,
    inputs: &Inputs,
    target: &EventTarget,
    kinds: &'static [(&'static str, Meaning)],
) -> Vec<Listener> {
    let one = |(kind, meaning): &(&'static str, Meaning)| {
        let (inputs, meaning) = (inputs.clone(), *meaning);
        let heard = move |event: Event| {
            if let Some(surroundings) = meaning(&event) {
                inputs.push(Input::Wire(Wire::Surroundings(surroundings)));
            }
        };
        listen_to(hooks, target, kind, heard).ok()
    };
    kinds.iter().filter_map(one).collect()
}
