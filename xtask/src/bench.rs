//! The benchmarks: the package as it ships, in Chromium, beside what an app would use instead.

use anyhow::Result;

use crate::{
    build::{self, Profile},
    demo,
    process::Program,
    tools::{browser::chromium, node},
    workspace::Workspace,
};

/// Builds the release and measures it. Whoever wants figures that hold lets the machine do nothing else meanwhile.
pub(crate) fn run(workspace: &Workspace, measures: &[String]) -> Result<()> {
    node::ensure_packages_of(workspace, "benches")?;
    let browser = chromium::ensure()?;
    build::run(workspace, Profile::Release)?;
    Program::new("node")
        .arg(workspace.root.join("benches/main.mjs"))
        .args(measures)
        .env("PAGEHAND_PKG", workspace.pkg())
        .env("PAGEHAND_SCRIPTS", build::scripts(workspace))
        .env("PAGEHAND_MOCK_SERVER", demo::mock_server(workspace)?)
        .env("PAGEHAND_CHROMIUM", browser.program)
        .env("PAGEHAND_FIXTURES", workspace.root.join("tests/fixtures"))
        .run()
}
