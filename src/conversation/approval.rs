//! Questions to a person, each about calls that wait for one answer: the server's, and the page's own about a call that it
//! has.
//!
//! One answer leaves, whoever gives it: it is claimed in the ledger first, like the run of a call. A server without answers
//! for single calls takes a running message and `run` for a yes, so they count as answers too.

use std::mem;
use std::rc::Rc;

use serde_json::value::RawValue;

use crate::call::{CallId, CheckId, Claim, EngineError, Key, LedgerEffect};
use crate::error::Error;
use crate::json::{self, Object};
use crate::net::Millis;
use crate::protocol::{self, PendingCall};
use crate::tool::{Against, Part, Report};

use super::state::{Conversation, Purpose};
use super::{Content, Effect, OperationId, Topic};

/// The end of an attempt that may have reached the server, and of one that did not, in the ledger. Any other end is an answer.
const UNHEARD: &str = r#""unheard""#;
const NOT_GIVEN: &str = r#""not given""#;

/// How long the page that claimed an answer may take to send it, where nothing else tells whether it lives.
const LEASE: Millis = Millis(60_000);

/// A question to a person.
pub(super) struct Approval {
    id: Rc<str>,
    calls: Vec<PendingCall>,
    stage: Stage,
    /// Whether this page asks for itself, about a call that it has.
    own: bool,
    /// The next attempt at answering, as far as is known; none has begun before the first.
    attempt: u32,
    /// Whether an answer may have been given of which nothing was heard.
    doubtful: bool,
}

enum Stage {
    /// Nobody has answered.
    Open,
    /// The arguments that came with an answer are checked, until then at the latest.
    Checking(CheckId, Millis, Wanted),
    /// The ledger is asked.
    Claiming(Wanted),
    /// The server is asked what it waits for.
    Looking(Wanted),
    /// The answer is under way.
    Sending,
}

/// An answer that somebody gave.
pub(super) struct Wanted {
    /// Who waits for what becomes of it.
    pub(super) operation: Option<OperationId>,
    pub(super) answer: Answer,
}

