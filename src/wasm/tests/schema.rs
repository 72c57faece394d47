//! The schema engine, validators in its place, and everything that can be wrong with them.

use wasm_bindgen_test::wasm_bindgen_test;

use super::stage::{Stage, function};

/// The last event of a call of a tool with a schema, when the engine's hooks are these.
async fn ending(compile: &str, check: &str) -> String {
    let handler = function("", "return 'ran'");
    let stage = Stage::with_schemas(&[("checked", handler)], r#"{"type":"object","minProperties":1}"#);
    stage.hook("compile", &function("schema, text", compile));
    stage.hook("check", &function("schema, instance, output, handler", check));
    stage.open().await;
    stage.socket_does("message", "{ data: 'call checked' }");
    let log = stage.told(1, "\"outcome\"").await;
    log.into_iter().rfind(|line| line.starts_with("call ")).unwrap()
}

const FITS: &str = "return Promise.resolve(JSON.stringify({ valid: true, issues: [] }))";

#[wasm_bindgen_test]
async fn a_value_that_fits_is_run() {
    let check = "if (instance !== '{\"n\":1}') throw new Error(instance); return '{\"valid\":true,\"issues\":[]}'";
    let ending = ending("return Promise.resolve()", check).await;
    assert!(ending.contains(r#""result":"ran""#), "{ending}");
}

#[wasm_bindgen_test]
async fn a_value_that_does_not_fit_is_not() {
    let check = "return JSON.stringify({ valid: false, issues: [
        { path: '', keyword: 'minProperties', expected: 1, message: 'too few' }], truncated: false })";
    let ending = ending("return Promise.resolve()", check).await;
    assert!(ending.contains(r#""kind":"invalid_arguments""#) && ending.contains("too few"), "{ending}");
}

#[wasm_bindgen_test]
async fn a_wrong_schema_and_a_missing_engine_are_told_apart() {
    let wrong = "return Promise.reject(Object.assign(new Error('bad keyword'), { code: 'invalid_schema' }))";
    let told = ending(wrong, wrong).await;
    assert!(told.contains(r#""code":"invalid_schema""#) && told.contains("bad keyword"), "{told}");
    for missing in ["return Promise.reject()", "throw 'text'", "return Promise.reject({ get code() { throw 1 } })"] {
        let told = ending("return Promise.reject(new Error('offline'))", missing).await;
        assert!(told.contains(r#""code":"schema_engine_unavailable""#), "{told}");
    }
}

#[wasm_bindgen_test]
async fn a_check_says_whose_it_is_and_a_validator_that_threw_is_told() {
    let odd = "const words = `${output} ${handler()}`; return Promise.reject(Object.assign(new Error(words), { code: 'validator_threw' }))";
    let told = ending("return Promise.resolve()", odd).await;
    assert!(told.contains(r#""code":"validator_threw""#) && told.contains("false ran"), "{told}");
}

#[wasm_bindgen_test]
async fn an_engine_that_was_missing_at_first_may_be_there_later() {
    let told = ending("return Promise.reject(new Error('offline'))", FITS).await;
    assert!(told.contains(r#""result":"ran""#), "{told}");
}

#[wasm_bindgen_test]
async fn a_report_that_is_none_is_no_approval() {
    for odd in ["", "return 5", "return 'no json'", "return '{}'"] {
        let told = ending("return Promise.resolve()", odd).await;
        assert!(told.contains(r#""code":"schema_engine_unavailable""#), "{odd}: {told}");
    }
}
