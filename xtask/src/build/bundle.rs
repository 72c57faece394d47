//! A few small scripts instead of the modules.
//!
//! A page without a bundler fetches two files instead of a dozen in a row, and what compresses together compresses better: the
//! modules minified one by one take a third more. There is a script for each protocol, and one that they share, so that it is
//! there once, whatever an app imports; `index.js` only passes on what the two have. What bundlers look for stays as it is
//! written: `new URL("./openhands.wasm", import.meta.url)`, the names that the entries export, and nothing that runs on import.
//! The source maps are fetched only by who opens the developer tools, and make stack traces readable; they carry the sources,
//! since they are nowhere else.

use std::{collections::BTreeMap, fs, path::PathBuf};

use anyhow::{Context, Result};

use crate::{
    files,
    process::{Program, step},
    tools::node::Packages,
    workspace::Workspace,
};

/// Through the interface for Node, since the package's program is a script here and an executable there.
/// The target is the language that the sources are written in and checked for (tests/tsconfig.json).
const BUNDLE: &str = "
const { buildSync } = require('esbuild'), options = {
  absWorkingDir: process.argv[1], outdir: 'out',
  bundle: true, minify: true, format: 'esm', target: 'es2022', charset: 'utf8', legalComments: 'none',
  sourcemap: true, logLevel: 'warning',
};
buildSync({ ...options, entryPoints: ['src/openhands.js', 'src/uipath.js'], splitting: true, chunkNames: 'shared' });
buildSync({
  ...options, entryPoints: ['src/index.js'], external: ['./openhands.js', './uipath.js'],
  // Named here already, it is fetched beside the two that need it, not after them.
  banner: { js: 'import\"./shared.js\";' },
});
";

/// Puts the bundle into the package's content, in the place of all scripts.
pub(crate) fn replace_scripts(
    workspace: &Workspace,
    packages: &Packages,
    content: &mut BTreeMap<PathBuf, PathBuf>,
) -> Result<()> {
    let folder = folder(workspace);
    files::remove(&folder)?;
    for (file, source) in content.extract_if(.., |file, _| file.extension().is_some_and(|kind| kind == "js")) {
        let bytes = fs::read(&source).with_context(|| format!("cannot read {}", source.display()))?;
        files::write(&scripts(workspace).join(file), &bytes)?;
    }
    step("bundles the scripts", || {
        Program::new("node").args(["-e", BUNDLE]).arg(&folder).directory(packages.folder()).run()
    })?;
    let bundles = folder.join("out");
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
