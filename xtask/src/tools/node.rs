//! Node, and the npm packages that the package.json of tests, benches and tests/packaging name.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    files,
    process::{Program, step},
    tools::install_folder,
    workspace::Workspace,
};

/// The oldest Node that the package supports.
const OLDEST: u32 = 20;

/// What decides over the installed packages.
const INPUTS: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

/// The npm packages of a folder, as its `node_modules`.
pub(crate) struct Packages {
    folder: PathBuf,
}

impl Packages {
    /// Where Node finds them.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A script that a package provides, to be run with Node.
    pub(crate) fn script(&self, path: &str) -> Result<PathBuf> {
        let script = self.folder.join("node_modules").join(path);
        ensure!(script.is_file(), "npm installed no {path}: does tests/package.json name its package?");
        Ok(script)
    }
}

/// Checks that Node is there and not too old.
pub(crate) fn ensure_node() -> Result<()> {
    let advice = format!("install Node {OLDEST} or later, from nodejs.org or your system's packages");
    let answer = Program::new("node").arg("--version").capture().with_context(|| advice.clone())?;
    let major = major_version(&answer).with_context(|| format!("`node --version` says {answer:?}"))?;
    ensure!(major >= OLDEST, "Node {} is too old: {advice}", answer.trim());
    Ok(())
}

/// Installs what tests and the build need into the cache if it is not there, and links it into `tests/`.
pub(crate) fn ensure_packages(workspace: &Workspace) -> Result<Packages> {
    ensure_packages_of(workspace, "tests")
}

/// The same of another folder.
pub(crate) fn ensure_packages_of(workspace: &Workspace, name: &str) -> Result<Packages> {
    ensure_node()?;
    let source = workspace.root.join(name);
    let inputs: Vec<Vec<u8>> = INPUTS.iter().map(|name| fs::read(source.join(name)).unwrap_or_default()).collect();
    let digest = files::digest(&inputs.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let folder = workspace.cache.join(format!("npm-{digest}"));
    if !folder.is_dir() {
        step(&format!("installs the npm packages of {name}/package.json for this user"), || {
            install_folder(&folder, |unfinished| {
                for (name, content) in INPUTS.iter().zip(&inputs) {
                    files::write(&unfinished.join(name), content)?;
                }
                Program::new("npm").args(["ci", "--no-audit", "--no-fund"]).directory(unfinished).run_quietly()
            })
        })?;
    }
    link(&folder.join("node_modules"), &source.join("node_modules"))?;
    Ok(Packages { folder })
}

fn link(to: &Path, from: &Path) -> Result<()> {
    if fs::read_link(from).is_ok_and(|old| old == to) {
        return Ok(());
    }
    files::remove(from)?;
    #[cfg(unix)]
    let linked = std::os::unix::fs::symlink(to, from);
    #[cfg(windows)]
    let linked = std::os::windows::fs::symlink_dir(to, from);
    linked.with_context(|| format!("cannot link {} to {}", from.display(), to.display()))
}

/// The first number of `v20.1.2`.
fn major_version(text: &str) -> Option<u32> {
    text.trim().trim_start_matches('v').split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read() {
        assert_eq!(major_version("v20.20.2\n"), Some(20));
        assert_eq!(major_version("24.0.0-nightly"), Some(24));
        assert_eq!(major_version("command not found"), None);
    }
}
