//! The database: its layout, and what is forgotten.

use std::cell::Cell;
use std::rc::Rc;

use serde_json::value::RawValue;
use wasm_bindgen_test::wasm_bindgen_test;

use super::bench::{Bench, conversation, delete_database, done, word};
use super::stage::{awaited, hooks};
use crate::call::{CallId, Key, Over, Owner, Place};
use crate::net::Millis;
use crate::wasm::ledger::database::offered;
use crate::wasm::ledger::prune::Limits;
use crate::wasm::ledger::store::{Deed, Entry, Store};
use crate::wasm::moment::Moment;
use crate::wasm::task;

const NOW: Millis = Millis(1_000_000);

/// Small enough to be reached.
const LIMITS: Limits = Limits { age: Millis(1_000), many: 4, old: Millis(500), too_many: 6, batch: 2 };

fn key(call: &str) -> Key {
    Key::call(&"c".into(), &CallId::new(call))
}

/// A fresh database with entries of these ages; those whose name starts with `open` have no outcome.
async fn database(name: &str, entries: &[(&str, u64)]) -> Store {
    let store = Store::open(&hooks(), &offered().unwrap(), name).await.unwrap();
    for (call, age) in entries {
        let at = Millis(NOW.0 - age);
        let entry = Entry::new(&key(call), &Owner("o".into()), "t".into(), Millis(0), at);
        assert!(claim(&store, &entry).await.is_none());
        if !call.starts_with("open") {
            record(&store, entry, "1").await;
        }
    }
    store
}

/// The entry that was there already.
async fn claim(store: &Store, entry: &Entry) -> Option<Entry> {
    done(store, Deed::Claim(entry.clone())).await.entries.pop().map(Rc::unwrap_or_clone)
}

async fn record(store: &Store, entry: Entry, outcome: &str) {
    let outcome = RawValue::from_string(outcome.into()).unwrap();
    done(store, Deed::Record { entry, outcome, owed: false }).await;
}

async fn look(store: &Store, call: &str) -> Option<Entry> {
    done(store, Deed::Look(key(call))).await.entries.pop().map(Rc::unwrap_or_clone)
}

/// The place of another page that stays.
async fn remember(store: &Store, conversation: &str, place: Place, owner: &str, over: Over) -> Option<String> {
    let (conversation, owner) = (conversation.into(), Owner(owner.into()));
    let found = done(store, Deed::Remember { conversation, place, owner, over }).await;
    found.place.map(|stays| stays.place.position)
}

async fn place(store: &Store, conversation: &str) -> Option<Place> {
    done(store, Deed::Recall(conversation.into())).await.place.map(|stored| stored.place)
}

/// What is left of it, from the newest on, and after how many batches.
async fn left<'a>(store: &Store, entries: &[(&'a str, u64)]) -> (Vec<&'a str>, u32) {
    let mut batches = 1;
    while store.prune(&LIMITS, NOW).await.unwrap() {
        batches += 1;
    }
    let mut left = Vec::new();
    for (call, _) in entries {
        if look(store, call).await.is_some() {
            left.push(*call);
        }
    }
    (left, batches)
}

#[wasm_bindgen_test]
async fn what_is_too_old_is_forgotten_a_batch_at_a_time() {
    let entries = [("young", 999), ("old", 1_000), ("open-old", 1_001), ("older", 2_000), ("oldest", 9_000)];
    let store = database("prune age", &entries).await;
    let at = |age: u64| Place { position: "1".into(), at: Millis(NOW.0 - age) };
    assert_eq!(remember(&store, "young", at(999), "o", Over::Any).await, None);
    assert_eq!(remember(&store, "old", at(1_001), "o", Over::Any).await, None);
    assert_eq!(left(&store, &entries).await, (vec!["young"], 3));
    assert!(place(&store, "young").await.is_some());
    assert!(place(&store, "old").await.is_none());
}

#[wasm_bindgen_test]
async fn of_many_entries_the_oldest_that_ended_go_but_no_young_ones() {
    let entries = [("a", 1), ("b", 2), ("c", 499), ("d", 501), ("open-e", 502), ("f", 503)];
    let store = database("prune many", &entries).await;
    assert_eq!(left(&store, &entries).await.0, ["a", "b", "c", "open-e"]);
    let entries = [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5), ("f", 6)];
    let store = database("prune young", &entries).await;
    assert_eq!(left(&store, &entries).await, (vec!["a", "b", "c", "d", "e", "f"], 1));
}

#[wasm_bindgen_test]
async fn of_too_many_entries_young_ones_go_too_and_never_open_ones() {
    let entries =
        [("a", 1), ("b", 2), ("c", 3), ("open-d", 4), ("open-e", 5), ("f", 6), ("g", 7), ("open-h", 8), ("i", 9)];
    let store = database("prune too many", &entries).await;
    assert_eq!(left(&store, &entries).await.0, ["a", "b", "c", "open-d", "open-e", "open-h"]);
}

