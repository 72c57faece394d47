//! `UiPath`'s own runtime.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};

use crate::{
    files,
    process::{Program, step},
    workspace::{Workspace, on_path},
};

/// How much of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    /// Bridge and chat runtime, with a script in the place of the agent.
    Fast,
    /// The agent's graph, too.
    Full,
}

/// What tests start.
pub(crate) struct Runtime {
    /// A Python with the packages.
    pub(crate) python: PathBuf,
    /// The fast peer.
    pub(crate) peer: PathBuf,
    /// The full agent, and its model.
    pub(crate) agent: PathBuf,
    pub(crate) model: PathBuf,
}

/// Installs the versions of the lock file, once per user.
pub(crate) fn ensure(workspace: &Workspace, tier: Tier) -> Result<Runtime> {
    on_path("python3").context(
        "there is no python3, which UiPath's runtime needs: install Python 3.11 or later with its venv module \
         (Debian: `apt-get install python3 python3-venv`)",
    )?;
    let sources = workspace.root.join("tests/servers/uipath");
    let script = sources.join("setup-uipath-runtime.sh");
    let (name, option) = match tier {
        Tier::Fast => ("fast", None),
        Tier::Full => ("full", Some("--full")),
    };
    let content = |name: &str| fs::read(sources.join(name)).with_context(|| format!("cannot read {name}"));
    let lock = content(&format!("uipath-{name}.lock"))?;
    let digest = files::digest(&[&content("setup-uipath-runtime.sh")?, &lock]);
    let folder = workspace.cache.join(format!("uipath-{name}-{digest}"));
    let what = format!("looks after UiPath's own runtime ({name}); the first time takes up to a minute");
    step(&what, || Program::new("sh").arg(&script).arg(&folder).args(option).run())?;
    Ok(Runtime {
        python: folder.join("bin/python"),
        peer: sources.join("min_runtime.py"),
        agent: sources.join("agent/run_agent.py"),
        model: sources.join("agent/model_server.py"),
    })
}
