//! Telling the agent how its calls ended. A server that waits for each outcome gets it at once; one without a place for them
//! gets a marked user message, if the app asks for it, when nothing runs that could lose it.
//!
//! Each outcome leaves once, whichever page has it: the right to send it is claimed in the
//! ledger like the run of the call.

use std::mem;

use serde_json::value::RawValue;

use crate::call::{CallId, Claim, Ending, Key, LedgerEffect, Outcome, Step};
use crate::error::Error;
use crate::json;
use crate::net::Millis;
use crate::protocol::{self, Status};
use crate::tool::Registry;

use super::state::{Conversation, Phase, Purpose};
use super::{Content, Effect};

/// How a message with outcomes begins.
const MARK: &str = "[client tool results]";
/// How long the page that claimed an outcome may take to send it, where nothing else tells whether it lives.
const LEASE: Millis = Millis(600_000);
/// How often a message is sent that did not arrive.
const ATTEMPTS: u32 = 3;

/// The outcomes that the agent has not been told.
#[derive(Default)]
pub(super) struct Results {
    owed: Vec<Owed>,
    attempts: u32,
}

pub(super) struct Owed {
    call: CallId,
    tool: String,
    /// JSON text.
    outcome: String,
    stage: Stage,
    /// Whether a page that is gone may have sent it.
    doubtful: bool,
    /// Whether it ended here: then it is this page's to tell, until another one has told it.
    here: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waiting,
    Claiming,
    Ours,
    /// Another page tells it, unless it goes before it has.
    Watching,
}

impl Results {
    fn add(&mut self, call: CallId, tool: String, outcome: String, doubtful: bool, here: bool) {
        self.owed.push(Owed { call, tool, outcome, stage: Stage::Waiting, doubtful, here });
    }
}

impl Conversation {
    /// A call ended here: the agent is to be told, unless the server has told it.
    pub(super) fn owe(&mut self, step: &Step) {
        if !self.tells() || matches!(self.phase, Phase::Closed(_)) {
            return;
        }
        let (call, tool) = (step.call_id.clone(), step.tool.clone());
        match &step.outcome {
            Some(Ending::Here(outcome)) => {
                // A page that closes tells without a word to the ledger, and may be gone before it has one.
                let doubtful = matches!(outcome, Outcome::Interrupted { .. });
                self.results.add(call, tool, json::text(outcome), doubtful, true);
            }
            // The page that had it may be gone before it has told: the agent waits.
            Some(Ending::Elsewhere(outcome)) if self.protocol.answers() => {
                self.results.add(call, tool, outcome.get().to_owned(), true, false);
            }
            Some(Ending::Elsewhere(_) | Ending::Server(_)) | None => {}
        }
    }

    /// An outcome from before we came, of which the agent may not have been told. Where it waits for each, that a call ended
    /// elsewhere is reason enough.
    pub(super) fn owe_from_before(&mut self, call: CallId, tool: String, outcome: &RawValue) {
        if self.tells() && !self.protocol.answers() {
            self.results.add(call, tool, outcome.get().to_owned(), false, true);
        }
    }

    fn tells(&self) -> bool {
        self.settings.results || self.protocol.answers()
    }

    /// Whether an outcome has not been given to the protocol.
    pub(super) fn any_owed(&self) -> bool {
        self.results.owed.iter().any(|owed| owed.stage != Stage::Watching)
    }

    /// Whether outcomes are still to be sent, so that the turn is not over.
    pub(super) fn results_are_due(&self) -> bool {
        if self.protocol.answers() {
            return self.any_owed() || self.commands.iter().any(|(_, purpose)| matches!(purpose, Purpose::Told(_)));
        }
        self.any_owed() && matches!(self.status, Status::Idle | Status::Finished)
    }

    /// Sends what is owed, if this is the moment: the agent rests, and no call of this page is on its way.
    pub(super) fn send_results(&mut self, now: Millis) {
        if self.protocol.answers() {
            return self.send_answers(now);
        }
        let rests = matches!(self.phase, Phase::Open) && !self.turn.is_active() && !self.calls.any_under_way();
        if !rests || !self.results_are_due() || self.is_approval_open() {
            return;
        }
        self.claim_answers();
        if self.results.owed.iter().all(|owed| owed.stage == Stage::Ours) {
            let owed = mem::take(&mut self.results.owed);
            if let Ok(content) = Content::text(&text(&owed, &self.registry)) {
                self.turn.begin(true, now);
                let say = protocol::Command::Say { content: content.into_json(), run: true };
                self.command(Purpose::Results(owed), say, now);
            }
        }
    }

