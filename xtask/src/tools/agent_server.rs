//! The real `OpenHands` agent server.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};

use crate::{
    files,
    process::{Program, step},
    workspace::{Workspace, on_path},
};

/// An installed agent server.
pub(crate) struct AgentServer {
    /// Starts it: `--port N --data DIR`.
    pub(crate) launcher: PathBuf,
    /// Name and version.
    pub(crate) version: String,
}

/// Installs the server with the versions of its lock file, once per user.
pub(crate) fn ensure(workspace: &Workspace) -> Result<AgentServer> {
    on_path("python3").context(
        "there is no python3, which the OpenHands agent server needs: install Python 3 with its venv module \
         (Debian: `apt-get install python3 python3-venv`)",
    )?;
    let sources = workspace.root.join("tests/servers/openhands");
    let script = sources.join("setup-agent-server.sh");
    let content = |name: &str| fs::read(sources.join(name)).with_context(|| format!("cannot read {name}"));
    let digest = files::digest(&[&content("setup-agent-server.sh")?, &content("agent-server.lock")?]);
    let folder = workspace.cache.join(format!("agent-server-{digest}"));
    let launcher = folder.join("agent-server");
    // The script itself is quick when there is nothing to do, and repairs what was left half done.
    step("looks after the real OpenHands agent server; the first time takes half a minute", || {
        files::make_folder(&folder)?;
        Program::new("bash").arg(&script).arg(&folder).run()
    })?;
    let ask = "import importlib.metadata as m; print(m.version('openhands-agent-server'))";
    let version = Program::new(folder.join("venv/bin/python")).args(["-c", ask]).capture()?;
    Ok(AgentServer { launcher, version: format!("openhands-agent-server {}", version.trim()) })
}
