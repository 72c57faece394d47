//! Whatever may come from outside, given to every decoder of the core: recordings of the real servers, changed by their structure
//! and by their bytes. Fuzzers that watch which code runs need a nightly compiler; here the recordings stand for that.
//!
//! ```text
//! fuzz [--inputs COUNT] [--seed SEED] [--decoder NAME]   plays so many inputs on all cores, shared among the decoders
//! fuzz --replay                                          plays what failed before: seeds/
//! ```
//!
//! What must hold: nothing panics, nothing takes long, no call runs twice, nothing is settled twice, what leaves is JSON of a
//! bounded size and holds no key, and after all that a good call runs, and once. A failing input is kept in `seeds/`.
#![cfg_attr(not(target_arch = "wasm32"), allow(missing_docs))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    unreachable_pub,
    reason = "a test: what goes wrong is to end it"
)]

mod corpus;
mod house;
mod mutate;
mod node;
mod openhands;
mod play;
mod run;
mod seeds;
mod uipath;
mod values;

use std::process::ExitCode;

use play::DECODERS;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| arguments.iter().skip_while(|argument| *argument != name).nth(1);
    let number = |name: &str, usual: u64| after(name).map_or(usual, |text| text.parse().expect("a number"));
    play::keep_panics();
    let mut failures = seeds::replay();
    if !arguments.iter().any(|argument| argument == "--replay") {
        let only = after("--decoder");
        let decoders: Vec<_> = DECODERS.iter().filter(|decoder| only.is_none_or(|name| name == decoder.name)).collect();
        failures.extend(run::run(&decoders, number("--inputs", 200_000), number("--seed", 0)));
    }
    for failure in &failures {
        println!("{failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
