//! The real `OpenHands` agent server.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};

use crate::{
    files,
    process::{Program, step},
    workspace::{Workspace, on_path},
};

/// The release with the session socket.
pub(crate) const CURRENT: &str = "1.58.2";
/// A release that has the older socket only.
pub(crate) const OLDER: &str = "1.43.1";

/// Installs a release with the versions of its lock file, once per user; answers with the program that starts it:
/// `--port N --data DIR`.
pub(crate) fn ensure(workspace: &Workspace, version: &str) -> Result<PathBuf> {
    on_path("python3").context(
        "there is no python3, which the OpenHands agent server needs: install Python 3 with its venv module \
         (Debian: `apt-get install python3 python3-venv`)",
    )?;
    let sources = workspace.root.join("tests/servers/openhands");
    let script = sources.join("setup-agent-server.sh");
    let content = |name: &str| fs::read(sources.join(name)).with_context(|| format!("cannot read {name}"));
    let lock = content(&format!("agent-server-{version}.lock"))?;
    let digest = files::digest(&[&content("setup-agent-server.sh")?, &lock]);
    let folder = workspace.cache.join(format!("agent-server-{version}-{digest}"));
    // The script itself is quick when there is nothing to do, and repairs what was left half done.
    let what = format!("looks after the real OpenHands agent server {version}; the first time takes half a minute");
    step(&what, || {
        files::make_folder(&folder)?;
        Program::new("bash").arg(&script).arg(version).arg(&folder).run()
    })?;
    Ok(folder.join("agent-server"))
}
