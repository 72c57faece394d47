//! Whatever may come from outside, given to every decoder of the core.

use std::time::Duration;

use anyhow::Result;
use clap::Args;

use crate::{process::Program, workspace::Workspace};

/// Inputs that a test run gives: some twenty seconds of them.
const INPUTS: u64 = 300_000;
/// Longer than any of it takes: only what hangs is ended.
const DEADLINE: Duration = Duration::from_hours(2);

/// What is to be given to whom.
#[derive(Args)]
pub(crate) struct Options {
    /// How many inputs, shared among the decoders.
    #[arg(long, default_value_t = INPUTS)]
    inputs: u64,
    /// Decides them all.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Only to this one.
    #[arg(long)]
    decoder: Option<String>,
}

/// Whether nothing broke.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<bool> {
    let mut program = Program::new("cargo")
        .args(["run", "--quiet", "--package", "pagehand-fuzz", "--profile", "simulation", "--"])
        .args(["--inputs", &options.inputs.to_string(), "--seed", &options.seed.to_string()]);
    if let Some(decoder) = &options.decoder {
        program = program.args(["--decoder", decoder]);
    }
    let (_, success) = program.directory(&workspace.root).deadline(DEADLINE).tee()?;
    Ok(success)
}

/// The inputs of a test run, counted as one test.
pub(crate) fn count(workspace: &Workspace) -> Result<(u32, u32)> {
    let success = run(workspace, &Options { inputs: INPUTS, seed: 0, decoder: None })?;
    Ok((u32::from(success), u32::from(!success)))
}
