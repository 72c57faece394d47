//! Whatever fetch does, a request has an answer.

use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::AbortController;

use super::stage::{hooks, js, replace};
use crate::net::{Answer, Method, Millis, Request};
use crate::wasm::fetch;

fn request() -> Request {
    Request {
        method: Method::Post,
        url: js("location.origin + '/?a=b%20c'").as_string().unwrap(),
        headers: vec![("X-Canary-Key", "k".into()), ("Content-Type", "application/json".into())],
        body: Some("{}".into()),
        timeout: Millis(5_000),
    }
}

async fn answer(what: &Request) -> Answer {
    fetch::answer(&hooks(), what, AbortController::new().unwrap()).await
}

async fn answer_of(fetch: &str) -> Answer {
    let _fetch = replace("fetch", &js(fetch));
    answer(&request()).await
}

#[wasm_bindgen_test]
async fn a_real_answer_is_read() {
    let what = Request { method: Method::Get, body: None, ..request() };
    assert!(matches!(answer(&what).await, Answer::Http { status: 200, .. }));
}

#[wasm_bindgen_test]
async fn errors_are_answers_too() {
    let answer = answer_of("async () => new Response('é', { status: 500 })").await;
    assert_eq!(answer, Answer::Http { status: 500, body: "é".into() });
}

#[wasm_bindgen_test]
async fn the_request_says_what_it_should() {
    let fetch = "async (request) => Response.json([
        request.method, request.url.replace(location.origin, ''), request.headers.get('x-canary-key'),
        await request.text(), request.credentials, request.redirect, request.cache])";
    let Answer::Http { body, .. } = answer_of(fetch).await else { panic!("no answer") };
    assert_eq!(body, r#"["POST","/?a=b%20c","k","{}","omit","error","no-store"]"#);
}

/// Case: gloo-net panics on most of these.
#[wasm_bindgen_test]
async fn whatever_fetch_does_else_is_unreachable() {
    for fetch in [
        "() => Promise.reject(new TypeError('Failed to fetch'))",
        "() => Promise.reject()",
        "() => Promise.reject('text')",
        "() => Promise.reject(7n)",
        "() => { throw 'at once' }",
        "() => undefined",
        "async () => 'no response'",
        "async () => ({ status: 200 })",
        "async () => ({ status: 200, text: async () => 5 })",
        "async () => ({ status: 200, text() { throw 1 } })",
        "async () => ({ status: 200, text: () => Promise.reject() })",
        "async () => ({ get status() { throw 1 } })",
        "undefined",
    ] {
        assert_eq!(answer_of(fetch).await, Answer::Unreachable, "{fetch}");
    }
}

#[wasm_bindgen_test]
async fn a_header_or_url_that_cannot_be_is_unreachable() {
    let bad_header = Request { headers: vec![("X-Canary-Key", "a\nb".into())], ..request() };
    assert_eq!(answer(&bad_header).await, Answer::Unreachable);
    let bad_url = Request { url: "http://:x".into(), ..request() };
    assert_eq!(answer(&bad_url).await, Answer::Unreachable);
}

#[wasm_bindgen_test]
async fn silence_ends_with_the_timeout_and_aborts_the_request() {
    let hanging = "(request) => new Promise((done, fail) => {
        request.signal.addEventListener('abort', () => { globalThis.fetchAborted = true; fail(undefined) }) })";
    let _fetch = replace("fetch", &js(hanging));
    let what = Request { timeout: Millis(20), ..request() };
    assert_eq!(answer(&what).await, Answer::TimedOut);
    assert!(js("globalThis.fetchAborted").is_truthy());
}

/// Case: gloo-net panics on these.
#[wasm_bindgen_test]
async fn a_request_that_cannot_be_made_is_unreachable() {
    for broken in ["class { constructor() { throw 'no error' } }", "class { constructor() { throw undefined } }"] {
        let _request = replace("Request", &js(&["(", broken, ")"].concat()));
        assert_eq!(answer(&request()).await, Answer::Unreachable, "{broken}");
    }
}
