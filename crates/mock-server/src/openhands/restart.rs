//! What a restart of the server does to a conversation.

use super::conversation::{Loading, State, Status};
use super::interruption::{abandon, call_off};
use crate::restarts::Signal;

const RESTARTED: &str = "A restart occurred while this tool was in progress.";

impl State {
    /// Ends what runs. Settings, log and client tools persist; the registry of tools does not.
    pub(super) fn restart(&mut self, signal: Signal, keeps_secrets: bool) {
        match signal {
            Signal::Term => abandon(self),
            Signal::Kill => self.crash(),
        }
        self.run = None;
        self.log.forget_listeners();
        self.loading = Loading::Pending;
        if !keeps_secrets {
            self.agent.lose_key();
        }
    }

    fn crash(&mut self) {
        if self.run.is_none() {
            return;
        }
        let worked = *self.busy.borrow();
        call_off(self);
        if let (true, Some(action)) = (worked, self.pending().first()) {
            self.agent_error(action.field("tool_name"), action.field("tool_call_id"), RESTARTED);
        }
        self.set_status(Status::Error);
    }
}