/// An answer that was sent.
pub(super) struct Given {
    pub(super) operation: Option<OperationId>,
    /// The attempt's entry in the ledger.
    key: Key,
    question: Rc<str>,
    runs: bool,
    /// Whether the end of the request tells that the answer was taken.
    sure: bool,
    /// What to say then.
    say: Option<Content>,
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

impl Conversation {
    /// All that the server waits for. The newest call of a question names it: a later question has a later call.
    pub(super) fn ask_approvals(&mut self, questions: Vec<Vec<PendingCall>>, now: Millis) {
        let asked: Vec<(Rc<str>, Vec<PendingCall>)> =
            questions.into_iter().filter_map(|calls| Some((calls.last()?.call_id.as_str().into(), calls))).collect();
        let gone = |approval: &Approval| !approval.own && !asked.iter().any(|(id, _)| *id == approval.id);
        let reason =
            if asked.is_empty() { "the server waits no longer" } else { "the server waits for something else" };
        self.close_approvals(&gone, reason, &Error::ApprovalAnswered);
        for (id, calls) in asked {
            let plain = |call: PendingCall| PendingCall { tool: self.registry.plain(call.tool), ..call };
            let calls: Vec<_> = calls.into_iter().map(plain).collect();
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
        self.emit(
            Topic::Approval,
            &json::object(|told| {
                told.set("state", &"open").set("id", &id).set("calls", &calls);
            }),
        );
        self.approvals.push(Approval { id, calls, stage: Stage::Open, own, attempt: 0, doubtful: false });
    }

    /// The server waits no longer.
    pub(super) fn close_server_approvals(&mut self) {
        self.close_approvals(&|approval| !approval.own, "the server waits no longer", &Error::ApprovalAnswered);
    }

    /// A call has ended: the page does not ask about it any more.
    pub(super) fn close_own_approval(&mut self, call: &CallId) {
        let ended = |approval: &Approval| approval.own && *approval.id == *call.as_str();
        self.close_approvals(&ended, "the call has ended", &Error::ApprovalAnswered);
    }

    /// Closes questions. Who was about to answer gets this error.
    pub(super) fn close_approvals(&mut self, which: &dyn Fn(&Approval) -> bool, reason: &str, error: &Error) {
        let (closed, open) = mem::take(&mut self.approvals).into_iter().partition(which);
        self.approvals = open;
        for approval in closed {
            self.emit(
                Topic::Approval,
                &json::object(|told| {
                    told.set("state", &"closed").set("id", &approval.id).set("reason", &reason);
                }),
            );
            if let Stage::Looking(_) = approval.stage {
                self.end_attempt(Key::approval(&self.key, &approval.id, approval.attempt), NOT_GIVEN);
            }
            if let Stage::Checking(_, _, wanted) | Stage::Claiming(wanted) | Stage::Looking(wanted) = approval.stage {
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
        if !call.editable || Object::of(arguments).is_none() {
            let rule = "must be an object, where the question is editable";
            return self.settle(wanted.operation, Err(Error::invalid("arguments", rule)));
        }
        let asked = || Against::of(Part::Input, self.registry.named(&call.tool), call.schema.as_deref());
        let Some(against) = self.calls.input_of(&call.call_id).or_else(asked) else {
            let id = Rc::clone(&approval.id);
            return self.checked_answer(&id, wanted, now);
        };
        let (check, instance) = (self.calls.next_check(), arguments.get().to_owned());
        approval.stage = Stage::Checking(check, now + against.timeout, wanted);
        self.check(check, against, instance);
    }

    /// The arguments that came with an answer were checked. Whether this was such a check.
    pub(super) fn answer_checked(&mut self, check: CheckId, result: &Result<Report, EngineError>, now: Millis) -> bool {
        let is_it = |approval: &&mut Approval| matches!(&approval.stage, Stage::Checking(this, ..) if *this == check);
        let Some(approval) = self.approvals.iter_mut().find(is_it) else { return false };
        let id = Rc::clone(&approval.id);
        let Stage::Checking(_, _, wanted) = mem::replace(&mut approval.stage, Stage::Open) else { return false };
        match result {
            Ok(report) if report.valid => self.checked_answer(&id, wanted, now),
            Ok(report) => self.settle(wanted.operation, Err(Error::InvalidEdit { issues: report.issues.clone() })),
            Err(EngineError::Unavailable(message) | EngineError::Schema(message) | EngineError::Validator(message)) => {
                self.settle(wanted.operation, Err(Error::invalid("arguments", message)));
            }
        }
        true
    }

    /// Ends checks that took too long. What comes of them later is about nothing any more.
    pub(super) fn end_late_checks(&mut self, now: Millis) {
        while let Some((_, check)) = self.next_late_check().filter(|(until, _)| *until <= now) {
            let late = EngineError::Validator("were not checked within the tool's timeout".to_owned());
            self.answer_checked(check, &Err(late), now);
        }
    }

    /// The check that is too late first, and when.
    pub(super) fn next_late_check(&self) -> Option<(Millis, CheckId)> {
        let checks = self.approvals.iter().filter_map(|approval| {
            let Stage::Checking(check, until, _) = &approval.stage else { return None };
            Some((*until, *check))
        });
        checks.min_by_key(|(until, _)| *until)
    }

    /// An answer that may leave.
    fn checked_answer(&mut self, id: &Rc<str>, wanted: Wanted, now: Millis) {
        if self.approval(id).is_some_and(|approval| approval.own) {
            self.answer_own(id, wanted, now);
        } else {
            self.claim_answer(id, wanted);
        }
    }

    fn claim_answer(&mut self, id: &Rc<str>, wanted: Wanted) {
        let name = Rc::clone(&self.key);
        let Some(approval) = self.approval(id) else { return };
        let key = Key::approval(&name, id, approval.attempt);
        approval.stage = Stage::Claiming(wanted);
        self.out.push(Effect::Ledger(LedgerEffect::Claim { key, tool: String::new(), lease: LEASE }));
    }

    fn answer_own(&mut self, id: &Rc<str>, Wanted { operation, answer }: Wanted, now: Millis) {
        let Answer::Decide { accept, reason, arguments, say } = answer else { return };
        let answer = if accept { Ok(arguments) } else { Err(reason) };
        self.close_approvals(&|approval| approval.id == *id, "answered", &Error::ApprovalAnswered);
        self.calls_do(now, |calls, _, out| calls.confirmed(&CallId::new(Rc::clone(id)), answer, now, out));
        match (say, operation) {
            (Some(content), Some(operation)) => self.speak(operation, content, now),
            (_, operation) => self.settle(operation, Ok("null".to_owned())),
        }
    }

    /// The ledger says whose answer it is.
    pub(super) fn approval_claimed(&mut self, key: &Key, claim: &Claim, now: Millis) {
        let name = Rc::clone(&self.key);
        let asks = |approval: &&mut Approval| {
            matches!(approval.stage, Stage::Claiming(_)) && *key == Key::approval(&name, &approval.id, approval.attempt)
        };
        let Some(approval) = self.approvals.iter_mut().find(asks) else {
            // The question was closed meanwhile. It may be asked again, by a log that is heard late.
            if matches!(claim, Claim::Won) {
                self.end_attempt(key.clone(), NOT_GIVEN);
            }
            return;
        };
        let id = Rc::clone(&approval.id);
        let Stage::Claiming(wanted) = mem::replace(&mut approval.stage, Stage::Open) else { return };
        let doubtful = match claim {
            Claim::Won => return self.look_or_send(&id, wanted, now),
            // Its page may have sent it.
            Claim::Abandoned => true,
            Claim::Settled(end) if end.get() == UNHEARD => true,
            Claim::Settled(end) if end.get() == NOT_GIVEN => false,
            Claim::Held | Claim::Settled(_) => return self.settle(wanted.operation, Err(Error::ApprovalAnswered)),
        };
        approval.attempt += 1;
        approval.doubtful |= doubtful;
        self.claim_answer(&id, wanted);
    }

    /// Looks first what the server waits for, when an earlier answer may have reached it: a second yes would start a turn of
    /// its own, or be taken for something else.
    fn look_or_send(&mut self, id: &Rc<str>, wanted: Wanted, now: Millis) {
        let Some(approval) = self.approval(id) else { return };
        if approval.doubtful {
            approval.stage = Stage::Looking(wanted);
            self.command(Purpose::Look, protocol::Command::Look, now);
        } else {
            self.send_answer(id, wanted, now);
        }
    }

    /// The server said what it waits for: the newest call of each question.
    pub(super) fn approval_looked(&mut self, found: &Result<Vec<CallId>, Error>, now: Millis) {
        let looks = |approval: &&Approval| matches!(approval.stage, Stage::Looking(_));
        let looking: Vec<_> = self.approvals.iter().filter(looks).map(|approval| Rc::clone(&approval.id)).collect();
        for id in looking {
            let Some(approval) = self.approval(&id) else { continue };
            let Stage::Looking(wanted) = mem::replace(&mut approval.stage, Stage::Open) else { continue };
            let error = match found {
                Ok(waiting) if waiting.iter().any(|newest| newest.as_str() == &*id) => {
                    self.send_answer(&id, wanted, now);
                    continue;
                }
                Ok(_) => Error::ApprovalAnswered,
                Err(error) => error.clone(),
            };
            self.give_up(&id, NOT_GIVEN);
            self.settle(wanted.operation, Err(error));
        }
    }

    fn send_answer(&mut self, id: &Rc<str>, Wanted { operation, answer }: Wanted, now: Millis) {
        let name = Rc::clone(&self.key);
        let Some(approval) = self.approval(id) else {
            return self.settle(operation, Err(Error::ApprovalAnswered));
        };
        approval.stage = Stage::Sending;
        let key = Key::approval(&name, id, approval.attempt);
        // A message without an answer is found in the log, but not whether it ran.
        let sure = !matches!(answer, Answer::Say(_));
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
        let given = Given { operation, key, question: Rc::clone(id), runs, sure, say };
        self.command(Purpose::Answer(given), command, now);
    }

    /// An answer has ended; meanwhile there may be another question.
    pub(super) fn answered(&mut self, given: Given, result: Result<String, Error>, now: Millis) {
        let Given { operation, key, question, runs, sure, say } = given;
        let unheard = matches!(result, Err(Error::Unreachable | Error::RequestTimeout | Error::Unconfirmed));
        let asked = self.approval(&question);
        let (ours, asked) =
            (asked.as_ref().is_some_and(|approval| matches!(approval.stage, Stage::Sending)), asked.is_some());
        if runs && result.is_err() && !unheard {
            self.turn.withdraw();
        }
        let result = match result {
            // Nothing was heard of it, but the log shows that it was taken.
            Err(_) if unheard && !asked => Ok("null".to_owned()),
            result => result,
        };
        let end = match &result {
            _ if unheard || (asked && !sure && result.is_ok()) => UNHEARD,
            Err(_) => NOT_GIVEN,
            Ok(_) if runs => "true",
            Ok(_) => "false",
        };
        match end {
            UNHEARD | NOT_GIVEN if ours => self.give_up(&question, end),
            _ => self.end_attempt(key, end),
        }
        match (result, say, operation) {
            (Ok(_), Some(content), Some(operation)) => self.speak(operation, content, now),
            (result, _, operation) => self.settle(operation, result),
        }
    }

    /// The question can be answered again, here and in other pages: each attempt has an entry of its own.
    fn give_up(&mut self, id: &Rc<str>, end: &str) {
        let name = Rc::clone(&self.key);
        let Some(approval) = self.approval(id) else { return };
        let key = Key::approval(&name, id, approval.attempt);
        approval.stage = Stage::Open;
        approval.attempt += 1;
        approval.doubtful |= end == UNHEARD;
        self.end_attempt(key, end);
    }

    fn end_attempt(&mut self, key: Key, end: &str) {
        self.out.push(Effect::Ledger(LedgerEffect::Record { key, outcome: end.to_owned(), owed: false }));
    }

    /// Whether somebody's answer may still leave.
    pub(super) fn any_answer_to_send(&self) -> bool {
        let leaves = |stage: &Stage| matches!(stage, Stage::Checking(..) | Stage::Claiming(_) | Stage::Looking(_));
        self.approvals.iter().any(|approval| leaves(&approval.stage))
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
