//! What happens to calls.

use std::rc::Rc;

use serde_json::value::RawValue;

use crate::call::CallId;
use crate::json::{self, Json, Object};
use crate::net::Millis;
use crate::protocol::{Meaning, NoticeCode, Schemas, Signal, Status};

use super::answering;
use super::call::{self, Call, GRACE, State};
use super::event::{At, CallEnd, CallStart};
use super::hearing::{Heard, arrive};
use super::machine::UiPath;
use super::outbox::{Item, Stage, What};
use super::write::Path;

/// How long an exchange may be silent before a call without the flag is taken for one that waits for us.
const UNFLAGGED: Millis = Millis(10_000);
/// What old agents ask with.
const CONFIRMATION: &str = "uipath_cas_tool_call_confirmation";

impl UiPath {
    /// The agent wants a call.
    pub(super) fn call_started(&mut self, at: At, start: &CallStart, heard: &mut Heard) {
        if self.exchanges.is_over(&at.exchange) {
            return self.call_too_late(&at, start, heard);
        }
        match self.calls.at(&at) {
            None => {}
            // It was read before it was heard.
            Some(call) if call.state == State::Seen => self.calls.forget(&at),
            Some(_) => return heard.notice(NoticeCode::DuplicateEvent, "a call was announced again"),
        }
        let declared = self.tools.named(&start.tool);
        let call = Call {
            id: call::name(&at.exchange, &at.item),
            tool: declared.unwrap_or(&start.tool).to_owned(),
            flagged: start.flagged,
            registered: declared.is_some(),
            input: object(start.input),
            schemas: Schemas {
                input: start.input_schema.map(Json::to_raw),
                output: start.output_schema.map(Json::to_raw),
            },
            interrupt: None,
            state: if start.confirm { State::Asking } else { State::Announced },
            due: None,
            held: false,
            at,
        };
        self.add_call(call, &mut heard.meanings);
    }

    /// A call that is new to the house.
    pub(super) fn add_call(&mut self, call: Call, meanings: &mut Vec<Meaning>) {
        if call.flagged {
            meanings.push(Meaning::Announced {
                call: call.id.clone(),
                tool: call.tool.clone(),
                arguments: call.input.clone(),
                schemas: call.schemas.clone(),
            });
        }
        let asks = call.state == State::Asking;
        self.calls.add(call);
        if asks {
            self.ask(meanings);
        }
    }

    /// What a person is asked has changed.
    pub(super) fn ask(&mut self, meanings: &mut Vec<Meaning>) {
        let questions = self.calls.questions();
        let status = match (questions.is_empty(), self.exchanges.current.is_some()) {
            (false, _) => Status::WaitingForConfirmation,
            (true, true) => Status::Running,
            (true, false) => return meanings.push(Meaning::Approvals(questions)),
        };
        let waits = !questions.is_empty();
        if waits {
            self.change_status(status, meanings);
            meanings.push(Meaning::Approvals(questions));
        } else {
            meanings.push(Meaning::Approvals(questions));
            self.change_status(status, meanings);
        }
    }

