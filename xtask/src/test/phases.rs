//! How each kind of test is run.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::{
    build::{self, Profile},
    check as checks, demo, files, fuzz,
    process::Program,
    simulate,
    test::{Outcome, report::Counts, results},
    tools::{
        agent_server, browser, browser::Browser, node, schema_suite, uipath_runtime, uipath_runtime::Tier,
        wasm_bindgen, wasm_target,
    },
    workspace::Workspace,
};

/// Longer than any phase takes: only what hangs is ended.
const DEADLINE: Duration = Duration::from_hours(1);

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

/// The library's own `#[wasm_bindgen_test]`s, and those in `tests/browser*.rs`.
pub(crate) fn browser(workspace: &Workspace) -> Result<Outcome> {
    wasm_target::ensure(workspace)?;
    let runner = wasm_bindgen::ensure(workspace)?.test_runner;
    let browser = browser::ensure()?;
    let capabilities = workspace.scratch().join("webdriver.json");
    files::write(&capabilities, capabilities_of(&browser).to_string().as_bytes())?;
    let mut program = Program::new("cargo").args(["test", "--no-fail-fast", "--package", "pagehand", "--lib"]);
    for test in workspace.integration_tests().into_iter().filter(|name| name.starts_with("browser")) {
        program = program.args(["--test", test]);
    }
    let (output, success) = program
        .args(["--target", wasm_target::TRIPLE])
        .directory(&workspace.root)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", &runner)
        .env("WASM_BINDGEN_USE_BROWSER", "1")
        .env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", &capabilities)
        .env("WASM_BINDGEN_TEST_TIMEOUT", "120")
        .env("CHROMEDRIVER", &browser.driver)
        .deadline(DEADLINE)
        .tee()?;
    Ok((results::libtest(&output).with_exit(success), browser.version))
}

/// The official tests of JSON Schema, on the engine as it ships.
pub(crate) fn suite(workspace: &Workspace) -> Result<Outcome> {
    let tests = test_files(workspace, "suite")?;
    let cases = schema_suite::ensure(workspace)?;
    let engine = build::schema_engine(workspace)?;
    let browser = browser::ensure()?;
    let mut program = node_tests(workspace, "suite", &tests)?
        .env("PAGEHAND_SUITE_CASES", cases)
        .env("PAGEHAND_SCHEMA_SCRIPT", engine.script)
        .env("PAGEHAND_SCHEMA_WASM", engine.wasm)
        .env("PAGEHAND_CHROMIUM", &browser.chromium);
    let mut against = browser.version;
    if let Some(firefox) = browser::firefox()? {
        against.push_str(", Firefox");
        program = program.env("PAGEHAND_FIREFOX", firefox);
    }
    counted(workspace, "suite", program, against)
}

/// The flags keep the browser from talking to the internet, and let it run as root, as in a container.
fn capabilities_of(browser: &Browser) -> serde_json::Value {
    let flags = [
        "--headless=new",
        "--no-sandbox",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--disable-gpu",
    ];
    json!({ "goog:chromeOptions": { "binary": browser.chromium, "args": flags } })
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

pub(crate) fn e2e(workspace: &Workspace) -> Result<Outcome> {
    let (program, against) = in_a_page(workspace, "e2e", Tier::Fast)?;
    counted(workspace, "e2e", program, against)
}

pub(crate) fn full(workspace: &Workspace) -> Result<Outcome> {
    let (program, against) = in_a_page(workspace, "full", Tier::Full)?;
    counted(workspace, "full", program, against)
}

/// The tests of a folder, with all that pages and servers need.
fn in_a_page(workspace: &Workspace, folder: &str, tier: Tier) -> Result<(Program, String)> {
    let tests = test_files(workspace, folder)?;
    node::ensure_packages(workspace)?;
    let browser = browser::ensure()?;
    let [current, older] = [agent_server::CURRENT, agent_server::OLDER];
    let server = agent_server::ensure(workspace, current)?;
    let older_server = agent_server::ensure(workspace, older)?;
    let runtime = uipath_runtime::ensure(workspace, tier)?;
    build::run(workspace, Profile::Quick)?;
    let program = node_tests(workspace, folder, &tests)?
        .env("PAGEHAND_MOCK_SERVER", demo::mock_server(workspace)?)
        .env("PAGEHAND_AGENT_SERVER", server)
        .env("PAGEHAND_OLDER_AGENT_SERVER", older_server)
        .env("PAGEHAND_SCRIPTED_LLM", workspace.root.join("tests/servers/openhands/scripted_llm.py"))
        .env("PAGEHAND_UIPATH_PYTHON", runtime.python)
        .env("PAGEHAND_UIPATH_PEER", runtime.peer)
        .env("PAGEHAND_UIPATH_AGENT", runtime.agent)
        .env("PAGEHAND_UIPATH_MODEL", runtime.model)
        .env("PAGEHAND_CHROMIUM", &browser.chromium);
    Ok((program, format!("{}, openhands-agent-server {current} and {older}, UiPath's runtime", browser.version)))
}

/// The budget, and whether what ships works: its scripts are one, and minified.
pub(crate) fn release(workspace: &Workspace) -> Result<Outcome> {
    build::run(workspace, Profile::Release)?;
    let (counts, against) = facade_tests(workspace, "release", &["facade", "docs"])?;
    Ok((Counts { passed: counts.passed + 1, ..counts }, ["budget.json, ", &against].concat()))
}

/// What ships, packed as it would be published: installed, bundled, served and used.
pub(crate) fn packaging(workspace: &Workspace) -> Result<Outcome> {
    let tests = test_files(workspace, "packaging")?;
    node::ensure_packages(workspace)?;
    node::ensure_packages_of(workspace, "tests/packaging")?;
    let browser = browser::ensure()?;
    build::run(workspace, Profile::Release)?;
    let program = node_tests(workspace, "packaging", &tests)?
        .env("PAGEHAND_MOCK_SERVER", demo::mock_server(workspace)?)
        .env("PAGEHAND_CHROMIUM", &browser.chromium);
    counted(workspace, "packaging", program, format!("{}, {}", browser.version, version("node")))
}

/// The files `*.test.js` and `*.test.mjs` in a folder of `tests/`.
fn test_files(workspace: &Workspace, kind: &str) -> Result<Vec<PathBuf>> {
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
fn node_tests(workspace: &Workspace, kind: &str, tests: &[PathBuf]) -> Result<Program> {
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

fn counted(workspace: &Workspace, kind: &str, program: Program, against: String) -> Result<Outcome> {
    let (_, success) = program.tee()?;
    let tap = fs::read_to_string(tap_file(workspace, kind)).context("Node's test runner left no results")?;
    Ok((results::tap(&tap).with_exit(success), against))
}

/// What a program says about its version.
fn version(program: &str) -> String {
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

    #[test]
    fn the_browser_is_told_to_stay_quiet_and_headless() {
        let browser = Browser { chromium: "/opt/chromium".into(), driver: "d".into(), version: "v".into() };
        let text = capabilities_of(&browser).to_string();
        assert!(text.contains("--headless=new") && text.contains("/opt/chromium"), "{text}");
    }
}
