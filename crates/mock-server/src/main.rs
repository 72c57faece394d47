//! The mock server as a program.
#![allow(clippy::print_stdout, reason = "the program tells its user where it listens")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser};
use pagehand_mock_server::json::{Json, parse};
use pagehand_mock_server::{Config, UipathConfig, serve};
use tokio::signal::unix::{SignalKind, signal};

/// A stand-in for an OpenHands agent-server and for UiPath's conversation service, with scripted agents.
#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
struct Options {
    /// Port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// File that receives the port once the server listens.
    #[arg(long)]
    port_file: Option<PathBuf>,
    /// Session key that clients must give.
    #[arg(long)]
    key: Option<String>,
    /// Release to imitate; below 1.45.0 there is no session socket.
    #[arg(long, default_value = "1.58.2")]
    version: String,
    /// JSON file with scripts: {"name": {"steps": [...]}, ...}
    #[arg(long)]
    scripts: Option<PathBuf>,
    /// Folder to serve at /.
    #[arg(long = "static", value_name = "DIR")]
    static_dir: Option<PathBuf>,
    /// Content-Security-Policy of static HTML pages.
    #[arg(long)]
    csp: Option<String>,
    /// How long a socket may take to authenticate.
    #[arg(long, default_value_t = 10_000)]
    auth_timeout_ms: u64,
    /// How far event timestamps are ahead of UTC.
    #[arg(long, default_value_t = 0, allow_hyphen_values = true)]
    utc_offset_minutes: i32,
    #[command(flatten)]
    uipath: UipathOptions,
}

/// The UiPath side.
#[derive(Debug, Args)]
struct UipathOptions {
    /// Access token that opens the UiPath side; may be given several times. Without one any token does.
    #[arg(long = "uipath-token", value_name = "TOKEN")]
    tokens: Vec<String>,
    /// JSON file with scripts of the UiPath side.
    // The id is the field's name by default, and OpenHands' option has that one.
    #[arg(id = "uipath_scripts", long = "uipath-scripts", value_name = "FILE")]
    scripts: Option<PathBuf>,
    /// How often a socket is pinged.
    #[arg(
        id = "uipath_ping_interval_ms",
        long = "uipath-ping-interval-ms",
        value_name = "MS",
        default_value_t = 25_000
    )]
    ping_interval_ms: u64,
    /// How long a socket may take to answer a ping.
    #[arg(long = "uipath-ping-timeout-ms", value_name = "MS", default_value_t = 20_000)]
    ping_timeout_ms: u64,
    /// Longest message that a socket accepts.
    #[arg(long = "uipath-max-payload", value_name = "BYTES", default_value_t = 1_000_000)]
    max_payload: u64,
    /// Python with UiPath's packages, for scripts with "runtime".
    #[arg(long = "uipath-python", value_name = "PYTHON")]
    python: Option<PathBuf>,
    /// `min_runtime.py`, for "runtime": "fast".
    #[arg(long = "uipath-peer", value_name = "FILE")]
    peer: Option<PathBuf>,
    /// `run_agent.py`, for "runtime": "full".
    #[arg(long = "uipath-agent", value_name = "FILE")]
    agent: Option<PathBuf>,
    /// Where the full agent's model is.
    #[arg(long = "uipath-model-url", value_name = "URL")]
    model_url: Option<String>,
    /// How long a runtime may wait for an answer.
    #[arg(long = "uipath-time-limit-ms", value_name = "MS", default_value_t = 30_000)]
    time_limit_ms: u64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    let running = serve(config(&options)?).await?;
    if let Some(file) = &options.port_file {
        write_whole(file, &running.address().port().to_string())?;
    }
    println!("mock server listening on {}", running.base_url());
    tokio::select! {
        _ = terminated.recv() => {}
        _ = interrupted.recv() => {}
    }
    running.stop().await;
    Ok(())
}

fn config(options: &Options) -> Result<Config, Box<dyn Error>> {
    let scripts = options.scripts.as_deref().map(read).transpose()?;
    Ok(Config {
        port: options.port,
        key: options.key.clone().filter(|key| !key.is_empty()),
        version: options.version.clone(),
        scripts,
        static_dir: options.static_dir.clone(),
        csp: options.csp.clone(),
        auth_timeout: Duration::from_millis(options.auth_timeout_ms),
        utc_offset_minutes: options.utc_offset_minutes,
        uipath: uipath(&options.uipath)?,
    })
}

fn uipath(options: &UipathOptions) -> Result<UipathConfig, Box<dyn Error>> {
    Ok(UipathConfig {
        tokens: options.tokens.clone(),
        scripts: options.scripts.as_deref().map(read).transpose()?,
        ping_interval: Duration::from_millis(options.ping_interval_ms),
        ping_timeout: Duration::from_millis(options.ping_timeout_ms),
        max_payload: options.max_payload,
        python: options.python.clone(),
        peer: options.peer.clone(),
        agent: options.agent.clone(),
        model_url: options.model_url.clone(),
        time_limit: Duration::from_millis(options.time_limit_ms),
    })
}

fn read(file: &Path) -> Result<Json, Box<dyn Error>> {
    Ok(parse(&std::fs::read_to_string(file)?)?)
}

/// Whoever waits for the file must never see half of it.
fn write_whole(file: &Path, text: &str) -> std::io::Result<()> {
    let draft = file.with_extension("tmp");
    std::fs::write(&draft, text)?;
    std::fs::rename(draft, file)
}
