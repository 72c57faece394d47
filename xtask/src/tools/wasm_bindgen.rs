//! The wasm-bindgen command line, in exactly the version of the crate: they share a private format.

use std::path::PathBuf;

use anyhow::Result;

use crate::{tools::cargo_install, workspace::Workspace};

/// The two programs that the package `wasm-bindgen-cli` provides.
pub(crate) struct WasmBindgen {
    /// Turns cargo's wasm into a module with JavaScript around it.
    pub(crate) bindgen: PathBuf,
    /// Runs `#[wasm_bindgen_test]`s.
    pub(crate) test_runner: PathBuf,
}

/// Finds the programs in the cache, or compiles them into it.
pub(crate) fn ensure(workspace: &Workspace) -> Result<WasmBindgen> {
    let version = workspace.locked_version("wasm-bindgen")?;
    let [bindgen, test_runner] = ["wasm-bindgen", "wasm-bindgen-test-runner"];
    let folder = cargo_install::ensure(workspace, "wasm-bindgen-cli", &version, &[bindgen, test_runner])?;
    Ok(WasmBindgen { bindgen: folder.join(bindgen), test_runner: folder.join(test_runner) })
}
