//! What test programs say about their tests.

use crate::test::report::Counts;

/// Sums up the lines `test result: ok. 3 passed; 0 failed; …` of libtest, and of the wasm-bindgen runner, which says
/// the same.
pub(crate) fn libtest(output: &str) -> Counts {
    let mut counts = Counts::default();
    for line in output.lines() {
        let Some((_, result)) = line.split_once("test result: ") else {
            continue;
        };
        counts.passed += number_before(result, " passed");
        counts.failed += number_before(result, " failed");
    }
    counts
}

/// Reads the summary `# pass 3`, `# fail 1`, `# cancelled 0` at the end of what Node's TAP reporter writes.
pub(crate) fn tap(output: &str) -> Counts {
    let number = |name: &str| {
        let lines = output.lines().rev().filter_map(|line| line.strip_prefix("# ")?.strip_prefix(name));
        lines.map(|rest| rest.trim().parse::<u32>()).find_map(Result::ok).unwrap_or(0)
    };
    // Cancelled tests never came to an end: a file that died, or a time limit.
    Counts { passed: number("pass "), failed: number("fail ") + number("cancelled ") }
}

fn number_before(text: &str, word: &str) -> u32 {
    let number = text.split_once(word).and_then(|(before, _)| before.rsplit([' ', ';']).next());
    number.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libtest_results_are_summed_up() {
        let output = "
running 2 tests
..
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

test result: FAILED. 11 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.20s
";
        assert_eq!(libtest(output), Counts { passed: 13, failed: 3 });
    }

    #[test]
    fn the_wasm_bindgen_runner_speaks_like_libtest() {
        let output = "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 filtered out; finished in 0.01s\n";
        assert_eq!(libtest(output), Counts { passed: 1, failed: 0 });
    }

    #[test]
    fn output_without_results_has_no_tests() {
        assert_eq!(libtest("error: could not compile `x`\ntest result: nonsense"), Counts::default());
        assert_eq!(tap("TAP version 13\n"), Counts::default());
    }

    #[test]
    fn the_tap_summary_is_read() {
        let output = "TAP version 13\n# Subtest: a\nok 1 - a\n1..3\n# tests 4\n# suites 0\n# pass 2\n# fail 1\n# cancelled 1\n# skipped 0\n# todo 0\n# duration_ms 61.4\n";
        assert_eq!(tap(output), Counts { passed: 2, failed: 2 });
    }

    #[test]
    fn what_a_test_prints_is_not_taken_for_the_summary() {
        let output = "# pass 99\n# fail 99\n# pass the salt\n1..1\n# tests 1\n# pass 1\n# fail 0\n# cancelled 0\n";
        assert_eq!(tap(output), Counts { passed: 1, failed: 0 });
    }
}
