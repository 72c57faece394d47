//! What the ledger keeps in `IndexedDB`, and how it is laid out.
//!
//! Version 1, database `pagehand`:
//!
//! - `entries`, key `[conversation, subject]`: an [`Entry`]. The index `open`, on `[conversation, open]`, holds those
//!   without an outcome or with one that is owed, for only they have the field `open`; the index `at` all of them, by age.
//! - `places`, key `conversation`: how far a conversation was dealt with and who wrote it, with an index `at`.

use std::rc::Rc;

use js_sys::Array;
use serde_json::value::RawValue;
use wasm_bindgen::prelude::*;

use crate::call::{Key, Over, Owner, Place};
use crate::net::Millis;
use crate::wasm::convert::{self, Plain};
use crate::wasm::hooks::Hooks;

use super::database::{Database, Factory, Failure, ObjectStore, Request, Transaction};

/// The version that [`upgrade`] brings a database to.
const VERSION: u32 = 1;
pub(super) const ENTRIES: &str = "entries";
pub(super) const PLACES: &str = "places";
pub(super) const OPEN: &str = "open";
pub(super) const AT: &str = "at";

/// How long an owner may be silent beyond its lease.
const GRACE: Millis = Millis(60_000);

/// One entry as it is stored.
#[derive(Debug, Clone)]
pub(in crate::wasm) struct Entry {
    pub(in crate::wasm) key: Key,
    pub(in crate::wasm) owner: Owner,
    pub(in crate::wasm) tool: String,
    pub(in crate::wasm) at: Millis,
    /// Where nothing else tells, the owner is gone after that.
    pub(in crate::wasm) until: Millis,
    /// JSON text.
    pub(in crate::wasm) outcome: Option<String>,
}

impl Entry {
    pub(in crate::wasm) fn new(key: &Key, owner: &Owner, tool: String, lease: Millis, now: Millis) -> Self {
        Self { key: key.clone(), owner: owner.clone(), tool, at: now, until: now + lease + GRACE, outcome: None }
    }

    /// Reads what the database has under a key; `None` when it has nothing. Whatever is there is somebody's claim, be it no entry of
    /// ours: then it has an owner who does not live, and what was lost with it is not run.
    fn read(stored: &JsValue) -> Option<Rc<Self>> {
        let text = |name| convert::text_at(stored, name).unwrap_or_default();
        let time = |name| convert::millis_at(stored, name).unwrap_or_default();
        stored.is_object().then(|| {
            Rc::new(Self {
                key: Key { conversation: text("conversation").into(), subject: text("subject").into() },
                owner: Owner(text("owner").into()),
                tool: text("tool"),
                at: time(AT),
                until: time("until"),
                outcome: convert::text_at(stored, "outcome"),
            })
        })
    }

    /// As it is written; open as long as there is no outcome or it is owed to the agent: what is absent is in no index.
    fn to_js(&self, outcome: Option<&str>, open: bool) -> JsValue {
        let entry = Plain::new();
        entry.text("conversation", &self.key.conversation);
        entry.text("subject", &self.key.subject);
        entry.text("owner", &self.owner.0);
        entry.text("tool", &self.tool);
        entry.time(AT, self.at);
        entry.time("until", self.until);
        if let Some(outcome) = outcome {
            entry.text("outcome", outcome);
        }
        if open {
            entry.value(OPEN, &1.into());
        }
        entry.made()
    }
}

/// How far a conversation was dealt with, and who wrote it.
pub(in crate::wasm) struct StoredPlace {
    pub(in crate::wasm) place: Place,
    owner: Owner,
}

impl StoredPlace {
    fn read(stored: &JsValue) -> Option<Self> {
        let position = convert::text_at(stored, "position")?;
        let owner = Owner(convert::text_at(stored, "owner").unwrap_or_default().into());
        Some(Self { place: Place { position, at: convert::millis_at(stored, AT)? }, owner })
    }
}

