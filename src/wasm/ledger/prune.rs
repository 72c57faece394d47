//! What the ledger forgets, so that it does not grow for ever:
//!
//! - everything older than 30 days, entries and places;
//! - beyond 20 000 entries the oldest that have an outcome and are older than 7 days;
//! - beyond 50 000 entries the oldest that have an outcome, however young.
//!
//! A log that is read again after that long is history, and history runs nothing. It is done a batch at a time, each in a
//! transaction of its own, for claims wait behind it.

use wasm_bindgen::JsValue;

use crate::net::Millis;
use crate::wasm::convert;

use super::database::{Failure, ObjectStore, Transaction, up_to};
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

impl Store {
    /// Deletes one batch. Whether there may be more.
    pub(in crate::wasm) async fn prune(&self, limits: &Limits, now: Millis) -> Result<bool, Failure> {
        let places = self.sweep(PLACES, limits, now).await?;
        let entries = self.sweep(ENTRIES, limits, now).await?;
        Ok(places || entries || self.thin(limits, now).await?)
    }

    /// Deletes what is too old.
    async fn sweep(&self, store: &str, limits: &Limits, now: Millis) -> Result<bool, Failure> {
        let transaction = self.write(store)?;
        let store = transaction.store(store)?;
        let keys = oldest(&transaction, &store, Some(before(now, limits.age)), limits.batch).await?;
        delete(&store, &keys)?;
        transaction.finish().await?;
        Ok(keys.len() == limits.batch)
    }

    /// Deletes what is too much.
    async fn thin(&self, limits: &Limits, now: Millis) -> Result<bool, Failure> {
        let transaction = self.write(ENTRIES)?;
        let store = transaction.store(ENTRIES)?;
        let count = transaction.read(store.count()).await?.as_f64().map_or(0, whole);
        let (excess, age) = match (count.saturating_sub(limits.too_many), count.saturating_sub(limits.many)) {
            (0, 0) => return Ok(false),
            (0, many) => (many, Some(before(now, limits.old))),
            (too_many, _) => (too_many, None),
        };
        let open = transaction.read(store.index(OPEN)?.get_all_keys(&JsValue::UNDEFINED, u32::MAX)).await?;
        let open: Vec<_> = js_sys::Array::from(&open).iter().filter_map(|key| convert::json_of(&key)).collect();
        let wanted = excess.min(limits.batch);
        let mut keys = oldest(&transaction, &store, age, wanted.saturating_add(open.len())).await?;
        keys.retain(|key| convert::json_of(key).is_none_or(|key| !open.contains(&key)));
        keys.truncate(wanted);
        delete(&store, &keys)?;
        transaction.finish().await?;
        Ok(!keys.is_empty())
    }
}

/// The keys of the oldest, up to a time.
async fn oldest(
    transaction: &Transaction,
    store: &ObjectStore,
    up_to_time: Option<u64>,
    count: usize,
) -> Result<Vec<JsValue>, Failure> {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds and counts are far below 2^53")]
    let range = up_to_time.map_or(Ok(JsValue::UNDEFINED), |time| up_to(&(time as f64).into()))?;
    let keys = store.index(AT)?.get_all_keys(&range, u32::try_from(count).unwrap_or(u32::MAX));
    Ok(js_sys::Array::from(&transaction.read(keys).await?).to_vec())
}

fn delete(store: &ObjectStore, keys: &[JsValue]) -> Result<(), JsValue> {
    keys.iter().try_for_each(|key| store.delete(key).map(drop))
}

fn before(now: Millis, age: Millis) -> u64 {
    now.0.saturating_sub(age.0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from a float saturates")]
fn whole(count: f64) -> usize {
    count as usize
}
