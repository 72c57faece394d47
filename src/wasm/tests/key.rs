//! The key that the app gives when it is asked.

use wasm_bindgen_test::wasm_bindgen_test;

use super::stage::{Stage, function, met};

/// What the core is given when the app answers like this.
async fn given(body: &str) -> String {
    let stage = Stage::new(&[]);
    stage.hook("key", &function("", body));
    stage.open().await;
    stage.socket_does("message", "{ data: 'key' }");
    met(|| stage.seen().iter().any(|line| line.starts_with("key "))).await;
    stage.seen().pop().unwrap()
}

#[wasm_bindgen_test]
async fn a_key_comes_at_once_or_later() {
    assert_eq!(given("return 'k-1'").await, r#"key Ok("k-1")"#);
    assert_eq!(given("return Promise.resolve('~!')").await, r#"key Ok("~!")"#);
}

#[wasm_bindgen_test]
async fn what_no_header_can_carry_is_refused_and_not_repeated() {
    let refused = r#"key Err("the key must be a string of visible ASCII characters")"#;
    for odd in ["return ''", "return 'a b'", "return 'k\\n'", "return 'schlüssel'", "return 7", "", "return null"] {
        assert_eq!(given(odd).await, refused, "{odd}");
    }
}

#[wasm_bindgen_test]
async fn an_app_that_cannot_say_is_heard() {
    assert_eq!(given("throw new Error('signed out')").await, r#"key Err("signed out")"#);
    assert_eq!(given("return Promise.reject('offline')").await, r#"key Err("offline")"#);
}
