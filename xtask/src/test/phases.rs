//! How each kind of test is run that needs no browser, and what the others share with them.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, ensure};

use crate::{
    build::{self, Profile},
    check as checks, demo, files, fuzz,
    process::Program,
    simulate,
    test::{Outcome, report::Counts, results},
    tools::{node, uipath_runtime, uipath_runtime::Tier},
    workspace::Workspace,
};

/// Longer than any phase takes: only what hangs is ended.
pub(super) const DEADLINE: Duration = Duration::from_hours(1);

pub(crate) fn check(workspace: &Workspace) -> Outcome {
    let (passed, failed) = checks::count(workspace);
    (Counts { passed, failed }, version("rustc"))
}

/// Among them those of the mock server, which play with `UiPath`'s runtime; and nonsense for every decoder.
pub(crate) fn native(workspace: &Workspace) -> Result<Outcome> {
    let runtime = uipath_runtime::ensure(workspace, Tier::Fast)?;
    let program = Program::new("cargo").args(["test", "--workspace", "--no-fail-fast"]);
    let (output, success) = program
        .directory(&workspace.root)
        .env("PAGEHAND_UIPATH_PYTHON", runtime.python)
        .env("PAGEHAND_UIPATH_PEER", runtime.peer)
        .deadline(DEADLINE)
        .tee()?;
    let counts = results::libtest(&output).with_exit(success);
    let (passed, failed) = fuzz::count(workspace)?;
    Ok((Counts { passed: counts.passed + passed, failed: counts.failed + failed }, version("rustc")))
}

/// Schedules that must hold, and ways to break the core that must be noticed.
pub(crate) fn simulation(workspace: &Workspace) -> Result<Outcome> {
    let (passed, failed) = simulate::count(workspace)?;
    Ok((Counts { passed, failed }, version("rustc")))
}

pub(crate) fn facade(workspace: &Workspace) -> Result<Outcome> {
    node::ensure_packages(workspace)?;
    build::run(workspace, Profile::Quick)?;
    facade_tests(workspace, "facade", &["facade", "docs"])
}

/// The pages for people alone.
pub(crate) fn docs(workspace: &Workspace) -> Result<()> {
    node::ensure_packages(workspace)?;
    build::run(workspace, Profile::Quick)?;
    let (counts, _) = facade_tests(workspace, "docs", &["docs"])?;
    ensure!(counts.failed == 0, "{} of {} tests of the pages failed", counts.failed, counts.passed + counts.failed);
    Ok(())
}

/// Tests in Node, in these folders, on the package as it is.
fn facade_tests(workspace: &Workspace, phase: &str, folders: &[&str]) -> Result<Outcome> {
    let mut tests = Vec::new();
    for folder in folders {
        tests.extend(test_files(workspace, folder)?);
    }
    let program = node_tests(workspace, phase, &tests)?.env("PAGEHAND_MOCK_SERVER", demo::mock_server(workspace)?);
    counted(workspace, phase, program, version("node"))
}

/// The budget, and whether what ships works: its scripts are one, and minified.
pub(crate) fn release(workspace: &Workspace) -> Result<Outcome> {
    build::run(workspace, Profile::Release)?;
    let (counts, against) = facade_tests(workspace, "release", &["facade", "docs"])?;
    Ok((Counts { passed: counts.passed + 1, ..counts }, ["budget.json, ", &against].concat()))
}

/// The files `*.test.js` and `*.test.mjs` in a folder of `tests/`.
pub(super) fn test_files(workspace: &Workspace, kind: &str) -> Result<Vec<PathBuf>> {
    let folder = workspace.root.join("tests").join(kind);
    let found = if folder.is_dir() { files::below(&folder)? } else { Vec::new() };
    let tests: Vec<PathBuf> =
        found.into_iter().filter(|file| is_test(file)).map(|file| Path::new("tests").join(kind).join(file)).collect();
    ensure!(!tests.is_empty(), "no tests: there is no *.test.js or *.test.mjs in tests/{kind}/");
    Ok(tests)
}

fn is_test(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".test.js") || name.ends_with(".test.mjs")
}

/// Node's test runner: readable on the screen, and TAP in a file for us to count.
pub(super) fn node_tests(workspace: &Workspace, kind: &str, tests: &[PathBuf]) -> Result<Program> {
    let output = workspace.root.join("test-output");
    files::make_folder(&output)?;
    let tap = tap_file(workspace, kind);
    files::remove(&tap)?;
    files::make_folder(&workspace.scratch())?;
    Ok(Program::new("node")
        .args(["--test", "--test-concurrency=1", "--test-reporter=spec", "--test-reporter-destination=stdout"])
        .arg("--test-reporter=tap")
        .arg(format!("--test-reporter-destination={}", tap.display()))
        .args(tests)
        .directory(&workspace.root)
        .env("PAGEHAND_PKG", workspace.pkg())
        .env("PAGEHAND_OUTPUT", output)
        .deadline(DEADLINE))
}

fn tap_file(workspace: &Workspace, kind: &str) -> PathBuf {
    workspace.scratch().join(format!("{kind}.tap"))
}

pub(super) fn counted(workspace: &Workspace, kind: &str, program: Program, against: String) -> Result<Outcome> {
    let (_, success) = program.tee()?;
    let tap = fs::read_to_string(tap_file(workspace, kind)).context("Node's test runner left no results")?;
    Ok((results::tap(&tap).with_exit(success), against))
}

/// What a program says about its version.
pub(super) fn version(program: &str) -> String {
    let answer = Program::new(program).arg("--version").capture().unwrap_or_default();
    let answer = answer.trim().trim_start_matches('v');
    if answer.starts_with(program) { answer.to_owned() } else { format!("{program} {answer}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_test_files_are_tests() {
        assert!(is_test(Path::new("a/b.test.js")) && is_test(Path::new("b.test.mjs")));
        assert!(!is_test(Path::new("helpers.mjs")) && !is_test(Path::new("a.test.json")));
    }
}
