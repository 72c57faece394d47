//! Rust's standard library for the browser.

use anyhow::{Context, Result};

use crate::{
    process::{Program, step},
    workspace::{Workspace, on_path},
};

/// The target triple of everything that runs in the page.
pub(crate) const TRIPLE: &str = "wasm32-unknown-unknown";

/// Installs the target through rustup if this toolchain lacks it.
pub(crate) fn ensure(workspace: &Workspace) -> Result<()> {
    let folder = Program::new("rustc")
        .args(["--print", "target-libdir", "--target", TRIPLE])
        .directory(&workspace.root)
        .capture()?;
    if std::path::Path::new(folder.trim()).is_dir() {
        return Ok(());
    }
    on_path("rustup").with_context(|| {
        format!("this Rust cannot build for {TRIPLE}, and there is no rustup to add it: install Rust from rustup.rs")
    })?;
    step("adds the wasm32 target to the Rust toolchain", || {
        Program::new("rustup").args(["target", "add", TRIPLE]).directory(&workspace.root).run_quietly()
    })
}
