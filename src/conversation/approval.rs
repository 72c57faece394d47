//! Calls that wait for a person's answer, all of them together.
//!
//! One answer leaves, whoever gives it: it is claimed in the ledger first, like the run of a call. The server takes a running
//! message and `run` for a yes, so they count as answers too.

use std::mem;
use std::rc::Rc;

use serde::Serialize;

use crate::call::{CallId, Claim, Key, LedgerEffect};
use crate::error::Error;
use crate::net::Millis;
use crate::protocol::{self, PendingCall, Status};

use super::state::{Conversation, Purpose};
use super::{Content, Effect, OperationId, Topic};

/// How long the page that claimed an answer may take to send it, where nothing else tells whether it lives.
const LEASE: Millis = Millis(60_000);

/// A question to a person.
pub(super) struct Approval {
    id: Rc<str>,
    stage: Stage,
    /// Whether the answer is ours to give.
    claimed: bool,
    /// Whether an answer may have been given of which nothing was heard.
    doubtful: bool,
}

enum Stage {
    /// Nobody has answered.
    Open,
    /// The ledger is asked.
    Claiming(Wanted),
    /// The server is asked whether it still waits.
    Looking(Wanted),
    /// The answer is under way.
    Sending,
}

/// An answer that somebody gave.
pub(super) struct Wanted {
    pub(super) operation: OperationId,
    pub(super) answer: Answer,
}

/// The ways to answer.
pub(super) enum Answer {
    /// Yes or no, and what to say after a no.
    Decide { accept: bool, reason: String, say: Option<Content> },
    /// A message that runs the agent.
    Say(Content),
    /// Letting the agent go on.
    Run,
}

#[derive(Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
enum Told<'a> {
    Open { id: &'a str, calls: &'a [PendingCall] },
    Closed { id: &'a str, reason: &'a str },
}

impl Conversation {
    /// These calls wait. The newest of them names the question: a later question has a later call.
    pub(super) fn ask_approval(&mut self, calls: &[PendingCall]) {
        let Some(newest) = calls.last() else { return };
        let id: Rc<str> = newest.call_id.as_str().into();
        if self.approval.as_ref().is_some_and(|approval| approval.id == id) {
            return;
        }
        self.close_approval("there is a new question", &Error::ApprovalAnswered);
        self.emit(Topic::Approval, &Told::Open { id: &id, calls });
        self.approval = Some(Approval { id, stage: Stage::Open, claimed: false, doubtful: false });
    }

    /// The server waits no longer. Who was about to answer gets this error.
    pub(super) fn close_approval(&mut self, reason: &str, error: &Error) {
        let Some(approval) = self.approval.take() else { return };
        self.emit(Topic::Approval, &Told::Closed { id: &approval.id, reason });
        if let Stage::Claiming(wanted) | Stage::Looking(wanted) = approval.stage {
            self.settle(wanted.operation, Err(error.clone()));
        }
    }

    /// Somebody answers. Without a name, whatever waits is meant.
    pub(super) fn answer_approval(&mut self, id: Option<&str>, wanted: Wanted, now: Millis) {
        let Some(approval) = self
            .approval
            .as_mut()
            .filter(|approval| id.is_none_or(|id| *approval.id == *id) && matches!(approval.stage, Stage::Open))
        else {
            return self.settle(wanted.operation, Err(Error::ApprovalAnswered));
        };
        if approval.claimed {
            return self.look_or_send(wanted, now);
        }
        let key = Key::approval(&self.key, &approval.id);
        approval.stage = Stage::Claiming(wanted);
        self.out.push(Effect::Ledger(LedgerEffect::Claim { key, tool: String::new(), lease: LEASE }));
    }

