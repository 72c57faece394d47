//! What the pages of one browser share: the ledger, and who of them lives.

use std::rc::Rc;

use pagehand::call::{Claim, LedgerEffect, LedgerInput, Over, Owner, Place};
use pagehand::conversation::Input;
use pagehand::net::Millis;
use serde_json::value::RawValue;

use super::{ID, Stage};

impl Stage {
    /// A page of the same browser, to be used from now on.
    pub fn on_page(mut self, owner: &str, of: &Self) -> Self {
        self.ledger = Rc::clone(&of.ledger);
        self.living = Rc::clone(&of.living);
        owner.clone_into(&mut self.owner);
        self.living.borrow_mut().insert(owner.to_owned());
        self.now = of.now;
        self
    }

    /// How far the conversation was dealt with, as it is written in the ledger.
    pub fn place(&self) -> Option<String> {
        let conversation = format!("http://server {ID}").into();
        let memory = self.ledger.borrow().recall(&conversation, |_| true);
        memory.place.map(|place| place.position)
    }

    /// Writes a place as an earlier page would have.
    pub fn remember(&self, at: Millis, position: &str) {
        let conversation = format!("http://server {ID}").into();
        let place = Place { position: position.into(), at };
        self.ledger.borrow_mut().remember(&conversation, place, &Owner("earlier".into()), &Over::Any);
    }

    /// The page is gone, without a word.
    pub fn dies(self) {
        self.living.borrow_mut().remove(&self.owner);
    }

    /// A slow ledger answers what it was asked first.
    pub fn ledger_answers(&mut self) {
        let effect = self.claims.pop_front().expect("the ledger was asked nothing");
        let answer = self.ledger_answer(effect).expect("nothing to answer");
        self.input(answer);
    }

    /// The ledger tells what came of the entries that are watched.
    pub fn look_at_watched(&mut self) {
        for key in std::mem::take(&mut self.watched) {
            let living = self.living.borrow().clone();
            match self.ledger.borrow().look(&key, |owner| living.contains(&*owner.0)) {
                Some(claim @ (Claim::Settled(_) | Claim::Abandoned)) => {
                    let input = Input::Ledger(LedgerInput::Watched { key, claim });
                    drop(living);
                    self.pending_inputs.push(input);
                }
                _ => self.watched.push(key),
            }
        }
        for input in std::mem::take(&mut self.pending_inputs) {
            self.input(input);
        }
    }

    pub(super) fn ledger_answer(&mut self, effect: LedgerEffect) -> Option<Input> {
        let living = self.living.borrow().clone();
        let lives = |owner: &Owner| living.contains(&*owner.0);
        let owner = Owner(self.owner.as_str().into());
        let mut ledger = self.ledger.borrow_mut();
        let answer = match effect {
            LedgerEffect::Recall { conversation } => LedgerInput::Recalled(ledger.recall(&conversation, lives)),
            LedgerEffect::Claim { key, tool, .. } => {
                let claim = ledger.claim(&key, &tool, &owner, lives);
                LedgerInput::Claimed { key, claim }
            }
            LedgerEffect::Watch { key } => {
                self.watched.push(key);
                return None;
            }
            LedgerEffect::Record { key, outcome, owed } => {
                ledger.record(&key, RawValue::from_string(outcome).unwrap(), owed, &owner);
                return None;
            }
            LedgerEffect::Discharge { key } => {
                ledger.discharge(&key);
                return None;
            }
            LedgerEffect::Remember { conversation, position, over } => {
                let theirs = ledger.remember(&conversation, Place { position, at: self.now }, &owner, &over);
                match over {
                    Over::Any => return None,
                    Over::Only(_) => LedgerInput::Placed { theirs },
                }
            }
        };
        Some(Input::Ledger(answer))
    }
}
