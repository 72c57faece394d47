//! Questions to a person, each about calls that wait for one answer: the server's, and the page's own about a call that it
//! has.
//!
//! One answer leaves, whoever gives it: it is claimed in the ledger first, like the run of a call. A server without answers
//! for single calls takes a running message and `run` for a yes, so they count as answers too.

use std::mem;
use std::rc::Rc;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::call::{CallId, CheckId, Claim, EngineError, Key, LedgerEffect};
use crate::error::Error;
use crate::json::Object;
use crate::net::Millis;
use crate::protocol::{self, PendingCall, Status};
use crate::tool::{Against, Report};

use super::state::{Conversation, Purpose};
use super::{Content, Effect, OperationId, Topic};

/// How long the page that claimed an answer may take to send it, where nothing else tells whether it lives.
const LEASE: Millis = Millis(60_000);

/// A question to a person.
pub(super) struct Approval {
    id: Rc<str>,
    calls: Vec<PendingCall>,
    stage: Stage,
    /// Whether this page asks for itself, about a call that it has.
    own: bool,
    /// Whether the answer is ours to give.
    claimed: bool,
    /// Whether an answer may have been given of which nothing was heard.
    doubtful: bool,
}

enum Stage {
    /// Nobody has answered.
    Open,
    /// The arguments that came with an answer are checked.
    Checking(CheckId, Wanted),
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
    /// Yes, perhaps with other arguments; or no, why, and what to say then.
    Decide { accept: bool, reason: String, arguments: Option<Box<RawValue>>, say: Option<Content> },
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
    /// All that the server waits for. The newest call of a question names it: a later question has a later call.
    pub(super) fn ask_approvals(&mut self, questions: Vec<Vec<PendingCall>>, now: Millis) {
        let asked: Vec<(Rc<str>, Vec<PendingCall>)> =
            questions.into_iter().filter_map(|calls| Some((calls.last()?.call_id.as_str().into(), calls))).collect();
        let gone = |approval: &Approval| !approval.own && !asked.iter().any(|(id, _)| *id == approval.id);
        let reason =
            if asked.is_empty() { "the server waits no longer" } else { "the server waits for something else" };
        self.close_approvals(gone, reason, &Error::ApprovalAnswered);
        for (id, calls) in asked {
            for call in &calls {
                self.calls_do(now, |all, _, out| all.waiting(&call.call_id, out));
            }
            if !self.approvals.iter().any(|approval| approval.id == id) {
                self.open_approval(id, calls, false);
            }
        }
    }

    /// The page asks for itself.
    pub(super) fn ask_own_approval(&mut self, call: CallId, tool: String, arguments: Box<RawValue>) {
        let id = call.as_str().into();
        let asked = PendingCall {
            call_id: call,
            tool,
            arguments,
            summary: None,
            risk: None,
            client: true,
            editable: true,
            schema: None,
        };
        self.open_approval(id, vec![asked], true);
    }

    fn open_approval(&mut self, id: Rc<str>, calls: Vec<PendingCall>, own: bool) {
        self.emit(Topic::Approval, &Told::Open { id: &id, calls: &calls });
        self.approvals.push(Approval { id, calls, stage: Stage::Open, own, claimed: false, doubtful: false });
    }

    /// The server waits no longer.
    pub(super) fn close_server_approvals(&mut self) {
        self.close_approvals(|approval| !approval.own, "the server waits no longer", &Error::ApprovalAnswered);
    }

    /// A call has ended: the page does not ask about it any more.
    pub(super) fn close_own_approval(&mut self, call: &CallId) {
        let ended = |approval: &Approval| approval.own && *approval.id == *call.as_str();
        self.close_approvals(ended, "the call has ended", &Error::ApprovalAnswered);
    }

