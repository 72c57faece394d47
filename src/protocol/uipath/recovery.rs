//! After a gap: what was missed is read, and what was in doubt is found out.

use std::rc::Rc;

use crate::error::Error;
use crate::net::Millis;
use crate::protocol::{Meaning, NoticeCode, Outlet, Schemas, Signal, Status};

use super::call::{self, Call, GRACE, State};
use super::calling::reject;
use super::event::At;
use super::hearing::arrive;
use super::history::{self, CallRecord, Record};
use super::machine::UiPath;
use super::outbox::{Stage, What};
use super::requests::{Answered, Purpose};
use super::write::Path;

/// Exchanges that are read. An older one is looked at only if something about it is in doubt.
pub(super) const NEWEST: u32 = 5;
/// Attempts at reading them before we go on without, for the time being.
const ATTEMPTS: u32 = 3;
const RETRY: u64 = 500;

impl UiPath {
    /// Reads what was missed, at once or later.
    pub(super) fn recover(&mut self, at: Millis, later: bool, out: &mut Outlet) {
        self.session.pending = 1;
        self.read_newest(later.then_some(at), 1, out);
    }

    fn read_newest(&mut self, later: Option<Millis>, attempt: u32, out: &mut Outlet) {
        let request = self.rest.exchanges(self.path_id(), NEWEST, true, None);
        let purpose = Purpose::Newest { session: self.session.number, attempt };
        match later {
            None => self.requests.send(request, purpose, out),
            Some(at) => self.requests.send_later(at, request, purpose),
        }
    }

    /// The newest exchanges were read, or not.
    pub(super) fn newest(&mut self, session: u32, attempt: u32, result: Answered, now: Millis, out: &mut Outlet) {
        if !self.session.is_current(session) {
            return;
        }
        match result.and_then(|body| history::records(&body)) {
            Ok(records) => {
                if attempt > ATTEMPTS {
                    self.backoff.reset();
                }
                let mut wanted = self.outbox.doubtful();
                let uncertain = self.exchanges.open().filter(|exchange| exchange.uncertain);
                wanted.extend(uncertain.map(|exchange| Rc::clone(&exchange.id)));
                // The agent does one thing after the other: what it began last is the only one that it may be at. That need not be
                // the newest: of two that were begun at once it takes the one first whose message was whole first.
                let latest = records.iter().rev().max_by_key(|record| record.begun());
                let latest = latest.map(|record| Rc::clone(&record.exchange));
                for record in records {
                    let known = wanted.contains(&record.exchange);
                    wanted.retain(|exchange| *exchange != record.exchange);
                    if known || latest.as_ref() == Some(&record.exchange) {
                        self.digest(record, now, out);
                    }
                }
                wanted.dedup();
                for exchange in wanted {
                    self.session.pending += 1;
                    self.look(&exchange, out);
                }
                self.one_less(now, out);
            }
            Err(error @ Error::NotFound { .. }) => self.end(error, out),
            Err(Error::Unauthorized) if !self.ready => self.end(Error::Unauthorized, out),
            Err(error) if error.retryable() && attempt < ATTEMPTS => {
                self.read_newest(Some(now + Millis(RETRY * u64::from(attempt))), attempt + 1, out);
            }
            Err(error) => {
                if attempt <= ATTEMPTS {
                    self.go_on_without(&error, now, out);
                }
                // A question that waits there is asked when it can be read.
                if error.retryable() {
                    let delay = self.backoff.next_delay();
                    self.read_newest(Some(now + delay), attempt.saturating_add(1), out);
                }
            }
        }
    }

    fn go_on_without(&mut self, error: &Error, now: Millis, out: &mut Outlet) {
        let message = ["what was missed could not be read: ", &error.to_string()].concat();
        out.say(Signal::Notice { code: NoticeCode::Missed, message });
        for exchange in self.outbox.doubtful() {
            self.cannot_look(&exchange, now);
        }
        self.one_less(now, out);
    }

