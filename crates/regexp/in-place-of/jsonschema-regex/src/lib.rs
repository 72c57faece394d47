//! The part of the crate `jsonschema-regex` that `jsonschema` uses.
//!
//! That crate translates patterns into the language of Rust's engines, and takes shortcuts past these. The browser's engine
//! needs no translation, and a shortcut would be code to download: every question about one is answered with no, and the
//! types that stand for one have no values.

use std::{borrow::Cow, convert::Infallible};

use pagehand_regexp::Pattern;

/// The pattern, which needs no translation.
#[allow(clippy::result_unit_err, reason = "as jsonschema expects it")]
pub fn to_rust_regex(pattern: &str) -> Result<Cow<'_, str>, ()> {
    Ok(Cow::Borrowed(pattern))
}

/// Whether the pattern is one of ECMA-262.
pub fn is_valid_ecma_regex(pattern: &str) -> bool {
    Pattern::new(pattern).is_ok()
}

/// What a pattern comes down to, if it is a simple one.
#[derive(Debug)]
pub enum PatternAnalysis<'a> {
    /// The text begins so.
    Prefix(Cow<'a, str>),
    /// The text is this.
    Exact(Cow<'a, str>),
    /// The text is one of these.
    Alternation(Vec<String>),
    /// The text has no white space.
    NoWhitespace,
}

/// Never a simple pattern.
pub fn analyze_pattern(_pattern: &str) -> Option<PatternAnalysis<'_>> {
    None
}

/// Never a text that matches.
pub fn pattern_witness(_pattern: &str) -> Option<String> {
    None
}

/// Never parts of a pattern.
pub fn split_leading_lookaheads(_pattern: &str) -> Option<Vec<String>> {
    None
}

/// Whether the text has white space of ECMA-262.
pub fn contains_ecma_whitespace(text: &str) -> bool {
    text.chars().any(|character| match character {
        '\u{85}' => false,
        '\u{feff}' => true,
        other => other.is_whitespace(),
    })
}

/// A cheaper form of a pattern.
#[derive(Debug)]
pub enum Search {
    /// Characters to count.
    RepeatedClass(RepeatedClass),
    /// A simpler pattern.
    Collapsed(String),
}

/// Never a cheaper form.
pub fn search_form(_pattern: &str, _translated: &str) -> Option<Search> {
    None
}

/// A class whose characters are counted: there is none.
#[derive(Debug, Clone)]
pub struct RepeatedClass(Infallible);

impl RepeatedClass {
    /// Whether the text consists of such characters.
    pub fn is_match(&self, _text: &str) -> bool {
        match self.0 {}
    }
}

/// A pattern that is matched byte by byte: there is none.
#[derive(Debug, Clone)]
pub struct Sequence(Infallible);

impl Sequence {
    /// Never a sequence.
    pub fn compile(_translated: &str) -> Option<Self> {
        None
    }

    /// Whether the text matches.
    pub fn is_match(&self, _text: &[u8]) -> Option<bool> {
        match self.0 {}
    }
}