    /// A call of an exchange that we ended: the agent's side waits all the same, and must not.
    fn call_too_late(&mut self, at: &At, start: &CallStart, heard: &mut Heard) {
        // One that is known has had its answer: a second no would be taken for a result.
        if self.calls.at(at).is_some() {
            return heard.notice(NoticeCode::DuplicateEvent, "a call was announced again");
        }
        heard.notice(NoticeCode::LateSignal, "a call of an exchange that is over");
        if !self.exchanges.is_stopped(&at.exchange) {
            return;
        }
        let path = Path::Call(&at.exchange, &at.message, &at.item);
        let text = if start.confirm {
            self.writer.write(path, "confirmToolCall", r#"{"approved":false}"#)
        } else if start.flagged {
            self.writer.write(path, "endToolCall", &answering::cancelled("the turn was stopped"))
        } else {
            return;
        };
        self.calls.add(Call::ended(at));
        let call = call::name(&at.exchange, &at.item);
        self.outbox.add(What::Late { call, confirms: start.confirm, text }, Stage::Waiting, None);
    }

    /// A person answered the question about a call, here or elsewhere.
    pub(super) fn call_confirmed(&mut self, at: &At, approved: bool, heard: &mut Heard) {
        let Some(call) = self.calls.at(at).filter(|call| call.state == State::Asking) else { return };
        if approved {
            call.state = State::Confirmed;
        } else {
            call.state = State::Refused;
            reject(call, "rejected elsewhere", &mut heard.meanings);
        }
        self.ask(&mut heard.meanings);
    }

    /// The go signal of a call, or of one that the agent's own side runs.
    pub(super) fn call_executing(&mut self, at: &At, input: Option<Json>, now: Millis, heard: &mut Heard) {
        let Some(call) = self.calls.at(at) else {
            if self.exchanges.is_over(&at.exchange) {
                self.confirmation_arrived(&call::name(&at.exchange, &at.item), heard);
                return heard.notice(NoticeCode::LateSignal, "a go signal of an exchange that is over");
            }
            self.gone.add(call::name(&at.exchange, &at.item).as_str());
            heard.notice(NoticeCode::UnknownCall, "a go signal for a call whose beginning was missed: it is not run");
            return self.look_later(&at.exchange, now + GRACE);
        };
        let asked = call.state == State::Asking;
        match call.state {
            State::Announced | State::Asking | State::Confirmed if call.flagged => {
                call.state = State::Executing;
                call.due = None;
                let arguments = object(input);
                let arguments = (arguments.get() != call.input.get()).then_some(arguments);
                heard.meanings.push(Meaning::Authorised { call: call.id.clone(), arguments });
            }
            // Progress of one that is not ours, or so it seems.
            State::Announced | State::Asking | State::Confirmed => {
                call.state = State::Executing;
                call.due = call.registered.then_some(now + UNFLAGGED);
            }
            State::Seen => {
                heard.notice(NoticeCode::UnknownCall, "a go signal for a call that was only read: it is not run");
            }
            State::Executing | State::Refused | State::Answered | State::Ended => {
                heard.notice(NoticeCode::LateSignal, "another go signal for a call that runs or has ended");
            }
        }
        let id = call.id.clone();
        self.confirmation_arrived(&id, heard);
        if asked {
            self.ask(&mut heard.meanings);
        }
    }

    /// The question about a call has its answer, ours or another one: a no that has not left comes too late.
    fn confirmation_arrived(&mut self, id: &CallId, heard: &mut Heard) {
        let is_it = |item: &Item| match &item.what {
            What::Confirm { call, .. } | What::Late { call, confirms: true, .. } => call == id,
            What::Answer(_) | What::Say(_) | What::Stop { .. } | What::Late { .. } | What::Event { .. } => false,
        };
        let arrived = self.outbox.proven(is_it);
        arrive(arrived, &mut heard.after);
    }

    /// What was to be said about a call that came too late has been said.
    fn withdraw_late(&mut self, id: &CallId) {
        self.outbox.proven(|item| matches!(&item.what, What::Late { call, .. } if call == id));
    }

    /// The service ends a call, which it may do at any time.
    pub(super) fn call_ended(&mut self, at: &At, end: &CallEnd, heard: &mut Heard) {
        let Some(call) = self.calls.at(at) else {
            let ended = Call::ended(at);
            self.withdraw_late(&ended.id);
            return self.calls.add(ended);
        };
        let before = std::mem::replace(&mut call.state, State::Ended);
        call.due = None;
        let id = call.id.clone();
        match before {
            State::Ended => {
                self.withdraw_late(&id);
                return heard.notice(NoticeCode::LateSignal, "the end of a call that has ended");
            }
            State::Answered if end.error => {
                heard.notice(NoticeCode::CallRefused, &["after the answer to a call, ", &end.words()].concat());
            }
            State::Asking | State::Confirmed if end.is_rejection() => {
                reject(call, "rejected elsewhere", &mut heard.meanings);
            }
            State::Announced | State::Asking | State::Confirmed | State::Seen | State::Executing if call.flagged => {
                heard.meanings.push(Meaning::Ended { call: id.clone(), tool: call.tool.clone(), reason: end.words() });
            }
            // What becomes of a no, an answer that comes back, and what the agent's own side has run.
            State::Announced
            | State::Asking
            | State::Confirmed
            | State::Refused
            | State::Seen
            | State::Executing
            | State::Answered => {}
        }
        let about = |item: &Item| match &item.what {
            What::Confirm { call, .. } => *call == id,
            What::Answer(answer) => answer.call == id,
            What::Say(_) | What::Stop { .. } | What::Late { .. } | What::Event { .. } => false,
        };
        let arrived = self.outbox.proven(about);
        arrive(arrived, &mut heard.after);
        if before == State::Asking {
            self.ask(&mut heard.meanings);
        }
    }

    /// An exchange is over, and so are its calls.
    pub(super) fn calls_over(&mut self, exchange: &Rc<str>, heard: &mut Heard) {
        let mut asked = false;
        for call in self.calls.open_in(exchange) {
            asked |= call.state == State::Asking;
            if call.flagged && call.state != State::Refused {
                let (call, tool) = (call.id.clone(), call.tool.clone());
                heard.meanings.push(Meaning::Ended { call, tool, reason: "its exchange is over".to_owned() });
            }
            call.state = State::Ended;
            call.due = None;
        }
        if asked {
            let questions = self.calls.questions();
            heard.meanings.push(Meaning::Approvals(questions));
        }
    }

    /// An old agent asks something.
    pub(super) fn interrupt_started(&mut self, at: At, kind: &str, value: &Object, heard: &mut Heard) {
        let Some(wire) = value.string("toolCallId").filter(|_| kind == CONFIRMATION) else {
            let message = "an interrupt that is no question about a call: answerInterrupt answers it";
            return heard.notice(NoticeCode::UnknownEvent, message);
        };
        if self.exchanges.is_over(&at.exchange) {
            return;
        }
        let interrupt = Some(Rc::clone(&at.item));
        let at = At { item: wire.as_str().into(), ..at };
        let schema = value.get("inputSchema").map(Json::to_raw);
        if let Some(call) = self.calls.at(&at) {
            if call.state == State::Announced {
                call.state = State::Asking;
                call.interrupt = interrupt;
                call.schemas.input = call.schemas.input.take().or(schema);
                self.ask(&mut heard.meanings);
            }
            return;
        }
        let wire_name = value.text("toolName");
        let declared = self.tools.named(&wire_name);
        let call = Call {
            id: call::name(&at.exchange, &at.item),
            tool: declared.unwrap_or(&wire_name).to_owned(),
            // No agent of that age has tools of the client.
            flagged: false,
            registered: declared.is_some(),
            input: object(value.get("inputValue")),
            schemas: Schemas { input: schema, output: None },
            interrupt,
            state: State::Asking,
            due: None,
            held: false,
            at,
        };
        self.add_call(call, &mut heard.meanings);
    }

    pub(super) fn interrupt_ended(&mut self, at: &At, approved: bool, heard: &mut Heard) {
        if let Some(call) = self.calls.asked_with(&at.item) {
            let at = call.at.clone();
            self.call_confirmed(&at, approved, heard);
        }
    }

    /// Time went on: what nobody spoke about is found.
    pub(super) fn watch_calls(&mut self, now: Millis, out: &mut crate::protocol::Outlet) {
        while let Some(call) = self.calls.take_due(now) {
            let (id, tool, exchange) = (call.id.clone(), call.tool.clone(), Rc::clone(&call.at.exchange));
            if call.flagged {
                call.state = State::Seen;
                let reason = "its go signal was missed: it may or may not have done its work";
                out.say(Signal::Found(vec![Meaning::Orphaned { call: id, tool, reason }]));
                continue;
            }
            let silent = self.exchanges.get(&exchange).map(|exchange| exchange.heard + UNFLAGGED);
            if let Some(later) = silent.filter(|later| *later > now) {
                if let Some(call) = self.calls.get(&id) {
                    call.due = Some(later);
                }
                continue;
            }
            let message = ["a call of ", &tool, " stays open, and is not flagged as one of the client's"].concat();
            out.say(Signal::Notice { code: NoticeCode::UnflaggedCall, message });
            if self.answers_unflagged {
                // As any other answer it is one page's to give.
                let reason = "it was not marked as one for the client to run, and did not run here";
                out.say(Signal::Found(vec![Meaning::Orphaned { call: id, tool, reason }]));
            }
        }
    }
}

/// A person said no.
pub(super) fn reject(call: &Call, reason: &str, meanings: &mut Vec<Meaning>) {
    if call.flagged {
        let (call, tool) = (call.id.clone(), call.tool.clone());
        meanings.push(Meaning::Rejected { call, tool, reason: reason.to_owned() });
    }
}

/// JSON text: nothing counts as the empty object.
pub(super) fn object(value: Option<Json>) -> Box<RawValue> {
    value.map(Json::to_raw).or_else(|| json::raw("{}")).unwrap_or_default()
}
