//! The official JSON-Schema-Test-Suite.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};

use crate::{
    files,
    process::{Program, step},
    workspace::{Workspace, on_path},
};

/// What decides over its content.
const SOURCES: [&str; 4] =
    ["setup-json-schema-test-suite.sh", "json-schema-test-suite.lock", "cases.py", "no-build/hatchling/build.py"];

/// Fetches it once per user; answers with the file that holds its tests.
pub(crate) fn ensure(workspace: &Workspace) -> Result<PathBuf> {
    on_path("python3").context(
        "there is no python3, which fetches the JSON-Schema-Test-Suite: install Python 3.11 or later with its venv module \
         (Debian: `apt-get install python3 python3-venv`)",
    )?;
    let sources = workspace.root.join("tests/suite/source");
    let read = |name| fs::read(sources.join(name)).with_context(|| format!("cannot read {name}"));
    let contents = SOURCES.into_iter().map(read).collect::<Result<Vec<_>>>()?;
    let digest = files::digest(&contents.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let folder = workspace.cache.join(format!("json-schema-test-suite-{digest}"));
    let script = sources.join("setup-json-schema-test-suite.sh");
    step("looks after the JSON-Schema-Test-Suite", || {
        files::make_folder(&folder)?;
        Program::new("sh").arg(&script).arg(&folder).run()
    })?;
    Ok(folder.join("cases.json"))
}
