//! `WebKitGTK`: its `MiniBrowser`, its driver, and a screen that nobody sees.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use super::{install, named_by};
use crate::{process::Program, workspace::on_path};

const PACKAGES: [&str; 2] = ["webkit2gtk-driver", "xvfb"];

const ADVICE: &str = "install WebKitGTK's MiniBrowser with its driver, and Xvfb (Debian: `apt-get install webkit2gtk-driver \
                      xvfb`), or set PAGEHAND_WEBKIT and PAGEHAND_WEBKIT_DRIVER to the paths of the former two";

/// `WebKit` and its driver.
pub(crate) struct WebKit {
    /// The browser.
    pub(crate) program: PathBuf,
    /// Its `WebDriver`.
    pub(crate) driver: PathBuf,
    /// Its name and version.
    pub(crate) version: String,
}

/// Finds browser, driver and screen; on Debian, where that is allowed, installs them.
pub(crate) fn ensure() -> Result<WebKit> {
    if find_program()?.is_none() || find_driver()?.is_none() || on_path("Xvfb").is_none() {
        install("WebKitGTK with its driver and Xvfb", &PACKAGES, ADVICE)?;
    }
    on_path("Xvfb").context(ADVICE)?;
    let program = find_program()?.context(ADVICE)?;
    let driver = find_driver()?.context(ADVICE)?;
    // The browser does not say which it is.
    let version = Program::new("dpkg-query").args(["--show", "--showformat=${Version}", PACKAGES[0]]).capture();
    let version = version.unwrap_or_default().split('-').next().unwrap_or_default().to_owned();
    Ok(WebKit { program, driver, version: format!("WebKitGTK {version}").trim().to_owned() })
}

fn find_program() -> Result<Option<PathBuf>> {
    Ok(named_by("PAGEHAND_WEBKIT")?.or_else(|| beside_the_library(Path::new("/usr/lib"))))
}

fn find_driver() -> Result<Option<PathBuf>> {
    Ok(named_by("PAGEHAND_WEBKIT_DRIVER")?.or_else(|| on_path("WebKitWebDriver")))
}

/// `/usr/lib/<architecture>/webkit2gtk-<version>/MiniBrowser`, the latest.
fn beside_the_library(libraries: &Path) -> Option<PathBuf> {
    let folders =
        |of: &Path| fs::read_dir(of).into_iter().flatten().flatten().map(|entry| entry.path()).collect::<Vec<_>>();
    let found = folders(libraries).into_iter().flat_map(|architecture| folders(&architecture));
    let browsers = found.map(|folder| folder.join("MiniBrowser")).filter(|file| file.is_file());
    browsers.filter(|file| file.to_string_lossy().contains("/webkit")).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;

    #[test]
    fn the_browser_is_found_beside_the_library_of_the_latest_version() {
        let libraries = std::env::temp_dir().join(format!("pagehand-webkit-{}", std::process::id()));
        files::remove(&libraries).unwrap();
        assert_eq!(beside_the_library(&libraries), None);
        for folder in ["x86_64-linux-gnu/webkit2gtk-4.0", "x86_64-linux-gnu/webkit2gtk-4.1", "x86_64-linux-gnu/other-9"]
        {
            files::write(&libraries.join(folder).join("MiniBrowser"), b"x").unwrap();
        }
        let found = beside_the_library(&libraries).unwrap();
        assert!(found.ends_with("x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser"), "{}", found.display());
        files::remove(&libraries).unwrap();
    }
}
