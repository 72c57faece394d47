//! The life of one call, the same for every protocol: authorisation, validation, the claim, the run, the outcome. Knows
//! tools; knows no protocol, no wire and no clock.

mod action;
mod calls;
mod elsewhere;
mod ending;
mod id;
mod ledger;
mod limits;
mod open_call;
mod outcome;
mod repair;
mod review;
mod run;
mod state;
mod step;

pub use action::{AbortCause, Action, EngineError};
pub use calls::Calls;
pub use id::{CallId, CheckId, RunId};
pub use ledger::{Claim, Key, Ledger, LedgerEffect, LedgerInput, Memory, Over, Owner, Place, Remembered};
pub use limits::Limits;
pub use outcome::{Ending, FailureCode, Outcome, Settled};
pub use review::Verdict;
pub use state::State;
pub use step::Step;
