//! `cargo xtask …`: everything a person or CI types.
//!
//! | file | what |
//! |---|---|
//! | `workspace` | where things are, and which versions |
//! | `process` | running a program, and ending it |
//! | `tools/` | what is installed when it is missing, once per user |
//! | `build/` | cargo → wasm-bindgen → wasm-opt → `pkg/`, and its sizes |
//! | `check` | formatting, lints, types, documentation |
//! | `demo` | the demo, served |
//! | `bench` | what takes how long, beside peers |
//! | `fuzz` | nonsense for every decoder |
//! | `simulate` | schedules from seeds, and a core broken on purpose |
//! | `test/` | all tests, counted |
#![allow(clippy::print_stdout, reason = "talking is what a command does")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod bench;
mod build;
mod check;
mod demo;
mod files;
mod fuzz;
mod process;
mod simulate;
mod test;
mod tools;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::{build::Profile, workspace::Workspace};

/// Builds, shows and tests pagehand. Tools that are missing are installed once per user, in ~/.cache/pagehand.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Builds the npm package into pkg/.
    Build {
        /// `release` is what ships; `quick` skips link-time optimisation and wasm-opt.
        #[arg(long, value_enum, default_value_t = Profile::Release)]
        profile: Profile,
    },
    /// Serves the demo on this machine until Ctrl-C.
    Demo {
        /// The port; without it 8787, or a free one if that is taken.
        #[arg(long)]
        port: Option<u16>,
        /// Does not open a browser.
        #[arg(long)]
        no_open: bool,
    },
    /// Formatting, lints for both targets, types and documentation.
    Check,
    /// The pages for people: every sample compiles or runs, every table is what the code says, every link leads somewhere.
    Docs,
    /// Runs all tests and counts them; `check` and a release build included.
    Test {
        /// Runs one kind of test only.
        #[arg(long, value_enum)]
        only: Option<test::Kind>,
        /// Plays with UiPath's full agent, too: 376 MB of Python.
        #[arg(long)]
        full: bool,
    },
    /// Measures the release in Chromium, beside what an app would use instead, and prints tables.
    Bench {
        /// Measures these only: frames, schemas, latency, start.
        measures: Vec<String>,
    },
    /// Plays schedules of the simulation on all cores.
    Simulate(simulate::Options),
    /// Gives nonsense to every decoder of the core, on all cores.
    Fuzz(fuzz::Options),
    /// Measures pkg/ as it is, compares it with budget.json, and says what is large in it.
    Sizes,
}

fn main() -> ExitCode {
    let outcome = process::end_children_on_signals().and_then(|()| run(&Arguments::parse().command));
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all went well; what went wrong has been told then.
fn run(command: &Command) -> Result<bool> {
    let workspace = Workspace::find()?;
    match command {
        Command::Build { profile } => build::run(&workspace, *profile).map(|()| true),
        Command::Demo { port, no_open } => demo::run(&workspace, *port, !no_open).map(|()| true),
        Command::Check => Ok(check::run(&workspace)),
        Command::Docs => test::docs(&workspace).map(|()| true),
        Command::Test { only, full } => Ok(test::run(&workspace, *only, *full)),
        Command::Bench { measures } => bench::run(&workspace, measures).map(|()| true),
        Command::Simulate(options) => simulate::run(&workspace, options),
        Command::Fuzz(options) => fuzz::run(&workspace, options),
        Command::Sizes => build::sizes(&workspace).map(|()| true),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    /// The pages for people name commands; each is one that there is.
    #[test]
    fn the_commands_that_the_pages_name_are_commands() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let pages = files::below(&root.join("docs")).unwrap().into_iter().map(|page| root.join("docs").join(page));
        let mut named = 0;
        for page in pages.chain(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name))) {
            let text = fs::read_to_string(&page).unwrap();
            for command in text.split("cargo xtask ").skip(1) {
                let words: String = command.chars().take_while(|letter| !"`#\n()".contains(*letter)).collect();
                let words: Vec<_> =
                    words.split_whitespace().map(|word| word.trim_end_matches([',', '.', ';'])).collect();
                let parsed = Arguments::try_parse_from([&["cargo xtask"], words.as_slice()].concat());
                assert!(parsed.is_ok(), "{}: cargo xtask {}", page.display(), words.join(" "));
                named += 1;
            }
        }
        assert!(named > 8, "only {named} commands were found");
    }
}
