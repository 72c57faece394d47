//! The part of the crate `fancy-regex` that `jsonschema` uses.

use std::fmt;

use pagehand_regexp::{Invalid, MAX_TEXT_BYTES, Pattern, Undecided};

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Regex(Pattern);

impl Regex {
    /// Whether the pattern matches somewhere in the text.
    pub fn is_match(&self, text: &str) -> Result<bool, Error> {
        self.0.matches(text).map_err(Error)
    }

    /// The pattern as it was given.
    pub fn as_str(&self) -> &str {
        self.0.source()
    }
}

/// The engine could not tell whether a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Undecided);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the text is longer than {MAX_TEXT_BYTES} bytes, or the pattern is too costly")
    }
}

impl std::error::Error for Error {}

/// Compiles a pattern. There are no limits to set: the browser has its own.
#[derive(Debug)]
pub struct RegexBuilder(String);

impl RegexBuilder {
    /// For this pattern.
    pub fn new(pattern: &str) -> Self {
        Self(pattern.to_owned())
    }

    /// Changes nothing.
    pub fn backtrack_limit(&mut self, _steps: usize) -> &mut Self {
        self
    }

    /// Changes nothing.
    pub fn delegate_size_limit(&mut self, _bytes: usize) -> &mut Self {
        self
    }

    /// Changes nothing.
    pub fn delegate_dfa_size_limit(&mut self, _bytes: usize) -> &mut Self {
        self
    }

    /// Compiles the pattern.
    pub fn build(&self) -> Result<Regex, Invalid> {
        Pattern::new(&self.0).map(Regex)
    }
}
