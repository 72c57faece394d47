//! A few small scripts instead of the modules.
//!
//! A page without a bundler fetches two files instead of a dozen in a row, and what compresses together compresses better: the
//! modules minified one by one take a third more. There is a script for each protocol, and one that they share, so that it is
//! there once, whatever an app imports; `index.js` only passes on what the two have. What bundlers look for stays as it is
//! written: `new URL("./openhands.wasm", import.meta.url)`, the names that the entries export, and nothing that runs on import.
//! `inline.js` is once more everything, with each wasm file as text in a script of its own.
//! The source maps are fetched only by who opens the developer tools, and make stack traces readable; they carry the sources,
//! since they are nowhere else.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    files,
    process::{Program, step},
    tools::node::Packages,
    workspace::Workspace,
};

/// Through the interface for Node, since the package's program is a script here and an executable there.
const BUNDLE: &str = include_str!("bundle.js");

/// Puts the bundle into the package's content, in the place of all scripts.
pub(crate) fn replace_scripts(
    workspace: &Workspace,
    packages: &Packages,
    content: &mut BTreeMap<PathBuf, PathBuf>,
) -> Result<()> {
    let folder = folder(workspace);
    files::remove(&folder)?;
    for (file, source) in content.iter().filter(|(file, _)| is(file, "js") || is(file, "wasm")) {
        let bytes = fs::read(source).with_context(|| format!("cannot read {}", source.display()))?;
        files::write(&scripts(workspace).join(file), &bytes)?;
    }
    content.retain(|file, _| !is(file, "js"));
    step("bundles the scripts", || {
        Program::new("node").args(["-e", BUNDLE]).arg(&folder).directory(packages.folder()).run()
    })?;
    let bundles = folder.join("out");
    ensure!(
        !files::read(&bundles.join("inline.js"))?.contains("import.meta"),
        "the inline entry still looks for a file: bundle.js misses a place"
    );
    for file in files::below(&bundles)? {
        content.insert(file.clone(), bundles.join(file));
    }
    Ok(())
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.scratch().join("release").join("bundle")
}

/// Where the scripts of a release lie before they become one.
pub(crate) fn scripts(workspace: &Workspace) -> PathBuf {
    folder(workspace).join("src")
}

fn is(file: &Path, kind: &str) -> bool {
    file.extension().is_some_and(|extension| extension == kind)
}
