//! `IndexedDB`: connections, transactions, reads.
//!
//! The bindings are ours: those of `web-sys` lack durability, and what is used here is little. Every event comes through
//! [`listen`], so that a trap in a transaction is seen like any other.

use js_sys::{Reflect, global};
use wasm_bindgen::prelude::*;
use web_sys::{Event, EventTarget};

use crate::wasm::convert;
use crate::wasm::hooks::Hooks;
use crate::wasm::listen::{Listener, listen};
use crate::wasm::moment::{Moment, until};

#[wasm_bindgen]
extern "C" {
    /// `IDBFactory`.
    pub type Factory;
    #[wasm_bindgen(method, catch)]
    fn open(this: &Factory, name: &str, version: u32) -> Result<Request, JsValue>;

    /// `IDBRequest` and `IDBOpenDBRequest`.
    #[wasm_bindgen(extends = EventTarget)]
    pub type Request;
    #[wasm_bindgen(method, getter, catch)]
    fn result(this: &Request) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, getter, catch)]
    fn error(this: &Request) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, getter, catch)]
    fn transaction(this: &Request) -> Result<RawTransaction, JsValue>;

    /// `IDBDatabase`.
    #[wasm_bindgen(extends = EventTarget)]
    #[derive(Clone)]
    pub type RawDatabase;
    #[wasm_bindgen(method, catch)]
    fn close(this: &RawDatabase) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch, js_name = createObjectStore)]
    pub(super) fn create(this: &RawDatabase, name: &str, options: &JsValue) -> Result<ObjectStore, JsValue>;
    #[wasm_bindgen(method, catch, js_name = transaction)]
    fn begin(this: &RawDatabase, stores: &JsValue, mode: &str, options: &JsValue) -> Result<RawTransaction, JsValue>;

    /// `IDBTransaction`.
    #[wasm_bindgen(extends = EventTarget)]
    pub type RawTransaction;
    #[wasm_bindgen(method, catch, js_name = objectStore)]
    fn store(this: &RawTransaction, name: &str) -> Result<ObjectStore, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn commit(this: &RawTransaction) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch)]
    fn abort(this: &RawTransaction) -> Result<(), JsValue>;
    #[wasm_bindgen(method, getter, catch, js_name = error)]
    fn aborted_by(this: &RawTransaction) -> Result<JsValue, JsValue>;

    /// `IDBObjectStore`, and `IDBIndex` where the methods are the same.
    pub type ObjectStore;
    #[wasm_bindgen(method, catch, js_name = createIndex)]
    pub(super) fn create_index(this: &ObjectStore, name: &str, path: &JsValue) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub(super) fn index(this: &ObjectStore, name: &str) -> Result<ObjectStore, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub(super) fn get(this: &ObjectStore, key: &JsValue) -> Result<Request, JsValue>;
    #[wasm_bindgen(method, catch, js_name = getAll)]
    pub(super) fn get_all(this: &ObjectStore, query: &JsValue) -> Result<Request, JsValue>;
    #[wasm_bindgen(method, catch, js_name = getAllKeys)]
    pub(super) fn get_all_keys(this: &ObjectStore, query: &JsValue, count: u32) -> Result<Request, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub(super) fn count(this: &ObjectStore) -> Result<Request, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub(super) fn add(this: &ObjectStore, value: &JsValue) -> Result<Request, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub(super) fn put(this: &ObjectStore, value: &JsValue) -> Result<Request, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub(super) fn delete(this: &ObjectStore, key: &JsValue) -> Result<Request, JsValue>;

    #[wasm_bindgen(catch, js_namespace = IDBKeyRange, js_name = upperBound)]
    pub(super) fn up_to(key: f64) -> Result<JsValue, JsValue>;
}

/// Why something did not work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::wasm) enum Failure {
    /// There is no such thing here.
    Missing(&'static str),
    /// The connection is closed, by us or by the browser; perhaps another one can be opened.
    Closed,
    /// The transaction had ended when it was to be used further. Something held the page up: in Firefox microtasks wait while a
    /// dialog or a synchronous request is open, and transactions do not.
    Ended,
    /// The site has no space left.
    Full,
    /// No answer came in time.
    Late,
    /// Anything else: the name of the exception.
    Other(String),
}

impl Failure {
    /// In a sentence.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::Missing(what) => ["this browser offers no ", what, " here"].concat(),
            Self::Closed => "the database was closed or deleted".into(),
            Self::Ended => "the browser ended transactions too soon".into(),
            Self::Full => "the storage of this site is full".into(),
            Self::Late => "the browser's storage did not answer in time".into(),
            Self::Other(name) => ["the browser's storage failed: ", name].concat(),
        }
    }
}

impl From<JsValue> for Failure {
    fn from(thrown: JsValue) -> Self {
        if thrown.is_null() {
            return Self::Closed;
        }
        let (name, message) = convert::description(&thrown);
        match name.as_str() {
            "InvalidStateError" | "AbortError" => Self::Closed,
            "TransactionInactiveError" => Self::Ended,
            "QuotaExceededError" => Self::Full,
            "" => Self::Other(message),
            _ => Self::Other(name),
        }
    }
}

