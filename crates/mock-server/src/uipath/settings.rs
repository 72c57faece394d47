//! How the UiPath side of a server is set up.

use std::path::PathBuf;
use std::time::Duration;

use crate::json::Json;

/// Settings of the UiPath side. By default every token opens it and the scripted agent plays.
#[derive(Debug, Clone)]
pub struct UipathConfig {
    /// The access tokens that open the service; with none any token does.
    pub tokens: Vec<String>,
    /// Scripts to start with: `{"name": {"steps": […]}, …}`.
    pub scripts: Option<Json>,
    /// How often a socket is pinged.
    pub ping_interval: Duration,
    /// How long a socket may take to answer a ping.
    pub ping_timeout: Duration,
    /// The longest message that a socket accepts, in bytes.
    pub max_payload: u64,
    /// A Python with UiPath's packages, for scripts with `"runtime"`.
    pub python: Option<PathBuf>,
    /// `min_runtime.py`, for `"runtime": "fast"`.
    pub peer: Option<PathBuf>,
    /// `run_agent.py`, for `"runtime": "full"`.
    pub agent: Option<PathBuf>,
    /// Where the full agent's model is: what `model_server.py` prints.
    pub model_url: Option<String>,
    /// How long a runtime may wait for an answer.
    pub time_limit: Duration,
}

impl Default for UipathConfig {
    fn default() -> Self {
        Self {
            tokens: Vec::new(),
            scripts: None,
            ping_interval: Duration::from_secs(25),
            ping_timeout: Duration::from_secs(20),
            max_payload: 1_000_000,
            python: None,
            peer: None,
            agent: None,
            model_url: None,
            time_limit: Duration::from_secs(30),
        }
    }
}
