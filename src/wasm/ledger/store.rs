//! What the ledger keeps in `IndexedDB`, and how it is laid out.
//!
//! Version 1, database `pagehand`:
//!
//! - `entries`, key `[conversation, subject]`: an [`Entry`]. The index `open`, on `[conversation, open]`, holds those
//!   without an outcome or with one that is owed, for only they have the field `open`; the index `at` all of them, by age.
//! - `places`, key `conversation`: how far a conversation was dealt with and who wrote it, with an index `at`.

use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::call::{Key, Over, Owner, Place};
use crate::json::{Json, Object};
use crate::net::Millis;
use crate::wasm::convert;
use crate::wasm::hooks::Hooks;

use super::database::{Database, Failure, RawDatabase, Transaction};

/// The version that [`upgrade`] brings a database to.
const VERSION: u32 = 1;
pub(super) const ENTRIES: &str = "entries";
pub(super) const PLACES: &str = "places";
pub(super) const OPEN: &str = "open";
pub(super) const AT: &str = "at";

/// How long an owner may be silent beyond its lease.
const GRACE: Millis = Millis(60_000);

/// One entry as it is stored. Times are milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::wasm) struct Entry {
    pub(in crate::wasm) conversation: String,
    pub(in crate::wasm) subject: String,
    pub(in crate::wasm) owner: String,
    pub(in crate::wasm) tool: String,
    pub(in crate::wasm) at: u64,
    /// Where nothing else tells, the owner is gone after that.
    pub(in crate::wasm) until: u64,
    /// JSON text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::wasm) outcome: Option<String>,
    /// 1, as long as there is no outcome or it is owed to the agent: what is absent is in no index.
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<u8>,
}

impl Entry {
    pub(in crate::wasm) fn new(key: &Key, owner: &Owner, tool: String, lease: Millis, now: Millis) -> Self {
        Self {
            conversation: key.conversation.to_string(),
            subject: key.subject.to_string(),
            owner: owner.0.to_string(),
            tool,
            at: now.0,
            until: (now + lease + GRACE).0,
            outcome: None,
            open: Some(1),
        }
    }

    /// Reads what the database has; `None` also when it has nothing.
    fn read(stored: &JsValue) -> Option<Self> {
        Self::from_json(&convert::json_of(stored)?)
    }

    fn read_all(stored: &JsValue) -> Option<Vec<Self>> {
        Json::read(&convert::json_of(stored)?)?.items()?.into_iter().map(|entry| Self::from_json(entry.get())).collect()
    }

    fn from_json(text: &str) -> Option<Self> {
        let fields = Object::read(text)?;
        Some(Self {
            conversation: fields.string("conversation")?,
            subject: fields.string("subject")?,
            owner: fields.string("owner")?,
            tool: fields.string("tool")?,
            at: time(&fields, "at")?,
            until: time(&fields, "until")?,
            outcome: fields.string("outcome"),
            open: fields.contains("open").then_some(1),
        })
    }

    pub(in crate::wasm) fn key(&self) -> Key {
        Key { conversation: self.conversation.as_str().into(), subject: self.subject.as_str().into() }
    }
}

#[derive(Serialize)]
struct StoredPlace {
    conversation: String,
    position: String,
    owner: String,
    at: u64,
}

impl StoredPlace {
    fn read(stored: &JsValue) -> Option<Self> {
        let text = convert::json_of(stored)?;
        let fields = Object::read(&text)?;
        Some(Self {
            conversation: fields.string("conversation")?,
            position: fields.string("position")?,
            owner: fields.text("owner"),
            at: time(&fields, "at")?,
        })
    }
}

fn time(fields: &Object, name: &str) -> Option<u64> {
    fields.integer(name)?.try_into().ok()
}

