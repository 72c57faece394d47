//! `IndexedDB`: connections, transactions, reads.
//!
//! Methods are called by their names, for an import of each would be larger than what is done with it. Every event comes
//! through [`listen`], so that a trap in a transaction is seen like any other.

use js_sys::global;
use wasm_bindgen::prelude::*;
use web_sys::{Event, EventTarget};

use crate::wasm::convert::{self, Plain, call, property};
use crate::wasm::hooks::Hooks;
use crate::wasm::listen::{Listener, listen};
use crate::wasm::moment::{Moment, until};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = IDBKeyRange, js_name = upperBound)]
    pub(super) fn up_to(key: f64) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(catch, method, js_name = transaction)]
    fn begin(this: &RawDatabase, stores: &JsValue, mode: &str, options: &JsValue) -> Result<EventTarget, JsValue>;

    type RawDatabase;
}

/// `IDBFactory`.
pub(in crate::wasm) struct Factory(JsValue);

/// `IDBObjectStore`, and `IDBIndex` where the methods are the same.
pub(super) struct ObjectStore(JsValue);

/// `IDBRequest` and `IDBOpenDBRequest`.
pub(super) struct Request(EventTarget);

impl Request {
    /// What was read; it has come.
    pub(super) fn result(&self) -> Result<JsValue, JsValue> {
        property(&self.0, "result")
    }
}

impl ObjectStore {
    /// Of a database that is being upgraded.
    pub(super) fn create(database: &JsValue, name: &str, options: &JsValue) -> Result<Self, JsValue> {
        call(database, "createObjectStore", &name.into(), options).map(Self)
    }

    pub(super) fn create_index(&self, name: &str, path: &JsValue) -> Result<(), JsValue> {
        call(&self.0, "createIndex", &name.into(), path).map(drop)
    }

    /// What its rows are known by: a JSON text.
    pub(super) fn key_path(&self) -> Result<Option<String>, JsValue> {
        property(&self.0, "keyPath").map(|path| convert::json_of(&path))
    }

    pub(super) fn index(&self, name: &str) -> Result<Self, JsValue> {
        call(&self.0, "index", &name.into(), &JsValue::UNDEFINED).map(Self)
    }

    pub(super) fn count(&self) -> Result<Request, JsValue> {
        self.request("count", &JsValue::UNDEFINED, &JsValue::UNDEFINED)
    }

    pub(super) fn get(&self, key: &JsValue) -> Result<Request, JsValue> {
        self.request("get", key, &JsValue::UNDEFINED)
    }

    pub(super) fn get_all(&self, query: &JsValue) -> Result<Request, JsValue> {
        self.request("getAll", query, &JsValue::UNDEFINED)
    }

    pub(super) fn get_all_keys(&self, query: &JsValue, count: u32) -> Result<Request, JsValue> {
        self.request("getAllKeys", query, &count.into())
    }

    pub(super) fn add(&self, value: &JsValue) -> Result<Request, JsValue> {
        self.request("add", value, &JsValue::UNDEFINED)
    }

    pub(super) fn put(&self, value: &JsValue) -> Result<Request, JsValue> {
        self.request("put", value, &JsValue::UNDEFINED)
    }

    pub(super) fn delete(&self, key: &JsValue) -> Result<Request, JsValue> {
        self.request("delete", key, &JsValue::UNDEFINED)
    }

    fn request(&self, method: &str, first: &JsValue, second: &JsValue) -> Result<Request, JsValue> {
        call(&self.0, method, first, second).map(|request| Request(request.unchecked_into()))
    }
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
    /// It is not laid out as ours.
    Foreign,
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
            Self::Foreign => "the database pagehand of this site is not ours".into(),
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
            "NotFoundError" => Self::Foreign,
            "QuotaExceededError" => Self::Full,
            "" => Self::Other(message),
            _ => Self::Other(name),
        }
    }
}

/// A connection; it is closed when it is dropped, and when somebody wants to delete or upgrade the database.
pub(super) struct Database {
    raw: EventTarget,
    hooks: Hooks,
    _listener: Listener,
}

/// What the browser offers. The getter itself throws where storage is forbidden.
pub(in crate::wasm) fn offered() -> Result<Factory, Failure> {
    let factory = property(&global(), "indexedDB")?;
    if factory.is_object() { Ok(Factory(factory)) } else { Err(Failure::Missing("IndexedDB")) }
}

/// Brings the layout from an older version, 0 for none, to the current one.
pub(super) type Upgrade = fn(&JsValue, u16) -> Result<(), JsValue>;

