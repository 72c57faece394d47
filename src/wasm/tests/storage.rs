//! Storage that is missing, slow, full, or taken away: the session is told once and goes on.

use js_sys::eval;
use wasm_bindgen_test::wasm_bindgen_test;

use super::bench::{Bench, conversation, delete_database};
use super::stage::{Defined, Replaced, awaited, define, js, met, replace};

/// What a session and its neighbour hear when storage is like this from the beginning.
async fn complaint() -> String {
    let conversation = conversation();
    let (one, two) = (Bench::open(&conversation).await, Bench::open(&conversation).await);
    assert_eq!(one.claims("a").await, "won");
    assert_eq!(two.claims("a").await, "held", "the page remembers");
    one.record("a", "1");
    one.rests().await;
    assert_eq!(two.claims("a").await, "1");
    let complaints = one.complaints();
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert_eq!(complaints, two.complaints());
    complaints[0].clone()
}

/// Waits are a hundred times shorter.
fn hurry() -> Replaced {
    replace("setTimeout", &js("((original) => (f, ms) => original(f, ms / 100))(setTimeout)"))
}

fn storage(factory: &str) -> Defined {
    define("globalThis", "indexedDB", factory)
}

#[wasm_bindgen_test]
async fn storage_may_be_missing() {
    let _storage = storage("undefined");
    assert_eq!(complaint().await, "unavailable this browser offers no IndexedDB here");
}

#[wasm_bindgen_test]
async fn storage_may_be_forbidden() {
    let _storage = storage("{ open() { throw new DOMException('no', 'SecurityError') } }");
    assert_eq!(complaint().await, "unavailable the browser's storage failed: SecurityError");
}

#[wasm_bindgen_test]
async fn storage_may_refuse_to_open() {
    let refusing = "{ open() {
        const request = Object.assign(new EventTarget(), { error: new DOMException('no', 'UnknownError') });
        queueMicrotask(() => request.dispatchEvent(new Event('error')));
        return request } }";
    let _storage = storage(refusing);
    assert_eq!(complaint().await, "unavailable the browser's storage failed: UnknownError");
}

#[wasm_bindgen_test]
async fn storage_may_never_answer() {
    let _hurry = hurry();
    let _storage = storage("{ open: () => globalThis.opening = new EventTarget() }");
    let conversation = conversation();
    let bench = Bench::open(&conversation).await;
    assert_eq!(bench.claims("a").await, "won");
    assert_eq!(bench.complaints(), ["unavailable the browser's storage did not answer in time"]);
    // What opens after all is not left open.
    eval(
        "opening.result = Object.assign(new EventTarget(), { close() { globalThis.closedLate = true } });
         opening.dispatchEvent(new Event('success'))",
    )
    .unwrap();
    met(|| js("globalThis.closedLate").is_truthy()).await;
}

#[wasm_bindgen_test]
async fn a_lock_may_never_be_granted() {
    let _hurry = hurry();
    let _locks = define("navigator", "locks", "{ request: () => new Promise(() => {}) }");
    assert_eq!(complaint().await, "unavailable the browser's storage did not answer in time");
}

#[wasm_bindgen_test]
async fn a_lock_may_be_refused() {
    let _hurry = hurry();
    let _locks =
        define("navigator", "locks", "{ request: () => Promise.reject(new DOMException('no', 'SecurityError')) }");
    assert_eq!(complaint().await, "unavailable the browser's storage did not answer in time");
}

#[wasm_bindgen_test]
async fn storage_may_be_full() {
    let _full =
        define("IDBObjectStore.prototype", "add", "() => { throw new DOMException('full', 'QuotaExceededError') }");
    let bench = Bench::open(&conversation()).await;
    assert_eq!(bench.claims("a").await, "won");
    assert_eq!(bench.claims("b").await, "won");
    bench.record("a", "1");
    bench.rests().await;
    assert_eq!(bench.claims("a").await, "1");
    assert_eq!(bench.complaints(), ["unavailable the storage of this site is full"]);
}

#[wasm_bindgen_test]
async fn a_transaction_may_hang() {
    let bench = Bench::open(&conversation()).await;
    let _hurry = hurry();
    // The transaction goes on, and the answer does not come.
    let hangs = "((get) => function (key) {
        const again = () => { get.call(this, key).onsuccess = again };
        again();
        return new EventTarget() })(IDBObjectStore.prototype.get)";
    let _hangs = define("IDBObjectStore.prototype", "get", hangs);
    assert_eq!(bench.claims("a").await, "won");
    assert_eq!(bench.claims("a").await, "held");
    assert_eq!(bench.complaints(), ["unavailable the browser's storage did not answer in time"]);
}

#[wasm_bindgen_test]
async fn a_transaction_that_ends_while_the_page_is_held_up_is_begun_again() {
    let bench = Bench::open(&conversation()).await;
    // As in Firefox when a handler opens a dialog between what is read and what is written.
    let ends = "((add, left) => function (entry) {
        if (left-- > 0) throw new DOMException('ended', 'TransactionInactiveError');
        return add.call(this, entry) })(IDBObjectStore.prototype.add, 2)";
    let _ends = define("IDBObjectStore.prototype", "add", ends);
    assert_eq!(bench.claims("a").await, "won");
    assert!(bench.stored("a").await.is_some());
    assert_eq!(bench.complaints(), [""; 0]);
}

#[wasm_bindgen_test]
async fn transactions_that_always_end_too_soon_are_given_up() {
    let ends = "() => { throw new DOMException('ended', 'TransactionInactiveError') }";
    let _ends = define("IDBObjectStore.prototype", "add", ends);
    let bench = Bench::open(&conversation()).await;
    assert_eq!(bench.claims("a").await, "won");
    assert_eq!(bench.complaints(), ["unavailable the browser ended transactions too soon"]);
}

#[wasm_bindgen_test]
async fn a_database_that_is_deleted_is_made_again() {
    let bench = Bench::open(&conversation()).await;
    for call in ["a", "b"] {
        delete_database().await;
        assert_eq!(bench.claims(call).await, "won");
        assert!(bench.stored(call).await.is_some());
    }
    assert_eq!(bench.complaints(), [""; 0]);
}

#[wasm_bindgen_test]
async fn a_database_that_cannot_be_made_again_is_given_up() {
    let conversation = conversation();
    let bench = Bench::open(&conversation).await;
    assert_eq!(bench.claims("a").await, "won");
    delete_database().await;
    let _storage = storage("{ open() { throw new DOMException('closed', 'InvalidStateError') } }");
    assert_eq!(bench.claims("a").await, "held");
    assert_eq!(bench.claims("b").await, "won");
    assert_eq!(bench.claims("b").await, "held");
    assert_eq!(bench.complaints(), ["unavailable the database was closed or deleted"]);
}

#[wasm_bindgen_test]
async fn a_database_of_a_later_version_is_left_alone() {
    delete_database().await;
    let upgraded = "new Promise((done, fail) => Object.assign(indexedDB.open('pagehand', 99),
        { onsuccess: (event) => { event.target.result.close(); done(); }, onerror: fail }))";
    awaited(upgraded).await;
    let complaint = complaint().await;
    delete_database().await;
    assert_eq!(complaint, "unavailable the browser's storage failed: VersionError");
}
