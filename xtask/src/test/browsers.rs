//! Tests in browsers.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value;

use crate::{
    build::{self, Profile},
    demo, files,
    process::Program,
    test::{
        Outcome,
        phases::{DEADLINE, counted, node_tests, test_files, version},
        report::Counts,
        results,
    },
    tools::{
        agent_server,
        browser::{chromium, firefox, webkit},
        node, schema_suite, uipath_runtime,
        uipath_runtime::Tier,
        wasm_bindgen, wasm_target,
    },
    workspace::Workspace,
};

/// What only Chromium's debugger measures, what is written for Chromium's driver, and what is about real servers.
const CHROMIUM_ONLY: [&str; 4] = ["leaks.test.mjs", "demo.test.mjs", "demo-appearance.test.mjs", "restarts.test.mjs"];
/// Of the calls in tabs that are reloaded, in a browser after the first.
const FEWER_CALLS: &str = "60";

/// What has to work in every browser: calls, questions, tabs, storage, loading under a policy.
const ESSENCE: [&str; 6] = [
    "approvals.test.mjs",
    "calls.test.mjs",
    "loading.test.mjs",
    "reloads.test.mjs",
    "tabs.test.mjs",
    "uipath-calls.test.mjs",
];

/// The library's own `#[wasm_bindgen_test]`s, and those in `tests/browser*.rs`, in two browsers.
pub(crate) fn wasm(workspace: &Workspace) -> Result<Outcome> {
    let chromium = chromium::ensure()?;
    let firefox = firefox::ensure()?;
    let gecko = firefox::ensure_driver(workspace)?;
    let one = wasm_in(workspace, "CHROMEDRIVER", &chromium.driver, &chromium.capabilities())?;
    let other = wasm_in(workspace, "GECKODRIVER", &gecko, &firefox.capabilities())?;
    Ok((one.and(other), format!("{}, {}", chromium.version, firefox.version)))
}

/// `variable` says which kind of driver it is.
fn wasm_in(workspace: &Workspace, variable: &str, driver: &Path, capabilities: &Value) -> Result<Counts> {
    wasm_target::ensure(workspace)?;
    let runner = wasm_bindgen::ensure(workspace)?.test_runner;
    let wanted = workspace.scratch().join("webdriver.json");
    files::write(&wanted, capabilities.to_string().as_bytes())?;
    let mut program = Program::new("cargo").args(["test", "--no-fail-fast", "--package", "pagehand", "--lib"]);
    for test in workspace.integration_tests().into_iter().filter(|name| name.starts_with("browser")) {
        program = program.args(["--test", test]);
    }
    let (output, success) = program
        .args(["--target", wasm_target::TRIPLE])
        .directory(&workspace.root)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", &runner)
        .env("WASM_BINDGEN_USE_BROWSER", "1")
        .env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", &wanted)
        .env("WASM_BINDGEN_TEST_TIMEOUT", "120")
        // The runner takes the first driver that it is told of.
        .without("CHROMEDRIVER")
        .without("GECKODRIVER")
        .env(variable, driver)
        .deadline(DEADLINE)
        .tee()?;
    Ok(results::libtest(&output).with_exit(success))
}

/// The official tests of JSON Schema, on the engine as it ships.
pub(crate) fn suite(workspace: &Workspace) -> Result<Outcome> {
    let tests = test_files(workspace, "suite")?;
    let cases = schema_suite::ensure(workspace)?;
    let engine = build::schema_engine(workspace)?;
    let (chromium, firefox) = (chromium::ensure()?, firefox::ensure()?);
    let program = node_tests(workspace, "suite", &tests)?
        .env("PAGEHAND_SUITE_CASES", cases)
        .env("PAGEHAND_SCHEMA_SCRIPT", engine.script)
        .env("PAGEHAND_SCHEMA_WASM", engine.wasm)
        .env("PAGEHAND_CHROMIUM", &chromium.program)
        .env("PAGEHAND_FIREFOX", &firefox.program);
    counted(workspace, "suite", program, format!("{}, {}", chromium.version, firefox.version))
}

pub(crate) fn chromium(workspace: &Workspace) -> Result<Outcome> {
    in_chromium(workspace, "e2e", Tier::Fast)
}

pub(crate) fn full(workspace: &Workspace) -> Result<Outcome> {
    in_chromium(workspace, "full", Tier::Full)
}

/// The tests of a folder, all of them, against all servers.
fn in_chromium(workspace: &Workspace, folder: &str, tier: Tier) -> Result<Outcome> {
    let browser = chromium::ensure()?;
    let tests = test_files(workspace, folder)?;
    let (program, servers) = in_a_page(workspace, folder, &tests, tier)?;
    let program = program.env("PAGEHAND_BROWSER", "chromium").env("PAGEHAND_CHROMIUM", &browser.program);
    counted(workspace, folder, program, format!("{}, {servers}", browser.version))
}

