//! Pause and interrupt, and what else ends a run from outside.

use crate::object;

use super::conversation::{State, Status};
use super::log::Frame;

/// Pauses between steps: a call under way still has its effect.
pub(super) fn pause(state: &mut State) {
    if matches!(state.status, Status::Idle | Status::Running) {
        state.set_status(Status::Paused);
        state.log.append("user", "PauseEvent", object! {});
        state.publish_full_state();
    }
}

/// Stops at once: a call under way has no effect.
pub(super) fn interrupt(state: &mut State) {
    if state.run.is_none() {
        return pause(state);
    }
    cancel(state);
    state.set_status(Status::Paused);
    state.log.append("user", "InterruptEvent", object! {});
    state.publish_full_state();
}

/// As a delete or a SIGTERM does it: paused and interrupted, with one `full_state`.
pub(super) fn abandon(state: &mut State) {
    if state.run.is_none() {
        return;
    }
    state.set_status(Status::Paused);
    state.log.append("user", "PauseEvent", object! {});
    cancel(state);
    state.log.append("user", "InterruptEvent", object! {});
}

/// Calls off the LLM, or the tools of a batch: none of their calls will be acknowledged.
fn cancel(state: &mut State) {
    let item = state.run.as_mut().and_then(|run| run.open_item.take());
    if call_off(state) {
        state.drop_pending();
    }
    if let Some(item) = item {
        let frame = object! {
            "type" => "item_aborted", "item_id" => item, "attempt" => 1u64, "reason" => "cancelled",
        };
        state.log.publish(&Frame::SessionOnly(frame));
    }
}

/// Lets a run stop at the next opportunity, without a word; whether tools of the server were at work.
pub(super) fn call_off(state: &mut State) -> bool {
    if let Some(run) = &state.run {
        run.cancel.send_replace(true);
    }
    state.busy.send_replace(false)
}
