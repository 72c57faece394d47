//! The ledger of a session: in memory first, and lasting where the browser has storage.
//!
//! Effects are dealt with one after another, so claims are answered in the order they were asked; only watches wait on
//! their own. Outcomes go with the next entry that is written, past the claims that wait: a page that is left before that
//! takes them with it, and to all others the calls are interrupted. No wait is without an end, and a storage that fails is
//! not asked again: the session goes on in memory, and is told so once.

mod channel;
pub(super) mod database;
mod owner;
pub(super) mod page;
pub(super) mod prune;
mod storage;
pub(super) mod store;
mod watch;

use std::cell::{Cell, RefCell};
use std::mem;
use std::rc::Rc;

use serde_json::value::RawValue;

use crate::call::{Claim, Key, LedgerEffect, LedgerInput, Over, Owner, Place, Remembered};
use crate::conversation::Input;
use crate::json;
use crate::net::Millis;

use super::hooks::Hooks;
use super::inputs::Inputs;
use super::listen::Callback;
use super::moment::{Moment, Until, until, within};
use super::{clock, task};

use channel::Channel;
use prune::Limits;
use storage::Storage;
use store::{Deed, Entry, Found, StoredPlace};
use watch::Watches;

/// How long the browser may take for one thing, in milliseconds.
const PATIENCE: u32 = 2_000;

/// How long what another page has is waited for before it is looked at again.
const ROUND: u32 = 60_000;

thread_local! {
    /// Whether this page has pruned the database.
    static PRUNED: Cell<bool> = const { Cell::new(false) };
}

/// The ledger as one session sees it.
pub(super) struct Keeper {
    owner: Owner,
    hooks: Hooks,
    inputs: Inputs,
    conversation: RefCell<Option<Rc<str>>>,
    /// Comes when the session is over. Every task of ours ends with it.
    over: Moment,
    queue: RefCell<Vec<Work>>,
    working: Cell<bool>,
    storage: RefCell<Storage>,
    /// Keeps the callback of the owner's lock.
    lock: RefCell<Option<Callback>>,
    channel: RefCell<Option<Channel>>,
    watches: Watches,
}

enum Work {
    Effect(LedgerEffect),
    Then(Box<dyn FnOnce()>),
}

impl Keeper {
    pub(super) fn new(hooks: &Hooks, inputs: &Inputs) -> Rc<Self> {
        let keeper = Rc::new(Self {
            owner: Owner([clock::seed(), clock::seed()].map(|seed| seed.to_string()).concat().into()),
            hooks: hooks.clone(),
            inputs: inputs.clone(),
            conversation: RefCell::default(),
            over: Moment::new(),
            queue: RefCell::default(),
            working: Cell::new(false),
            storage: RefCell::new(Storage::Closed),
            lock: RefCell::default(),
            channel: RefCell::default(),
            watches: Watches::new(),
        });
        page::join(&keeper.owner, Rc::downgrade(&keeper));
        keeper
    }

    /// Does what the core wants done with the ledger.
    pub(super) fn perform(self: &Rc<Self>, effect: LedgerEffect) {
        match effect {
            LedgerEffect::Watch { key } => self.spawn("watching a call", Rc::clone(self).watch(key)),
            effect => self.enqueue(Work::Effect(effect)),
        }
    }

    /// Calls something when all that was asked before is done.
    pub(super) fn then(self: &Rc<Self>, what: impl FnOnce() + 'static) {
        self.enqueue(Work::Then(Box::new(what)));
    }

    /// The session is over.
    pub(super) fn stop(&self) {
        self.over.come();
        page::leave(&self.owner);
        self.stir_page();
        let channel = self.channel.try_borrow_mut().ok().and_then(|mut channel| channel.take());
        drop((channel, self.set_storage(Storage::Lost)));
    }

    /// Runs a task for as long as the session lives.
    fn spawn(&self, label: &'static str, work: impl Future<Output = ()> + 'static) {
        live(label, until(self.over.clone(), work));
    }

    fn enqueue(self: &Rc<Self>, work: Work) {
        if let Ok(mut queue) = self.queue.try_borrow_mut() {
            queue.push(work);
        }
        if !self.working.replace(true) {
            self.spawn("the ledger", Rc::clone(self).work());
        }
    }

    /// The first of what waits, of this kind.
    fn take(&self, which: fn(&Work) -> bool) -> Option<Work> {
        let mut queue = self.queue.try_borrow_mut().ok()?;
        let at = queue.iter().position(which)?;
        Some(queue.remove(at))
    }