pub(crate) fn firefox(workspace: &Workspace) -> Result<Outcome> {
    let browser = firefox::ensure()?;
    let (tests, left) = split(test_files(workspace, "e2e")?, |name| !CHROMIUM_ONLY.contains(&name));
    println!("Chromium only: {}", left.join(", "));
    let (program, _) = in_a_page(workspace, "e2e-firefox", &tests, Tier::Fast)?;
    let program = program
        .env("PAGEHAND_BROWSER", "firefox")
        .env("PAGEHAND_FIREFOX", &browser.program)
        .env("PAGEHAND_CALLS", FEWER_CALLS);
    counted(workspace, "e2e-firefox", program, format!("{}, stand-ins for the servers", browser.version))
}

pub(crate) fn webkit(workspace: &Workspace) -> Result<Outcome> {
    let browser = webkit::ensure()?;
    let (tests, left) = split(test_files(workspace, "e2e")?, |name| ESSENCE.contains(&name));
    println!("Not in WebKit: {}", left.join(", "));
    let (program, _) = in_a_page(workspace, "e2e-webkit", &tests, Tier::Fast)?;
    let program = program
        .env("PAGEHAND_BROWSER", "webkit")
        .env("PAGEHAND_WEBKIT", &browser.program)
        .env("PAGEHAND_WEBKIT_DRIVER", &browser.driver)
        .env("PAGEHAND_CALLS", FEWER_CALLS);
    counted(workspace, "e2e-webkit", program, format!("{}, stand-ins for the servers", browser.version))
}

/// What ships, packed as it would be published: installed, bundled, served and used.
pub(crate) fn packaging(workspace: &Workspace) -> Result<Outcome> {
    let tests = test_files(workspace, "packaging")?;
    node::ensure_packages(workspace)?;
    node::ensure_packages_of(workspace, "tests/packaging")?;
    let browser = chromium::ensure()?;
    build::run(workspace, Profile::Release)?;
    let program = node_tests(workspace, "packaging", &tests)?
        .env("PAGEHAND_MOCK_SERVER", demo::mock_server(workspace)?)
        .env("PAGEHAND_CHROMIUM", &browser.program);
    counted(workspace, "packaging", program, format!("{}, {}", browser.version, version("node")))
}

/// The files that are wanted, and the names of the others.
fn split(files: Vec<PathBuf>, wanted: impl Fn(&str) -> bool) -> (Vec<PathBuf>, Vec<String>) {
    let name = |file: &PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (wanted, left): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| wanted(&name(file)));
    (wanted, left.iter().map(name).collect())
}

/// Tests with all that their pages and servers need, but for the browser; and the servers.
fn in_a_page(workspace: &Workspace, phase: &str, tests: &[PathBuf], tier: Tier) -> Result<(Program, String)> {
    node::ensure_packages(workspace)?;
    let [current, older] = [agent_server::CURRENT, agent_server::OLDER];
    let server = agent_server::ensure(workspace, current)?;
    let older_server = agent_server::ensure(workspace, older)?;
    let runtime = uipath_runtime::ensure(workspace, tier)?;
    build::run(workspace, Profile::Quick)?;
    let program = node_tests(workspace, phase, tests)?
        .env("PAGEHAND_MOCK_SERVER", demo::mock_server(workspace)?)
        .env("PAGEHAND_AGENT_SERVER", server)
        .env("PAGEHAND_OLDER_AGENT_SERVER", older_server)
        .env("PAGEHAND_SCRIPTED_LLM", workspace.root.join("tests/servers/openhands/scripted_llm.py"))
        .env("PAGEHAND_UIPATH_PYTHON", runtime.python)
        .env("PAGEHAND_UIPATH_PEER", runtime.peer)
        .env("PAGEHAND_UIPATH_AGENT", runtime.agent)
        .env("PAGEHAND_UIPATH_MODEL", runtime.model);
    Ok((program, format!("openhands-agent-server {current} and {older}, UiPath's runtime")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_browser_leaves_out_are_named() {
        let files = ["tests/e2e/calls.test.mjs", "tests/e2e/leaks.test.mjs"].map(PathBuf::from).to_vec();
        let (tests, left) = split(files, |name| !CHROMIUM_ONLY.contains(&name));
        assert_eq!(tests, [PathBuf::from("tests/e2e/calls.test.mjs")]);
        assert_eq!(left, ["leaks.test.mjs"]);
    }

    #[test]
    fn the_lists_name_files_that_exist() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/e2e");
        for name in CHROMIUM_ONLY.iter().chain(&ESSENCE) {
            assert!(folder.join(name).is_file(), "{name}");
        }
    }
}
