//! The mock server as a program.
#![allow(clippy::print_stdout, reason = "the program tells its user where it listens")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;
use pagehand_mock_server::json::parse;
use pagehand_mock_server::{Config, serve};
use tokio::signal::unix::{SignalKind, signal};

/// A stand-in OpenHands agent-server with a scripted agent.
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
    let scripts = match &options.scripts {
        Some(file) => Some(parse(&std::fs::read_to_string(file)?)?),
        None => None,
    };
    Ok(Config {
        port: options.port,
        key: options.key.clone().filter(|key| !key.is_empty()),
        version: options.version.clone(),
        scripts,
        static_dir: options.static_dir.clone(),
        csp: options.csp.clone(),
        auth_timeout: Duration::from_millis(options.auth_timeout_ms),
        utc_offset_minutes: options.utc_offset_minutes,
    })
}

/// Whoever waits for the file must never see half of it.
fn write_whole(file: &Path, text: &str) -> std::io::Result<()> {
    let draft = file.with_extension("tmp");
    std::fs::write(&draft, text)?;
    std::fs::rename(draft, file)
}