    /// An outcome, wherever it waits.
    fn next_outcome(&self) -> Option<LedgerEffect> {
        match self.take(|work| matches!(work, Work::Effect(LedgerEffect::Record { .. })))? {
            Work::Effect(outcome) => Some(outcome),
            Work::Then(_) => None,
        }
    }

    /// Does one thing after another: in the page's memory at once, in the storage then; and tells the core what came of it.
    async fn work(self: Rc<Self>) {
        while let Some(work) = self.take(|_| true) {
            let deed = match work {
                Work::Effect(effect) => self.begin(effect),
                Work::Then(what) => {
                    what();
                    None
                }
            };
            let Some(deed) = deed else { continue };
            let mut outcomes = Vec::new();
            while deed.writes_entry()
                && let Some(outcome) = self.next_outcome()
            {
                outcomes.extend(self.begin(outcome));
            }
            let found = self.attempt(&deed, &outcomes).await;
            let written = found.is_some();
            for outcome in &outcomes {
                self.recorded(outcome, written);
            }
            match &deed {
                Deed::Recall(conversation) => self.recalled(conversation, found).await,
                Deed::Claim(entry) => self.claimed(entry, found).await,
                Deed::Record { .. } => self.recorded(&deed, written),
                Deed::Discharge(key) => {
                    if written {
                        page::stored(key);
                    }
                }
                Deed::Remember { conversation, place, over, .. } => self.remembered(conversation, place, over, found),
                Deed::Look(_) => {}
            }
        }
        self.working.set(false);
    }

    /// An outcome was written, or there is no storage for it.
    fn recorded(&self, outcome: &Deed, written: bool) {
        let Deed::Record { entry, outcome, owed } = outcome else { return };
        if written && !owed {
            page::stored(&entry.key);
        }
        self.tell_pages(&entry.key, Some(outcome));
    }

    /// What the page does at once, and what is to be done with the storage then, if anything.
    fn begin(self: &Rc<Self>, effect: LedgerEffect) -> Option<Deed> {
        let (owner, now) = (&self.owner, clock::now());
        match effect {
            LedgerEffect::Recall { conversation } => {
                // Listened to first, so that nothing is missed.
                self.is_about(&conversation);
                self.hear_pages();
                Some(Deed::Recall(conversation))
            }
            LedgerEffect::Claim { key, tool, lease } => {
                self.is_about(&key.conversation);
                match page::claim(&key, &tool, owner) {
                    Claim::Won => Some(Deed::Claim(Entry::new(&key, owner, tool, lease, now))),
                    known => {
                        self.say(LedgerInput::Claimed { key, claim: known });
                        None
                    }
                }
            }
            LedgerEffect::Record { key, outcome, owed } => {
                let outcome = json::raw(&outcome)?;
                if !page::record(&key, outcome.clone(), owed, owner) {
                    return None;
                }
                for other in page::others(owner) {
                    other.hear(&key, outcome.clone());
                }
                let entry = Entry::new(&key, owner, String::new(), Millis::default(), now);
                Some(Deed::Record { entry, outcome, owed })
            }
            LedgerEffect::Discharge { key } => {
                page::discharge(&key);
                Some(Deed::Discharge(key))
            }
            LedgerEffect::Remember { conversation, position, over } => {
                Some(Deed::Remember { conversation, place: Place { position, at: now }, owner: owner.clone(), over })
            }
            // Watches are not queued.
            LedgerEffect::Watch { .. } => None,
        }
    }

    /// What is known of the conversation, here and in storage.
    async fn recalled(self: &Rc<Self>, conversation: &Rc<str>, found: Option<Box<Found>>) {
        let mut memory = page::recall(conversation);
        let Found { entries, place } = *found.unwrap_or_default();
        if let Some(StoredPlace { place, .. }) = place
            && memory.place.as_ref().is_none_or(|known| known.at <= place.at)
        {
            memory.place = Some(place);
        }
        for entry in entries {
            // What the page knows better: its own entries, and outcomes that are still being written.
            if page::look(&entry.key).is_none() {
                let claim = self.judge(&entry).await.unwrap_or(Claim::Held);
                memory.open.push(Remembered { key: entry.key.clone(), tool: entry.tool.clone(), claim });
            }
        }
        self.say(LedgerInput::Recalled(memory));
        self.prune();
    }

