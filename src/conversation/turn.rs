//! When the agent's turn is over.

use crate::net::Millis;
use crate::protocol::Status;

/// How often a turn without news is asked about.
const POLL: Millis = Millis(5_000);
/// How long a polled end must stand when the log does not confirm it.
const CONFIRM: Millis = Millis(30_000);

/// A turn begins when the agent is asked to run and ends when the server says so for good.
///
/// A server repeats its state on every subscription, so a state that is not `running` ends a turn only after the run was
/// seen, or when the run was asked of a conversation that has nothing to do.
#[derive(Debug, Default)]
pub(super) struct Turn {
    active: Option<Active>,
}

#[derive(Debug)]
struct Active {
    /// Whether the next state that is not `running` ends it.
    seen_running: bool,
    /// Whether nothing but our wish says that it runs.
    wished: bool,
    next_poll: Millis,
    /// Since when polls say that the run has ended.
    polled_end: Option<Millis>,
}

impl Turn {
    /// The agent was asked to run. `sure` when the server will run in any case.
    pub(super) fn begin(&mut self, sure: bool, now: Millis) {
        let begun = Active { seen_running: !sure, wished: true, next_poll: now + POLL, polled_end: None };
        let active = self.active.get_or_insert(begun);
        active.seen_running |= !sure;
    }

    /// The request to run was refused.
    pub(super) fn withdraw(&mut self) {
        if self.active.as_ref().is_some_and(|active| active.wished) {
            self.active = None;
        }
    }

    /// Whether the turn goes on.
    pub(super) fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// The log says what the conversation does.
    pub(super) fn status(&mut self, status: &Status, now: Millis) {
        if *status == Status::Running {
            let runs = Active { seen_running: true, wished: false, next_poll: now + POLL, polled_end: None };
            let active = self.active.get_or_insert(runs);
            active.seen_running = true;
            active.wished = false;
            active.next_poll = now + POLL;
            active.polled_end = None;
        }
    }

    /// The server says that nothing runs any more. Whether that ends the turn.
    pub(super) fn over(&mut self) -> bool {
        let ends = self.active.as_ref().is_some_and(|active| active.seen_running);
        if ends {
            self.active = None;
        }
        ends
    }

    /// A poll answered. Whether that ends the turn: the log had its time to say otherwise.
    pub(super) fn polled(&mut self, status: &Status, now: Millis) -> bool {
        let Some(active) = &mut self.active else { return false };
        if *status == Status::Running {
            active.polled_end = None;
            return false;
        }
        let since = *active.polled_end.get_or_insert(now);
        let ends = now >= since + CONFIRM;
        if ends {
            self.active = None;
        }
        ends
    }

    /// Whether it is time to ask the server.
    pub(super) fn poll_is_due(&mut self, now: Millis) -> bool {
        let Some(active) = self.active.as_mut().filter(|active| active.next_poll <= now) else { return false };
        active.next_poll = now + POLL;
        true
    }

    /// When [`Turn::poll_is_due`] is of interest.
    pub(super) fn next_deadline(&self) -> Option<Millis> {
        self.active.as_ref().map(|active| active.next_poll)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_told_on_subscription_does_not_end_a_turn() {
        let mut turn = Turn::default();
        turn.begin(true, Millis(0));
        assert!(!turn.over());
        turn.status(&Status::Running, Millis(1));
        assert!(turn.over());
        assert!(!turn.is_active());
    }

    #[test]
    fn a_run_of_a_conversation_with_nothing_to_do_ends_with_the_next_state() {
        let mut turn = Turn::default();
        turn.begin(false, Millis(0));
        assert!(turn.over());
    }

    #[test]
    fn a_run_that_was_refused_leaves_no_turn_behind() {
        for sure in [true, false] {
            let mut turn = Turn::default();
            turn.begin(sure, Millis(0));
            turn.withdraw();
            assert!(!turn.is_active());
            turn.status(&Status::Running, Millis(1));
            turn.begin(sure, Millis(2));
            turn.withdraw();
            assert!(turn.is_active());
        }
    }

    #[test]
    fn polls_end_a_turn_only_after_half_a_minute() {
        let mut turn = Turn::default();
        turn.begin(true, Millis(0));
        assert!(!turn.polled(&Status::Finished, Millis(5_000)));
        assert!(!turn.polled(&Status::Running, Millis(10_000)));
        assert!(!turn.polled(&Status::Finished, Millis(15_000)));
        assert!(!turn.polled(&Status::Finished, Millis(44_999)));
        assert!(turn.polled(&Status::Finished, Millis(45_000)));
    }
}
