//! What the tests of the ledger stand on: one session's ledger, and another page that is played by hand.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde_json::value::RawValue;

use super::stage::{awaited, end, hooks, js, met};
use crate::call::{CallId, Claim, Key, LedgerEffect, LedgerInput, Memory, Owner};
use crate::conversation::Input;
use crate::net::Millis;
use crate::wasm::clock;
use crate::wasm::hooks::Hooks;
use crate::wasm::inputs::Inputs;
use crate::wasm::ledger::Keeper;
use crate::wasm::ledger::database::offered;
use crate::wasm::ledger::store::{Deed, Entry, Found, Store};

/// The ledger of one session, and what it said.
pub(super) struct Bench {
    pub(super) keeper: Rc<Keeper>,
    pub(super) hooks: Hooks,
    pub(super) conversation: Rc<str>,
    said: Rc<RefCell<Vec<String>>>,
    recalled: Rc<RefCell<Option<Memory>>>,
}

/// A name that no other test has.
pub(super) fn conversation() -> Rc<str> {
    thread_local! {
        static NUMBER: Cell<u32> = const { Cell::new(0) };
    }
    NUMBER.set(NUMBER.get() + 1);
    format!("bench {}", NUMBER.get()).into()
}

impl Bench {
    /// A session that has not asked anything yet.
    pub(super) fn new(conversation: &Rc<str>) -> Self {
        let (hooks, said, recalled) = (hooks(), Rc::new(RefCell::new(Vec::new())), Rc::new(RefCell::new(None)));
        let inputs = Inputs::new({
            let (said, recalled) = (Rc::clone(&said), Rc::clone(&recalled));
            move |input| {
                let Input::Ledger(input) = input else { panic!("no word of the ledger") };
                said.borrow_mut().push(line(&input));
                if let LedgerInput::Recalled(memory) = input {
                    *recalled.borrow_mut() = Some(memory);
                }
            }
        });
        let keeper = Keeper::new(&hooks, &inputs);
        Self { keeper, hooks, conversation: Rc::clone(conversation), said, recalled }
    }

    /// A session that has recalled what is known.
    pub(super) async fn open(conversation: &Rc<str>) -> Self {
        let bench = Self::new(conversation);
        bench.recall().await;
        bench
    }

    pub(super) async fn recall(&self) -> Memory {
        self.keeper.perform(LedgerEffect::Recall { conversation: Rc::clone(&self.conversation) });
        self.hears("recalled").await;
        self.recalled.borrow_mut().take().unwrap()
    }

    pub(super) fn key(&self, call: &str) -> Key {
        Key::call(&self.conversation, &CallId::new(call))
    }

    pub(super) fn claim(&self, call: &str) {
        let (key, tool) = (self.key(call), "tool".into());
        self.keeper.perform(LedgerEffect::Claim { key, tool, lease: Millis(1_000) });
    }

    /// Claims, and waits for the answer.
    pub(super) async fn claims(&self, call: &str) -> String {
        let start = format!("claimed call {call} ");
        let answers = || self.said().into_iter().filter_map(|line| Some(line.strip_prefix(&start)?.to_owned()));
        let before = answers().count();
        self.claim(call);
        met(|| answers().count() > before).await;
        answers().next_back().unwrap()
    }

    pub(super) fn record(&self, call: &str, outcome: &str) {
        self.keeper.perform(LedgerEffect::Record { key: self.key(call), outcome: outcome.into(), owed: false });
    }

    pub(super) fn watch(&self, call: &str) {
        self.keeper.perform(LedgerEffect::Watch { key: self.key(call) });
    }

    /// Waits until everything that was asked is done.
    pub(super) async fn rests(&self) {
        let done = Rc::new(Cell::new(false));
        let rests = Rc::clone(&done);
        self.keeper.then(move || rests.set(true));
        met(|| done.get()).await;
    }

    pub(super) async fn hears(&self, line: &str) {
        met(|| self.said().iter().any(|said| said == line)).await;
    }

    pub(super) fn said(&self) -> Vec<String> {
        self.said.borrow().clone()
    }

    pub(super) fn complaints(&self) -> Vec<String> {
        self.said().into_iter().filter(|line| line.starts_with("unavailable")).collect()
    }

    /// The entry as it is stored.
    pub(super) async fn stored(&self, call: &str) -> Option<Entry> {
        stored(&self.key(call)).await
    }
}

impl Drop for Bench {
    /// As the facade does it.
    fn drop(&mut self) {
        self.keeper.stop();
        end(&self.hooks);
    }
}

/// Deletes the database, once nothing has it open any more.
pub(super) async fn delete_database() {
    const DELETED: &str = "new Promise((done, fail) => {
        Object.assign(indexedDB.deleteDatabase('pagehand'), { onsuccess: done, onerror: fail }) })";
    awaited(DELETED).await;
}

pub(super) async fn store() -> Store {
    Store::open(&hooks(), &offered().unwrap(), "pagehand").await.unwrap()
}

/// One thing that is done with the database.
pub(super) async fn done(store: &Store, deed: Deed) -> Box<Found> {
    store.run(&deed, &[]).await.unwrap()
}

pub(super) async fn stored(key: &Key) -> Option<Entry> {
    done(&store().await, Deed::Look(key.clone())).await.entries.pop().map(Rc::unwrap_or_clone)
}

/// Another page: it has an owner's lock and writes to the database, and the ledger of this page knows nothing of it.
pub(super) struct OtherPage {
    pub(super) owner: Owner,
    store: Store,
}

impl OtherPage {
    pub(super) async fn open() -> Self {
        let name = conversation();
        let held = format!(
            "new Promise((held) => navigator.locks.request('pagehand {name}', () => {{
                held();
                return new Promise((done) => {{ globalThis['end {name}'] = done }});
            }}))"
        );
        awaited(&held).await;
        Self { owner: Owner(name), store: store().await }
    }

    /// Whether the entry was free.
    pub(super) async fn claims(&self, key: &Key) -> bool {
        self.inserts(&Entry::new(key, &self.owner, "theirs".into(), Millis(1_000), clock::now())).await
    }

    pub(super) async fn inserts(&self, entry: &Entry) -> bool {
        done(&self.store, Deed::Claim(entry.clone())).await.entries.is_empty()
    }

    pub(super) async fn records(&self, key: &Key, outcome: &str, owed: bool) {
        let entry = Entry::new(key, &self.owner, "theirs".into(), Millis(1_000), clock::now());
        let outcome = RawValue::from_string(outcome.into()).unwrap();
        done(&self.store, Deed::Record { entry, outcome, owed }).await;
    }

    /// The browser lets go of a page's locks when it is gone.
    pub(super) fn is_gone(&self) {
        js(&format!("globalThis['end {}']?.()", self.owner.0));
    }
}

impl Drop for OtherPage {
    fn drop(&mut self) {
        self.is_gone();
    }
}

fn line(input: &LedgerInput) -> String {
    match input {
        LedgerInput::Recalled(_) => "recalled".into(),
        LedgerInput::Claimed { key, claim } => format!("claimed {} {}", key.subject, word(claim)),
        LedgerInput::Watched { key, claim } => format!("watched {} {}", key.subject, word(claim)),
        LedgerInput::Placed { theirs } => format!("placed {theirs:?}"),
        LedgerInput::Unavailable { reason } => format!("unavailable {reason}"),
    }
}

pub(super) fn word(claim: &Claim) -> String {
    match claim {
        Claim::Won => "won".into(),
        Claim::Held => "held".into(),
        Claim::Abandoned => "abandoned".into(),
        Claim::Settled(outcome) => RawValue::get(outcome).into(),
    }
}
