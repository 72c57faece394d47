//! What the house wants of the server, and how it ends.

use crate::call::CallId;
use crate::error::Error;
use crate::net::{Backoff, Millis};
use crate::protocol::{Command, CommandId, Connection, Outlet, Signal, Status};

use super::deed::{Deed, Form};
use super::machine::OpenHands;
use super::messages::Found;
use super::requests::{Answered, Purpose};
use super::stream::Stream;
use super::tail::Tail;

/// Attempts at reading a call that was let through unseen: the log may lag behind the socket.
const CALL_ATTEMPTS: u32 = 3;
const CALL_RETRY: Millis = Millis(500);
/// Retries of a run that a server at its limit refused.
const RUN_RETRIES: u32 = 6;

impl OpenHands {
    pub(super) fn carry_out(&mut self, id: CommandId, command: Command, now: Millis, out: &mut Outlet) {
        let (request, purpose) = match command {
            // There is no place for a result, and a turn is stopped by a deed.
            Command::Answer { .. } | Command::Stop => {
                return out.done(id, Err(Error::invalid("command", "this server has no such thing")));
            }
            Command::Say { content, run } => {
                self.messages.sent(id, &content, self.stream.as_ref().and_then(Stream::last));
                (self.rest.say(self.id(), &content, run), Purpose::Say { command: id, run })
            }
            Command::Run => {
                let backoff = self.backoff();
                (self.rest.run(self.id()), Purpose::Run { command: id, backoff, instead: None })
            }
            Command::History(page) => (self.rest.search(self.id(), &page), Purpose::History(id)),
            Command::Decide { accept, reason, .. } => {
                (self.rest.decide(self.id(), accept, &reason), Purpose::Decide(id))
            }
            Command::Do(deed) => match Deed::read(&deed) {
                Ok(deed) => (self.rest.deed(self.id(), &deed), Purpose::Deed(id, Form::of(&deed))),
                Err(error) => return out.done(id, Err(error)),
            },
            Command::Look => {
                let request = self.rest.search(self.id(), &Tail::first_page());
                (request, Purpose::Waiting { command: id, tail: Tail::new() })
            }
            Command::Poll => (self.rest.conversation(self.id()), Purpose::Poll(id)),
            Command::Fetch(call) => {
                (self.rest.event(self.id(), call.as_str()), Purpose::Call { command: id, call, attempt: 1 })
            }
        };
        self.fetch(request, purpose, now, out);
    }

    fn backoff(&mut self) -> Backoff {
        Backoff::new(self.random.u64(..))
    }

    /// A message was answered, or will not be.
    pub(super) fn said(&mut self, command: CommandId, run: bool, result: Answered, now: Millis, out: &mut Outlet) {
        match result {
            Ok(_) => {
                self.messages.there(command);
                out.done(command, Ok("null".to_owned()));
            }
            // The server has saved it, and runs too much already.
            Err(error @ Error::Capacity { .. }) => {
                self.messages.there(command);
                if run {
                    let backoff = self.backoff();
                    self.run_later(command, backoff, Some(error), now, out);
                } else {
                    out.done(command, Ok("null".to_owned()));
                }
            }
            Err(error @ (Error::Unreachable | Error::RequestTimeout)) => {
                let seed = self.random.u64(..);
                if self.messages.doubt(command, error, seed) {
                    out.done(command, Ok("null".to_owned()));
                }
            }
            Err(error) => {
                self.messages.refused(command);
                out.done(command, Err(error));
            }
        }
        self.look_for_messages(now, out);
    }

    /// Looks in the log for messages without an answer.
    fn look_for_messages(&mut self, now: Millis, out: &mut Outlet) {
        while let Some((command, page)) = self.messages.next_look() {
            self.fetch(self.rest.search(self.id(), &page), Purpose::Look(command), now, out);
        }
    }

    /// A page of the log came, or did not, where a message is looked for.
    pub(super) fn looked(&mut self, command: CommandId, result: Answered, now: Millis, out: &mut Outlet) {
        match self.messages.looked(command, result.map(|(_, body)| body)) {
            Found::Nothing => {}
            Found::Ask(page, None) => {
                self.fetch(self.rest.search(self.id(), &page), Purpose::Look(command), now, out);
            }
            Found::Ask(page, Some(delay)) => {
                let request = self.rest.search(self.id(), &page);
                self.requests.send_later(now + delay, request, Purpose::Look(command));
            }
            Found::Settled(result) => out.done(command, result.map(|()| "null".to_owned())),
        }
        self.look_for_messages(now, out);
    }

