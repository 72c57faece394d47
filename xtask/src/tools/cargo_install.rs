//! Programs that crates provide, compiled once per user and version.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::{
    files,
    process::{Program, step},
    tools::install_folder,
    workspace::Workspace,
};

/// The folder with the programs of a crate: from the cache, or compiled into it, which takes minutes.
pub(crate) fn ensure(workspace: &Workspace, name: &str, version: &str, programs: &[&str]) -> Result<PathBuf> {
    let folder = workspace.cache.join(format!("{name}-{version}"));
    let all = || programs.iter().all(|program| works(&folder.join("bin").join(program), version));
    if !all() {
        files::remove(&folder)?;
        step(&format!("installs {name} {version} for this user; the first time takes minutes"), || {
            install_folder(&folder, |root| {
                let how = locked_or_not(name, |locked| install(name, version, root, &workspace.scratch(), locked))?;
                println!("  installed {how}");
                Ok(())
            })
        })?;
        ensure!(all(), "the programs in {} are not those of {name} {version}", folder.display());
    }
    Ok(folder.join("bin"))
}

/// Whether a program says that it has this version.
fn works(program: &Path, version: &str) -> bool {
    let answer = Program::new(program).arg("--version").capture();
    answer.is_ok_and(|text| text.split_whitespace().any(|word| word == version))
}

fn install(name: &str, version: &str, root: &Path, scratch: &Path, locked: bool) -> Result<()> {
    Program::new("cargo")
        .args(["install", "--quiet", name, "--version", version])
        .args(locked.then_some("--locked"))
        .arg("--root")
        .arg(root)
        // A second attempt continues where the first one stopped.
        .env("CARGO_TARGET_DIR", scratch.join(name))
        .run_quietly()
}

/// Tries with the tool's own lock file, then without: a registry that lags behind may not know all that it names.
fn locked_or_not(name: &str, mut install: impl FnMut(bool) -> Result<()>) -> Result<&'static str> {
    let Err(locked) = install(true) else {
        return Ok("with its own lock file");
    };
    install(false)
        .with_context(|| format!("with its lock file: {locked:#}"))
        .with_context(|| format!("{name} can be installed neither with its lock file nor without"))?;
    Ok("without its lock file, which did not work here")
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn the_lock_file_is_preferred() {
        let mut tried = Vec::new();
        let how = locked_or_not("tool", |locked| {
            tried.push(locked);
            Ok(())
        });
        assert_eq!(how.unwrap(), "with its own lock file");
        assert_eq!(tried, [true]);
    }

    #[test]
    fn a_lock_file_that_cannot_be_met_is_left_aside() {
        let mut tried = Vec::new();
        let how = locked_or_not("tool", |locked| {
            tried.push(locked);
            ensure!(!locked, "no such version");
            Ok(())
        });
        assert!(how.unwrap().starts_with("without"));
        assert_eq!(tried, [true, false]);
    }

    #[test]
    fn a_double_failure_tells_both_reasons() {
        let error = locked_or_not("tool", |locked| bail!("the reason of {locked}"));
        let text = format!("{:#}", error.unwrap_err());
        assert!(text.contains("reason of true") && text.contains("reason of false"), "{text}");
    }
}
