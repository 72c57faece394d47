//! The table at the end, and the verdict.

use std::time::Duration;

use crate::process::seconds;

/// Tests of one phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
}

impl Counts {
    pub(crate) fn and(self, other: Self) -> Self {
        Self { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }

    /// Adds the failure that no test tells: a program that ended badly although none of its tests failed.
    pub(crate) fn with_exit(mut self, success: bool) -> Self {
        if !success && self.failed == 0 {
            self.failed = 1;
        }
        self
    }
}

/// One line of the table.
pub(crate) struct Row {
    phase: &'static str,
    counts: Counts,
    time: Duration,
    against: String,
}

impl Row {
    /// A phase that ran. Without tests it failed: something is not found that should be.
    pub(crate) fn new(phase: &'static str, counts: Counts, time: Duration, against: String) -> Self {
        if counts == Counts::default() {
            return Self::broken(phase, time, "no tests");
        }
        Self { phase, counts, time, against }
    }

    /// A phase that could not run, which counts as one failure.
    pub(crate) fn broken(phase: &'static str, time: Duration, reason: &str) -> Self {
        let reason = reason.lines().next().unwrap_or_default();
        Self { phase, counts: Counts { passed: 0, failed: 1 }, time, against: format!("not run: {reason}") }
    }
}

/// The table with the totals as its last line, and whether all went well.
pub(crate) fn summary(rows: &[Row]) -> (String, bool) {
    let line = |phase: &str, passed: &str, failed: &str, time: &str, against: &str| {
        format!("{phase:<12} {passed:>7} {failed:>7} {time:>9}  {against}\n")
    };
    let mut text = line("phase", "passed", "failed", "time", "against");
    let mut total = Counts::default();
    for row in rows {
        let Counts { passed, failed } = row.counts;
        let time = seconds(row.time);
        text += &line(row.phase, &passed.to_string(), &failed.to_string(), &time, &row.against);
        total.passed += passed;
        total.failed += failed;
    }
    let verdict = format!("\n{} passed, {} failed", total.passed, total.failed);
    text += &verdict;
    (text, total.failed == 0 && total.passed > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(passed: u32, failed: u32) -> Row {
        Row::new("native", Counts { passed, failed }, Duration::from_millis(1500), "this machine".into())
    }

    #[test]
    fn the_last_line_sums_all_up() {
        let (text, success) = summary(&[row(3, 0), row(4, 0)]);
        assert_eq!(text.lines().last(), Some("7 passed, 0 failed"));
        assert!(success);
        assert!(text.contains("1.5 s  this machine"), "{text}");
    }

    #[test]
    fn one_failure_fails_all() {
        let (text, success) = summary(&[row(3, 0), row(4, 1)]);
        assert_eq!(text.lines().last(), Some("7 passed, 1 failed"));
        assert!(!success);
    }

    #[test]
    fn a_phase_without_tests_is_a_failure() {
        let (text, success) = summary(&[row(3, 0), row(0, 0)]);
        assert_eq!(text.lines().last(), Some("3 passed, 1 failed"));
        assert!(!success && text.contains("no tests"));
    }

    #[test]
    fn a_phase_that_could_not_run_is_a_failure_with_its_reason() {
        let (text, success) = summary(&[Row::broken("e2e", Duration::ZERO, "no python3\nlong output")]);
        assert!(!success && text.contains("not run: no python3\n"), "{text}");
        assert_eq!(text.lines().last(), Some("0 passed, 1 failed"));
    }

    #[test]
    fn no_phase_at_all_is_no_success() {
        assert!(!summary(&[]).1);
    }

    #[test]
    fn a_bad_exit_without_a_failed_test_counts_as_one() {
        assert_eq!(Counts { passed: 5, failed: 0 }.with_exit(false), Counts { passed: 5, failed: 1 });
        assert_eq!(Counts { passed: 5, failed: 2 }.with_exit(false), Counts { passed: 5, failed: 2 });
        assert_eq!(Counts { passed: 5, failed: 0 }.with_exit(true), Counts { passed: 5, failed: 0 });
    }
}
