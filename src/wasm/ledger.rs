//! The ledger of a page without storage.

use std::cell::RefCell;

use serde_json::value::RawValue;

use crate::call::{Ledger, LedgerEffect, LedgerInput, Owner, Place};
use crate::conversation::Input;

use super::clock;
use super::inputs::Inputs;

thread_local! {
    /// What ran already, for all conversations of the page.
    static LEDGER: RefCell<Ledger> = RefCell::new(Ledger::default());
}

/// Does what the core wants done with the ledger.
pub(super) fn perform(inputs: &Inputs, effect: LedgerEffect) {
    let owner = Owner("page".into());
    let answer = LEDGER.with(|ledger| {
        let mut ledger = ledger.try_borrow_mut().ok()?;
        match effect {
            LedgerEffect::Recall { conversation } => {
                Some(LedgerInput::Recalled(ledger.recall(&conversation, |_| true)))
            }
            LedgerEffect::Claim { key, tool, .. } => {
                let claim = ledger.claim(&key, &tool, &owner, |_| true);
                Some(LedgerInput::Claimed { key, claim })
            }
            LedgerEffect::Watch { .. } => None,
            LedgerEffect::Record { key, outcome } => {
                ledger.record(&key, RawValue::from_string(outcome).ok()?, &owner);
                None
            }
            LedgerEffect::Remember { conversation, position } => {
                ledger.remember(&conversation, Place { position, at: clock::now() });
                None
            }
        }
    });
    if let Some(answer) = answer {
        inputs.push(Input::Ledger(answer));
    }
}
