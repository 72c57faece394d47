//! The browser: the storage that its pages share, and the locks that tell whether a page lives.

use std::collections::BTreeSet;

use pagehand::call::{Claim, Key, Ledger, LedgerEffect, LedgerInput, Over, Owner, Place};
use pagehand::conversation::Input;
use pagehand::net::Millis;
use serde_json::value::RawValue;

use crate::reached::Situation;
use crate::world::{Coming, Who, World, trace};

const EPOCH: u64 = 1_700_000_000_000;

#[derive(Default)]
pub struct Browser {
    pub ledger: Ledger,
    /// The owners whose lock is held.
    pub living: BTreeSet<String>,
    pub watchers: Vec<(Who, Key)>,
    /// By how much the clock is wrong.
    pub skew: i64,
    pub offline_until: u64,
}

/// The name of a page in the ledger.
pub fn owner(who: Who) -> Owner {
    Owner(format!("{}.{}", who.tab, who.life).into())
}

impl World {
    /// What the clock of the browser says.
    pub fn clock(&self) -> Millis {
        Millis((EPOCH + self.now).saturating_add_signed(self.browser.skew))
    }

    /// A page asks its storage: it is answered in the order of asking.
    pub fn ask_ledger(&mut self, who: Who, effect: LedgerEffect) {
        let delay = self.handlers.below(6);
        let now = self.now;
        let Some(page) = self.page(who) else { return };
        page.stored_at = page.stored_at.max(now + delay);
        let at = page.stored_at;
        self.comes(at, Coming::Ledger(who, effect));
    }

    pub fn ledger_does(&mut self, who: Who, effect: LedgerEffect) {
        let in_time = self.handlers.per_mille(500);
        let lost = match self.page(who) {
            Some(page) => page.storage_lost,
            // What a page wrote in its last moment may be there or not.
            None if in_time => false,
            None => return,
        };
        let me = owner(who);
        let clock = self.clock();
        let answer = if lost { self.local(who, &me, effect, clock) } else { self.shared(who, &me, effect, clock) };
        if let Some(answer) = answer {
            let at = self.now + self.handlers.below(4);
            let Some(page) = self.page(who) else { return };
            page.stored_at = page.stored_at.max(at);
            let at = page.stored_at;
            self.comes(at, Coming::Input(who, Input::Ledger(answer)));
        }
    }

    fn shared(&mut self, who: Who, me: &Owner, effect: LedgerEffect, clock: Millis) -> Option<LedgerInput> {
        let living = &self.browser.living;
        let lives = |owner: &Owner| living.contains(&*owner.0);
        match effect {
            LedgerEffect::Recall { conversation } => {
                let mut memory = self.browser.ledger.recall(&conversation, lives);
                memory.open.sort_by(|a, b| a.key.subject.cmp(&b.key.subject));
                if let Some(place) = &memory.place {
                    trace!(self, "{who} recalls {place:?}, open: {}", memory.open.len());
                }
                self.checks.recalled(who, memory.place.is_some());
                if memory.place.is_some() {
                    self.reached.note(Situation::Resumed);
                }
                Some(LedgerInput::Recalled(memory))
            }
            LedgerEffect::Claim { key, tool, .. } => {
                let claim = self.browser.ledger.claim(&key, &tool, me, lives);
                trace!(self, "{who} claims {}: {}", key.subject, name(&claim));
                if matches!(claim, Claim::Won)
                    && let Some(page) = self.page(who)
                {
                    page.local.claim(&key, &tool, me, |_| true);
                }
                Some(LedgerInput::Claimed { key, claim })
            }
            LedgerEffect::Watch { key } => self.watch(who, key),
            LedgerEffect::Record { key, outcome, owed } => {
                let outcome = RawValue::from_string(outcome).unwrap();
                if let Some(page) = self.page(who) {
                    page.local.record(&key, outcome.clone(), owed, me);
                }
                if self.browser.ledger.record(&key, outcome.clone(), owed, me) {
                    trace!(self, "{who} records {}: {}", key.subject, outcome.get());
                    self.tell_others(who, &key, &Claim::Settled(outcome));
                }
                None
            }
            LedgerEffect::Discharge { key } => {
                self.browser.ledger.discharge(&key);
                None
            }
            LedgerEffect::Remember { conversation, position, over } => {
                trace!(self, "{who} remembers {position}");
                let theirs = self.browser.ledger.remember(&conversation, Place { position, at: clock }, me, &over);
                if let Some(theirs) = &theirs {
                    self.reached.note(Situation::PlaceStays);
                    trace!(self, "{who}: the place of another page stays, {theirs}");
                }
                (over != Over::Any).then_some(LedgerInput::Placed { theirs })
            }
        }
    }

