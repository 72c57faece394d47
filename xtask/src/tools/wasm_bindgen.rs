//! The wasm-bindgen command line, in exactly the version of the crate: they share a private format.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::{
    files,
    process::{Program, step},
    tools::install_folder,
    workspace::Workspace,
};

/// The two programs that the package `wasm-bindgen-cli` provides.
pub(crate) struct WasmBindgen {
    /// Turns cargo's wasm into a module with JavaScript around it.
    pub(crate) bindgen: PathBuf,
    /// Runs `#[wasm_bindgen_test]`s.
    pub(crate) test_runner: PathBuf,
}

/// Finds the programs in the cache, or compiles them into it, which takes minutes.
pub(crate) fn ensure(workspace: &Workspace) -> Result<WasmBindgen> {
    let version = workspace.locked_version("wasm-bindgen")?;
    let folder = workspace.cache.join(format!("wasm-bindgen-{version}"));
    let tools = WasmBindgen {
        bindgen: folder.join("bin/wasm-bindgen"),
        test_runner: folder.join("bin/wasm-bindgen-test-runner"),
    };
    let works = |program: &Path| {
        let answer = Program::new(program).arg("--version").capture();
        answer.is_ok_and(|text| text.split_whitespace().any(|word| word == version))
    };
    if works(&tools.bindgen) && works(&tools.test_runner) {
        return Ok(tools);
    }
    files::remove(&folder)?;
    step(&format!("installs wasm-bindgen-cli {version} for this user; the first time takes minutes"), || {
        install_folder(&folder, |root| {
            let how = locked_or_not(|locked| install(&version, root, &workspace.scratch(), locked))?;
            println!("  installed {how}");
            Ok(())
        })
    })?;
    ensure!(
        works(&tools.bindgen) && works(&tools.test_runner),
        "the programs in {} are not wasm-bindgen {version}",
        folder.display()
    );
    Ok(tools)
}

fn install(version: &str, root: &Path, scratch: &Path, locked: bool) -> Result<()> {
    Program::new("cargo")
        .args(["install", "--quiet", "wasm-bindgen-cli", "--version", version])
        .args(locked.then_some("--locked"))
        .arg("--root")
        .arg(root)
        // A second attempt continues where the first one stopped.
        .env("CARGO_TARGET_DIR", scratch.join("wasm-bindgen-cli"))
        .run_quietly()
}

/// Tries with the tool's own lock file, then without: a registry that lags behind may not know all that it names.
fn locked_or_not(mut install: impl FnMut(bool) -> Result<()>) -> Result<&'static str> {
    let Err(locked) = install(true) else {
        return Ok("with its own lock file");
    };
    install(false)
        .with_context(|| format!("with its lock file: {locked:#}"))
        .context("wasm-bindgen-cli can be installed neither with its lock file nor without")?;
    Ok("without its lock file, which did not work here")
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn the_lock_file_is_preferred() {
        let mut tried = Vec::new();
        let how = locked_or_not(|locked| {
            tried.push(locked);
            Ok(())
        });
        assert_eq!(how.unwrap(), "with its own lock file");
        assert_eq!(tried, [true]);
    }

    #[test]
    fn a_lock_file_that_cannot_be_met_is_left_aside() {
        let mut tried = Vec::new();
        let how = locked_or_not(|locked| {
            tried.push(locked);
            ensure!(!locked, "no such version");
            Ok(())
        });
        assert!(how.unwrap().starts_with("without"));
        assert_eq!(tried, [true, false]);
    }

    #[test]
    fn a_double_failure_tells_both_reasons() {
        let error = locked_or_not(|locked| bail!("the reason of {locked}"));
        let text = format!("{:#}", error.unwrap_err());
        assert!(text.contains("reason of true") && text.contains("reason of false"), "{text}");
    }
}
