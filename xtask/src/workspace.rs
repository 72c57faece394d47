//! Where things are, and which versions.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{files, process::Program};

/// Where things are, and which versions.
pub(crate) struct Workspace {
    /// The repository.
    pub(crate) root: PathBuf,
    /// Cargo's target folder, wherever its settings put it.
    pub(crate) target: PathBuf,
    /// What is installed once per user.
    pub(crate) cache: PathBuf,
    /// The version in Cargo.toml.
    pub(crate) version: String,
    metadata: Value,
}

impl Workspace {
    pub(crate) fn find() -> Result<Self> {
        let own = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
        let root = own.parent().context("xtask has no folder around it")?.to_owned();
        let text = Program::new("cargo")
            .args(["metadata", "--format-version", "1", "--no-deps"])
            .directory(&root)
            .capture()?;
        let metadata: Value = serde_json::from_str(&text).context("`cargo metadata` does not answer with JSON")?;
        let target = metadata
            .pointer("/target_directory")
            .and_then(Value::as_str)
            .context("`cargo metadata` names no target")?;
        let version = package(&metadata, "pagehand")
            .and_then(|package| package.get("version")?.as_str())
            .context("`cargo metadata` knows no package pagehand")?;
        Ok(Self { target: target.into(), version: version.to_owned(), cache: cache()?, root, metadata })
    }

    /// The npm package that `build` makes.
    pub(crate) fn pkg(&self) -> PathBuf {
        self.root.join("pkg")
    }

    /// What the build leaves between its steps.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.target.join("pagehand")
    }

    /// The version of a dependency that Cargo.lock holds.
    pub(crate) fn locked_version(&self, name: &str) -> Result<String> {
        let text = files::read(&self.root.join("Cargo.lock"))?;
        locked_version(&text, name).with_context(|| format!("Cargo.lock has no {name}"))
    }

    /// Names of the root package's integration tests.
    pub(crate) fn integration_tests(&self) -> Vec<&str> {
        let targets = package(&self.metadata, "pagehand").and_then(|package| package.get("targets")?.as_array());
        targets
            .into_iter()
            .flatten()
            .filter(|target| target.pointer("/kind/0").and_then(Value::as_str) == Some("test"))
            .filter_map(|target| target.get("name")?.as_str())
            .collect()
    }
}

fn package<'a>(metadata: &'a Value, name: &str) -> Option<&'a Value> {
    let packages = metadata.get("packages")?.as_array()?;
    packages.iter().find(|package| package.get("name").and_then(Value::as_str) == Some(name))
}

/// `~/.cache/pagehand`, or below `XDG_CACHE_HOME`.
fn cache() -> Result<PathBuf> {
    let base = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let base = base.or_else(|| env::home_dir().map(|home| home.join(".cache")));
    let base = base.context("no home folder: set HOME or XDG_CACHE_HOME")?;
    Ok(base.join("pagehand"))
}

/// The version of a package in the text of a Cargo.lock.
fn locked_version(lock: &str, name: &str) -> Option<String> {
    let wanted = format!("name = \"{name}\"");
    let mut lines = lock.lines().skip_while(|line| line.trim() != wanted).skip(1);
    let version = lines.next()?.trim().strip_prefix("version = \"")?.strip_suffix('"')?;
    Some(version.to_owned())
}

/// The first program of this name on PATH.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
version = 4

[[package]]
name = "wasm-bindgen"
version = "0.2.130"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "wasm-bindgen-futures"
version = "0.4.80"
"#;

    #[test]
    fn a_locked_version_is_that_of_the_exact_name() {
        assert_eq!(locked_version(LOCK, "wasm-bindgen").as_deref(), Some("0.2.130"));
        assert_eq!(locked_version(LOCK, "wasm-bindgen-futures").as_deref(), Some("0.4.80"));
    }

    #[test]
    fn a_package_that_is_not_locked_has_no_version() {
        assert_eq!(locked_version(LOCK, "wasm"), None);
        assert_eq!(locked_version("", "wasm-bindgen"), None);
    }

    #[test]
    fn this_repository_locks_wasm_bindgen() {
        let lock = include_str!("../../Cargo.lock");
        assert!(locked_version(lock, "wasm-bindgen").is_some());
    }
}