/// One thing to do with what is stored.
pub(in crate::wasm) enum Deed {
    /// Insert an entry, or find the one that is there. Nobody comes in between: transactions that write take turns.
    Claim(Entry),
    /// Find an entry.
    Look(Key),
    /// Write an outcome, unless there is one. The rest of the entry is used when none is there.
    Record { entry: Entry, outcome: Box<RawValue>, owed: bool },
    /// The agent has been told the outcome of an entry.
    Discharge(Key),
    /// Find the place of a conversation, and its entries that are not done with.
    Recall(Rc<str>),
    /// Write how far a conversation was dealt with, or find the place of another page that stays.
    Remember { conversation: Rc<str>, place: Place, owner: Owner, over: Over },
}

/// What was found.
#[derive(Default)]
pub(in crate::wasm) struct Found {
    pub(in crate::wasm) entries: Vec<Rc<Entry>>,
    pub(in crate::wasm) place: Option<StoredPlace>,
}

impl Deed {
    /// Whether it writes an entry.
    pub(super) fn writes_entry(&self) -> bool {
        matches!(self, Self::Claim(_) | Self::Record { .. } | Self::Discharge(_))
    }

    fn begin(&self, store: &Store) -> Result<Transaction, JsValue> {
        match self {
            Self::Claim(_) | Self::Record { .. } | Self::Discharge(_) => store.write(ENTRIES),
            Self::Look(_) => store.0.begin(&ENTRIES.into(), "readonly", "default"),
            Self::Recall(_) => store.0.begin(&convert::pair(ENTRIES, PLACES), "readonly", "default"),
            Self::Remember { .. } => store.0.begin(&PLACES.into(), "readwrite", "default"),
        }
    }

    /// Asks for what has to be known.
    fn ask(&self, transaction: &Transaction) -> Result<Vec<Request>, JsValue> {
        let place = |conversation: &str| transaction.store(PLACES)?.get(&conversation.into());
        match self {
            Self::Claim(Entry { key, .. })
            | Self::Look(key)
            | Self::Record { entry: Entry { key, .. }, .. }
            | Self::Discharge(key) => {
                let key = convert::pair(&key.conversation, &key.subject);
                Ok(vec![transaction.store(ENTRIES)?.get(&key)?])
            }
            Self::Recall(conversation) => {
                let open = Array::of2(&(**conversation).into(), &1.into());
                let open = transaction.store(ENTRIES)?.index(OPEN)?.get_all(&open)?;
                Ok(vec![open, place(conversation)?])
            }
            // A page that is leaving has no time to read first.
            Self::Remember { over: Over::Any, .. } => Ok(Vec::new()),
            Self::Remember { conversation, .. } => Ok(vec![place(conversation)?]),
        }
    }

    /// What was found by what was asked.
    fn find(&self, asked: &[Request]) -> Result<Box<Found>, JsValue> {
        let mut found = Box::new(Found::default());
        let [first, others @ ..] = asked else { return Ok(found) };
        let known = first.result()?;
        match self {
            Self::Claim(_) | Self::Look(_) | Self::Record { .. } | Self::Discharge(_) => {
                found.entries.extend(Entry::read(&known));
            }
            Self::Recall(_) => {
                let open = known.unchecked_ref::<Array>().iter();
                // Those with a subject of ours.
                let named = open.filter_map(|entry| Entry::read(&entry)).filter(|entry| !entry.key.subject.is_empty());
                found.entries.extend(named);
                if let [place] = others {
                    found.place = StoredPlace::read(&place.result()?);
                }
            }
            Self::Remember { owner, over, .. } => {
                found.place = StoredPlace::read(&known)
                    .filter(|there| !over.allows(there.owner == *owner, &there.place.position));
            }
        }
        Ok(found)
    }

