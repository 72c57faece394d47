//! The part of the crate `regex` that `jsonschema` uses.

use pagehand_regexp::{Invalid, Pattern};

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Regex(Pattern);

impl Regex {
    /// Compiles a pattern.
    pub fn new(pattern: &str) -> Result<Self, Invalid> {
        RegexBuilder::new(pattern).build()
    }

    /// Whether the pattern matches somewhere in the text; `jsonschema` takes this engine, which cannot say that it does
    /// not know, only where it is told to.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.matches(text).unwrap_or(false)
    }

    /// The pattern as it was given.
    pub fn as_str(&self) -> &str {
        self.0.source()
    }
}

/// Compiles a pattern. There are no limits to set: the browser has its own.
#[derive(Debug)]
pub struct RegexBuilder(String);

impl RegexBuilder {
    /// For this pattern.
    pub fn new(pattern: &str) -> Self {
        Self(pattern.to_owned())
    }

    /// Changes nothing.
    pub fn size_limit(&mut self, _bytes: usize) -> &mut Self {
        self
    }

    /// Changes nothing.
    pub fn dfa_size_limit(&mut self, _bytes: usize) -> &mut Self {
        self
    }

    /// Compiles the pattern.
    pub fn build(&self) -> Result<Regex, Invalid> {
        Pattern::new(&self.0).map(Regex)
    }
}