    /// Closes questions. Who was about to answer gets this error.
    pub(super) fn close_approvals(&mut self, which: impl Fn(&Approval) -> bool, reason: &str, error: &Error) {
        let (closed, open) = mem::take(&mut self.approvals).into_iter().partition(which);
        self.approvals = open;
        for approval in closed {
            self.emit(Topic::Approval, &Told::Closed { id: &approval.id, reason });
            if let Stage::Checking(_, wanted) | Stage::Claiming(wanted) | Stage::Looking(wanted) = approval.stage {
                self.settle(wanted.operation, Err(error.clone()));
            }
        }
    }

    fn approval(&mut self, id: &str) -> Option<&mut Approval> {
        self.approvals.iter_mut().find(|approval| *approval.id == *id)
    }

    /// Somebody answers. Without a name, whatever the server waits for is meant.
    pub(super) fn answer_approval(&mut self, id: Option<&str>, wanted: Wanted, now: Millis) {
        let meant = |approval: &Approval| id.map_or(!approval.own, |id| *approval.id == *id);
        let Some(approval) =
            self.approvals.iter_mut().find(|approval| meant(approval) && matches!(approval.stage, Stage::Open))
        else {
            return self.settle(wanted.operation, Err(Error::ApprovalAnswered));
        };
        let Answer::Decide { accept: true, arguments: Some(arguments), .. } = &wanted.answer else {
            let id = Rc::clone(&approval.id);
            return self.checked_answer(&id, wanted, now);
        };
        let [call] = approval.calls.as_slice() else {
            return self.settle(wanted.operation, Err(Error::invalid("arguments", "several calls have one answer")));
        };
        if !call.editable || Object::read(arguments.get()).is_none() {
            let rule = "must be an object, where the question is editable";
            return self.settle(wanted.operation, Err(Error::invalid("arguments", rule)));
        }
        let declared = self.registry.get(&call.tool).and_then(|entry| entry.input).map(Against::Declared);
        let against = self.calls.input_of(&call.call_id).or(declared);
        let Some(against) = against.or_else(|| call.schema.clone().map(Against::Received)) else {
            let id = Rc::clone(&approval.id);
            return self.checked_answer(&id, wanted, now);
        };
        let (check, instance) = (self.calls.next_check(), arguments.get().to_owned());
        approval.stage = Stage::Checking(check, wanted);
        self.check(check, against, instance);
    }

    /// The arguments that came with an answer were checked. Whether this was such a check.
    pub(super) fn answer_checked(&mut self, check: CheckId, result: &Result<Report, EngineError>, now: Millis) -> bool {
        let is_it = |approval: &&mut Approval| matches!(&approval.stage, Stage::Checking(this, _) if *this == check);
        let Some(approval) = self.approvals.iter_mut().find(is_it) else { return false };
        let id = Rc::clone(&approval.id);
        let Stage::Checking(_, wanted) = mem::replace(&mut approval.stage, Stage::Open) else { return false };
        match result {
            Ok(report) if report.valid => self.checked_answer(&id, wanted, now),
            Ok(report) => self.settle(wanted.operation, Err(Error::InvalidEdit { issues: report.issues.clone() })),
            Err(EngineError::Unavailable(message) | EngineError::Schema(message)) => {
                self.settle(wanted.operation, Err(Error::invalid("arguments", message)));
            }
        }
        true
    }

    /// An answer that may leave.
    fn checked_answer(&mut self, id: &Rc<str>, wanted: Wanted, now: Millis) {
        let key = Key::approval(&self.key, id);
        let Some(approval) = self.approval(id) else { return };
        if approval.own {
            return self.answer_own(id, wanted, now);
        }
        if approval.claimed {
            return self.look_or_send(id, wanted, now);
        }
        approval.stage = Stage::Claiming(wanted);
        self.out.push(Effect::Ledger(LedgerEffect::Claim { key, tool: String::new(), lease: LEASE }));
    }