    /// Something waits for approval: no run is asked for again.
    pub(super) fn hear_question(&mut self, out: &mut Outlet) {
        if self.stream.as_ref().is_some_and(Stream::waits) {
            for (command, instead) in self.requests.cancel_runs() {
                out.done(command, Err(kept_waiting(instead)));
            }
        }
    }

    /// Messages that the log brought may be those that had no answer.
    pub(super) fn hear_messages(&mut self, now: Millis, out: &mut Outlet) {
        let said = self.stream.as_mut().map(Stream::take_messages).unwrap_or_default();
        for (id, text) in said {
            if let Some(command) = self.messages.heard(&id, &text) {
                out.done(command, Ok("null".to_owned()));
                self.look_for_messages(now, out);
            }
        }
    }

    /// The agent was asked to go on.
    pub(super) fn ran(
        &mut self,
        command: CommandId,
        backoff: Backoff,
        instead: Option<Error>,
        result: Answered,
        now: Millis,
        out: &mut Outlet,
    ) {
        match result {
            // The agent runs already: what was asked for is so.
            Ok(_) | Err(Error::AlreadyRunning) => out.done(command, Ok("null".to_owned())),
            Err(Error::Capacity { .. }) if backoff.attempts() < RUN_RETRIES => {
                self.run_later(command, backoff, instead, now, out);
            }
            // A message that is there is not to be sent again, which other errors would suggest.
            Err(error) => out.done(command, Err(instead.unwrap_or(error))),
        }
    }

    /// Not while something waits for approval: to run would be a yes, to whatever waits by then.
    fn run_later(
        &mut self,
        command: CommandId,
        mut backoff: Backoff,
        instead: Option<Error>,
        now: Millis,
        out: &mut Outlet,
    ) {
        if self.stream.as_ref().is_some_and(Stream::waits) {
            return out.done(command, Err(kept_waiting(instead)));
        }
        let at = now + backoff.next_delay();
        self.requests.send_later(at, self.rest.run(self.id()), Purpose::Run { command, backoff, instead });
    }

    /// The end of the log was read, to see what waits for approval.
    pub(super) fn waiting_read(
        &mut self,
        command: CommandId,
        mut tail: Tail,
        result: Answered,
        now: Millis,
        out: &mut Outlet,
    ) {
        let added = result.and_then(|(_, body)| tail.add_page(&body, &Status::WaitingForConfirmation));
        match added {
            Err(error) => out.done(command, Err(error)),
            Ok(Some(page)) => {
                let request = self.rest.search(self.id(), &page);
                self.fetch(request, Purpose::Waiting { command, tail }, now, out);
            }
            Ok(None) => {
                out.say(Signal::Waiting(tail.waiting().into_iter().collect()));
                out.done(command, Ok("null".to_owned()));
            }
        }
    }

    /// A call that was let through unseen was read, or not.
    pub(super) fn call_read(
        &mut self,
        command: CommandId,
        call: CallId,
        attempt: u32,
        result: Answered,
        now: Millis,
        out: &mut Outlet,
    ) {
        match result {
            Ok((_, body)) => {
                if let Some(stream) = &mut self.stream {
                    stream.fetched(&body, out);
                } else if let Some(feed) = &mut self.feed {
                    feed.fetched(&body, out);
                }
                out.done(command, Ok("null".to_owned()));
            }
            Err(error) if attempt >= CALL_ATTEMPTS => out.done(command, Err(error)),
            Err(_) => {
                let request = self.rest.event(self.id(), call.as_str());
                let purpose = Purpose::Call { command, call, attempt: attempt + 1 };
                self.requests.send_later(now + CALL_RETRY, request, purpose);
            }
        }
    }

    /// Something was answered: perhaps nothing is slow any more.
    pub(super) fn answers_again(&mut self, out: &mut Outlet) {
        if self.told_slow && !self.requests.are_slow() {
            self.told_slow = false;
            out.say(Signal::Connection(Connection::Ready { reason: "the server answers again" }));
        }
    }
}

/// Why a run is not asked for again.
fn kept_waiting(instead: Option<Error>) -> Error {
    instead.unwrap_or_else(|| Error::Capacity { detail: "by now something waits for approval".to_owned() })
}
