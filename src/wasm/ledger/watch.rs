//! Waiting for what becomes of an entry that somebody else has.

use std::cell::RefCell;
use std::rc::Rc;

use crate::call::{Claim, Key, LedgerInput, Owner};
use crate::json;
use crate::net::Millis;
use crate::wasm::clock;
use crate::wasm::moment::{self, Moment, until, within};

use super::store::{Deed, Entry};
use super::{Keeper, ROUND, owner, page};

/// What is known of an entry.
enum Found {
    /// This will not change.
    Final(Claim),
    /// A session of this page has it. The page tells its sessions when that changes.
    Here,
    /// Another page has it.
    Elsewhere(Rc<Entry>),
}

/// The watches of a session: each with what makes it look again.
pub(super) struct Watches(RefCell<Vec<(Key, Moment)>>);

impl Watches {
    pub(super) fn new() -> Self {
        Self(RefCell::default())
    }

    /// Has all watches look again.
    pub(super) fn stir(&self) {
        let all = self.0.try_borrow().map(|watches| watches.clone()).unwrap_or_default();
        for (_, stirred) in all {
            stirred.come();
        }
    }

    /// Ends a watch, whose outcome is known. Whether there was one.
    pub(super) fn end(&self, key: &Key) -> bool {
        let taken = self.0.try_borrow_mut().ok().and_then(|mut watches| {
            let place = watches.iter().position(|(other, _)| other == key)?;
            Some(watches.swap_remove(place).1)
        });
        taken.is_some_and(|stirred| {
            stirred.come();
            true
        })
    }

    fn begin(&self, key: &Key) -> Moment {
        let stirred = Moment::new();
        if let Ok(mut watches) = self.0.try_borrow_mut() {
            watches.push((key.clone(), stirred.clone()));
        }
        stirred
    }
}

impl Keeper {
    /// Waits until an entry has its outcome or its owner is gone, and tells the core, unless it has been told meanwhile.
    pub(super) async fn watch(self: Rc<Self>, key: Key) {
        let mut gone = None;
        loop {
            // First the watch and then the look: what is told in between is not missed.
            let stirred = self.watches.begin(&key);
            let found = self.find(&key, gone.as_ref()).await;
            match &found {
                Found::Final(_) => {}
                Found::Here => stirred.await,
                Found::Elsewhere(entry) => {
                    // Its page may have lost its storage, and know an outcome that it could not write.
                    self.tell_pages(&key, None);
                    let end = until(stirred, self.wait_for_end(entry));
                    if within(&self.hooks, ROUND, end).await.flatten().is_some() {
                        gone = Some(entry.owner.clone());
                    }
                }
            }
            let untold = self.watches.end(&key);
            match found {
                _ if !untold => return,
                Found::Final(claim) => return self.say(LedgerInput::Watched { key, claim }),
                Found::Here | Found::Elsewhere(_) => {}
            }
        }
    }

    /// What is known of an entry, when this owner is known to be gone.
    async fn find(&self, key: &Key, gone: Option<&Owner>) -> Found {
        match page::look(key) {
            Some(claim @ Claim::Settled(_)) => return Found::Final(claim),
            Some(Claim::Held | Claim::Won) => return Found::Here,
            Some(Claim::Abandoned) | None => {}
        }
        let Some(entry) = self.read(key).await else { return Found::Final(Claim::Abandoned) };
        if gone == Some(&entry.owner) {
            return Found::Final(ended(Some(&entry)));
        }
        match self.judge(&entry).await {
            Some(claim) => Found::Final(claim),
            None => Found::Elsewhere(entry),
        }
    }

    /// What a stored entry means now; `None` as long as its owner lives and has not ended it.
    pub(super) async fn judge(&self, entry: &Entry) -> Option<Claim> {
        if entry.outcome.is_some() {
            return Some(ended(Some(entry)));
        }
        let lives = page::has(&entry.owner)
            || owner::lives(&self.hooks, &entry.owner).await.unwrap_or_else(|| clock::now() < entry.until);
        if lives {
            return None;
        }
        // The outcome may have been written between the reading and the end of its owner.
        Some(ended(self.read(&entry.key).await.as_deref()))
    }

    async fn read(&self, key: &Key) -> Option<Rc<Entry>> {
        self.attempt(&Deed::Look(key.clone()), &[]).await?.entries.pop()
    }

    /// Waits for the end of an entry's owner; where nothing tells, for as long as it may take.
    async fn wait_for_end(&self, entry: &Entry) {
        if !owner::ended(&entry.owner).await {
            let left = Millis(entry.until.0.saturating_sub(clock::now().0));
            moment::after(&self.hooks, clock::wait(left)).await;
        }
    }
}

/// What an entry means whose owner is gone.
fn ended(entry: Option<&Entry>) -> Claim {
    let outcome = entry.and_then(|entry| entry.outcome.clone()).and_then(|text| json::raw(&text));
    outcome.map_or(Claim::Abandoned, Claim::Settled)
}
