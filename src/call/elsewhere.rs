//! Calls that another page has, or had.

use super::open_call::{Call, tell};
use super::{AbortCause, Action, CallId, Calls, Claim, Ending, Outcome, State};

impl Calls {
    /// The ledger has a call that was begun and not ended, from before we came.
    pub fn recalled(&mut self, id: &CallId, tool: &str, claim: Claim, out: &mut Vec<Action>) {
        if self.ended.contains(id.as_str()) || self.open.get(id).is_some() {
            return;
        }
        self.open.add(id.clone(), Call::new(State::Elsewhere, tool, None));
        match claim {
            Claim::Won | Claim::Held => {
                tell(id, tool, State::Elsewhere, "another page has it", None, None, out);
                out.push(Action::Watch(id.clone()));
            }
            Claim::Abandoned => self.interrupted(id, out),
            Claim::Settled(outcome) => self.end(id, "it has run before", Ending::Elsewhere(outcome), out),
        }
    }

    /// The ledger has the outcome of a call, or knows that its page is gone.
    pub fn watched(&mut self, id: &CallId, claim: Claim, out: &mut Vec<Action>) {
        let Some(call) = self.open.get(id) else { return };
        match (claim, call.state) {
            (Claim::Settled(outcome), State::Elsewhere) => {
                self.end(id, "it ended in another page", Ending::Elsewhere(outcome), out);
            }
            // Somebody cancelled it from another page.
            (Claim::Settled(outcome), State::Guarding | State::Confirming | State::Running) => {
                if let Some(run) = call.run {
                    out.push(Action::Abort { run, cause: AbortCause::Cancelled("ended from another page".into()) });
                }
                self.end(id, "it was ended from another page", Ending::Elsewhere(outcome), out);
            }
            (Claim::Abandoned, State::Elsewhere) => self.interrupted(id, out),
            _ => {}
        }
    }

    pub(super) fn interrupted(&mut self, id: &CallId, out: &mut Vec<Action>) {
        let message = "the page that ran it is gone, and it may or may not have done its work".to_owned();
        self.settle(id, "its page is gone", Outcome::Interrupted { message }, out);
    }
}