    /// Writes what is to be written. Whether there is anything.
    fn write(&self, transaction: &Transaction, found: &Found) -> Result<bool, JsValue> {
        let row = match (self, found.entries.first().map(Rc::as_ref)) {
            (Self::Claim(entry), None) => entry.to_js(None, true),
            (Self::Record { outcome, owed, .. }, Some(entry @ Entry { outcome: None, .. }))
            | (Self::Record { entry, outcome, owed }, None) => entry.to_js(Some(outcome.get()), *owed),
            (Self::Discharge(_), Some(entry)) => entry.to_js(entry.outcome.as_deref(), false),
            (Self::Remember { conversation, place, owner, .. }, _) => {
                let (position, owner) = match &found.place {
                    Some(stays) => (&stays.place.position, &stays.owner),
                    None => (&place.position, owner),
                };
                let row = Plain::new();
                row.text("conversation", conversation);
                row.text("position", position);
                row.text("owner", &owner.0);
                row.time(AT, place.at);
                row.made()
            }
            (Self::Claim(_) | Self::Record { .. }, Some(_))
            | (Self::Discharge(_), None)
            | (Self::Look(_) | Self::Recall(_), _) => return Ok(false),
        };
        let store = transaction.store(if matches!(self, Self::Remember { .. }) { PLACES } else { ENTRIES })?;
        if matches!(self, Self::Claim(_)) { store.add(&row) } else { store.put(&row) }.map(|_| true)
    }
}

/// Takes a database from an older version to the current one, step by step. A step that has shipped is never changed.
fn upgrade(database: &JsValue, from: u16) -> Result<(), JsValue> {
    if from < 1 {
        let (entry, place) = (Plain::new(), Plain::new());
        entry.value("keyPath", &convert::pair("conversation", "subject"));
        let entries = ObjectStore::create(database, ENTRIES, &entry.made())?;
        entries.create_index(OPEN, &convert::pair("conversation", OPEN))?;
        entries.create_index(AT, &AT.into())?;
        place.text("keyPath", "conversation");
        let places = ObjectStore::create(database, PLACES, &place.made())?;
        places.create_index(AT, &AT.into())?;
    }
    Ok(())
}

/// The open database.
pub(in crate::wasm) struct Store(Database);

impl Store {
    pub(in crate::wasm) async fn open(hooks: &Hooks, factory: &Factory, name: &str) -> Result<Self, Failure> {
        let store = Self(Database::open(hooks, factory, name, VERSION, upgrade).await?);
        if store.is_laid_out()? { Ok(store) } else { Err(Failure::Foreign) }
    }

    /// Whether the database is ours, and not just one of this name and version: with other keys two claims could both be won.
    fn is_laid_out(&self) -> Result<bool, JsValue> {
        let transaction = self.0.begin(&convert::pair(ENTRIES, PLACES), "readonly", "default")?;
        let entries = transaction.store(ENTRIES)?;
        let known_by = |store: &ObjectStore, path| store.key_path().map(|found| found.as_deref() == Some(path));
        Ok(known_by(&entries, r#"["conversation","subject"]"#)?
            && known_by(&entries.index(OPEN)?, r#"["conversation","open"]"#)?
            && known_by(&transaction.store(PLACES)?, r#""conversation""#)?)
    }

    /// Does something and, if that writes an entry, writes others with it. What it found, and not they.
    pub(in crate::wasm) async fn run(&self, deed: &Deed, others: &[Deed]) -> Result<Box<Found>, JsValue> {
        let transaction = deed.begin(self)?;
        let (asked, mut more) = (deed.ask(&transaction)?, Vec::new());
        for other in others {
            more.extend(other.ask(&transaction)?);
        }
        if let Some(last) = more.last().or(asked.last()) {
            transaction.read(last).await?;
        }
        let found = deed.find(&asked)?;
        let mut written = deed.write(&transaction, &found)?;
        for (other, asked) in others.iter().zip(more.chunks(1)) {
            written |= other.write(&transaction, &*other.find(asked)?)?;
        }
        if written {
            transaction.finish().await?;
        }
        Ok(found)
    }

    /// A transaction that writes to one store and is on the disk when it ends: a claim that a power cut took back would
    /// let a call run twice.
    pub(super) fn write(&self, store: &str) -> Result<Transaction, JsValue> {
        self.0.begin(&store.into(), "readwrite", "strict")
    }
}
