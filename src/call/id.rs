//! The names of calls, validations and runs.

use std::fmt;
use std::rc::Rc;

use crate::json::Write;

/// A call's id within its conversation, as its protocol defines it. Opaque.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(Rc<str>);

impl CallId {
    /// Takes an id as it is.
    pub fn new(id: impl Into<Rc<str>>) -> Self {
        Self(id.into())
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Write for CallId {
    fn write(&self, text: &mut String) {
        self.0.write(text);
    }
}

/// One validation of arguments or of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckId(pub u32);

/// One run of a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub u32);
