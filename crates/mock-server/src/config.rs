//! How a mock server is set up.

use std::path::PathBuf;
use std::time::Duration;

use crate::json::Json;
use crate::uipath::UipathConfig;

/// Settings of one server. `Config::default()` is a server of the newest release without a key, on a free port.
#[derive(Debug, Clone)]
pub struct Config {
    /// The port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// The session key that clients must give; none leaves the server open.
    pub key: Option<String>,
    /// The release to imitate. Below 1.45.0 there is no session socket.
    pub version: String,
    /// Scripts to start with: `{"name": {"steps": […]}, …}`.
    pub scripts: Option<Json>,
    /// A folder to serve at `/`.
    pub static_dir: Option<PathBuf>,
    /// The Content-Security-Policy of static HTML pages.
    pub csp: Option<String>,
    /// How long a socket may take to authenticate. The real server gives 10 s.
    pub auth_timeout: Duration,
    /// How far event timestamps are ahead of UTC, in minutes: they are naive local time.
    pub utc_offset_minutes: i32,
    /// The UiPath side.
    pub uipath: UipathConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            port: 0,
            key: None,
            version: "1.58.2".to_owned(),
            scripts: None,
            static_dir: None,
            csp: None,
            auth_timeout: Duration::from_secs(10),
            utc_offset_minutes: 0,
            uipath: UipathConfig::default(),
        }
    }
}

impl Config {
    /// Whether the imitated release is at least `major.minor`; an unreadable version counts as the newest.
    pub(crate) fn at_least(&self, major: u64, minor: u64) -> bool {
        let mut parts = self.version.split('.').map(|part| part.parse::<u64>().unwrap_or(u64::MAX));
        (parts.next().unwrap_or(u64::MAX), parts.next().unwrap_or(0)) >= (major, minor)
    }
}
