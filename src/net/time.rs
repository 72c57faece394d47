//! Time as the core sees it: a number that comes in from outside.

use std::ops::Add;

/// Milliseconds: a point in time (since the Unix epoch) or a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub u64);

impl Add for Millis {
    type Output = Self;

    fn add(self, length: Self) -> Self {
        Self(self.0.saturating_add(length.0))
    }
}