    async fn claimed(&self, entry: &Entry, found: Option<Box<Found>>) {
        let key = entry.key.clone();
        // One of our own is an attempt that looked as if it had failed, unless it is over and was forgotten here.
        let ours = |found: &Entry| found.owner == entry.owner && found.outcome.is_none();
        let claim = match found.and_then(|mut found| found.entries.pop()) {
            Some(found) if !ours(&found) => {
                page::withdraw(&key);
                let claim = self.judge(&found).await.unwrap_or(Claim::Held);
                if let Claim::Settled(outcome) = &claim {
                    page::record(&key, outcome.clone(), false, &self.owner);
                    page::stored(&key);
                }
                self.stir_page();
                claim
            }
            Some(_) | None => Claim::Won,
        };
        self.say(LedgerInput::Claimed { key, claim });
    }

    /// What is stored is the truth, and the page has a copy of it.
    fn remembered(&self, conversation: &Rc<str>, place: &Place, over: &Over, found: Option<Box<Found>>) {
        let theirs = match found {
            None => page::remember(conversation, place.clone(), &self.owner, over),
            Some(found) => {
                let theirs = found.place.map(|stays| stays.place.position);
                let position = theirs.as_ref().unwrap_or(&place.position).clone();
                page::remember(conversation, Place { position, at: place.at }, &self.owner, &Over::Any);
                theirs
            }
        };
        if *over != Over::Any {
            self.say(LedgerInput::Placed { theirs });
        }
    }

    /// Tells the other pages an outcome, or asks for it.
    fn tell_pages(&self, key: &Key, outcome: Option<&RawValue>) {
        // A borrow that lives while JS runs, but no JS that could come back to this cell.
        if let Ok(channel) = self.channel.try_borrow()
            && let Some(channel) = &*channel
        {
            channel.tell(key, outcome);
        }
    }

    /// Another page tells an outcome, or asks for one that we may have been unable to store.
    fn hear_page(&self, key: &Key, outcome: Option<Box<RawValue>>) {
        match (outcome, page::look(key)) {
            (Some(outcome), _) => self.hear(key, outcome),
            (None, Some(Claim::Settled(outcome))) => self.tell_pages(key, Some(&outcome)),
            (None, _) => {}
        }
    }

    /// An entry has its outcome, from another session.
    fn hear(&self, key: &Key, outcome: Box<RawValue>) {
        // Who tells it has stored it.
        if page::record(key, outcome.clone(), false, &self.owner) && matches!(self.storage(), Storage::Open(_)) {
            page::stored(key);
        }
        let ours = self.conversation.try_borrow().is_ok_and(|ours| ours.as_ref() == Some(&key.conversation));
        if ours {
            self.watches.end(key);
            self.say(LedgerInput::Watched { key: key.clone(), claim: Claim::Settled(outcome) });
        }
    }

    /// What other pages tell about this conversation is for us. One that the server names gets its name after it was recalled.
    fn is_about(&self, conversation: &Rc<str>) {
        if let Ok(mut ours) = self.conversation.try_borrow_mut() {
            *ours = Some(Rc::clone(conversation));
        }
    }

    /// Something is no longer what the page took it for.
    fn stir_page(&self) {
        for other in page::others(&self.owner) {
            other.watches.stir();
        }
    }

    /// Opens the channel to the other pages.
    fn hear_pages(self: &Rc<Self>) {
        let weak = Rc::downgrade(self);
        let channel = Channel::open(&self.hooks, move |key, outcome| {
            if let Some(keeper) = weak.upgrade() {
                keeper.hear_page(&key, outcome);
            }
        });
        drop(self.channel.try_borrow_mut().map(|mut slot| mem::replace(&mut *slot, channel)));
    }

    fn prune(self: &Rc<Self>) {
        let Storage::Open(store) = self.storage() else { return };
        if !PRUNED.replace(true) {
            let hooks = self.hooks.clone();
            // What fails is tried again by the next page.
            self.spawn("pruning the ledger", async move {
                let batch = || store.prune(&Limits::DEFAULT, clock::now());
                while let Some(Ok(true)) = within(&hooks, PATIENCE, batch()).await {}
            });
        }
    }

    fn say(&self, what: LedgerInput) {
        self.inputs.push(Input::Ledger(what));
    }
}

fn live(label: &'static str, life: Until<'static, ()>) {
    task::spawn(label, async move {
        life.await;
    });
}