    /// One look less before anything is sent.
    fn one_less(&mut self, now: Millis, out: &mut Outlet) {
        self.session.pending = self.session.pending.saturating_sub(1);
        if self.session.is_live() {
            self.flush(now, out);
        } else if self.session.pending == 0 {
            self.recovered(now, out);
        }
    }

    /// Reads one exchange.
    pub(super) fn look(&mut self, exchange: &Rc<str>, out: &mut Outlet) {
        let request = self.rest.exchange(self.path_id(), exchange);
        let purpose = Purpose::Look { session: self.session.number, exchange: Rc::clone(exchange) };
        self.requests.send(request, purpose, out);
    }

    /// The same at a time.
    pub(super) fn look_later(&mut self, exchange: &Rc<str>, at: Millis) {
        let request = self.rest.exchange(self.path_id(), exchange);
        let purpose = Purpose::Look { session: self.session.number, exchange: Rc::clone(exchange) };
        self.requests.send_later(at, request, purpose);
    }

    /// An exchange was read, or not.
    pub(super) fn looked(&mut self, session: u32, exchange: &Rc<str>, result: Answered, now: Millis, out: &mut Outlet) {
        if !self.session.is_current(session) {
            return;
        }
        match result.and_then(|body| Record::read_body(&body)) {
            Ok(record) => {
                self.backoff.reset();
                self.digest(record, now, out);
            }
            Err(Error::NotFound { .. }) => self.resolve(exchange, None, now, out),
            Err(_) => self.cannot_look(exchange, now),
        }
        self.one_less(now, out);
    }

    fn cannot_look(&mut self, exchange: &Rc<str>, now: Millis) {
        self.outbox.blind(exchange);
        if self.outbox.doubts(exchange) {
            let delay = self.backoff.next_delay();
            self.look_later(exchange, now + delay);
        }
    }

    /// A turn of which nothing comes was asked about.
    pub(super) fn polled(
        &mut self,
        command: crate::protocol::CommandId,
        session: u32,
        exchange: &Rc<str>,
        result: Answered,
        now: Millis,
        out: &mut Outlet,
    ) {
        let record = match result.and_then(|body| Record::read_body(&body)) {
            Err(error) => return out.done(command, Err(error)),
            // It may be older than what was sent last.
            Ok(_) if !self.session.is_current(session) => return out.done(command, Ok("null".to_owned())),
            Ok(record) => record,
        };
        let over = record.looks_over();
        self.digest_as(record, over, now, out);
        // Meanwhile something may have come.
        if self.exchanges.get(exchange).is_some_and(|exchange| exchange.uncertain) {
            let status = if over {
                Status::Finished
            } else if self.calls.questions().is_empty() {
                Status::Running
            } else {
                Status::WaitingForConfirmation
            };
            out.say(Signal::Polled(status));
        }
        out.done(command, Ok("null".to_owned()));
        self.flush(now, out);
    }

    /// Takes in what an exchange has come to.
    fn digest(&mut self, record: Record, now: Millis, out: &mut Outlet) {
        self.digest_as(record, false, now, out);
    }

    fn digest_as(&mut self, record: Record, whole: bool, now: Millis, out: &mut Outlet) {
        let id = Rc::clone(&record.exchange);
        self.resolve(&id, Some(&record), now, out);
        if self.exchanges.is_over(&id) {
            return;
        }
        let mut meanings = Vec::new();
        self.digest_calls(&record, now, &mut meanings);
        if let Some(exchange) = self.exchanges.get(&id).filter(|exchange| exchange.uncertain) {
            exchange.looks_over = record.looks_over();
            exchange.catch_up(record, whole, &mut meanings);
        }
        if !meanings.is_empty() {
            out.say(Signal::Found(meanings));
        }
    }

