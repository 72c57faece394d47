//! The browsers that tests run in. On Debian those that are missing are installed, where that is allowed.

pub(crate) mod chromium;
pub(crate) mod firefox;
pub(crate) mod webkit;

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    process::{Program, step},
    workspace::on_path,
};

/// The program that an environment variable names; one that does not exist is an error.
fn named_by(variable: &str) -> Result<Option<PathBuf>> {
    let Some(path) = env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from) else {
        return Ok(None);
    };
    ensure!(path.is_file(), "{variable} names {}, which is no file", path.display());
    Ok(Some(path))
}

/// What a program says about its version.
fn version(program: &Path, advice: &'static str) -> Result<String> {
    Program::new(program).arg("--version").capture().context(advice)
}

/// Installs packages of Debian. `what` they are is said, and the advice where it cannot be done.
fn install(what: &str, packages: &[&str], advice: &'static str) -> Result<()> {
    ensure!(Path::new("/etc/debian_version").is_file() && on_path("apt-get").is_some(), "{what} is missing: {advice}");
    let root = Program::new("id").arg("-u").capture().is_ok_and(|id| id.trim() == "0");
    let sudo = !root && Program::new("sudo").args(["-n", "true"]).run_quietly().is_ok();
    ensure!(root || sudo, "{what} is missing, and installing it needs root: {advice}");
    let apt = |arguments: &[&str]| {
        let program = if sudo { Program::new("sudo").args(["-n", "apt-get"]) } else { Program::new("apt-get") };
        program.args(["-q"]).args(arguments).env("DEBIAN_FRONTEND", "noninteractive").run_quietly().context(advice)
    };
    step(&format!("installs {what} from Debian"), || {
        apt(&["update"])?;
        apt(&[&["-y", "--no-install-recommends", "install"], packages].concat())
    })
}

/// The first number of the first word that is a version.
fn major_version(text: &str) -> Option<u32> {
    text.split_whitespace().find_map(|word| word.split_once('.')?.0.parse().ok())
}

/// Name and version, without what a distribution adds.
fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let version = words.iter().position(|word| major_version(word).is_some()).map_or(words.len(), |at| at + 1);
    words.get(..version).unwrap_or_default().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_browser_and_driver_compare() {
        let browser = "Chromium 156.0.7000.10 built on Debian GNU/Linux 12 (bookworm)\n";
        assert_eq!(major_version(browser), Some(156));
        assert_eq!(major_version("ChromeDriver 156.0.7000.10 (abc-refs/branch-heads/7000@{#1})"), Some(156));
        assert_eq!(major_version("Google Chrome 149.0.1.2"), Some(149));
        assert_eq!(major_version("not found"), None);
        assert_eq!(short(browser), "Chromium 156.0.7000.10");
        assert_eq!(short("Google Chrome 149.0.1.2 "), "Google Chrome 149.0.1.2");
        assert_eq!(short("Mozilla Firefox 153.8.0esr\n"), "Mozilla Firefox 153.8.0esr");
    }
}
