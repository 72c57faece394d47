//! Time and chance: the clock, the one timer of a session, the seed.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::conversation::Input;
use crate::net::Millis;

use super::hooks::Hooks;
use super::inputs::Inputs;
use super::listen::{self, Timer};

/// The longest that a browser's timer can wait; more would fire at once.
const LONGEST: u64 = 0x7fff_ffff;

/// The time of day.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast from a float saturates")]
pub(super) fn now() -> Millis {
    Millis(js_sys::Date::now() as u64)
}

/// A seed for jitter. Nothing secret depends on it.
pub(super) fn seed() -> u64 {
    js_sys::Math::random().to_bits()
}

/// A wait within what a timer can do. A wait cut short ends in a tick that finds nothing to do, and a new wait.
pub(super) fn wait(length: Millis) -> u32 {
    u32::try_from(length.0.min(LONGEST)).unwrap_or(u32::MAX >> 1)
}

/// The one timer of a session, set to the core's next wakeup.
///
/// Most wakeups are moved into the future again and again, by every frame, and never come. So a timer that is early stays:
/// it ends in a tick that finds nothing to do, and a new wait.
#[derive(Default)]
pub(super) struct Alarm {
    /// When the timer is due.
    at: Rc<Cell<Option<Millis>>>,
    timer: RefCell<Option<Timer>>,
}

impl Alarm {
    /// Sets the timer to another time, or to none.
    pub(super) fn set(&self, at: Option<Millis>, hooks: &Hooks, inputs: &Inputs) {
        if self.at.get() == at || self.at.get().zip(at).is_some_and(|(due, at)| due < at) {
            return;
        }
        self.at.set(at);
        let timer = at.and_then(|at| {
            let length = Millis(at.0.saturating_sub(now().0));
            let (set_to, inputs) = (Rc::clone(&self.at), inputs.clone());
            let due = move || {
                set_to.set(None);
                inputs.push(Input::Tick);
            };
            listen::after(hooks, wait(length), due).ok()
        });
        let old = self.timer.try_borrow_mut().ok().and_then(|mut slot| std::mem::replace(&mut *slot, timer));
        drop(old);
    }

    /// Stops the timer.
    pub(super) fn stop(&self) {
        self.at.set(None);
        let old = self.timer.try_borrow_mut().ok().and_then(|mut slot| slot.take());
        drop(old);
    }
}