    /// What was in doubt about an exchange is clear.
    fn resolve(&mut self, exchange: &Rc<str>, record: Option<&Record>, now: Millis, out: &mut Outlet) {
        let (arrived, in_part) = self.outbox.looked(exchange, record);
        arrive(arrived, out);
        for item in in_part {
            let What::Say(say) = item.what else { continue };
            // What is there of it cannot be mended: it is said again in another exchange.
            self.exchanges.end(exchange);
            self.exchanges.stop(exchange);
            let text = self.writer.write(Path::Exchange(exchange), "endExchange", "{}");
            self.outbox.add(What::Stop { text }, Stage::Waiting, None);
            if let Ok(again) = self.compose(say.content) {
                self.exchanges.begin_again(&again.exchange, &again.message, now);
                self.outbox.add(What::Say(again), Stage::Waiting, None);
            }
        }
    }

    fn digest_calls(&mut self, record: &Record, now: Millis, meanings: &mut Vec<Meaning>) {
        let questions = self.calls.questions().len();
        for (message, read) in record.calls() {
            let item = Rc::clone(&read.id);
            let at = At { exchange: Rc::clone(&record.exchange), message: Rc::clone(&message.id), item };
            match self.calls.at(&at) {
                Some(call) => digest_known(call, read, now, meanings),
                None if !read.ended => self.digest_unknown(&at, read, now, meanings),
                None => {}
            }
        }
        if self.calls.questions().len() < questions {
            self.ask(meanings);
        }
    }

    /// A call that was there before us, or came while we were away.
    fn digest_unknown(&mut self, at: &At, read: &CallRecord, now: Millis, meanings: &mut Vec<Meaning>) {
        let declared = self.tools.named(&read.tool);
        let flagged = read.flagged.unwrap_or(declared.is_some());
        let id = call::name(&at.exchange, &at.item);
        let confirm = read.confirm && !self.gone.contains(id.as_str());
        let asks = confirm && read.confirmed.is_none();
        if read.confirmed == Some(false) || !(asks || flagged) {
            return;
        }
        let call = Call {
            id,
            tool: declared.unwrap_or(&read.tool).to_owned(),
            flagged,
            registered: declared.is_some(),
            input: read.input.clone(),
            schemas: Schemas { input: read.input_schema.clone(), output: None },
            interrupt: read.interrupt.clone(),
            state: match (asks, confirm) {
                (true, _) => State::Asking,
                // The go signal may be a long way off: it waits for all earlier calls.
                (false, true) => State::Confirmed,
                (false, false) => State::Seen,
            },
            due: (!asks).then_some(now + GRACE),
            held: false,
            at: at.clone(),
        };
        if self.exchanges.get(&at.exchange).is_none() {
            self.exchanges.begin(&at.exchange, now);
            if let Some(exchange) = self.exchanges.get(&at.exchange) {
                // Its messages are history.
                exchange.uncertain = true;
                exchange.tell(&at.message);
            }
            self.runs(meanings);
        }
        if confirm {
            self.add_call(call, meanings);
        } else {
            self.calls.add(call);
        }
    }
}

/// What was read of a call that we have.
fn digest_known(call: &mut Call, read: &CallRecord, now: Millis, meanings: &mut Vec<Meaning>) {
    let no = read.confirmed == Some(false);
    match call.state {
        State::Refused => {
            if read.ended {
                call.state = State::Ended;
            }
        }
        State::Asking if no => {
            call.state = if read.ended { State::Ended } else { State::Refused };
            reject(call, "rejected elsewhere", meanings);
        }
        State::Announced | State::Asking | State::Confirmed | State::Seen | State::Executing if read.ended => {
            call.state = State::Ended;
            call.due = None;
            if call.flagged {
                let reason = "it ended while the connection was away".to_owned();
                meanings.push(Meaning::Ended { call: call.id.clone(), tool: call.tool.clone(), reason });
            }
        }
        State::Asking => {
            if read.confirmed.is_some() {
                call.state = State::Confirmed;
                call.due = call.flagged.then_some(now + GRACE);
            }
        }
        // The go signal may have been missed.
        State::Announced | State::Confirmed => call.due = call.flagged.then_some(now + GRACE),
        State::Seen | State::Executing | State::Answered | State::Ended => {}
    }
}