    fn answer_own(&mut self, id: &Rc<str>, Wanted { operation, answer }: Wanted, now: Millis) {
        let Answer::Decide { accept, reason, arguments, say } = answer else { return };
        let answer = if accept { Ok(arguments) } else { Err(reason) };
        self.close_approvals(|approval| approval.id == *id, "answered", &Error::ApprovalAnswered);
        self.calls_do(now, |calls, _, out| calls.confirmed(&CallId::new(Rc::clone(id)), answer, now, out));
        match say {
            Some(content) => self.speak(operation, content, now),
            None => self.settle(operation, Ok("null".to_owned())),
        }
    }

    /// The ledger says whose answer it is.
    pub(super) fn approval_claimed(&mut self, key: &Key, claim: &Claim, now: Millis) {
        let name = Rc::clone(&self.key);
        let Some(approval) = self.approvals.iter_mut().find(|approval| *key == Key::approval(&name, &approval.id))
        else {
            return;
        };
        if !matches!(approval.stage, Stage::Claiming(_)) {
            return;
        }
        let id = Rc::clone(&approval.id);
        let Stage::Claiming(wanted) = mem::replace(&mut approval.stage, Stage::Open) else { return };
        match claim {
            Claim::Held | Claim::Settled(_) => self.settle(wanted.operation, Err(Error::ApprovalAnswered)),
            Claim::Won | Claim::Abandoned => {
                approval.claimed = true;
                approval.doubtful = matches!(claim, Claim::Abandoned);
                self.look_or_send(&id, wanted, now);
            }
        }
    }

    /// Looks first whether the server still waits, when an earlier answer may have reached it: a second yes would start a
    /// turn of its own.
    fn look_or_send(&mut self, id: &Rc<str>, wanted: Wanted, now: Millis) {
        let asks = !self.protocol.answers();
        let Some(approval) = self.approval(id) else { return };
        if approval.doubtful && asks {
            approval.stage = Stage::Looking(wanted);
            self.command(Purpose::Look, protocol::Command::Poll, now);
        } else {
            self.send_answer(id, wanted, now);
        }
    }

    /// The server said whether it still waits.
    pub(super) fn approval_looked(&mut self, found: Result<&Status, Error>, now: Millis) {
        let looks = |approval: &&mut Approval| matches!(approval.stage, Stage::Looking(_));
        let Some(approval) = self.approvals.iter_mut().find(looks) else { return };
        let id = Rc::clone(&approval.id);
        let Stage::Looking(wanted) = mem::replace(&mut approval.stage, Stage::Open) else { return };
        match found {
            Ok(Status::WaitingForConfirmation) => self.send_answer(&id, wanted, now),
            Ok(_) => self.settle(wanted.operation, Err(Error::ApprovalAnswered)),
            Err(error) => self.settle(wanted.operation, Err(error)),
        }
    }

    fn send_answer(&mut self, id: &Rc<str>, Wanted { operation, answer }: Wanted, now: Millis) {
        let Some(approval) = self.approval(id) else {
            return self.settle(operation, Err(Error::ApprovalAnswered));
        };
        approval.stage = Stage::Sending;
        let question = Rc::clone(id);
        let (command, say) = match answer {
            Answer::Decide { accept, reason, arguments, say } => {
                let question = CallId::new(Rc::clone(id));
                (protocol::Command::Decide { question, accept, reason, arguments }, say)
            }
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
        let result = match (result, self.approval(question)) {
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
            (Ok(_), Some(content)) => self.speak(operation, content, now),
            (result, _) => self.settle(operation, result),
        }
    }

    /// Whether the server waits for an answer.
    pub(super) fn is_approval_open(&self) -> bool {
        self.approvals.iter().any(|approval| !approval.own)
    }

    /// The questions of the server, by the call that names them.
    pub(super) fn server_questions(&self) -> Vec<CallId> {
        let theirs = self.approvals.iter().filter(|approval| !approval.own);
        theirs.map(|approval| CallId::new(Rc::clone(&approval.id))).collect()
    }
}
