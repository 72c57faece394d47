//! What happens around the page reaches the core.

use js_sys::eval;
use wasm_bindgen_test::wasm_bindgen_test;

use super::stage::{Stage, define};

/// What the core hears of an event that is fired at a target.
async fn heard(target: &str, event: &str) -> Vec<String> {
    let stage = Stage::new(&[]);
    stage.open().await;
    let fire = format!("{target}.dispatchEvent({event})");
    eval(&fire).unwrap();
    let heard = stage.seen()[1..].to_vec();
    stage.driver.stop();
    eval(&fire).unwrap();
    assert_eq!(stage.seen()[1..], heard, "a session that is over hears nothing");
    heard
}

#[wasm_bindgen_test]
async fn the_network_comes_and_goes() {
    assert_eq!(heard("window", "new Event('online')").await, ["Online"]);
    assert_eq!(heard("window", "new Event('offline')").await, ["Offline"]);
}

#[wasm_bindgen_test]
async fn a_page_that_is_put_aside_leaves_and_may_be_back() {
    for persisted in ["true", "false"] {
        let event = format!("new PageTransitionEvent('pagehide', {{ persisted: {persisted} }})");
        assert_eq!(heard("window", &event).await, ["Leaving"]);
    }
    assert_eq!(heard("window", "new PageTransitionEvent('pageshow', { persisted: true })").await, ["Back"]);
    assert_eq!(heard("window", "new PageTransitionEvent('pageshow')").await, [""; 0]);
    assert_eq!(heard("document", "new Event('freeze')").await, ["Leaving"]);
    assert_eq!(heard("document", "new Event('resume')").await, ["Back"]);
}

#[wasm_bindgen_test]
async fn a_page_that_is_looked_at_again_is_shown() {
    for (state, told) in [("visible", &["Shown"][..]), ("hidden", &[])] {
        let _state = define("document", "visibilityState", &format!("'{state}'"));
        assert_eq!(heard("document", "new Event('visibilitychange')").await, told, "{state}");
    }
}

#[wasm_bindgen_test]
async fn a_place_that_cannot_be_listened_to_is_no_trouble() {
    let _listening = define("globalThis", "addEventListener", "undefined");
    let stage = Stage::new(&[]);
    stage.open().await;
    assert_eq!(stage.seen(), ["opened"]);
}
