//! What is installed when it is missing: once per user and version, in the cache, so that a second clone starts fast.

pub(crate) mod agent_server;
pub(crate) mod browser;
mod cargo_install;
pub(crate) mod node;
pub(crate) mod schema_suite;
pub(crate) mod uipath_runtime;
pub(crate) mod wasm_bindgen;
pub(crate) mod wasm_target;

use std::{fs, path::Path};

use anyhow::{Context, Result};

use crate::files;

/// Makes a folder in one move: `fill` gets a folder beside it, so that neither a failure nor another run at the same
/// time leaves half of one behind.
fn install_folder(folder: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let name = folder.file_name().context("a folder without a name")?.to_string_lossy();
    let unfinished = folder.with_file_name(format!("{name}.unfinished-{}", std::process::id()));
    files::remove(&unfinished)?;
    files::make_folder(&unfinished)?;
    let filled = fill(&unfinished);
    if filled.is_ok() && fs::rename(&unfinished, folder).is_err() && !folder.is_dir() {
        files::remove(&unfinished)?;
        anyhow::bail!("cannot make the folder {}", folder.display());
    }
    files::remove(&unfinished)?;
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("pagehand-xtask-{}-{name}", std::process::id()));
        files::remove(&folder).unwrap();
        folder
    }

    #[test]
    fn a_folder_appears_only_when_it_is_complete() {
        let base = scratch("install");
        let folder = base.join("tool-1");
        let failed = install_folder(&folder, |unfinished| {
            files::write(&unfinished.join("half"), b"x")?;
            anyhow::bail!("no network")
        });
        assert_eq!(failed.unwrap_err().to_string(), "no network");
        assert!(!folder.exists());
        install_folder(&folder, |unfinished| files::write(&unfinished.join("bin/tool"), b"x")).unwrap();
        assert!(folder.join("bin/tool").exists());
        // Somebody else was faster: theirs stays.
        install_folder(&folder, |unfinished| files::write(&unfinished.join("other"), b"x")).unwrap();
        assert!(folder.join("bin/tool").exists() && !folder.join("other").exists());
        assert_eq!(fs::read_dir(&base).unwrap().count(), 1);
        files::remove(&base).unwrap();
    }
}
