//! Chance from a seed. Each part of the world draws from a stream of its own, so that leaving out one fault changes the others
//! as little as possible.

use fastrand::Rng;

pub struct Chance(Rng);

impl Chance {
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut mixed = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(stream));
        Self(Rng::with_seed(mixed.u64(..)))
    }

    /// A number below the end.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0.u64(0..end.max(1))
    }

    /// A number from the first to the last.
    pub fn between(&mut self, first: u64, last: u64) -> u64 {
        self.0.u64(first..=last)
    }

    /// True so many times in a thousand.
    pub fn per_mille(&mut self, times: u64) -> bool {
        self.below(1_000) < times
    }

    pub fn index(&mut self, length: usize) -> usize {
        self.0.usize(0..length.max(1))
    }

    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }
}
