//! Chromium and its driver.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    process::{Program, step},
    workspace::on_path,
};

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const ADVICE: &str = "install Chromium and chromedriver of the same version (Debian: `apt-get install chromium \
                      chromium-driver`), or set PAGEHAND_CHROMIUM and CHROMEDRIVER to their paths";

/// Chromium and the driver that belongs to it.
pub(crate) struct Browser {
    /// The browser.
    pub(crate) chromium: PathBuf,
    /// Its `WebDriver`.
    pub(crate) driver: PathBuf,
    /// What it says about its version.
    pub(crate) version: String,
}

/// Finds browser and driver; on Debian, where that is allowed, installs them.
pub(crate) fn ensure() -> Result<Browser> {
    if find_chromium()?.is_none() || find_driver()?.is_none() {
        install()?;
    }
    let chromium = find_chromium()?.context(ADVICE)?;
    let driver = find_driver()?.context(ADVICE)?;
    let version = |program: &Path| Program::new(program).arg("--version").capture().context(ADVICE);
    let (browser_says, driver_says) = (version(&chromium)?, version(&driver)?);
    let (browser_major, driver_major) = (major_version(&browser_says), major_version(&driver_says));
    ensure!(
        browser_major.is_some() && browser_major == driver_major,
        "{} says {:?} and {} says {:?}, which do not go together: {ADVICE}",
        chromium.display(),
        browser_says.trim(),
        driver.display(),
        driver_says.trim()
    );
    Ok(Browser { chromium, driver, version: short(&browser_says) })
}

/// Firefox, where it is.
pub(crate) fn firefox() -> Result<Option<PathBuf>> {
    Ok(named_by("PAGEHAND_FIREFOX")?.or_else(|| on_path("firefox")))
}

fn find_chromium() -> Result<Option<PathBuf>> {
    let found = named_by("PAGEHAND_CHROMIUM")?;
    let found = found.or_else(|| BROWSERS.iter().find_map(|name| on_path(name)));
    let mac = PathBuf::from("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");
    Ok(found.or_else(|| mac.is_file().then_some(mac)))
}

fn find_driver() -> Result<Option<PathBuf>> {
    Ok(named_by("CHROMEDRIVER")?.or_else(|| on_path("chromedriver")))
}

/// The program that an environment variable names; one that does not exist is an error.
fn named_by(variable: &str) -> Result<Option<PathBuf>> {
    let Some(path) = env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from) else {
        return Ok(None);
    };
    ensure!(path.is_file(), "{variable} names {}, which is no file", path.display());
    Ok(Some(path))
}

fn install() -> Result<()> {
    if !Path::new("/etc/debian_version").is_file() || on_path("apt-get").is_none() {
        bail!("there is no Chromium with its driver: {ADVICE}");
    }
    let root = Program::new("id").arg("-u").capture().is_ok_and(|id| id.trim() == "0");
    let sudo = !root && Program::new("sudo").args(["-n", "true"]).run_quietly().is_ok();
    if !root && !sudo {
        bail!("there is no Chromium with its driver, and installing it needs root: {ADVICE}");
    }
    let apt = |arguments: &[&str]| {
        let program = if sudo { Program::new("sudo").args(["-n", "apt-get"]) } else { Program::new("apt-get") };
        program.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").run_quietly().context(ADVICE)
    };
    step("installs Chromium and its driver from Debian", || {
        apt(&["-q", "update"])?;
        apt(&["-q", "-y", "--no-install-recommends", "install", "chromium", "chromium-driver"])
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
    }
}
