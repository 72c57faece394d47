//! Each event once.

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

/// Ids remembered. A reconnection overlaps by a page of events at most; calls have a memory of their own.
const REMEMBERED: usize = 4_096;

/// The ids of the latest events.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    seen: HashSet<Rc<str>>,
    order: VecDeque<Rc<str>>,
}

impl Inbox {
    /// Whether the event is new.
    pub(super) fn admit(&mut self, id: &str) -> bool {
        let id: Rc<str> = id.into();
        if !self.seen.insert(Rc::clone(&id)) {
            return false;
        }
        self.order.push_back(id);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_admitted_once() {
        let mut inbox = Inbox::default();
        assert!(inbox.admit("a"));
        assert!(!inbox.admit("a"));
    }

    #[test]
    fn the_memory_is_bounded_and_keeps_the_latest() {
        let mut inbox = Inbox::default();
        for number in 0..10_000 {
            assert!(inbox.admit(&number.to_string()));
        }
        assert_eq!(inbox.seen.len(), REMEMBERED);
        assert!(!inbox.admit("9999"));
    }
}
