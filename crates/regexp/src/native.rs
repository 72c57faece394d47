//! An engine of the same language, for tests.

use regress::Regex;

use crate::{Invalid, Undecided};

#[derive(Debug, Clone)]
pub(crate) struct Engine(Regex);

impl Engine {
    pub(crate) fn new(source: &str) -> Result<Self, Invalid> {
        Regex::with_flags(source, "u").map(Self).map_err(|_| Invalid)
    }

    #[allow(clippy::unnecessary_wraps, reason = "the browser's engine can fail")]
    pub(crate) fn matches(&self, text: &str) -> Result<bool, Undecided> {
        Ok(self.0.find(text).is_some())
    }
}
