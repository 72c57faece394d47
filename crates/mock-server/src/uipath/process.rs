//! UiPath's own runtime as a process: one for each exchange.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::Command;
use tokio::sync::watch;

use crate::json::{Json, parse};
use crate::object;
use crate::shared::{Shared, stopped};

use super::agent::{Script, Who};
use super::conversation::Order;
use super::runtimes::{finished, report};

/// Ends a process, at the latest when it is dropped.
#[derive(Debug)]
pub(super) struct Killer(watch::Sender<bool>);

impl Killer {
    pub(super) fn kill(&self) {
        self.0.send_replace(true);
    }
}

/// Starts the runtime that a script asks for; fails with a reason if it is not there.
pub(super) fn start(
    shared: &Arc<Shared>,
    conversation: &str,
    serial: u64,
    order: &Order,
    script: &Script,
) -> Result<Killer, String> {
    let folder = folder(shared, conversation).map_err(|error| format!("no folder for the runtime: {error}"))?;
    let command = match script.who {
        Who::Full => full(shared, conversation, order, &folder)?,
        Who::Fast | Who::Scripted | Who::Elsewhere => fast(shared, conversation, order, script, &folder)?,
    };
    let (killer, orders) = watch::channel(false);
    let (shared, conversation) = (Arc::clone(shared), conversation.to_owned());
    tokio::spawn(async move {
        let line = match run(&shared, &conversation, command, orders).await {
            Ok(line) => line,
            Err(error) => object! { "event" => "exit", "error" => error.to_string() },
        };
        report(&shared, &conversation, line);
        finished(&shared, &conversation, serial);
    });
    Ok(Killer(killer))
}

/// The folder of a conversation's runtimes: the full agent keeps its state there.
fn folder(shared: &Shared, conversation: &str) -> io::Result<PathBuf> {
    let folder = all_folders(shared).join(conversation);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Where runtimes leave things; it goes with the server.
pub(super) fn all_folders(shared: &Shared) -> PathBuf {
    std::env::temp_dir().join(format!("pagehand-mock-{}-{}", std::process::id(), shared.port()))
}

fn missing(what: &str) -> String {
    format!("the server was started without {what}")
}

/// `min_runtime.py` with the script.
fn fast(
    shared: &Shared,
    conversation: &str,
    order: &Order,
    script: &Script,
    folder: &std::path::Path,
) -> Result<Command, String> {
    let config = &shared.config.uipath;
    let python = config.python.as_ref().ok_or_else(|| missing("--uipath-python"))?;
    let peer = config.peer.as_ref().ok_or_else(|| missing("--uipath-peer"))?;
    let file = folder.join("script.json");
    let steps = object! { "steps" => script.steps.clone() };
    std::fs::write(&file, steps.to_string()).map_err(|error| error.to_string())?;
    let mut command = Command::new(python);
    command
        .arg(peer)
        .arg(shared.address())
        .args([conversation, &order.exchange])
        .arg(file)
        .args(["--time-limit", &config.time_limit.as_secs_f64().to_string()])
        .env("HOME", folder);
    Ok(command)
}

/// `run_agent.py` with the user's message.
fn full(shared: &Shared, conversation: &str, order: &Order, folder: &std::path::Path) -> Result<Command, String> {
    let config = &shared.config.uipath;
    let python = config.python.as_ref().ok_or_else(|| missing("--uipath-python"))?;
    let agent = config.agent.as_ref().ok_or_else(|| missing("--uipath-agent"))?;
    let model = config.model_url.as_ref().ok_or_else(|| missing("--uipath-model-url"))?;
    let mut command = Command::new(python);
    command
        .arg(agent)
        .args(["--service", &shared.address(), "--model-url", model])
        .args(["--conversation", conversation, "--exchange", &order.exchange, "--message-id", &order.message])
        .arg("--work")
        .arg(folder)
        .args(["--text", &order.text]);
    if let Some(tools) = &order.tools {
        command.args(["--tools", &tools.to_string()]);
    }
    Ok(command)
}

/// Until the process ends, by itself, by order or for lack of time; what it prints is reported.
async fn run(
    shared: &Arc<Shared>,
    conversation: &str,
    mut command: Command,
    orders: watch::Receiver<bool>,
) -> io::Result<Json> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let output =
        child.stdout.take().map(|output| tokio::spawn(lines(Arc::clone(shared), conversation.to_owned(), output)));
    let complaints = child.stderr.take().map(|output| tokio::spawn(tail(output)));
    // The peer has a limit of its own; the full agent would wait for ever.
    let limit = shared.config.uipath.time_limit + Duration::from_secs(10);
    let status = tokio::select! {
        status = child.wait() => Some(status?),
        () = ordered(orders) => None,
        () = stopped(shared.stopping.clone()) => None,
        () = tokio::time::sleep(limit) => None,
    };
    if status.is_none() {
        let _ = child.kill().await;
    }
    if let Some(output) = output {
        let _ = output.await;
    }
    let complaints = match complaints {
        Some(complaints) => complaints.await.unwrap_or_default(),
        None => Vec::new(),
    };
    let code = status.and_then(|status| status.code()).map(i64::from);
    Ok(object! { "event" => "exit", "code" => code, "stderr" => complaints })
}

/// Resolves when the process is to end.
async fn ordered(mut orders: watch::Receiver<bool>) {
    // An error means that nobody can give the order any more, which is one, too.
    let _ = orders.wait_for(|order| *order).await;
}

async fn lines(shared: Arc<Shared>, conversation: String, output: impl AsyncRead + Unpin) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let line = parse(&line).ok().filter(|line| line.as_object().is_some());
        if let Some(line) = line {
            report(&shared, &conversation, line);
        }
    }
}

/// The last lines of what a process complains about.
async fn tail(output: impl AsyncRead + Unpin) -> Vec<Json> {
    let mut lines = BufReader::new(output).lines();
    let mut last = std::collections::VecDeque::new();
    while let Ok(Some(line)) = lines.next_line().await {
        if last.len() >= 40 {
            last.pop_front();
        }
        last.push_back(Json::from(line));
    }
    last.into()
}