    /// Without storage a page remembers for itself.
    fn local(&mut self, who: Who, me: &Owner, effect: LedgerEffect, clock: Millis) -> Option<LedgerInput> {
        match effect {
            LedgerEffect::Recall { conversation } => {
                let page = self.page(who)?;
                Some(LedgerInput::Recalled(page.local.recall(&conversation, |_| true)))
            }
            LedgerEffect::Claim { key, tool, .. } => {
                let claim = self.page(who)?.local.claim(&key, &tool, me, |_| true);
                trace!(self, "{who} claims {} in memory: {}", key.subject, name(&claim));
                Some(LedgerInput::Claimed { key, claim })
            }
            // Locks and messages between pages are still there.
            LedgerEffect::Watch { key } => self.watch(who, key),
            LedgerEffect::Record { key, outcome, owed } => {
                let outcome = RawValue::from_string(outcome).unwrap();
                if self.page(who)?.local.record(&key, outcome.clone(), owed, me) {
                    // Pages can still talk to each other.
                    self.tell_others(who, &key, &Claim::Settled(outcome));
                }
                None
            }
            LedgerEffect::Discharge { key } => {
                self.page(who)?.local.discharge(&key);
                None
            }
            LedgerEffect::Remember { conversation, position, over } => {
                let theirs = self.page(who)?.local.remember(&conversation, Place { position, at: clock }, me, &over);
                (over != Over::Any).then_some(LedgerInput::Placed { theirs })
            }
        }
    }

    /// Answers at once when there is something to tell, or later.
    fn watch(&mut self, who: Who, key: Key) -> Option<LedgerInput> {
        let living = &self.browser.living;
        let found = self.browser.ledger.look(&key, |owner| living.contains(&*owner.0));
        if let Some(claim @ (Claim::Settled(_) | Claim::Abandoned)) = found {
            return Some(LedgerInput::Watched { key, claim });
        }
        self.ask_pages(who, &key);
        self.browser.watchers.push((who, key));
        None
    }

    /// A page that lost its storage may know an outcome that it could not write. One that was put aside does not hear it: it
    /// is asked again.
    pub fn ask_pages(&mut self, who: Who, key: &Key) {
        let mut asleep = false;
        for other in self.everybody().into_iter().filter(|other| *other != who) {
            let Some(page) = self.page(other) else { continue };
            asleep |= page.is_aside();
            if let Some(claim @ Claim::Settled(_)) = page.local.look(key, |_| true).filter(|_| !page.is_aside()) {
                let at = self.now + self.handlers.below(8);
                let input = LedgerInput::Watched { key: key.clone(), claim };
                return self.comes(at, Coming::Input(who, Input::Ledger(input)));
            }
        }
        if asleep {
            self.comes(self.now + 60_000, Coming::Ask(who, key.clone()));
        }
    }

    fn tell_others(&mut self, who: Who, key: &Key, claim: &Claim) {
        self.browser.watchers.retain(|(_, watched)| watched != key);
        for other in self.everybody().into_iter().filter(|other| *other != who) {
            if let (Claim::Settled(outcome), Some(page)) = (claim, self.page(other)) {
                page.local.record(key, outcome.clone(), false, &owner(other));
            }
            let at = self.now + self.handlers.below(8);
            let input = LedgerInput::Watched { key: key.clone(), claim: claim.clone() };
            self.comes(at, Coming::Input(other, Input::Ledger(input)));
        }
    }

    /// The lock of a page that is gone is free.
    pub fn owner_gone(&mut self, who: Who) {
        self.browser.living.remove(&*owner(who).0);
        let watchers = std::mem::take(&mut self.browser.watchers);
        for (watcher, key) in watchers {
            let living = &self.browser.living;
            match self.browser.ledger.look(&key, |owner| living.contains(&*owner.0)) {
                Some(claim @ (Claim::Abandoned | Claim::Settled(_))) => {
                    let input = LedgerInput::Watched { key, claim };
                    self.comes(self.now + 1, Coming::Input(watcher, Input::Ledger(input)));
                }
                _ => self.browser.watchers.push((watcher, key)),
            }
        }
    }

    pub fn lose_storage(&mut self, tab: usize) {
        let Some(who) = self.shown(tab) else { return };
        let Some(page) = self.page(who).filter(|page| !page.storage_lost) else { return };
        page.storage_lost = true;
        self.reached.note(Situation::StorageLost);
        self.checks.storage_lost = true;
        let unavailable = LedgerInput::Unavailable { reason: "the storage is gone".into() };
        self.comes(self.now, Coming::Input(who, Input::Ledger(unavailable)));
    }
}

fn name(claim: &Claim) -> &'static str {
    match claim {
        Claim::Won => "won",
        Claim::Held => "held",
        Claim::Abandoned => "abandoned",
        Claim::Settled(_) => "settled",
    }
}

impl std::fmt::Display for Who {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "tab{}.{}", self.tab, self.life)
    }
}
