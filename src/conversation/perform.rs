//! What the calls want done.

use serde_json::value::RawValue;

use crate::call::{Action, CallId, Calls, CheckId, Key, LedgerEffect, Step};
use crate::json;
use crate::net::Millis;
use crate::protocol::{self, NoticeCode};
use crate::tool::{Against, Registry};

use super::Effect;
use super::state::{Conversation, Purpose};

impl Conversation {
    /// Lets the calls do something, and does what they want.
    pub(super) fn calls_do(&mut self, now: Millis, what: impl FnOnce(&mut Calls, &Registry, &mut Vec<Action>)) {
        let mut actions = Vec::new();
        what(&mut self.calls, &self.registry, &mut actions);
        self.perform(actions, now);
    }

    pub(super) fn perform(&mut self, actions: Vec<Action>, now: Millis) {
        for action in actions {
            match action {
                Action::Fetch(call) => {
                    self.command(Purpose::Call(call.clone()), protocol::Command::Fetch(call), now);
                }
                Action::Check { check, against, instance } => self.check(check, against, instance),
                Action::Claim { call, tool, lease } => {
                    let key = Key::call(&self.key, &call);
                    self.out.push(Effect::Ledger(LedgerEffect::Claim { key, tool, lease }));
                }
                Action::Watch(call) => {
                    let key = Key::call(&self.key, &call);
                    self.out.push(Effect::Ledger(LedgerEffect::Watch { key }));
                }
                Action::Record { call, outcome } => {
                    let key = Key::call(&self.key, &call);
                    let owed = self.settings.results || self.protocol.answers();
                    self.out.push(Effect::Ledger(LedgerEffect::Record { key, outcome, owed }));
                }
                Action::Review { run, handler, tool, call, arguments } => {
                    self.out.push(Effect::Review { run, handler, tool, call, arguments });
                }
                Action::Ask { call, tool, arguments } => self.ask_own_approval(call, tool, arguments),
                Action::Run { run, handler, tool, call, arguments } => {
                    self.out.push(Effect::Run { run, handler, tool, call, arguments });
                }
                Action::Abort { run, cause } => self.out.push(Effect::Abort { run, cause }),
                Action::Tell(step) => {
                    self.tell_call(&step);
                    self.tell_inexact(&step);
                    if step.outcome.is_some() {
                        self.close_own_approval(&step.call_id);
                    }
                    self.owe(&step);
                }
                Action::Late { call, what } => self.tell_notice(NoticeCode::LateSignal, what, Some(call.as_str())),
            }
        }
    }

    /// Tells of the numbers that a step brings and that the app will not see as they came.
    fn tell_inexact(&mut self, step: &Step) {
        if let Some(arguments) = &step.arguments {
            self.tell_rounded("", arguments, &step.call_id);
        }
        for edit in &step.edits {
            if let Some(value) = &edit.to {
                self.tell_rounded(&edit.path, value, &step.call_id);
            }
        }
    }

    fn tell_rounded(&mut self, at: &str, value: &RawValue, call: &CallId) {
        for (path, digits) in json::large_integers(value) {
            let message = [at, &path, " is ", digits, ", which JavaScript rounds"].concat();
            self.tell_notice(NoticeCode::InexactNumber, &message, Some(call.as_str()));
        }
    }

    /// Has a value validated.
    pub(super) fn check(&mut self, check: CheckId, against: Against, instance: String) {
        let Against { schema, part, handler, .. } = against;
        let (schema, request) = self.registry.resolve(schema);
        self.compile(request);
        self.out.push(Effect::Validate { check, schema, instance, part, handler });
    }
}
