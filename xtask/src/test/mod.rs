//! All tests, counted.

mod browsers;
mod phases;
mod report;
mod results;

use std::time::Instant;

use anyhow::Result;
use clap::ValueEnum;

use crate::{process::seconds, workspace::Workspace};
use report::{Counts, Row};

/// A kind of test.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Rust, on this machine.
    Native,
    /// The core in a simulated world.
    Simulation,
    /// Rust, in Chromium and in Firefox.
    Browser,
    /// The official tests of JSON Schema, in browsers.
    Suite,
    /// The JavaScript facade, in Node.
    Facade,
    /// The built package in a page of Chromium, with servers.
    E2e,
    /// The same in Firefox, with stand-ins for the servers where there are.
    Firefox,
    /// The essence of it in `WebKit`.
    Webkit,
    /// The same with UiPath's full agent, which is large and slow.
    Full,
    /// The packed package in the hands of bundlers.
    Packaging,
}

/// What a phase did: its tests, and what they ran against.
type Outcome = (Counts, String);

/// A phase: its name, its kind if it can be asked for alone, and how it runs.
struct Phase {
    name: &'static str,
    kind: Option<Kind>,
    run: fn(&Workspace) -> Result<Outcome>,
}

const PHASES: [Phase; 12] = [
    Phase { name: "check", kind: None, run: |workspace| Ok(phases::check(workspace)) },
    Phase { name: "native", kind: Some(Kind::Native), run: phases::native },
    Phase { name: "simulation", kind: Some(Kind::Simulation), run: phases::simulation },
    Phase { name: "browser", kind: Some(Kind::Browser), run: browsers::wasm },
    Phase { name: "suite", kind: Some(Kind::Suite), run: browsers::suite },
    Phase { name: "facade", kind: Some(Kind::Facade), run: phases::facade },
    Phase { name: "e2e", kind: Some(Kind::E2e), run: browsers::chromium },
    Phase { name: "e2e firefox", kind: Some(Kind::Firefox), run: browsers::firefox },
    Phase { name: "e2e webkit", kind: Some(Kind::Webkit), run: browsers::webkit },
    Phase { name: "full", kind: Some(Kind::Full), run: browsers::full },
    Phase { name: "release", kind: None, run: phases::release },
    Phase { name: "packaging", kind: Some(Kind::Packaging), run: browsers::packaging },
];

pub(crate) use phases::docs;

/// Runs all phases, or those of one kind, each whatever became of those before it. Whether all went well.
pub(crate) fn run(workspace: &Workspace, only: Option<Kind>, full: bool) -> bool {
    let mut rows = Vec::new();
    let wanted = |phase: &&Phase| match only {
        None => full || phase.kind != Some(Kind::Full),
        only => phase.kind == only,
    };
    for phase in PHASES.iter().filter(wanted) {
        println!("\n━━ {} ━━", phase.name);
        let start = Instant::now();
        let outcome = (phase.run)(workspace);
        let time = start.elapsed();
        let row = match outcome {
            Ok((counts, against)) => Row::new(phase.name, counts, time, against),
            Err(error) => {
                println!("\nerror: {error:#}");
                Row::broken(phase.name, time, &format!("{error:#}"))
            }
        };
        println!("━━ {} ended after {} ━━", phase.name, seconds(time));
        rows.push(row);
    }
    let (text, success) = report::summary(&rows);
    println!("\n{text}");
    success
}
