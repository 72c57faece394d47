//! What a session has of the storage: opened at the first use, asked with patience, given up when it fails.

use std::cell::Cell;
use std::mem;
use std::rc::Rc;

use crate::call::LedgerInput;
use crate::wasm::moment::{Moment, within};

use super::database::{self, Failure};
use super::store::{Deed, Found, Store};
use super::{Keeper, PATIENCE, owner};

const DATABASE: &str = "pagehand";

/// How long a database may take that is open. Whoever gives it up no longer knows what other pages run, and a call may run in
/// several: that is for a database that is broken, not for a browser that has much to do.
const ENDURANCE: u32 = 30_000;

/// How often a transaction is begun anew that had ended before it was used.
const ATTEMPTS: u32 = 20;

#[derive(Clone)]
pub(super) enum Storage {
    Closed,
    Open(Rc<Store>),
    Lost,
}

impl Keeper {
    /// Does something with the storage, and other things with it. `None` when there is none, or none any more. A connection
    /// that was closed is opened again, once; a transaction that ended too soon is begun again, since what it writes comes last.
    pub(super) async fn attempt(&self, deed: &Deed, others: &[Deed]) -> Option<Box<Found>> {
        let (mut again, mut attempts) = (true, ATTEMPTS);
        loop {
            let store = match self.storage() {
                Storage::Lost => return None,
                Storage::Open(store) => Ok(store),
                Storage::Closed => self.open().await,
            };
            let failure = match store {
                Ok(store) => match within(&self.hooks, ENDURANCE, store.run(deed, others)).await {
                    Some(Ok(found)) => return Some(found),
                    Some(Err(failure)) => failure.into(),
                    None => Failure::Late,
                },
                Err(failure) => failure,
            };
            match failure {
                Failure::Closed if mem::take(&mut again) => drop(self.set_storage(Storage::Closed)),
                Failure::Ended if attempts > 0 => attempts -= 1,
                failure => {
                    self.lose(&failure);
                    return None;
                }
            }
        }
    }

    /// Opens the storage. The owner's lock comes first: entries are made under it.
    async fn open(&self) -> Result<Rc<Store>, Failure> {
        let factory = database::offered()?;
        if !self.lock.try_borrow().is_ok_and(|lock| lock.is_some()) {
            let granted = Moment::new();
            let lock = owner::hold(&self.hooks, &self.owner, &granted)?;
            if lock.is_some() {
                within(&self.hooks, PATIENCE, granted).await.ok_or(Failure::Late)?;
            }
            drop(self.lock.try_borrow_mut().map(|mut slot| mem::replace(&mut *slot, lock)));
        }
        // Opened by a task of its own, which closes what comes too late.
        let (opened, slot, hooks) = (Moment::new(), Rc::new(Cell::new(None)), self.hooks.clone());
        let (arrives, arrival) = (opened.clone(), Rc::downgrade(&slot));
        self.spawn("opening the ledger", async move {
            let store = Store::open(&hooks, &factory, DATABASE).await;
            if let Some(slot) = arrival.upgrade() {
                slot.set(Some(store));
            }
            arrives.come();
        });
        within(&self.hooks, PATIENCE, opened).await;
        let store = Rc::new(slot.take().ok_or(Failure::Late)??);
        drop(self.set_storage(Storage::Open(Rc::clone(&store))));
        Ok(store)
    }

    /// Goes on in memory.
    fn lose(&self, failure: &Failure) {
        if !matches!(self.set_storage(Storage::Lost), Some(Storage::Lost)) {
            self.say(LedgerInput::Unavailable { reason: failure.sentence() });
        }
    }

    pub(super) fn storage(&self) -> Storage {
        self.storage.try_borrow().map_or(Storage::Lost, |storage| storage.clone())
    }

    /// Gives what was there, to be dropped by who has no guard.
    pub(super) fn set_storage(&self, storage: Storage) -> Option<Storage> {
        self.storage.try_borrow_mut().ok().map(|mut slot| mem::replace(&mut *slot, storage))
    }
}
