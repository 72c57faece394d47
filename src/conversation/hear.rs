//! What the protocol's signals do to the conversation.

use crate::error::Error;
use crate::net::Millis;
use crate::protocol::{Connection, Delivery, Meaning, NoticeCode, Opened, Signal, Status};
use crate::tool::RunOn;

use super::Topic;
use super::state::{Conversation, Failure, Opened as Found, Phase};

impl Conversation {
    pub(super) fn hear(&mut self, signal: Signal, now: Millis) {
        match signal {
            Signal::Opened(opened) => self.hear_opened(opened, now),
            Signal::Ready => self.hear_ready(),
            Signal::Ended(error) => {
                let error = self.registry.advise(error);
                // What the app asked for is no error.
                if !matches!(error, Error::Closed { .. }) {
                    self.tell_error(&error);
                }
                self.end(&error, now);
            }
            Signal::Connection(connection) => {
                if matches!(connection, Connection::Lost { .. }) {
                    self.not_joined();
                }
                self.emit(Topic::Connection, &connection);
            }
            Signal::Delivered(delivery) => self.hear_delivery(delivery, now),
            Signal::Repeated(id) => self.tell_repeated(id.as_deref()),
            Signal::Found(meanings) => {
                for meaning in meanings {
                    self.understand(meaning, None, true, now);
                }
            }
            Signal::Condition(condition) => self.emit(Topic::Condition, &condition),
            Signal::Label { text, generated } => self.tell_label(&text, generated),
            Signal::Delta { item, reasoning, content } => self.tell_delta(item.as_deref(), reasoning, &content),
            Signal::Waiting(questions) => self.approval_looked(&Ok(questions), now),
            Signal::Polled(status) => {
                if self.turn.polled(&status, now) {
                    self.change_status(status);
                }
            }
            Signal::Notice { code, message } => self.tell_notice(code, &message, None),
            Signal::Done { command, result } => self.done(command, result, now),
        }
    }

    fn hear_opened(&mut self, opened: Opened, now: Millis) {
        self.gate = opened.gate;
        let early = self.registry.tools().find(|tool| tool.run_on == RunOn::Announcement);
        if let (Some(because), Some(tool)) = (opened.gate, early) {
            let error = Error::AnnouncementRefused { tool: tool.name.to_string(), because };
            return self.end(&error, now);
        }
        self.turn.status(&opened.status, now);
        self.status = opened.status;
        self.registry.meet(opened.tools);
        // A conversation that the server names has its name only now.
        self.key = self.protocol.ledger_key().into();
        let Opened { id, created, loses_messages, .. } = opened;
        self.opened = Some(Found { id, created, loses_messages });
    }

    fn hear_ready(&mut self) {
        match self.phase {
            Phase::Opening(_) => self.joined(),
            _ => self.tell_ready(),
        }
    }

    pub(super) fn become_open(&mut self) {
        let Phase::Opening(operation) = self.phase else { return };
        self.phase = Phase::Open;
        self.tell_tools();
        if let Some(operation) = operation {
            let answer = self.opening_answer();
            self.settle(operation, Ok(answer));
        }
        self.tell_ready();
    }

    fn tell_ready(&mut self) {
        self.emit(Topic::Connection, &Connection::Ready { reason: "nothing is missing" });
    }

    fn hear_delivery(&mut self, delivery: Delivery, now: Millis) {
        if let Some(id) = delivery.id.as_deref()
            && !self.told.add(id)
        {
            return self.tell_repeated(Some(id));
        }
        self.emit_text(Topic::Event, delivery.raw);
        for meaning in delivery.meanings {
            self.understand(meaning, delivery.id.as_deref(), false, now);
        }
    }

    fn tell_repeated(&mut self, event: Option<&str>) {
        self.tell_notice(NoticeCode::DuplicateEvent, "an event came again", event);
    }

    /// What was announced before we came runs only when it is let through: it may have been left behind.
    fn understand(&mut self, meaning: Meaning, event: Option<&str>, before: bool, now: Millis) {
        match meaning {
            Meaning::Announced { call, tool, arguments, schemas } => {
                let early = !before
                    && self.gate.is_none()
                    && self.registry.get(&tool).is_some_and(|entry| entry.tool.run_on == RunOn::Announcement);
                self.calls_do(now, |calls, registry, out| {
                    calls.announced(&call, &tool, (arguments, schemas), registry, now, out);
                    if early {
                        calls.authorised(&call, "the tool runs on the announcement", None, registry, now, out);
                    }
                });
            }
            Meaning::Authorised { call, arguments } => self.calls_do(now, |calls, registry, out| {
                calls.authorised(&call, "the server let it through", arguments, registry, now, out);
            }),
            Meaning::Rejected { call, tool, reason } => {
                let tool = self.registry.plain(tool);
                self.calls_do(now, |calls, _, out| calls.rejected(&call, &tool, reason, out));
            }
            Meaning::Withdrawn { call, tool, reason } => {
                let tool = self.registry.plain(tool);
                self.calls_do(now, |calls, _, out| calls.withdrawn(&call, &tool, &reason, out));
            }
            Meaning::Ended { call, tool, reason } => {
                let tool = self.registry.plain(tool);
                self.calls_do(now, |calls, _, out| calls.server_ended(&call, &tool, &reason, out));
            }
            Meaning::Orphaned { call, tool, reason } => {
                let tool = self.registry.plain(tool);
                self.calls_do(now, |calls, _, out| calls.orphaned(&call, &tool, reason, out));
            }
            Meaning::Status(status) => {
                self.turn.status(&status, now);
                if status == Status::WaitingForConfirmation {
                    self.calls_do(now, |calls, _, out| calls.waiting_all(out));
                }
                self.change_status(status);
            }
            Meaning::Approvals(questions) => self.ask_approvals(questions, now),
            Meaning::TurnOver(status) => {
                self.turn.over();
                if self.protocol.answers() {
                    self.calls_do(now, |calls, _, out| calls.all_over("the turn is over", out));
                } else if status != Status::WaitingForConfirmation {
                    self.calls_do(now, |calls, _, _| calls.turn_over());
                }
                self.change_status(status);
            }
            Meaning::RunFailed { code, detail } => {
                self.tell_error(&Error::ConversationFailed { code: code.clone(), detail: detail.clone() });
                self.failure = Some(Failure { code, detail });
            }
            Meaning::Message { id, role, source, text, citations } => {
                self.tell_message(id.as_deref().or(event), &role, &source, &text, citations.as_deref());
            }
            Meaning::Gate(gate) => self.gate = gate,
        }
    }

    fn change_status(&mut self, status: Status) {
        if status == Status::Running {
            self.failure = None;
        }
        // Where single calls are asked about, something else may run meanwhile.
        let goes_on = status == Status::Running && self.protocol.answers();
        if status != Status::WaitingForConfirmation && !goes_on {
            self.close_server_approvals();
        }
        if self.status != status {
            self.emit(Topic::Status, &status);
            self.status = status;
        }
    }
}
