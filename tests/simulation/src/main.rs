//! A simulation of everything around the core: servers, networks, browsers, people. One seed decides a schedule, and the same
//! seed plays it again. What must hold is checked at every step (`checks.rs`) and in the end (`ending.rs`).
//!
//! ```text
//! simulation [--from SEED] [--seeds COUNT]     plays many schedules, half of them with each kind of server
//! simulation --seed SEED [--trace]             plays one; a failing one is made smaller, unless its whole trace is wanted
//! simulation --until-one-fails [...]           the same, for a core that is broken on purpose
//! simulation --failures COUNT [...]            ends after so many
//! simulation --protocol openhands|uipath [...] the same with one kind of server
//! ```
#![cfg_attr(not(target_arch = "wasm32"), allow(missing_docs))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::needless_pass_by_value,
    clippy::struct_excessive_bools,
    unreachable_pub,
    reason = "a test: what goes wrong is to end it"
)]

mod answers;
mod browser;
mod chance;
mod checks;
mod declared;
mod ending;
mod line;
mod network;
mod packets;
mod page;
mod people;
mod plan;
mod reached;
mod runner;
mod runs;
mod server;
mod service;
mod tools;
mod world;

use std::process::ExitCode;
use std::thread::available_parallelism;

use plan::{Kind, Plan};

/// Failing seeds that are shown.
const SHOWN: usize = 3;

/// Schedules that must meet every situation: a simulation that never meets a fault proves nothing about it.
const ENOUGH: u64 = 10_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        Some(arguments.get(place + 1).and_then(|text| text.parse().ok()).expect("a number"))
    };
    let whole = arguments.iter().any(|argument| argument == "--trace");
    let first_only = arguments.iter().any(|argument| argument == "--until-one-fails");
    let protocol = arguments.iter().position(|argument| argument == "--protocol");
    let protocol = protocol.map(|place| arguments.get(place + 1).expect("a protocol").as_str());
    let kinds: Vec<Kind> =
        Kind::ALL.into_iter().filter(|kind| protocol.is_none_or(|name| name == kind.as_str())).collect();
    let well = if let Some(seed) = number("--seed") {
        // Each is shown, whatever the other came to.
        let well: Vec<bool> = kinds.iter().map(|kind| one(*kind, seed, whole)).collect();
        !well.contains(&false)
    } else {
        let failures = number("--failures").and_then(|count| usize::try_from(count).ok()).unwrap_or(SHOWN);
        let failures = if first_only { 1 } else { failures };
        many(&kinds, number("--from").unwrap_or(0), number("--seeds").unwrap_or(20_000), failures, first_only)
    };
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn one(kind: Kind, seed: u64, whole: bool) -> bool {
    let (trace, failure) = runner::traced(&Plan::new(kind, seed));
    let name = kind.as_str();
    match &failure {
        Some(_) if !whole => println!("{}", runner::report(kind, seed)),
        _ => println!("{}\n{name} seed {seed}: {}", trace.join("\n"), failure.as_deref().unwrap_or("all is well")),
    }
    failure.is_none()
}

fn many(kinds: &[Kind], first: u64, count: u64, failures: usize, first_only: bool) -> bool {
    let threads = available_parallelism().map_or(1, usize::from);
    let each = count / kinds.len() as u64;
    let sum = runner::many(kinds, first, each, threads, failures);
    for (kind, seed, _) in sum.violations.iter().take(if first_only { 0 } else { SHOWN }) {
        println!("{}", runner::report(*kind, *seed));
    }
    for (kind, seed, what) in &sum.violations {
        println!("{} seed {seed}: {what}", kind.as_str());
    }
    println!(
        "{} schedules, {} steps, {} violations, {} schedules/s on {threads} threads",
        sum.schedules,
        sum.steps,
        sum.violations.len(),
        sum.per_second
    );
    let mut all_met = true;
    for kind in kinds.iter().filter(|_| each >= ENOUGH && !first_only) {
        let unmet = sum.reached[*kind as usize].missing(*kind);
        if !unmet.is_empty() {
            println!("never met with {}: {unmet:?}", kind.as_str());
            all_met = false;
        }
    }
    sum.violations.is_empty() && all_met
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_happens_the_invariants_hold() {
        assert!(many(&Kind::ALL, 0, 500, SHOWN, false));
    }

    #[test]
    fn a_seed_plays_the_same_schedule_again() {
        for seed in 0..50 {
            for kind in Kind::ALL {
                let plan = Plan::new(kind, seed);
                assert_eq!(runner::traced(&plan), runner::traced(&plan), "{} seed {seed}", kind.as_str());
            }
        }
    }
}
