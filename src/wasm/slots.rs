//! A small table behind a cell: sockets, requests, runs.

use std::cell::RefCell;
use std::rc::Rc;

/// A table of what is open, shared by its clones. It holds a handful of entries, so a list does. No method leaves a guard behind, and values
/// come out whole, so that nothing of JS runs under the guard.
pub(super) struct Slots<K, V>(Rc<RefCell<Vec<(K, V)>>>);

impl<K, V> Clone for Slots<K, V> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<K: Copy + PartialEq, V> Slots<K, V> {
    pub(super) fn new() -> Self {
        Self(Rc::new(RefCell::new(Vec::new())))
    }

    pub(super) fn insert(&self, key: K, value: V) {
        if let Ok(mut entries) = self.0.try_borrow_mut() {
            entries.push((key, value));
        }
    }

    pub(super) fn take(&self, key: K) -> Option<V> {
        let mut entries = self.0.try_borrow_mut().ok()?;
        let place = entries.iter().position(|(other, _)| *other == key)?;
        Some(entries.swap_remove(place).1)
    }

    pub(super) fn get(&self, key: K) -> Option<V>
    where
        V: Clone,
    {
        let entries = self.0.try_borrow().ok()?;
        entries.iter().find(|(other, _)| *other == key).map(|(_, value)| value.clone())
    }

    #[cfg(feature = "uipath")]
    pub(super) fn is_empty(&self) -> bool {
        self.0.try_borrow().is_ok_and(|entries| entries.is_empty())
    }

    pub(super) fn drain(&self) -> Vec<(K, V)> {
        self.0.try_borrow_mut().map(|mut entries| std::mem::take(&mut *entries)).unwrap_or_default()
    }
}
