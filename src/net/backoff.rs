//! How long to wait before the next attempt.

use fastrand::Rng;

use super::Millis;

const FIRST: u64 = 1_000;
const LONGEST: u64 = 30_000;

/// Exponential backoff with full jitter: each delay is drawn between zero and a ceiling that doubles, 1 s to 30 s.
#[derive(Debug)]
pub struct Backoff {
    attempts: u32,
    random: Rng,
}

impl Backoff {
    /// The seed decides every delay, so that a run can be repeated.
    pub fn new(seed: u64) -> Self {
        Self { attempts: 0, random: Rng::with_seed(seed) }
    }

    /// The next delay.
    pub fn next_delay(&mut self) -> Millis {
        let ceiling = FIRST.saturating_mul(1 << self.attempts.min(5)).min(LONGEST);
        self.attempts = self.attempts.saturating_add(1);
        Millis(self.random.u64(0..=ceiling))
    }

    /// Attempts since the last success.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// An attempt was useful: the next delay is short again.
    pub fn reset(&mut self) {
        self.attempts = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_stay_under_a_ceiling_that_doubles_to_thirty_seconds() {
        for seed in 0..200 {
            let mut backoff = Backoff::new(seed);
            for ceiling in [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000] {
                assert!(backoff.next_delay() <= Millis(ceiling), "seed {seed}");
            }
        }
    }

    #[test]
    fn a_reset_makes_the_next_delay_short_again() {
        let mut backoff = Backoff::new(7);
        for _ in 0..6 {
            backoff.next_delay();
        }
        backoff.reset();
        assert!(backoff.next_delay() <= Millis(FIRST));
    }

    #[test]
    fn delays_are_spread() {
        let mut delays: Vec<_> = (0..64).map(|seed| Backoff::new(seed).next_delay()).collect();
        delays.sort_unstable();
        delays.dedup();
        assert!(delays.len() > 32);
    }
}
