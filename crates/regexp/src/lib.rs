//! Patterns of JSON Schema, which are ECMA-262 regular expressions by definition.
//!
//! A page has an engine for them, so that none has to be downloaded: two thirds of the bytes of Rust's are tables and
//! automata that the browser has as well. Natively, for tests, the crate `regress` reads the same language.
//!
//! The folder `in-place-of` holds the crates that `[patch]` in the workspace's manifest puts in the place of those that
//! `jsonschema` asks for; nothing else in the workspace uses these. They have the names that `jsonschema` uses, and no more.

#[cfg(target_arch = "wasm32")]
#[path = "browser.rs"]
mod engine;
#[cfg(not(target_arch = "wasm32"))]
#[path = "native.rs"]
mod engine;

use std::fmt::Write;

/// The longest text that is held against a pattern, in bytes. The engine of a browser backtracks and cannot be stopped:
/// this keeps patterns whose cost grows with the square of the length within seconds.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: Box<str>,
    engine: engine::Engine,
}

/// The pattern is no regular expression of ECMA-262 with the flag `u`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invalid;

/// Whether the pattern matches was not found out: the text is longer than [`MAX_TEXT_BYTES`], or the engine gave up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undecided;

impl Pattern {
    /// Compiles a pattern, with the flag `u` as JSON Schema recommends.
    pub fn new(source: &str) -> Result<Self, Invalid> {
        let engine = engine::Engine::new(&with_plain_escapes(source))?;
        Ok(Self { source: source.into(), engine })
    }

    /// Whether the pattern matches somewhere in the text.
    pub fn matches(&self, text: &str) -> Result<bool, Undecided> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(Undecided);
        }
        self.engine.matches(text)
    }

    /// As it was given.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// With the flag `u` a backslash may stand only before punctuation that means something, but `\-` and `\@` are often
/// written, and every other engine takes them for the character. So they become its number, which is the same everywhere.
fn with_plain_escapes(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut characters = source.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some(plain) if is_plain(plain) => {
                // Writing to a `String` cannot fail.
                let _ = write!(text, "\\x{:02x}", u32::from(plain));
            }
            escaped => {
                text.push('\\');
                text.extend(escaped);
            }
        }
    }
    text
}

/// ASCII punctuation without a meaning of its own outside a class, and the space.
fn is_plain(character: char) -> bool {
    (character.is_ascii_punctuation() || character == ' ') && !r"^$\.*+?()[]{}|/".contains(character)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).unwrap().matches(text).unwrap()
    }

    #[test]
    fn a_pattern_matches_anywhere_and_by_code_points() {
        assert!(matches("b", "abc") && !matches("^b", "abc"));
        assert!(matches("^.$", "😀") && matches(r"^\p{L}+$", "日本") && matches("^(?!x)y(?<=y)$", "y"));
    }

    #[test]
    fn escaped_punctuation_is_the_character() {
        assert!(matches(r"^\d\-\d$", "1-2") && matches(r"^[a\-z]$", "-") && !matches(r"^[a\-z]$", "b"));
        assert!(matches(r"^\@\ \#\_\\-$", r"@ #_\-") && matches(r"^\.\/\[$", "./["));
    }

    #[test]
    fn what_is_no_pattern_of_ecma_262_is_refused() {
        for pattern in ["(", "[z-a]", "a**", r"\Z", r"\a", "(?P<n>a)", r"\p{Nonsense}", "{", r"a\"] {
            assert_eq!(Pattern::new(pattern).err(), Some(Invalid), "{pattern}");
        }
    }

    #[test]
    fn a_text_beyond_the_limit_is_left_undecided() {
        let pattern = Pattern::new("^a*$").unwrap();
        assert_eq!(pattern.matches(&"a".repeat(MAX_TEXT_BYTES)), Ok(true));
        assert_eq!(pattern.matches(&"a".repeat(MAX_TEXT_BYTES + 1)), Err(Undecided));
    }
}
