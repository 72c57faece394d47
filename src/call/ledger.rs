//! Who may run a call.

use std::collections::HashSet;
use std::rc::Rc;

/// The record of claimed calls. Inserting the key is the claim: who finds it there has lost.
///
/// This one lives in memory, for all conversations of a page.
#[derive(Debug, Default)]
pub struct Ledger {
    claimed: HashSet<Rc<str>>,
}

impl Ledger {
    /// Whether the call was free; it is taken from now on.
    pub fn claim(&mut self, key: &str) -> bool {
        self.claimed.insert(key.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_claimed_once() {
        let mut ledger = Ledger::default();
        assert!(ledger.claim("server conversation call"));
        assert!(!ledger.claim("server conversation call"));
        assert!(ledger.claim("server other call"));
    }
}