    /// Asks the ledger for the right to send what nobody has asked for.
    fn claim_answers(&mut self) {
        let mut keys = Vec::new();
        for owed in self.results.owed.iter_mut().filter(|owed| owed.stage == Stage::Waiting) {
            owed.stage = Stage::Claiming;
            keys.push((Key::answer(&self.key, &owed.call), owed.tool.clone()));
        }
        let claims = keys.into_iter().map(|(key, tool)| LedgerEffect::Claim { key, tool, lease: LEASE });
        self.out.extend(claims.map(Effect::Ledger));
    }

    /// Gives the protocol the outcomes that are ours to send.
    fn send_answers(&mut self, now: Millis) {
        if !matches!(self.phase, Phase::Open) {
            return;
        }
        self.claim_answers();
        let (ours, owed) = mem::take(&mut self.results.owed).into_iter().partition(|owed| owed.stage == Stage::Ours);
        self.results.owed = owed;
        for owed in ours {
            self.send_answer_of(owed, now);
        }
    }

    fn send_answer_of(&mut self, owed: Owed, now: Millis) {
        let Some(outcome) = json::raw(&owed.outcome) else { return };
        let (call, doubtful) = (owed.call.clone(), owed.doubtful);
        self.command(Purpose::Told(owed), protocol::Command::Answer { call, outcome, doubtful }, now);
    }

    /// The agent has been told an outcome, or cannot be.
    pub(super) fn answer_sent(&mut self, owed: &Owed, result: &Result<String, Error>) {
        match result {
            Ok(_) => self.discharge(&owed.call),
            // It stays in the ledger, for a page that comes later.
            Err(error) => self.tell_error(error),
        }
    }

    /// Sends what can still be sent before the connection goes. The page has these calls, so the answers are its own; whether
    /// they arrive it cannot wait to see, so the ledger still has them for another page, which looks first.
    pub(super) fn tell_while_closing(&mut self, now: Millis) {
        if !self.protocol.answers() || !matches!(self.phase, Phase::Open) {
            return;
        }
        for owed in
            mem::take(&mut self.results.owed).into_iter().filter(|owed| owed.here && owed.stage != Stage::Watching)
        {
            self.send_answer_of(owed, now);
        }
    }

    fn discharge(&mut self, call: &CallId) {
        let told = LedgerEffect::Record { key: Key::answer(&self.key, call), outcome: "null".to_owned(), owed: false };
        let discharged = LedgerEffect::Discharge { key: Key::call(&self.key, call) };
        self.out.extend([told, discharged].map(Effect::Ledger));
    }

    /// The ledger says whose it is to send an outcome.
    pub(super) fn result_claimed(&mut self, call: &CallId, claim: &Claim) {
        let doubtful = matches!(claim, Claim::Abandoned);
        // A message would be a second one, while a server that waits for each outcome can be asked about it.
        let ours = matches!(claim, Claim::Won) || (doubtful && self.protocol.answers());
        let watched = matches!(claim, Claim::Held) && self.protocol.answers();
        self.results.owed.retain_mut(|owed| {
            if owed.call == *call && owed.stage == Stage::Claiming {
                owed.stage = if ours { Stage::Ours } else { Stage::Watching };
                owed.doubtful |= doubtful;
                return ours || watched;
            }
            true
        });
        if watched {
            self.out.push(Effect::Ledger(LedgerEffect::Watch { key: Key::answer(&self.key, call) }));
        }
    }

    /// The page that was to tell an outcome has, or is gone.
    pub(super) fn result_watched(&mut self, call: &CallId, claim: &Claim) {
        self.results.owed.retain_mut(|owed| {
            if owed.call == *call && owed.stage == Stage::Watching {
                owed.stage = Stage::Waiting;
                return matches!(claim, Claim::Abandoned);
            }
            true
        });
    }

    /// The message with outcomes has arrived, or not.
    pub(super) fn results_sent(&mut self, mut owed: Vec<Owed>, result: &Result<String, Error>) {
        if let Err(error) = result {
            self.turn.withdraw();
            self.tell_error(error);
        }
        // A message that could not run for want of room is there all the same.
        if matches!(result, Ok(_) | Err(Error::Capacity { .. })) {
            self.results.attempts = 0;
            for Owed { call, .. } in owed {
                self.discharge(&call);
            }
            return;
        }
        // Whether it arrived may not be known: a second one could tell the agent twice.
        let again = *result != Err(Error::Unconfirmed);
        self.results.attempts += 1;
        if again && self.results.attempts < ATTEMPTS {
            owed.append(&mut self.results.owed);
            self.results.owed = owed;
        } else {
            self.results.attempts = 0;
        }
    }
}

/// The agent knows its tools by their names on the wire.
fn text(owed: &[Owed], registry: &Registry) -> String {
    let mut text = MARK.to_owned();
    for owed in owed {
        let tool = registry.named(&owed.tool).map_or(owed.tool.as_str(), |entry| entry.tool.wire.as_str());
        text.extend(["\n", tool, " ", owed.call.as_str(), ": ", &owed.outcome]);
    }
    text
}
