//! What the ledger forgets, so that it does not grow for ever:
//!
//! - everything older than 30 days, entries and places;
//! - beyond 20 000 entries the oldest that have an outcome and are older than 7 days;
//! - beyond 50 000 entries the oldest that have an outcome, however young.
//!
//! A log that is read again after that long is history, and history runs nothing. It is done a batch at a time, each in a
//! transaction of its own, for claims wait behind it.

use js_sys::Array;
use wasm_bindgen::prelude::*;

use crate::net::Millis;
use crate::wasm::convert;

use super::database::up_to;
use super::store::{AT, ENTRIES, OPEN, PLACES, Store};

const DAY: u64 = 24 * 60 * 60 * 1_000;

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub(in crate::wasm) struct Limits {
    /// The age at which everything goes.
    pub(in crate::wasm) age: Millis,
    /// With more entries than this, the old ones go,
    pub(in crate::wasm) many: usize,
    /// from this age on;
    pub(in crate::wasm) old: Millis,
    /// with more than this, whatever their age.
    pub(in crate::wasm) too_many: usize,
    /// How many at a time.
    pub(in crate::wasm) batch: usize,
}

impl Limits {
    pub(super) const DEFAULT: Self =
        Self { age: Millis(30 * DAY), many: 20_000, old: Millis(7 * DAY), too_many: 50_000, batch: 500 };
}

/// What of a store goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Surplus {
    TooOld,
    TooMuch,
}

impl Store {
    /// Deletes one batch. Whether there may be more.
    pub(in crate::wasm) async fn prune(&self, limits: &Limits, now: Millis) -> Result<bool, JsValue> {
        for (store, surplus) in [(PLACES, Surplus::TooOld), (ENTRIES, Surplus::TooOld), (ENTRIES, Surplus::TooMuch)] {
            if self.forget(store, surplus, limits, now).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn forget(&self, store: &str, surplus: Surplus, limits: &Limits, now: Millis) -> Result<bool, JsValue> {
        let transaction = self.write(store)?;
        let store = transaction.store(store)?;
        let (mut excess, mut age, mut open) = (limits.batch, Some(limits.age), Vec::new());
        if surplus == Surplus::TooMuch {
            let count = transaction.read(&store.count()?).await?.as_f64().map_or(0, whole);
            (excess, age) = match (count.saturating_sub(limits.too_many), count.saturating_sub(limits.many)) {
                (0, 0) => return Ok(false),
                (0, many) => (many, Some(limits.old)),
                (too_many, _) => (too_many, None),
            };
            let keys = store.index(OPEN)?.get_all_keys(&JsValue::UNDEFINED, u32::MAX)?;
            let keys = transaction.read(&keys).await?;
            open = keys.unchecked_ref::<Array>().iter().filter_map(|key| convert::json_of(&key)).collect();
        }
        let wanted = excess.min(limits.batch);
        let range = age.map_or(Ok(JsValue::UNDEFINED), |age| up_to(before(now, age)))?;
        let most = u32::try_from(wanted.saturating_add(open.len())).unwrap_or(u32::MAX);
        let keys = transaction.read(&store.index(AT)?.get_all_keys(&range, most)?).await?;
        let stays = |key: &JsValue| convert::json_of(key).is_some_and(|key| open.contains(&key));
        let mut deleted = 0;
        for key in keys.unchecked_ref::<Array>().iter().filter(|key| !stays(key)).take(wanted) {
            store.delete(&key)?;
            deleted += 1;
        }
        transaction.finish().await?;
        Ok(deleted == limits.batch)
    }
}

#[expect(clippy::cast_precision_loss, reason = "times are far below 2^53")]
fn before(now: Millis, age: Millis) -> f64 {
    now.0.saturating_sub(age.0) as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from a float saturates")]
fn whole(count: f64) -> usize {
    count as usize
}