#[wasm_bindgen_test]
async fn the_first_outcome_stays_and_an_entry_is_made_where_there_is_none() {
    let store = database("outcomes", &[("a", 1)]).await;
    let entry = |call: &str| Entry::new(&key(call), &Owner("p".into()), "u".into(), Millis(0), NOW);
    for (call, outcome) in [("a", "2"), ("b", "3")] {
        record(&store, entry(call), outcome).await;
    }
    let outcome = async |call: &str| look(&store, call).await.map(|entry| (entry.owner, entry.outcome));
    assert_eq!(outcome("a").await, Some((Owner("o".into()), Some("1".into()))));
    assert_eq!(outcome("b").await, Some((Owner("p".into()), Some("3".into()))));
    assert!(done(&store, Deed::Recall("c".into())).await.entries.is_empty());
}

#[wasm_bindgen_test]
async fn the_place_of_another_page_stays_unless_it_may_be_written_over() {
    let store = database("places", &[]).await;
    let write = async |position: &str, at, owner: &str, over| {
        let place = Place { position: position.into(), at: Millis(at) };
        remember(&store, "c", place, owner, over).await
    };
    assert_eq!(write("3", 1, "one", Over::Only(None)).await, None);
    assert_eq!(write("4", 2, "one", Over::Only(None)).await, None);
    assert_eq!(write("9", 3, "two", Over::Only(Some("3".into()))).await, Some("4".into()));
    let there = place(&store, "c").await;
    assert_eq!(there, Some(Place { position: "4".into(), at: Millis(3) }));
    assert_eq!(write("9", 4, "two", Over::Only(Some("4".into()))).await, None);
    assert_eq!(write("7", 5, "one", Over::Any).await, None);
    assert_eq!(write("9", 6, "two", Over::Only(None)).await, Some("7".into()));
}

/// Two connections at once, as two pages have them.
#[wasm_bindgen_test]
async fn of_two_connections_one_wins_every_entry() {
    let (one, two) = (database("two", &[]).await, Rc::new(database("two", &[]).await));
    let entry =
        |owner: &str, n: u32| Entry::new(&key(&format!("call-{n}")), &Owner(owner.into()), "t".into(), Millis(0), NOW);
    for n in 0..20 {
        let (mine, theirs) = (entry("one", n), entry("two", n));
        let (ended, second) = (Moment::new(), Rc::new(Cell::new(None)));
        task::spawn("the other page", {
            let (ended, second, two) = (ended.clone(), Rc::clone(&second), Rc::clone(&two));
            async move {
                second.set(claim(&two, &theirs).await);
                ended.come();
            }
        });
        let first = claim(&one, &mine).await;
        ended.await;
        let owner = if first.is_none() { "one" } else { "two" };
        assert_eq!(*first.xor(second.take()).expect("one finds the other's").owner.0, *owner);
    }
}

/// A database of version 1, made by hand as it was first shipped: later versions must read it.
const VERSION_1: &str = "new Promise((done, fail) => {
    const opening = indexedDB.open('pagehand', 1);
    opening.onerror = fail;
    opening.onupgradeneeded = () => {
        const entries = opening.result.createObjectStore('entries', { keyPath: ['conversation', 'subject'] });
        entries.createIndex('open', ['conversation', 'open']);
        entries.createIndex('at', 'at');
        const places = opening.result.createObjectStore('places', { keyPath: 'conversation' });
        places.createIndex('at', 'at');
        const entry = { conversation: CONVERSATION, owner: 'o', tool: 't', at: Date.now(), until: Date.now() + 60000 };
        entries.add({ ...entry, subject: 'call open', open: 1 });
        entries.add({ ...entry, subject: 'call done', outcome: '7.0' });
        places.add({ conversation: CONVERSATION, position: '17', at: Date.now() });
    };
    opening.onsuccess = () => { opening.result.close(); done(); };
})";

#[wasm_bindgen_test]
async fn what_version_1_wrote_is_read() {
    let conversation = conversation();
    delete_database().await;
    awaited(&VERSION_1.replace("CONVERSATION", &format!("'{conversation}'"))).await;
    let bench = Bench::new(&conversation);
    let memory = bench.recall().await;
    let open: Vec<_> = memory.open.iter().map(|open| (open.key.subject.to_string(), word(&open.claim))).collect();
    assert_eq!(open, [("call open".to_owned(), "abandoned".to_owned())]);
    assert_eq!(memory.place.unwrap().position, "17");
    assert_eq!(bench.claims("done").await, "7.0");
    assert_eq!(bench.claims("new").await, "won");
}

#[wasm_bindgen_test]
async fn a_new_database_has_the_layout_of_version_1() {
    const LAYOUT: &str = "(database) => {
        const { objectStoreNames } = database;
        const stores = database.transaction(objectStoreNames);
        return JSON.stringify([...objectStoreNames].map((name) => {
            const store = stores.objectStore(name);
            return [name, store.keyPath, ...[...store.indexNames].map((name) => [name, store.index(name).keyPath])] }));
    }";
    const READ: &str = "new Promise((done) => indexedDB.open('pagehand').onsuccess = ({ target: { result } }) => {
        done((LAYOUT)(result)); result.close(); })";
    let read = READ.replace("LAYOUT", LAYOUT);
    delete_database().await;
    awaited(&VERSION_1.replace("CONVERSATION", "'c'")).await;
    let by_hand = awaited(&read).await.as_string().unwrap();
    delete_database().await;
    drop(Bench::open(&conversation()).await);
    assert_eq!(awaited(&read).await.as_string().unwrap(), by_hand);
}
