//! Firefox, and geckodriver, which only `#[wasm_bindgen_test]`s need: the other tests speak to Firefox themselves.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{install, named_by, short, version};
use crate::{
    tools::cargo_install,
    workspace::{Workspace, on_path},
};

/// Any version of the driver goes with any recent Firefox.
const DRIVER_VERSION: &str = "0.37.1";

const NAMES: [&str; 2] = ["firefox", "firefox-esr"];

const ADVICE: &str =
    "install Firefox 140 or later (Debian: `apt-get install firefox-esr`), or set PAGEHAND_FIREFOX to its path";

/// Firefox.
pub(crate) struct Firefox {
    /// The browser.
    pub(crate) program: PathBuf,
    /// What it says about its version.
    pub(crate) version: String,
}

impl Firefox {
    /// What the driver is asked for; who asks adds that no window shall be seen.
    pub(crate) fn capabilities(&self) -> Value {
        json!({ "moz:firefoxOptions": { "binary": self.program } })
    }
}

/// Finds the browser; on Debian, where that is allowed, installs it.
pub(crate) fn ensure() -> Result<Firefox> {
    if find()?.is_none() {
        install("Firefox", &["firefox-esr"], ADVICE)?;
    }
    let program = find()?.context(ADVICE)?;
    let says = version(&program, ADVICE)?;
    Ok(Firefox { program, version: short(&says) })
}

/// Finds the driver, or compiles it into the cache.
pub(crate) fn ensure_driver(workspace: &Workspace) -> Result<PathBuf> {
    match named_by("GECKODRIVER")?.or_else(|| on_path("geckodriver")) {
        Some(driver) => Ok(driver),
        None => {
            Ok(cargo_install::ensure(workspace, "geckodriver", DRIVER_VERSION, &["geckodriver"])?.join("geckodriver"))
        }
    }
}

fn find() -> Result<Option<PathBuf>> {
    let found = named_by("PAGEHAND_FIREFOX")?;
    let found = found.or_else(|| NAMES.iter().find_map(|name| on_path(name)));
    let mac = PathBuf::from("/Applications/Firefox.app/Contents/MacOS/firefox");
    Ok(found.or_else(|| mac.is_file().then_some(mac)))
}
