//! Chromium and its driver.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{install, major_version, named_by, short, version};
use crate::workspace::on_path;

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const ADVICE: &str = "install Chromium and chromedriver of the same version (Debian: `apt-get install chromium \
                      chromium-driver`), or set PAGEHAND_CHROMIUM and CHROMEDRIVER to their paths";

/// Chromium and the driver that belongs to it.
pub(crate) struct Chromium {
    /// The browser.
    pub(crate) program: PathBuf,
    /// Its `WebDriver`.
    pub(crate) driver: PathBuf,
    /// What it says about its version.
    pub(crate) version: String,
}

impl Chromium {
    /// What the driver is asked for. The flags keep the browser from talking to the internet, and let it run as root,
    /// as in a container.
    pub(crate) fn capabilities(&self) -> Value {
        let flags = [
            "--headless=new",
            "--no-sandbox",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            "--disable-gpu",
        ];
        json!({ "goog:chromeOptions": { "binary": self.program, "args": flags } })
    }
}

/// Finds browser and driver; on Debian, where that is allowed, installs them.
pub(crate) fn ensure() -> Result<Chromium> {
    if find_program()?.is_none() || find_driver()?.is_none() {
        install("Chromium with its driver", &["chromium", "chromium-driver"], ADVICE)?;
    }
    let program = find_program()?.context(ADVICE)?;
    let driver = find_driver()?.context(ADVICE)?;
    let (browser_says, driver_says) = (version(&program, ADVICE)?, version(&driver, ADVICE)?);
    let (browser_major, driver_major) = (major_version(&browser_says), major_version(&driver_says));
    ensure!(
        browser_major.is_some() && browser_major == driver_major,
        "{} says {:?} and {} says {:?}, which do not go together: {ADVICE}",
        program.display(),
        browser_says.trim(),
        driver.display(),
        driver_says.trim()
    );
    Ok(Chromium { program, driver, version: short(&browser_says) })
}

fn find_program() -> Result<Option<PathBuf>> {
    let found = named_by("PAGEHAND_CHROMIUM")?;
    let found = found.or_else(|| NAMES.iter().find_map(|name| on_path(name)));
    let mac = PathBuf::from("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");
    Ok(found.or_else(|| mac.is_file().then_some(mac)))
}

fn find_driver() -> Result<Option<PathBuf>> {
    Ok(named_by("CHROMEDRIVER")?.or_else(|| on_path("chromedriver")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_is_told_to_stay_quiet_and_headless() {
        let browser = Chromium { program: "/opt/chromium".into(), driver: "d".into(), version: "v".into() };
        let text = browser.capabilities().to_string();
        assert!(text.contains("--headless=new") && text.contains("/opt/chromium"), "{text}");
    }
}
