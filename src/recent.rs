//! The latest names, for whatever comes again: what lies further back than these is somebody else's to know.

use std::rc::Rc;

use crate::sorted::Sorted;

/// Names kept. A reconnection overlaps by a page of events at most. What lies further back is known by its number, where the
/// socket has numbers, and a call that ran has its entry in the ledger.
pub const KEPT: usize = 4_096;

/// The latest names.
#[derive(Debug)]
pub struct Recent {
    known: Sorted<Rc<str>, ()>,
    order: Vec<Rc<str>>,
    kept: usize,
}

impl Default for Recent {
    fn default() -> Self {
        Self::keeping(KEPT)
    }
}

impl Recent {
    /// So many of them.
    pub fn keeping(kept: usize) -> Self {
        Self { known: Sorted::default(), order: Vec::new(), kept }
    }

    /// Adds a name. Whether it is new.
    pub fn add(&mut self, name: &str) -> bool {
        let name = Rc::from(name);
        if !self.known.add(Rc::clone(&name), ()) {
            return false;
        }
        self.order.push(name);
        if self.order.len() > self.kept {
            self.known.take(&self.order.remove(0));
        }
        true
    }

    /// Whether a name is among them.
    pub fn contains(&self, name: &str) -> bool {
        self.known.get(name).is_some()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The latest.
    pub fn last(&self) -> Option<&str> {
        self.order.last().map(AsRef::as_ref)
    }

    /// Where a name is in their order.
    pub fn place(&self, name: &str) -> Option<usize> {
        // Most that are asked for are new.
        self.contains(name).then(|| self.order.iter().rposition(|known| **known == *name)).flatten()
    }

    /// Forgets those from this place on.
    pub fn truncate(&mut self, place: usize) {
        while self.order.len() > place
            && let Some(name) = self.order.pop()
        {
            self.known.take(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_new_once() {
        let mut recent = Recent::default();
        assert!(recent.add("a"));
        assert!(!recent.add("a"));
        assert!(recent.contains("a"));
    }

    #[test]
    fn names_have_places_and_can_be_forgotten_from_one_on() {
        let mut recent = Recent::keeping(3);
        for name in ["gone", "a", "b", "c"] {
            recent.add(name);
        }
        assert_eq!(["gone", "a", "c"].map(|name| recent.place(name)), [None, Some(0), Some(2)]);
        recent.truncate(1);
        assert_eq!((recent.last(), recent.contains("b"), recent.is_empty()), (Some("a"), false, false));
        assert!(recent.add("b"));
        recent.truncate(0);
        assert!(recent.is_empty() && recent.last().is_none() && recent.add("a"));
    }

    #[test]
    fn the_memory_is_bounded_and_keeps_the_latest() {
        let mut recent = Recent::default();
        for number in 0..10_000 {
            assert!(recent.add(&number.to_string()));
        }
        assert_eq!((recent.known.iter().count(), recent.order.len()), (KEPT, KEPT));
        assert!(!recent.add("9999"));
        assert!(!recent.contains("5000"));
    }
}