    /// The ledger says whose answer it is.
    pub(super) fn approval_claimed(&mut self, key: &Key, claim: &Claim, now: Millis) {
        let Some(approval) = &mut self.approval else { return };
        if *key != Key::approval(&self.key, &approval.id) {
            return;
        }
        let Stage::Claiming(wanted) = mem::replace(&mut approval.stage, Stage::Open) else { return };
        match claim {
            Claim::Held | Claim::Settled(_) => self.settle(wanted.operation, Err(Error::ApprovalAnswered)),
            Claim::Won | Claim::Abandoned => {
                approval.claimed = true;
                approval.doubtful = matches!(claim, Claim::Abandoned);
                self.look_or_send(wanted, now);
            }
        }
    }

    /// Looks first whether the server still waits, when an earlier answer may have reached it: a second yes would start a
    /// turn of its own.
    fn look_or_send(&mut self, wanted: Wanted, now: Millis) {
        let Some(approval) = &mut self.approval else { return };
        if approval.doubtful {
            approval.stage = Stage::Looking(wanted);
            self.command(Purpose::Look, protocol::Command::Poll, now);
        } else {
            self.send_answer(wanted, now);
        }
    }

    /// The server said whether it still waits.
    pub(super) fn approval_looked(&mut self, found: Result<&Status, Error>, now: Millis) {
        let Some(approval) = &mut self.approval else { return };
        if !matches!(approval.stage, Stage::Looking(_)) {
            return;
        }
        let Stage::Looking(wanted) = mem::replace(&mut approval.stage, Stage::Open) else { return };
        match found {
            Ok(Status::WaitingForConfirmation) => self.send_answer(wanted, now),
            Ok(_) => self.settle(wanted.operation, Err(Error::ApprovalAnswered)),
            Err(error) => self.settle(wanted.operation, Err(error)),
        }
    }

    fn send_answer(&mut self, Wanted { operation, answer }: Wanted, now: Millis) {
        let Some(approval) = &mut self.approval else {
            return self.settle(operation, Err(Error::ApprovalAnswered));
        };
        approval.stage = Stage::Sending;
        let question = Rc::clone(&approval.id);
        let (command, say) = match answer {
            Answer::Decide { accept, reason, say } => (
                protocol::Command::Decide {
                    question: CallId::new(Rc::clone(&question)),
                    accept,
                    reason,
                    arguments: None,
                },
                say,
            ),
            Answer::Say(content) => (protocol::Command::Say { content: content.into_json(), run: true }, None),
            Answer::Run => (protocol::Command::Run, None),
        };
        let runs = !matches!(command, protocol::Command::Decide { accept: false, .. });
        if runs {
            self.turn.begin(true, now);
        }
        self.command(Purpose::Answer { operation, question, runs, say }, command, now);
    }

    /// An answer has ended; meanwhile there may be another question.
    pub(super) fn answered(
        &mut self,
        operation: OperationId,
        question: &Rc<str>,
        runs: bool,
        say: Option<Content>,
        result: Result<String, Error>,
        now: Millis,
    ) {
        let unheard = matches!(result, Err(Error::Unreachable | Error::RequestTimeout | Error::Unconfirmed));
        let result = match (result, self.approval.as_mut().filter(|approval| approval.id == *question)) {
            // Nothing was heard of it, but the log shows that it was taken.
            (Err(_), None) if unheard => Ok("null".to_owned()),
            (Err(error), approval) => {
                if let Some(approval) = approval {
                    approval.stage = Stage::Open;
                    approval.doubtful |= unheard;
                }
                if runs && !unheard {
                    self.turn.withdraw();
                }
                Err(error)
            }
            (Ok(done), _) => {
                let key = Key::approval(&self.key, question);
                self.out.push(Effect::Ledger(LedgerEffect::Record { key, outcome: runs.to_string(), owed: false }));
                Ok(done)
            }
        };
        match (result, say) {
            (Ok(_), Some(content)) => self.say(Some(operation), content, true, now),
            (result, _) => self.settle(operation, result),
        }
    }

    /// Whether something waits for an answer.
    pub(super) fn is_approval_open(&self) -> bool {
        self.approval.is_some()
    }
}
