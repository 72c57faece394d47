//! Where a call is in its life.

use crate::json::Write;

/// The states of a call, in their order. The last two are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// The agent wants it; nothing may run yet.
    Announced,
    /// A person is asked.
    Waiting,
    /// The server has let it through.
    Authorised,
    /// The schema engine looks at the arguments.
    Validating,
    /// The ledger is asked for the right to run it.
    Claiming,
    /// Another page has it.
    Elsewhere,
    /// The app's guards look at it.
    Guarding,
    /// A person is asked by this page, which has it.
    Confirming,
    /// The handler runs, or its result is being checked.
    Running,
    /// It has its outcome.
    Settled,
    /// It never came to run: the server took it back.
    Withdrawn,
}

impl State {
    /// Whether the call is on its way to an outcome: let through, and not ended.
    pub fn is_under_way(self) -> bool {
        matches!(
            self,
            Self::Authorised
                | Self::Validating
                | Self::Claiming
                | Self::Elsewhere
                | Self::Guarding
                | Self::Confirming
                | Self::Running
        )
    }
}

impl Write for State {
    fn write(&self, text: &mut String) {
        let word = match self {
            Self::Announced => "announced",
            Self::Waiting => "waiting",
            Self::Authorised => "authorised",
            Self::Validating => "validating",
            Self::Claiming => "claiming",
            Self::Elsewhere => "elsewhere",
            Self::Guarding => "guarding",
            Self::Confirming => "confirming",
            Self::Running => "running",
            Self::Settled => "settled",
            Self::Withdrawn => "withdrawn",
        };
        word.write(text);
    }
}
