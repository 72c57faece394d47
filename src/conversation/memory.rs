//! What the ledger has to do with the conversation: who runs which call, and how far the log has been dealt with.

use crate::call::{Claim, LedgerEffect, LedgerInput, Memory};
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
#[derive(Debug, Default)]
pub(super) struct Written {
    position: Option<String>,
    at: Millis,
}

impl Conversation {
    pub(super) fn hear_ledger(&mut self, input: LedgerInput, now: Millis) {
        match input {
            LedgerInput::Recalled(memory) => self.recalled(memory, now),
            LedgerInput::Claimed { key, claim } => {
                if let Some(call) = key.as_call() {
                    self.calls_do(now, |calls, _, out| calls.claimed(&call, claim, now, out));
                } else if let Some(call) = key.as_answer() {
                    self.result_claimed(&call, &claim);
                } else {
                    self.approval_claimed(&key, &claim, now);
                }
            }
            LedgerInput::Watched { key, claim } => {
                if let Some(call) = key.as_call() {
                    self.calls_do(now, |calls, _, out| calls.watched(&call, claim, out));
                }
            }
            LedgerInput::Unavailable { reason } => self.tell_notice(NoticeCode::StorageUnavailable, &reason, None),
        }
    }

    /// Goes on where an earlier page left off, if that is not too long ago.
    fn recalled(&mut self, memory: Memory, now: Millis) {
        let Phase::Recalling(operation) = self.phase else { return };
        self.phase = Phase::Opening(operation);
        let known = memory.open.into_iter().filter_map(|open| Some((open.key.as_call()?, open.tool, open.claim)));
        for (call, tool, claim) in known {
            if let Claim::Settled(outcome) = &claim {
                self.owe_from_before(call.clone(), tool.clone(), outcome);
            }
            self.calls_do(now, |calls, _, out| calls.recalled(&call, &tool, claim, out));
        }
        let fresh = |at: Millis| at.0.saturating_add(self.settings.resume_within.0) >= now.0;
        let position = match memory.place {
            Some(place) if fresh(place.at) => Some(place.position),
            Some(_) => {
                let message = "the page was away for longer than resumeWithin: what happened meanwhile is history";
                self.tell_notice(NoticeCode::Missed, message, None);
                None
            }
            None => None,
        };
        let tools: Vec<&Tool> = self.registry.tools().collect();
        let mut outlet = Outlet::default();
        self.protocol.open(&tools, position, self.seed, now, &mut outlet);
        self.absorb(outlet, now);
    }

    /// Writes how far the log has been dealt with. Not while a call is let through and unclaimed: a page that ended there and
    /// came back would never hear of it again.
    pub(super) fn write_place(&mut self, now: Millis) {
        if matches!(self.phase, Phase::Open) && now >= self.written.at + PAUSE && !self.calls.any_unclaimed() {
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
            let (conversation, position) = (self.key.clone(), text.clone());
            self.out.push(Effect::Ledger(LedgerEffect::Remember { conversation, position }));
            self.written = Written { position: Some(text.clone()), at: now };
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