/// A connection; it is closed when it is dropped, and when somebody wants to delete or upgrade the database.
pub(super) struct Database {
    raw: RawDatabase,
    hooks: Hooks,
    _listener: Listener,
}

/// What the browser offers. The getter itself throws where storage is forbidden.
pub(in crate::wasm) fn offered() -> Result<Factory, Failure> {
    let factory = Reflect::get(&global(), &"indexedDB".into())?;
    if factory.is_object() { Ok(factory.unchecked_into()) } else { Err(Failure::Missing("IndexedDB")) }
}

/// Brings the layout from an older version, 0 for none, to the current one.
pub(super) type Upgrade = fn(&RawDatabase, u16) -> Result<(), JsValue>;

impl Database {
    /// Opens a database. Waits for as long as another page keeps an older version open.
    pub(super) async fn open(
        hooks: &Hooks,
        factory: &Factory,
        name: &str,
        version: u32,
        upgrade: Upgrade,
    ) -> Result<Self, JsValue> {
        let request = factory.open(name, version)?;
        let ended = Moment::new();
        let _upgrading = listen(hooks, &request, "upgradeneeded", move |event| upgraded(&event, upgrade))?;
        let _opened = comes(hooks, &request, "success", &ended)?;
        let _failed = comes(hooks, &request, "error", &ended)?;
        ended.await;
        let result = request.result()?;
        if !result.is_object() {
            return Err(request.error()?);
        }
        let raw: RawDatabase = result.unchecked_into();
        let listener = listen(hooks, &raw, "versionchange", {
            let raw = raw.clone();
            move |_| {
                let _ = raw.close();
            }
        })?;
        Ok(Self { raw, hooks: hooks.clone(), _listener: listener })
    }

    /// Begins a transaction over some stores, named in a JS value.
    pub(super) fn begin(&self, stores: &JsValue, mode: &str, options: &JsValue) -> Result<Transaction, JsValue> {
        let raw = self.raw.begin(stores, mode, options)?;
        let (complete, aborted) = (Moment::new(), Moment::new());
        let listeners =
            [comes(&self.hooks, &raw, "complete", &complete)?, comes(&self.hooks, &raw, "abort", &aborted)?];
        Ok(Transaction { raw, complete, aborted, hooks: self.hooks.clone(), _listeners: listeners })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = self.raw.close();
    }
}

/// A transaction; it is aborted when it is dropped before its end.
pub(super) struct Transaction {
    raw: RawTransaction,
    complete: Moment,
    aborted: Moment,
    hooks: Hooks,
    _listeners: [Listener; 2],
}

/// A request that was made, and what it reads will be heard.
pub(super) struct Reading {
    request: Request,
    came: Moment,
    _listener: Listener,
}

impl Transaction {
    pub(super) fn store(&self, name: &str) -> Result<ObjectStore, JsValue> {
        self.raw.store(name)
    }

    /// Listens for what a request reads.
    pub(super) fn ask(&self, request: Result<Request, JsValue>) -> Result<Reading, JsValue> {
        let (request, came) = (request?, Moment::new());
        let listener = comes(&self.hooks, &request, "success", &came)?;
        Ok(Reading { request, came, _listener: listener })
    }

    /// Waits for what a request reads. A request that fails aborts the transaction, and that tells why.
    pub(super) async fn answer(&self, reading: Reading) -> Result<JsValue, JsValue> {
        self.wait(reading.came).await?;
        reading.request.result()
    }

    /// Waits until everything is written.
    pub(super) async fn finish(self) -> Result<(), JsValue> {
        // Without this the transaction ends by itself, a little later; a page that is leaving has no later.
        let _ = self.raw.commit();
        self.wait(self.complete.clone()).await
    }

    async fn wait(&self, moment: Moment) -> Result<(), JsValue> {
        until(self.aborted.clone(), moment).await.ok_or_else(|| self.failure())
    }

    /// What aborted it; null when no request did.
    fn failure(&self) -> JsValue {
        self.raw.aborted_by().unwrap_or_else(|thrown| thrown)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.complete.has_come() {
            let _ = self.raw.abort();
        }
    }
}

/// A moment that comes with an event.
fn comes(hooks: &Hooks, target: &EventTarget, kind: &'static str, moment: &Moment) -> Result<Listener, JsValue> {
    let moment = moment.clone();
    listen(hooks, target, kind, move |_| moment.come())
}

/// An upgrade that fails is undone, and opening with it.
fn upgraded(event: &Event, upgrade: Upgrade) {
    let Some(request) = event.target().map(JsCast::unchecked_into::<Request>) else { return };
    let from = convert::number_at(event, "oldVersion").unwrap_or_default();
    let done = request.result().and_then(|database| upgrade(database.unchecked_ref(), from));
    if done.is_err()
        && let Ok(transaction) = request.transaction()
    {
        let _ = transaction.abort();
    }
}
