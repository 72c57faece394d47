//! HTTP through the global `fetch`, which pages, workers and Node all have.

use std::cell::Cell;
use std::rc::Rc;

use gloo_net::http::Headers;
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, AbortSignal};

use crate::conversation::{Input, Wire};
use crate::net::{Answer, Request, RequestId};

use super::convert::{self, Plain};
use super::hooks::Hooks;
use super::inputs::Inputs;
use super::slots::Slots;
use super::{clock, listen, task};

#[wasm_bindgen]
extern "C" {
    // A page may have replaced fetch: it may throw, reject with something that is no `Error`, or resolve with something that is
    // no `Response`.
    #[wasm_bindgen(js_name = fetch, catch)]
    fn fetch_global(request: &web_sys::Request) -> Result<JsValue, JsValue>;
}

/// The requests that have no answer yet.
pub(super) struct Fetches(Slots<RequestId, AbortController>);

impl Fetches {
    pub(super) fn new() -> Self {
        Self(Slots::new())
    }

    /// Sends a request, and feeds its answer back.
    pub(super) fn start(&self, hooks: &Hooks, inputs: &Inputs, request: RequestId, what: Request) {
        let (open, hooks, inputs) = (self.0.clone(), hooks.clone(), inputs.clone());
        task::spawn("a request", async move {
            let answer = match AbortController::new() {
                Ok(controller) => {
                    open.insert(request, controller.clone());
                    answer(&hooks, &what, controller).await
                }
                Err(_) => Answer::Unreachable,
            };
            open.take(request);
            inputs.push(Input::Wire(Wire::Answered { request, answer }));
        });
    }

    /// Gives up all that are open.
    pub(super) fn abort(&self) {
        for (_, controller) in self.0.drain() {
            controller.abort();
        }
    }
}

/// Sends a request and waits for its answer or the end of its time, whichever comes first.
pub(super) async fn answer(hooks: &Hooks, what: &Request, controller: AbortController) -> Answer {
    let Some(request) = build(what, &controller.signal()) else {
        return Answer::Unreachable;
    };
    let late = Rc::new(Cell::new(false));
    let timer = listen::after(hooks, clock::wait(what.timeout), {
        let late = Rc::clone(&late);
        move || {
            late.set(true);
            controller.abort();
        }
    });
    let answer = exchange(&request).await;
    drop(timer);
    match answer {
        Some(answer) => answer,
        None if late.get() => Answer::TimedOut,
        None => Answer::Unreachable,
    }
}

/// `None` when no answer could be read, for whatever reason: fetch does not tell, and its messages carry URLs.
/// The response is read by shape, for a page may have replaced fetch.
async fn exchange(request: &web_sys::Request) -> Option<Answer> {
    let response = convert::resolved(fetch_global(request)).await.ok()?;
    let status = convert::number_at(&response, "status")?;
    let body =
        convert::resolved(convert::call(&response, "text", &JsValue::UNDEFINED, &JsValue::UNDEFINED)).await.ok()?;
    Some(Answer::Http { status, body: body.as_string()? })
}

/// The request.
///
/// Redirects are errors. Fetch takes our own headers, so the key, along to another origin, and nothing can stop it in
/// between; and an API that redirects has another base URL than the app said. Cookies stay at home, because the key is
/// the only credential; and no answer comes from a cache, because the log grows.
fn build(what: &Request, signal: &AbortSignal) -> Option<web_sys::Request> {
    let headers = Headers::from_raw(web_sys::Headers::new().ok()?);
    for (name, value) in &what.headers {
        // Of others the setter would throw through our frames.
        if !value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)) {
            return None;
        }
        headers.set(name, value);
    }
    let options = Plain::new();
    options.text("method", what.method.as_str());
    options.value("headers", &headers.into_raw());
    options.text("credentials", "omit");
    options.text("redirect", "error");
    options.text("cache", "no-store");
    options.value("signal", signal);
    if let Some(body) = &what.body {
        options.text("body", body);
    }
    web_sys::Request::new_with_str_and_init(&what.url, options.made().unchecked_ref()).ok()
}
