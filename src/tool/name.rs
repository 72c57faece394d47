//! The name of a tool.

use std::fmt;
use std::rc::Rc;

use crate::json::Write;

/// A tool's name: a letter or `_`, then letters, digits, `_`, `-` and spaces, 64 characters at most. Each kind of server takes
/// less, which its protocol checks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(Rc<str>);

impl ToolName {
    /// The longest name, in characters.
    pub const LONGEST: usize = 64;

    /// A name that the app declares; `None` when it breaks the rule.
    pub fn declared(text: &str) -> Option<Self> {
        let mut characters = text.chars();
        let starts = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let goes_on = characters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' '));
        (starts && goes_on && text.len() <= Self::LONGEST).then(|| Self(text.into()))
    }

    /// A name as a server gave it: servers accept more than an app should declare.
    pub fn received(text: &str) -> Self {
        Self(text.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Write for ToolName {
    fn write(&self, text: &mut String) {
        self.0.write(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_some_server_takes_are_names() {
        for name in ["a", "_", "open_file-viewer2", "A9", "create task", &"x".repeat(64)] {
            assert!(ToolName::declared(name).is_some(), "{name}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for name in ["", "1a", "-a", " a", "a\tb", "a.b", "ä", "a\n", "<b>", &"x".repeat(65)] {
            assert!(ToolName::declared(name).is_none(), "{name}");
        }
    }
}
