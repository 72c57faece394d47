//! One small script instead of the modules.
//!
//! A page without a bundler fetches one file instead of a dozen in a row, and what compresses together compresses better: the
//! modules minified one by one take a third more. What bundlers look for stays as it is written: `new URL("./core.wasm",
//! import.meta.url)`, the names that `index.js` exports, and nothing that runs on import. The source map is fetched only by
//! who opens the developer tools, and makes stack traces readable; it carries the sources, since they are nowhere else.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

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
require('esbuild').buildSync({
  absWorkingDir: process.argv[1], entryPoints: ['src/index.js'], outfile: 'index.js',
  bundle: true, minify: true, format: 'esm', target: 'es2022', charset: 'utf8', legalComments: 'none',
  sourcemap: true, logLevel: 'warning',
});
";

/// Puts the bundle into the package's content, in the place of all scripts.
pub(crate) fn replace_scripts(
    workspace: &Workspace,
    packages: &Packages,
    content: &mut BTreeMap<PathBuf, PathBuf>,
) -> Result<()> {
    let folder = workspace.scratch().join("release").join("bundle");
    files::remove(&folder)?;
    for (file, source) in content.extract_if(.., |file, _| file.extension().is_some_and(|kind| kind == "js")) {
        let bytes = fs::read(&source).with_context(|| format!("cannot read {}", source.display()))?;
        files::write(&folder.join("src").join(file), &bytes)?;
    }
    step("bundles the scripts", || {
        Program::new("node").args(["-e", BUNDLE]).arg(&folder).directory(packages.folder()).run()
    })?;
    for file in ["index.js", "index.js.map"].map(Path::new) {
        content.insert(file.to_owned(), folder.join(file));
    }
    Ok(())
}
