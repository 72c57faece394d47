//! From cargo to the npm package: the wasm files, their JavaScript, the facade around them.

mod bundle;
mod crates;
mod glue;
mod names;
mod package;
mod sizes;
mod wasm;

use std::time::Instant;

use anyhow::Result;
pub(crate) use bundle::scripts;
use clap::ValueEnum;

pub(crate) use wasm::Built;

use crate::{
    process::{Program, seconds, step},
    tools::{node, wasm_bindgen, wasm_target},
    workspace::Workspace,
};

/// How much work goes into the wasm files; profiles of these names are in Cargo.toml.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// What ships: optimised, and the scripts in one.
    Release,
    /// For tests and the demo: no link-time optimisation, no wasm-opt, no Node.
    Quick,
}

impl Profile {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Quick => "quick",
        }
    }
}

/// Builds `pkg/`. A release is checked against the engine of Node and against the budget.
pub(crate) fn run(workspace: &Workspace, profile: Profile) -> Result<()> {
    let start = Instant::now();
    wasm_target::ensure(workspace)?;
    let tools = wasm_bindgen::ensure(workspace)?;
    let packages = match profile {
        Profile::Release => Some(node::ensure_packages(workspace)?),
        Profile::Quick => None,
    };
    package::check_sources(workspace)?;
    let modules = wasm::MODULES
        .iter()
        .map(|module| wasm::build(workspace, &tools, packages.as_ref(), profile, module))
        .collect::<Result<Vec<_>>>()?;
    package::assemble(workspace, packages.as_ref(), &modules)?;
    println!("▸ pkg/ is version {} ({}), built in {}", workspace.version, profile.name(), seconds(start.elapsed()));
    if profile == Profile::Release {
        step("compiles the wasm files in Node, to be sure that engines take them", || {
            modules.iter().try_for_each(compile)
        })?;
        sizes::report(workspace, false)?;
    }
    Ok(())
}

/// Builds the schema engine alone, as it ships.
pub(crate) fn schema_engine(workspace: &Workspace) -> Result<Built> {
    wasm_target::ensure(workspace)?;
    let tools = wasm_bindgen::ensure(workspace)?;
    let packages = node::ensure_packages(workspace)?;
    wasm::build(workspace, &tools, Some(&packages), Profile::Release, &wasm::SCHEMA)
}

/// Measures `pkg/` as it is.
pub(crate) fn sizes(workspace: &Workspace) -> Result<()> {
    node::ensure_node()?;
    sizes::report(workspace, true)
}

fn compile(module: &Built) -> Result<()> {
    let script = "WebAssembly.compile(require('fs').readFileSync(process.argv[1]))\
                  .catch(error => { console.error(String(error)); process.exit(1); })";
    Program::new("node").args(["-e", script]).arg(&module.wasm).run_quietly()
}