impl Database {
    /// Opens a database. Waits for as long as another page keeps an older version open.
    pub(super) async fn open(
        hooks: &Hooks,
        factory: &Factory,
        name: &str,
        version: u32,
        upgrade: Upgrade,
    ) -> Result<Self, JsValue> {
        let request: EventTarget = call(&factory.0, "open", &name.into(), &version.into())?.unchecked_into();
        let ended = Moment::new();
        let _upgrading = listen(hooks, &request, "upgradeneeded", move |event| upgraded(&event, upgrade))?;
        let _opened = comes(hooks, &request, "success", &ended)?;
        let _failed = comes(hooks, &request, "error", &ended)?;
        ended.await;
        let result = property(&request, "result")?;
        if !result.is_object() {
            return Err(property(&request, "error")?);
        }
        let raw: EventTarget = result.unchecked_into();
        let listener = listen(hooks, &raw, "versionchange", {
            let raw = raw.clone();
            move |_| close(&raw)
        })?;
        Ok(Self { raw, hooks: hooks.clone(), _listener: listener })
    }

    /// Begins a transaction over some stores, named in a JS value.
    pub(super) fn begin(&self, stores: &JsValue, mode: &str, durability: &str) -> Result<Transaction, JsValue> {
        let options = Plain::new();
        options.text("durability", durability);
        let raw = self.raw.unchecked_ref::<RawDatabase>().begin(stores, mode, &options.made())?;
        let (complete, aborted) = (Moment::new(), Moment::new());
        let listeners =
            [comes(&self.hooks, &raw, "complete", &complete)?, comes(&self.hooks, &raw, "abort", &aborted)?];
        Ok(Transaction { raw, complete, aborted, hooks: self.hooks.clone(), _listeners: listeners })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        close(&self.raw);
    }
}

fn close(database: &JsValue) {
    let _ = call(database, "close", &JsValue::UNDEFINED, &JsValue::UNDEFINED);
}

/// A transaction; it is aborted when it is dropped before its end.
pub(super) struct Transaction {
    raw: EventTarget,
    complete: Moment,
    aborted: Moment,
    hooks: Hooks,
    _listeners: [Listener; 2],
}

impl Transaction {
    pub(super) fn store(&self, name: &str) -> Result<ObjectStore, JsValue> {
        call(&self.raw, "objectStore", &name.into(), &JsValue::UNDEFINED).map(ObjectStore)
    }

    /// Waits for what a request reads, and all requests before it. One that fails aborts the transaction, and that tells why.
    pub(super) async fn read(&self, request: &Request) -> Result<JsValue, JsValue> {
        let came = Moment::new();
        let _listener = comes(&self.hooks, &request.0, "success", &came)?;
        self.wait(came).await?;
        request.result()
    }

    /// Waits until everything is written.
    pub(super) fn finish(&self) -> impl Future<Output = Result<(), JsValue>> {
        // Without this the transaction ends by itself, a little later; a page that is leaving has no later.
        let _ = call(&self.raw, "commit", &JsValue::UNDEFINED, &JsValue::UNDEFINED);
        self.wait(self.complete.clone())
    }

    async fn wait(&self, moment: Moment) -> Result<(), JsValue> {
        until(self.aborted.clone(), moment).await.ok_or_else(|| self.failure())
    }

    /// What aborted it; null when no request did.
    fn failure(&self) -> JsValue {
        property(&self.raw, "error").unwrap_or_else(|thrown| thrown)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.complete.has_come() {
            abort(&self.raw);
        }
    }
}

/// A moment that comes with an event.
fn comes(hooks: &Hooks, target: &EventTarget, kind: &'static str, moment: &Moment) -> Result<Listener, JsValue> {
    let moment = moment.clone();
    listen(hooks, target, kind, move |_| moment.come())
}

fn abort(transaction: &JsValue) {
    let _ = call(transaction, "abort", &JsValue::UNDEFINED, &JsValue::UNDEFINED);
}

/// An upgrade that fails is undone, and opening with it.
fn upgraded(event: &Event, upgrade: Upgrade) {
    let Ok(request) = property(event, "target") else { return };
    let from = convert::number_at(event, "oldVersion").unwrap_or_default();
    let done = property(&request, "result").and_then(|database| upgrade(&database, from));
    if done.is_err()
        && let Ok(transaction) = property(&request, "transaction")
    {
        abort(&transaction);
    }
}
