//! Every way a handler can end.

use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::AbortController;

use super::stage::function;
use crate::call::Settled;
use crate::wasm::{convert, handler};

async fn outcome(body: &str) -> Settled {
    let signal = AbortController::new().unwrap().signal();
    let called =
        handler::call_with(&function("args, context", body), r#"{"a":1,"__proto__":{"b":2}}"#, "call-1", &signal);
    handler::settled(convert::resolved(called).await)
}

fn returned(text: &str) -> Settled {
    Settled::Returned(text.into())
}

fn threw(name: &str, message: &str) -> Settled {
    Settled::Threw { name: name.into(), message: message.into() }
}

#[wasm_bindgen_test]
async fn case_34_results_of_any_size_and_kind_have_a_defined_end() {
    for length in [15_000, 1_000_000, 20_000_000] {
        let settled = outcome(&format!("return 'x'.repeat({length})")).await;
        assert!(matches!(settled, Settled::Returned(text) if text.len() == length + 2), "{length}");
    }
    assert_eq!(outcome("return new Error('lost')").await, returned("{}"));
    assert_eq!(outcome("return undefined").await, returned("null"));
    assert_eq!(outcome("return [new Date(0), undefined]").await, returned(r#"["1970-01-01T00:00:00.000Z",null]"#));
    for body in ["const a = []; a.push(a); return a", "return { big: 1n }"] {
        assert!(matches!(outcome(body).await, Settled::NotSerializable { .. }), "{body}");
    }
}

#[wasm_bindgen_test]
async fn values_promises_and_thenables_return() {
    for (body, text) in [
        ("return { b: 2 }", r#"{"b":2}"#),
        ("return Promise.resolve([1, null])", "[1,null]"),
        ("return { then(done) { done('x') } }", r#""x""#),
        ("return { then(done, fail) { done(1); fail(2); throw 3 } }", "1"),
        ("", "null"),
        ("return null", "null"),
        ("return Promise.resolve()", "null"),
        ("return new Date(0)", r#""1970-01-01T00:00:00.000Z""#),
        ("return { toJSON: () => 7 }", "7"),
        ("return { a: undefined, b: () => 1, c: NaN }", r#"{"c":null}"#),
        ("return JSON.parse('{\"__proto__\": 1}')", r#"{"__proto__":1}"#),
    ] {
        assert_eq!(outcome(body).await, returned(text), "{body}");
    }
}

#[wasm_bindgen_test]
async fn an_exception_and_a_rejection_are_the_same() {
    for (thrown, name, message) in [
        ("new TypeError('no')", "TypeError", "no"),
        ("'text'", "", "text"),
        ("undefined", "", "undefined"),
        ("null", "", "null"),
        ("7n", "", "7"),
        ("Symbol('s')", "", "Symbol(s)"),
        ("{ code: 5 }", "", r#"{"code":5}"#),
        ("new DOMException('gone', 'AbortError')", "AbortError", "gone"),
        ("{ message: 'odd', name: 5 }", "", "odd"),
        (
            "{ get message() { throw 1 }, toJSON() { throw 2 }, toString() { throw 3 } }",
            "",
            "a value that cannot be shown",
        ),
    ] {
        assert_eq!(outcome(&format!("throw ({thrown})")).await, threw(name, message), "throw {thrown}");
        assert_eq!(outcome(&format!("return Promise.reject({thrown})")).await, threw(name, message), "reject {thrown}");
    }
    assert_eq!(outcome("return { get then() { throw new Error('getter') } }").await, threw("Error", "getter"));
}

#[wasm_bindgen_test]
async fn what_json_cannot_carry_is_said_so() {
    for body in [
        "const a = {}; a.a = a; return a",
        "return 7n",
        "return { deep: [7n] }",
        "return () => 1",
        "return Symbol('s')",
        "return { toJSON() { throw new Error('mine') } }",
        "return { get a() { throw 'mine' } }",
    ] {
        assert!(matches!(outcome(body).await, Settled::NotSerializable { .. }), "{body}");
    }
}

#[wasm_bindgen_test]
async fn the_handler_gets_plain_arguments_and_a_context() {
    let body = "return [args.a, Object.hasOwn(args, '__proto__'), args.b === undefined, context.callId, context.signal instanceof AbortSignal]";
    assert_eq!(outcome(body).await, returned(r#"[1,true,true,"call-1",true]"#));
}

#[wasm_bindgen_test]
async fn a_handler_whose_signal_is_aborted_already_never_starts() {
    let controller = AbortController::new().unwrap();
    controller.abort();
    let started = function("args, context", "globalThis.startedAnyway = true");
    let settled = handler::settled(handler::call_with(&started, "{}", "call-1", &controller.signal()));
    assert!(matches!(settled, Settled::Threw { name, .. } if name == "AbortError"));
    assert!(super::stage::js("globalThis.startedAnyway").is_undefined());
}
