//! The latest names, for whatever comes again: what lies further back than these is somebody else's to know.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

/// Names kept. A reconnection overlaps by a page of events at most. What lies further back is known by its number, where the
/// socket has numbers, and a call that ran has its entry in the ledger.
pub const KEPT: usize = 4_096;

/// The latest names.
#[derive(Debug, Default)]
pub struct Recent {
    known: HashSet<Rc<str>>,
    order: VecDeque<Rc<str>>,
}

impl Recent {
    /// Adds a name. Whether it is new.
    pub fn add(&mut self, name: impl Into<Rc<str>>) -> bool {
        let name = name.into();
        if !self.known.insert(Rc::clone(&name)) {
            return false;
        }
        self.order.push_back(name);
        if self.order.len() > KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }

    /// Whether a name is among them.
    pub fn contains(&self, name: &str) -> bool {
        self.known.contains(name)
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
    fn the_memory_is_bounded_and_keeps_the_latest() {
        let mut recent = Recent::default();
        for number in 0..10_000 {
            assert!(recent.add(number.to_string()));
        }
        assert_eq!((recent.known.len(), recent.order.len()), (KEPT, KEPT));
        assert!(!recent.add("9999"));
        assert!(!recent.contains("5000"));
    }
}