/// Takes a database from an older version to the current one, step by step. A step that has shipped is never changed.
fn upgrade(database: &RawDatabase, from: u16) -> Result<(), JsValue> {
    if from < 1 {
        let entries = database.create(ENTRIES, &js(r#"{"keyPath":["conversation","subject"]}"#)?)?;
        entries.create_index(OPEN, &js(r#"["conversation","open"]"#)?)?;
        entries.create_index(AT, &AT.into())?;
        let places = database.create(PLACES, &js(r#"{"keyPath":"conversation"}"#)?)?;
        places.create_index(AT, &AT.into())?;
    }
    Ok(())
}

/// The open database.
pub(in crate::wasm) struct Store {
    database: Database,
    hooks: Hooks,
}

impl Store {
    pub(in crate::wasm) async fn open(hooks: &Hooks, name: &str) -> Result<Self, Failure> {
        let database = Database::open(hooks, name, VERSION, upgrade).await?;
        Ok(Self { database, hooks: hooks.clone() })
    }

    /// Inserts an entry, or gives the one that is there. Nobody comes in between: transactions that write take turns.
    pub(in crate::wasm) async fn claim(&self, entry: &Entry) -> Result<Option<Entry>, Failure> {
        let transaction = self.write(ENTRIES)?;
        let entries = transaction.store(ENTRIES)?;
        let found = Entry::read(&transaction.read(entries.get(&key(&entry.conversation, &entry.subject))).await?);
        if found.is_none() {
            entries.add(&convert::to_js(entry)?)?;
            transaction.finish().await?;
        }
        Ok(found)
    }

    pub(in crate::wasm) async fn look(&self, what: &Key) -> Result<Option<Entry>, Failure> {
        let transaction = self.read(&ENTRIES.into())?;
        let entries = transaction.store(ENTRIES)?;
        Ok(Entry::read(&transaction.read(entries.get(&key(&what.conversation, &what.subject))).await?))
    }

    /// Writes an outcome, unless there is one. The rest of the entry is used when none is there.
    pub(in crate::wasm) async fn record(&self, entry: &Entry, outcome: &str, owed: bool) -> Result<(), Failure> {
        let transaction = self.write(ENTRIES)?;
        let entries = transaction.store(ENTRIES)?;
        let found = Entry::read(&transaction.read(entries.get(&key(&entry.conversation, &entry.subject))).await?);
        let entry = found.unwrap_or_else(|| entry.clone());
        if entry.outcome.is_none() {
            let ended = Entry { outcome: Some(outcome.to_owned()), open: owed.then_some(1), ..entry };
            entries.put(&convert::to_js(&ended)?)?;
        }
        transaction.finish().await
    }

    /// The agent has been told the outcome of an entry.
    pub(in crate::wasm) async fn discharge(&self, what: &Key) -> Result<(), Failure> {
        let transaction = self.write(ENTRIES)?;
        let entries = transaction.store(ENTRIES)?;
        let found = Entry::read(&transaction.read(entries.get(&key(&what.conversation, &what.subject))).await?);
        if let Some(entry) = found {
            entries.put(&convert::to_js(&Entry { open: None, ..entry })?)?;
        }
        transaction.finish().await
    }

    /// The place of a conversation, and its entries that are not done with.
    pub(in crate::wasm) async fn recall(&self, conversation: &str) -> Result<(Option<Place>, Vec<Entry>), Failure> {
        let transaction = self.read(&convert::to_js(&[ENTRIES, PLACES])?)?;
        let open = transaction.store(ENTRIES)?.index(OPEN)?.get_all(&convert::to_js(&(conversation, 1))?);
        let place = transaction.store(PLACES)?.get(&conversation.into());
        let open = Entry::read_all(&transaction.read(open).await?).unwrap_or_default();
        let place = StoredPlace::read(&transaction.read(place).await?);
        Ok((place.map(|StoredPlace { position, at, .. }| Place { position, at: Millis(at) }), open))
    }

    /// Writes how far a conversation was dealt with. The place of another page that stays, if one does.
    pub(in crate::wasm) async fn remember(
        &self,
        conversation: &str,
        place: &Place,
        owner: &Owner,
        over: &Over,
    ) -> Result<Option<String>, Failure> {
        let transaction = self.database.begin(&self.hooks, &PLACES.into(), "readwrite", &JsValue::UNDEFINED)?;
        let places = transaction.store(PLACES)?;
        // A page that is leaving has no time to read first.
        let stays = if *over == Over::Any {
            None
        } else {
            let there = StoredPlace::read(&transaction.read(places.get(&conversation.into())).await?);
            there.filter(|there| !over.allows(there.owner == *owner.0, &there.position))
        };
        let theirs = stays.as_ref().map(|stays| stays.position.clone());
        let stored = match stays {
            Some(stays) => StoredPlace { at: place.at.0, ..stays },
            None => StoredPlace {
                conversation: conversation.to_owned(),
                position: place.position.clone(),
                owner: owner.0.to_string(),
                at: place.at.0,
            },
        };
        places.put(&convert::to_js(&stored)?)?;
        transaction.finish().await?;
        Ok(theirs)
    }

    /// A transaction that writes to one store and is on the disk when it ends: a claim that a power cut took back would
    /// let a call run twice.
    pub(super) fn write(&self, store: &str) -> Result<Transaction, Failure> {
        self.database.begin(&self.hooks, &store.into(), "readwrite", &js(r#"{"durability":"strict"}"#)?)
    }

    fn read(&self, stores: &JsValue) -> Result<Transaction, Failure> {
        self.database.begin(&self.hooks, stores, "readonly", &JsValue::UNDEFINED)
    }
}

fn key(conversation: &str, subject: &str) -> JsValue {
    js_sys::Array::of2(&conversation.into(), &subject.into()).into()
}

fn js(text: &str) -> Result<JsValue, JsValue> {
    js_sys::JSON::parse(text)
}
