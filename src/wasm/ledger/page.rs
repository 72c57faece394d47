//! What the sessions of one page share: a ledger in memory, so that nothing runs twice in a page whatever becomes of its
//! storage, and each other, so that they hear of outcomes at once.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use serde_json::value::RawValue;

use crate::call::{Claim, Key, Ledger, Memory, Over, Owner, Place};

use super::Keeper;

/// Entries that are kept although they are over and stored. Should the storage be lost, what comes again is among the
/// latest: a place in the log that was dealt with is never returned to.
const KEPT: usize = 256;

#[derive(Default)]
struct Page {
    ledger: Ledger,
    sessions: Vec<(Owner, Weak<Keeper>)>,
    /// Those that are over and stored, in the order in which they came to that.
    stored: VecDeque<Key>,
}

thread_local! {
    static PAGE: RefCell<Page> = RefCell::default();
}

pub(super) fn join(owner: &Owner, session: Weak<Keeper>) {
    with(|page| page.sessions.push((owner.clone(), session)));
}

pub(super) fn leave(owner: &Owner) {
    with(|page| page.sessions.retain(|(other, _)| other != owner));
}

/// The open sessions of the page but this one.
pub(super) fn others(owner: &Owner) -> Vec<Rc<Keeper>> {
    let others = |page: &mut Page| {
        page.sessions.iter().filter(|(other, _)| other != owner).filter_map(|(_, session)| session.upgrade()).collect()
    };
    with(others).unwrap_or_default()
}

/// Whether an owner is a session of this page.
pub(super) fn has(owner: &Owner) -> bool {
    with(|page| page.has(owner)).unwrap_or_default()
}

pub(super) fn claim(key: &Key, tool: &str, owner: &Owner) -> Claim {
    let claim =
        |Page { ledger, sessions, .. }: &mut Page| ledger.claim(key, tool, owner, |owner| among(sessions, owner));
    with(claim).unwrap_or(Claim::Won)
}

pub(in crate::wasm) fn look(key: &Key) -> Option<Claim> {
    with(|page| page.ledger.look(key, |owner| page.has(owner))).flatten()
}

/// Whether it is the first outcome of its entry.
pub(super) fn record(key: &Key, outcome: Box<RawValue>, owed: bool, owner: &Owner) -> bool {
    with(|page| page.ledger.record(key, outcome, owed, owner)).unwrap_or_default()
}

/// The agent has been told.
pub(super) fn discharge(key: &Key) {
    with(|page| page.ledger.discharge(key));
}

/// An entry is over, nothing of it is owed, and the storage has it: it will be forgotten here when others come.
pub(super) fn stored(key: &Key) {
    with(|page| {
        page.stored.push_back(key.clone());
        if page.stored.len() > KEPT
            && let Some(oldest) = page.stored.pop_front()
        {
            page.ledger.withdraw(&oldest);
        }
    });
}

/// An entry that turned out to be another page's.
pub(super) fn withdraw(key: &Key) {
    with(|page| page.ledger.withdraw(key));
}

/// The place of another session that stays, if one does.
pub(super) fn remember(conversation: &Rc<str>, place: Place, owner: &Owner, over: &Over) -> Option<String> {
    with(|page| page.ledger.remember(conversation, place, owner, over)).flatten()
}

pub(super) fn recall(conversation: &Rc<str>) -> Memory {
    with(|page| page.ledger.recall(conversation, |owner| page.has(owner))).unwrap_or_default()
}

impl Page {
    fn has(&self, owner: &Owner) -> bool {
        among(&self.sessions, owner)
    }
}

fn among(sessions: &[(Owner, Weak<Keeper>)], owner: &Owner) -> bool {
    sessions.iter().any(|(other, _)| other == owner)
}

/// Nothing of JS runs under the guard.
fn with<T>(what: impl FnOnce(&mut Page) -> T) -> Option<T> {
    PAGE.with(|page| page.try_borrow_mut().ok().map(|mut page| what(&mut page)))
}
