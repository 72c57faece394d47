//! Everything that can be told without running the code.

use anyhow::{Context, Result, ensure};

use crate::{
    process::{Program, step},
    tools::{node, wasm_target},
    workspace::Workspace,
};

/// One check: its name and how it is done.
type Check = (&'static str, fn(&Workspace) -> Result<()>);

const CHECKS: [Check; 8] = [
    ("the code is formatted", formatted),
    ("clippy has no complaint about the native code", clippy),
    ("clippy has no complaint about the core for OpenHands in the browser", clippy_openhands),
    ("clippy has no complaint about the core for UiPath in the browser", clippy_uipath),
    ("clippy has no complaint about the schema engine in the browser", clippy_schema),
    ("the facade's types hold", types),
    ("the documentation has no warning", documentation),
    ("the pages say what is so", pages),
];

/// Does all checks; whether all went well.
pub(crate) fn run(workspace: &Workspace) -> bool {
    let (passed, failed) = count(workspace);
    println!("\n{passed} checks passed, {failed} failed");
    failed == 0
}

/// Does all checks, each whatever became of those before it, and counts them.
pub(crate) fn count(workspace: &Workspace) -> (u32, u32) {
    let mut counts = (0, 0);
    for (name, check) in CHECKS {
        match step(&format!("checks that {name}"), || check(workspace)) {
            Ok(()) => counts.0 += 1,
            Err(error) => {
                println!("  {error:#}");
                counts.1 += 1;
            }
        }
    }
    counts
}

fn cargo(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    Program::new("cargo").args(arguments).directory(&workspace.root).env("RUSTDOCFLAGS", "-D warnings").run()
}

fn formatted(workspace: &Workspace) -> Result<()> {
    cargo(workspace, &["fmt", "--all", "--check"]).context("`cargo fmt --all` repairs that")
}

fn clippy(workspace: &Workspace) -> Result<()> {
    cargo(workspace, &["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

fn clippy_openhands(workspace: &Workspace) -> Result<()> {
    clippy_wasm(workspace, &["--package", "pagehand", "--no-default-features", "--features", "openhands"])
}

fn clippy_uipath(workspace: &Workspace) -> Result<()> {
    clippy_wasm(workspace, &["--package", "pagehand", "--no-default-features", "--features", "uipath"])
}

fn clippy_schema(workspace: &Workspace) -> Result<()> {
    clippy_wasm(workspace, &["--package", "pagehand-schema"])
}

fn clippy_wasm(workspace: &Workspace, package: &[&str]) -> Result<()> {
    wasm_target::ensure(workspace)?;
    let target = [package, &["--lib", "--target", wasm_target::TRIPLE]].concat();
    cargo(workspace, &[&["clippy", "--quiet"], &target[..], &["--", "-D", "warnings"]].concat())
}

fn types(workspace: &Workspace) -> Result<()> {
    let project = workspace.root.join("tests/tsconfig.json");
    ensure!(project.is_file(), "tests/tsconfig.json is missing: it says which files are checked");
    let compiler = node::ensure_packages(workspace)?.script("typescript/bin/tsc")?;
    Program::new("node").arg(compiler).arg("--project").arg(project).directory(&workspace.root).run()
}

/// What needs no build: that samples compile, and that tables and links are right.
fn pages(workspace: &Workspace) -> Result<()> {
    node::ensure_packages(workspace)?;
    Program::new("node").args(["--test", "tests/docs/pages.test.mjs"]).directory(&workspace.root).run_quietly()
}

fn documentation(workspace: &Workspace) -> Result<()> {
    cargo(workspace, &["doc", "--quiet", "--workspace", "--no-deps"])
}
