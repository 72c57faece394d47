//! Where the facilities put what they have to report.

use std::rc::Rc;

use crate::conversation::Input;

/// A way into a session's queue. It does not keep the session alive: reports about one that is over go nowhere.
#[derive(Clone)]
pub(super) struct Inputs(Rc<dyn Fn(Input)>);

impl Inputs {
    pub(super) fn new(push: impl Fn(Input) + 'static) -> Self {
        Self(Rc::new(push))
    }

    /// Queues an input.
    pub(super) fn push(&self, input: Input) {
        (self.0)(input);
    }
}
