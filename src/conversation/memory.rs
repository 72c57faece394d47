//! What the ledger has to do with the conversation: who runs which call, and how far the log has been dealt with.

use std::mem;

use crate::call::{Claim, LedgerEffect, LedgerInput, Memory, Over};
use crate::net::Millis;
use crate::protocol::{NoticeCode, Outlet};
use crate::tool::Tool;

use super::Effect;
use super::state::{Conversation, Phase};

/// The place is written at most so often.
const PAUSE: Millis = Millis(1_000);
/// And at least so often: it tells a page that comes back how long it was away.
const HEARTBEAT: Millis = Millis(60_000);

/// How far the log has been dealt with, as it was last written.
#[derive(Debug)]
pub(super) struct Written {
    position: Option<String>,
    at: Millis,
    /// Until it is known that everything before our place has been dealt with, the place of another page stays.
    over: Over,
    first: First,
}

/// The place of a page that joined, which is open when the ledger has dealt with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First {
    NotYet,
    /// Nothing else is missing.
    Awaited,
    Written,
}

impl Default for Written {
    fn default() -> Self {
        Self { position: None, at: Millis::default(), over: Over::Any, first: First::NotYet }
    }
}

impl Conversation {
    pub(super) fn hear_ledger(&mut self, input: LedgerInput, now: Millis) {
        match input {
            LedgerInput::Recalled(memory) => self.recalled(memory, now),
            LedgerInput::Claimed { key, claim } => {
                if let Some(call) = key.as_call() {
                    self.calls_do(now, |calls, _, out| calls.claimed(&call, claim.of_call(), now, out));
                } else if let Some(call) = key.as_answer() {
                    self.result_claimed(&call, &claim);
                } else {
                    self.approval_claimed(&key, &claim, now);
                }
            }
            LedgerInput::Watched { key, claim } => {
                if let Some(call) = key.as_call() {
                    self.calls_do(now, |calls, _, out| calls.watched(&call, claim.of_call(), out));
                } else if let Some(call) = key.as_answer() {
                    self.result_watched(&call, &claim);
                }
            }
            LedgerInput::Placed { theirs } => self.placed(theirs.as_deref()),
            LedgerInput::Unavailable { reason } => self.tell_notice(NoticeCode::StorageUnavailable, &reason, None),
        }
    }

    /// Goes on where an earlier page left off, if that is not too long ago.
    fn recalled(&mut self, memory: Memory, now: Millis) {
        let Phase::Recalling(operation) = self.phase else { return };
        self.phase = Phase::Opening(operation);
        let known =
            memory.open.into_iter().filter_map(|open| Some((open.key.as_call()?, open.tool, open.claim.of_call())));
        for (call, tool, claim) in known {
            if let Claim::Settled(outcome) = &claim {
                self.owe_from_before(call.clone(), tool.clone(), outcome);
            }
            self.calls_do(now, |calls, _, out| calls.recalled(&call, &tool, claim, out));
        }
        let fresh = |at: Millis| at.0.saturating_add(self.settings.resume_within.0) >= now.0;
        let position = match memory.place {
            Some(place) if fresh(place.at) => Some(place.position),
            Some(place) => {
                self.written.over = Over::Only(Some(place.position));
                let message = "the page was away for longer than resumeWithin: what happened meanwhile is history";
                self.tell_notice(NoticeCode::Missed, message, None);
                None
            }
            None => {
                self.written.over = Over::Only(None);
                None
            }
        };
        let tools: Vec<&Tool> = self.registry.tools().collect();
        let mut outlet = Outlet::default();
        self.protocol.open(&tools, position, self.seed, now, &mut outlet);
        self.absorb(outlet, now);
    }

    /// The connection stands for the first time. A page that joined is open only when there is a place in the ledger, its own
    /// or another's: who joins after that cannot write one that leaves out what this page has still to do.
    pub(super) fn joined(&mut self) {
        let placed = self.written.over == Over::Any || self.written.first == First::Written;
        if placed || self.protocol.position().is_none() {
            self.become_open();
        } else {
            self.written.first = First::Awaited;
        }
    }

    /// The connection is gone, perhaps before the conversation was open.
    pub(super) fn not_joined(&mut self) {
        if self.written.first == First::Awaited {
            self.written.first = First::NotYet;
        }
    }

    /// Our place was written, or that of another page stays: what lies between the two may be that page's to do. It stays
    /// until that page has come to where we joined.
    fn placed(&mut self, theirs: Option<&str>) {
        let ours = theirs.is_none();
        if ours || theirs.is_some_and(|theirs| self.protocol.covers(theirs)) {
            self.written.over = Over::Any;
            self.written.position = self.written.position.take().filter(|_| ours);
        }
        if mem::replace(&mut self.written.first, First::Written) == First::Awaited {
            self.become_open();
        }
    }

    /// Writes how far the log has been dealt with. Not while a call is let through and unclaimed: a page that ended there and
    /// came back would never hear of it again.
    pub(super) fn write_place(&mut self, now: Millis) {
        let due = match self.phase {
            Phase::Opening(_) => self.written.first == First::Awaited && self.written.position.is_none(),
            Phase::Open => now >= self.written.at + PAUSE,
            Phase::New | Phase::Recalling(_) | Phase::Closed(_) => false,
        };
        if due && !self.calls.any_unclaimed() {
            let beat = now >= self.written.at + HEARTBEAT;
            self.write_place_now(beat, now);
        }
    }

    /// The same at once, for a page that may be leaving.
    pub(super) fn write_place_now(&mut self, unchanged: bool, now: Millis) {
        let position = self.protocol.position();
        if let Some(text) = &position
            && (unchanged || position != self.written.position)
        {
            let (conversation, position, over) = (self.key.clone(), text.clone(), self.written.over.clone());
            self.out.push(Effect::Ledger(LedgerEffect::Remember { conversation, position, over }));
            self.written.position = Some(text.clone());
            self.written.at = now;
        }
    }

    /// When the place is to be written next.
    pub(super) fn next_writing(&self) -> Option<Millis> {
        if !matches!(self.phase, Phase::Open) || self.calls.any_unclaimed() {
            return None;
        }
        let position = self.protocol.position()?;
        let pause = if self.written.position.as_ref() == Some(&position) { HEARTBEAT } else { PAUSE };
        Some(self.written.at + pause)
    }
}
