//! Pages and sessions that share a ledger, over the browser's real storage, locks and channel.

use js_sys::Array;
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

use super::bench::{Bench, OtherPage, conversation, delete_database, word};
use super::stage::{Stage, awaited, define, end, function, js, met, replace};
use crate::call::{CallId, Key, LedgerEffect, Over, Place};
use crate::conversation::OperationId;
use crate::net::Millis;
use crate::wasm::clock;
use crate::wasm::ledger::page;
use crate::wasm::ledger::store::Entry;

#[wasm_bindgen_test]
async fn an_entry_is_won_once_and_lasts() {
    let bench = Bench::open(&conversation()).await;
    assert_eq!(bench.claims("a").await, "won");
    assert_eq!(bench.claims("a").await, "held");
    let entry = bench.stored("a").await.unwrap();
    assert_eq!((entry.tool.as_str(), entry.until.0 - entry.at.0, entry.outcome), ("tool", 61_000, None));
    bench.record("a", r#"{"kind":"ok","result":1.0}"#);
    bench.record("a", "2");
    bench.rests().await;
    assert_eq!(bench.stored("a").await.unwrap().outcome.unwrap(), r#"{"kind":"ok","result":1.0}"#);
    assert_eq!(bench.claims("a").await, r#"{"kind":"ok","result":1.0}"#);
    assert_eq!(bench.complaints(), [""; 0]);
}

#[wasm_bindgen_test]
async fn what_the_page_forgets_the_storage_knows() {
    let bench = Bench::open(&conversation()).await;
    let calls: Vec<_> = (0..300).map(|number| format!("call {number}")).collect();
    for some in calls.chunks(20) {
        for call in some {
            bench.record(call, &format!(r#"{{"kind":"ok","result":"{call}"}}"#));
        }
        bench.rests().await;
    }
    // One that was forgotten, one that was not.
    let known = [&calls[0], &calls[299]].map(|call| page::look(&bench.key(call)).is_some());
    assert_eq!(known, [false, true]);
    for call in [&calls[0], &calls[299]] {
        assert_eq!(bench.claims(call).await, format!(r#"{{"kind":"ok","result":"{call}"}}"#));
    }
    assert_eq!(bench.complaints(), [""; 0]);
}

#[wasm_bindgen_test]
async fn claims_are_answered_in_the_order_they_were_asked() {
    let bench = Bench::open(&conversation()).await;
    let page = OtherPage::open().await;
    assert!(page.claims(&bench.key("b")).await);
    for call in ["a", "b", "a", "c"] {
        bench.claim(call);
    }
    bench.rests().await;
    let expected =
        ["recalled", "claimed call a won", "claimed call b held", "claimed call a held", "claimed call c won"];
    assert_eq!(bench.said(), expected);
}

#[wasm_bindgen_test]
async fn outcomes_go_with_the_next_entry_past_the_claims_that_wait() {
    let bench = Bench::open(&conversation()).await;
    for call in ["a", "b", "c"] {
        bench.claims(call).await;
    }
    let counts = "((begin) => function (stores, mode, options) {
        if (mode === 'readwrite') globalThis.writes = (globalThis.writes ?? 0) + 1;
        return begin.call(this, stores, mode, options) })(IDBDatabase.prototype.transaction)";
    let _counts = define("IDBDatabase.prototype", "transaction", counts);
    for call in ["d", "e"] {
        bench.claim(call);
    }
    for call in ["a", "b", "c"] {
        bench.record(call, "1");
    }
    bench.hears("claimed call d won").await;
    for call in ["a", "b", "c"] {
        assert_eq!(bench.stored(call).await.unwrap().outcome.unwrap(), "1", "{call}");
    }
    bench.rests().await;
    assert_eq!(bench.said()[4..], ["claimed call d won", "claimed call e won"]);
    assert_eq!(js("globalThis.writes"), 2);
}

#[wasm_bindgen_test]
async fn of_two_pages_that_claim_at_once_one_wins() {
    let bench = Bench::open(&conversation()).await;
    let page = OtherPage::open().await;
    for call in ["a", "b", "c", "d"] {
        bench.claim(call);
        let theirs = page.claims(&bench.key(call)).await;
        bench.rests().await;
        let ours = bench.said().contains(&format!("claimed call {call} won"));
        assert_ne!(ours, theirs, "{call}: {:?}", bench.said());
    }
}

#[wasm_bindgen_test]
async fn the_outcome_of_another_page_is_heard() {
    let bench = Bench::open(&conversation()).await;
    let page = OtherPage::open().await;
    let key = bench.key("a");
    page.claims(&key).await;
    assert_eq!(bench.claims("a").await, "held");
    bench.watch("a");
    page.records(&key, "7.0", false).await;
    let told = format!(
        "new BroadcastChannel('pagehand').postMessage(
            '{{\"conversation\":\"{}\",\"subject\":\"call a\",\"outcome\":7.0}}')",
        key.conversation
    );
    js(&told);
    bench.hears("watched call a 7.0").await;
    page.is_gone();
    bench.rests().await;
    let mut said = bench.said();
    said.dedup();
    assert_eq!(said, ["recalled", "claimed call a held", "watched call a 7.0"]);
}

#[wasm_bindgen_test]
async fn what_is_heard_of_another_conversation_or_makes_no_sense_is_nothing() {
    let bench = Bench::open(&conversation()).await;
    let post = "const channel = new BroadcastChannel('pagehand');
        const told = (conversation) => JSON.stringify({ conversation, subject: 'call a', outcome: 7 });
        for (const odd of [told('another'), 'no json', '{}', 7, null, { conversation }]) channel.postMessage(odd);
        channel.postMessage(told(conversation));
        channel.close();";
    function("conversation", post).call1(&JsValue::NULL, &bench.conversation.to_string().into()).unwrap();
    bench.hears("watched call a 7").await;
    assert_eq!(bench.said(), ["recalled", "watched call a 7"]);
}

#[wasm_bindgen_test]
async fn other_pages_are_told_an_outcome_once_it_is_written() {
    let bench = Bench::open(&conversation()).await;
    js("globalThis.heard = (globalThis.listening = new BroadcastChannel('pagehand'),
        new Promise((done) => { listening.onmessage = (event) => { listening.close(); done(event.data) } }))");
    bench.claim("a");
    bench.record("a", r#"{"n":1.0}"#);
    let heard = awaited("globalThis.heard").await.as_string().unwrap();
    let expected = format!(r#"{{"conversation":"{}","subject":"call a","outcome":{{"n":1.0}}}}"#, bench.conversation);
    assert_eq!(heard, expected);
    assert_eq!(bench.stored("a").await.unwrap().outcome.unwrap(), r#"{"n":1.0}"#);
}

#[wasm_bindgen_test]
async fn an_entry_whose_page_is_gone_is_abandoned() {
    let bench = Bench::open(&conversation()).await;
    let page = OtherPage::open().await;
    page.claims(&bench.key("a")).await;
    page.claims(&bench.key("b")).await;
    assert_eq!(bench.claims("a").await, "held");
    bench.watch("a");
    page.is_gone();
    bench.hears("watched call a abandoned").await;
    assert_eq!(bench.claims("b").await, "abandoned");
}

#[wasm_bindgen_test]
async fn an_outcome_that_nobody_told_is_found_when_its_page_is_gone() {
    let bench = Bench::open(&conversation()).await;
    let page = OtherPage::open().await;
    page.claims(&bench.key("a")).await;
    bench.watch("a");
    page.records(&bench.key("a"), "7", false).await;
    page.is_gone();
    bench.hears("watched call a 7").await;
}

#[wasm_bindgen_test]
async fn without_locks_an_owner_lives_for_as_long_as_it_may_take() {
    let page = OtherPage::open().await;
    let _locks = define("navigator", "locks", "undefined");
    let bench = Bench::open(&conversation()).await;
    let until = |call: &str, until: u64| {
        let mut entry = Entry::new(&bench.key(call), &page.owner, "t".into(), Millis(0), clock::now());
        entry.until = Millis(until);
        entry
    };
    page.inserts(&until("past", clock::now().0 - 1)).await;
    page.inserts(&until("soon", clock::now().0 + 300)).await;
    assert_eq!(bench.claims("soon").await, "held");
    assert_eq!(bench.claims("past").await, "abandoned");
    bench.watch("soon");
    bench.hears("watched call soon abandoned").await;
    assert_eq!(bench.claims("ours").await, "won");
    assert_eq!(bench.complaints(), [""; 0]);
}

#[wasm_bindgen_test]
async fn what_is_open_is_recalled_with_its_place() {
    let conversation = conversation();
    let (page, gone) = (OtherPage::open().await, OtherPage::open().await);
    let key = |call: &str| Key::call(&conversation, &CallId::new(call));
    page.claims(&key("theirs")).await;
    gone.claims(&key("left")).await;
    gone.claims(&key("done")).await;
    gone.records(&key("done"), "1", false).await;
    gone.claims(&Key::call(&"another".into(), &CallId::new("other"))).await;
    gone.is_gone();
    {
        let earlier = Bench::new(&conversation);
        let position = "17".to_owned();
        earlier.keeper.perform(LedgerEffect::Remember {
            conversation: conversation.clone(),
            position,
            over: Over::Any,
        });
        earlier.rests().await;
    }
    let memory = Bench::new(&conversation).recall().await;
    let open = memory.open.iter().map(|open| format!("{} {} {}", open.key.subject, open.tool, word(&open.claim)));
    let mut open: Vec<_> = open.collect();
    open.sort();
    assert_eq!(open, ["call left theirs abandoned", "call theirs theirs held"]);
    assert!(matches!(memory.place, Some(Place { position, at }) if position == "17" && at <= clock::now()));
}

#[wasm_bindgen_test]
async fn an_outcome_that_is_owed_is_recalled_until_the_agent_has_been_told() {
    let conversation = conversation();
    let page = OtherPage::open().await;
    let key = Key::call(&conversation, &CallId::new("a"));
    page.records(&key, "7.0", true).await;
    let bench = Bench::new(&conversation);
    let open: Vec<_> = bench.recall().await.open.iter().map(|open| word(&open.claim)).collect();
    assert_eq!(open, ["7.0"]);
    bench.keeper.perform(LedgerEffect::Discharge { key: key.clone() });
    bench.rests().await;
    assert!(Bench::new(&conversation).recall().await.open.is_empty());
    assert_eq!(bench.stored("a").await.unwrap().outcome.unwrap(), "7.0");
}

#[wasm_bindgen_test]
async fn the_sessions_of_a_page_tell_each_other() {
    let _channel = replace("BroadcastChannel", &js("undefined"));
    let conversation = conversation();
    let (one, two) = (Bench::open(&conversation).await, Bench::open(&conversation).await);
    one.claim("a");
    assert_eq!(two.claims("a").await, "held");
    two.watch("a");
    one.record("a", "7");
    two.hears("watched call a 7").await;
    assert!(!one.said().iter().any(|line| line.starts_with("watched")), "{:?}", one.said());

    assert_eq!(one.claims("b").await, "won");
    assert_eq!(two.claims("b").await, "held");
    two.watch("b");
    drop(one);
    two.hears("watched call b abandoned").await;
}

#[wasm_bindgen_test]
async fn a_session_waits_for_the_page_that_was_before_its_neighbour() {
    let conversation = conversation();
    let (one, two) = (Bench::open(&conversation).await, Bench::open(&conversation).await);
    let page = OtherPage::open().await;
    page.claims(&one.key("a")).await;
    one.claim("a");
    two.claim("a");
    two.watch("a");
    one.rests().await;
    two.rests().await;
    assert!(one.said().contains(&"claimed call a held".to_owned()), "{:?}", one.said());
    assert!(two.said().contains(&"claimed call a held".to_owned()), "{:?}", two.said());
    page.is_gone();
    two.hears("watched call a abandoned").await;
}

/// Another page that was opened later, as far as its channel goes.
const LATER: &str = "globalThis.later = new BroadcastChannel('pagehand');
    globalThis.heard = [];
    later.onmessage = ({ data }) => heard.push(JSON.parse(data));";

#[wasm_bindgen_test]
async fn an_outcome_that_could_not_be_stored_is_told_to_a_page_that_asks_for_it() {
    let bench = Bench::open(&conversation()).await;
    assert_eq!(bench.claims("a").await, "won");
    {
        let _full =
            define("IDBObjectStore.prototype", "put", "() => { throw new DOMException('', 'QuotaExceededError') }");
        bench.record("a", "7.0");
        bench.rests().await;
    }
    assert_eq!(bench.complaints().len(), 1, "the app is told");
    assert!(bench.stored("a").await.unwrap().outcome.is_none());
    js_sys::eval(LATER).unwrap();
    let ask =
        format!("later.postMessage(JSON.stringify({{ conversation: '{}', subject: 'call a' }}))", bench.conversation);
    js_sys::eval(&ask).unwrap();
    met(|| js("heard.some(({ subject, outcome }) => subject === 'call a' && outcome === 7)").is_truthy()).await;
    js_sys::eval("later.close()").unwrap();
}

#[wasm_bindgen_test]
async fn who_waits_for_another_page_asks_it() {
    let (bench, page) = (Bench::open(&conversation()).await, OtherPage::open().await);
    js_sys::eval(LATER).unwrap();
    page.claims(&bench.key("a")).await;
    assert_eq!(bench.claims("a").await, "held");
    bench.watch("a");
    met(|| js("heard.some((asked) => asked.subject === 'call a' && !('outcome' in asked))").is_truthy()).await;
    let answer = format!(
        "later.postMessage(JSON.stringify({{ conversation: '{}', subject: 'call a', outcome: 7 }}))",
        bench.conversation
    );
    js_sys::eval(&answer).unwrap();
    bench.hears("watched call a 7").await;
    js_sys::eval("later.close()").unwrap();
}

/// How many locks of ours are held or waited for.
async fn locks() -> usize {
    const OURS: &str = "(async () => {
        const { held, pending } = await navigator.locks.query();
        return [...held, ...pending].filter(({ name }) => name.startsWith('pagehand ')).map(({ name }) => name) })()";
    Array::from(&awaited(OURS).await).length() as usize
}

/// The browser lets go of locks a little later.
async fn no_locks() {
    while locks().await > 0 {}
}

#[wasm_bindgen_test]
async fn a_session_has_its_lock_before_it_recalls_and_until_it_has_ended() {
    no_locks().await;
    let bench = Bench::open(&conversation()).await;
    assert_eq!(locks().await, 1);
    // An instance that is lost runs nothing any more: only the facade lets go.
    end(&bench.hooks);
    no_locks().await;
}

/// What is listened to, what is waited for, and what is open.
const SPY: &str = "{
    globalThis.left = new Set();
    const number = (object) => object.numbered ??= (globalThis.numbers = (globalThis.numbers ?? 0) + 1);
    const { addEventListener: add, removeEventListener: remove } = EventTarget.prototype;
    EventTarget.prototype.addEventListener = function (type, f, ...rest) {
        if (this !== undefined) left.add(`${(this ?? globalThis).constructor.name} ${type} ${number(f)}`);
        return add.call(this, type, f, ...rest); };
    EventTarget.prototype.removeEventListener = function (type, f, ...rest) {
        left.delete(`${(this ?? globalThis).constructor.name} ${type} ${number(f)}`);
        return remove.call(this, type, f, ...rest); };
    const { BroadcastChannel: Channel, setTimeout: set, clearTimeout: clear } = globalThis;
    globalThis.BroadcastChannel = class extends Channel {
        constructor(name) { super(name); left.add(this); }
        close() { left.delete(this); super.close(); } };
    globalThis.setTimeout = (f, ms) => { const timer = set(() => { left.delete('timer ' + timer); f(); }, ms);
        left.add('timer ' + timer); return timer; };
    globalThis.clearTimeout = (timer) => { left.delete('timer ' + timer); clear(timer); };
    globalThis.unspy = () => {
        Object.assign(EventTarget.prototype, { addEventListener: add, removeEventListener: remove });
        Object.assign(globalThis, { BroadcastChannel: Channel, setTimeout: set, clearTimeout: clear }); };
}";

#[wasm_bindgen_test]
async fn a_session_that_is_dropped_leaves_nothing() {
    let page = OtherPage::open().await;
    js_sys::eval(SPY).unwrap();
    let waiting = Bench::open(&conversation()).await;
    for call in ["a", "b"] {
        page.claims(&waiting.key(call)).await;
        assert_eq!(waiting.claims(call).await, "held");
        waiting.watch(call);
    }
    assert!(js("left.size > 2").is_truthy());
    // In the middle of a claim, too.
    waiting.claim("c");
    drop(waiting);
    met(|| js("left.size").as_f64() == Some(0.0)).await;
    js_sys::eval("unspy()").unwrap();
    page.is_gone();
    no_locks().await;
    // No connection of ours is in the way.
    delete_database().await;
}

#[wasm_bindgen_test]
async fn closing_is_settled_when_the_ledger_has_every_outcome() {
    let hangs = function("args, context", "return new Promise(() => { globalThis.hangs = true })");
    let stage = Stage::new(&[("hang", hangs)]);
    stage.open().await;
    stage.socket_does("message", "{ data: 'call hang' }");
    met(|| js("globalThis.hangs").is_truthy()).await;
    stage.driver.close(OperationId(2));
    assert!(!stage.log().iter().any(|line| line.starts_with("settle 2")), "{:?}", stage.log());
    stage.told(1, "settle 2").await;
    let key = Key::call(&stage.ledger_key().into(), &CallId::new("call-1"));
    let outcome = super::bench::stored(&key).await.unwrap().outcome.unwrap();
    assert!(outcome.contains("cancelled"), "{outcome}");
}
