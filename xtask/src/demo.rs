//! The demo on this machine: the page, the package, and a stand-in for both kinds of server. Needs Rust only.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    build::{self, Profile},
    files,
    process::{Program, Running, step},
    workspace::{Workspace, on_path},
};

const PORT: u16 = 8787;

/// Builds and serves the demo until it is interrupted.
pub(crate) fn run(workspace: &Workspace, port: Option<u16>, open: bool) -> Result<()> {
    let www = workspace.root.join("www");
    ensure!(www.is_dir(), "www/ is missing: it holds the demo's page");
    build::run(workspace, Profile::Quick)?;
    let server = mock_server(workspace)?;
    let site = workspace.target.join("demo");
    step("puts page and package together", || {
        files::remove(&site)?;
        copy(&www, &site)?;
        copy(&workspace.pkg(), &site.join("pkg"))
    })?;
    let port = choose_port(port)?;
    let mut running = Program::new(server)
        .args(["--port", &port.to_string(), "--static"])
        .arg(&site)
        .arg("--scripts")
        .arg(www.join("script.json"))
        .arg("--uipath-scripts")
        .arg(www.join("uipath-script.json"))
        .start()?;
    await_server(&mut running, port)?;
    let url = format!("http://127.0.0.1:{port}/");
    println!("\n  The demo is at {url}\n  Ctrl-C ends it.\n");
    if open {
        open_browser(&url);
    }
    let status = running.wait()?;
    bail!("the mock server ended with {status}")
}

/// Builds the stand-in for the agent servers; answers with its program.
pub(crate) fn mock_server(workspace: &Workspace) -> Result<PathBuf> {
    step("builds the mock server", || {
        Program::new("cargo")
            .args(["build", "--quiet", "--package", "pagehand-mock-server"])
            .directory(&workspace.root)
            .run()
    })?;
    let program = workspace.target.join("debug").join(format!("pagehand-mock-server{}", std::env::consts::EXE_SUFFIX));
    ensure!(program.is_file(), "crates/mock-server has no program pagehand-mock-server");
    Ok(program)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    for file in files::below(from)? {
        let bytes = fs::read(from.join(&file)).with_context(|| format!("cannot read {}", file.display()))?;
        files::write(&to.join(&file), &bytes)?;
    }
    Ok(())
}

/// The port asked for, which must be free; else the usual one if it is, else any.
fn choose_port(wanted: Option<u16>) -> Result<u16> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = match wanted {
        Some(port) => bind(port).with_context(|| format!("port {port} is not free: choose another with --port"))?,
        None => bind(PORT).or_else(|_| bind(0)).context("no port is free")?,
    };
    Ok(listener.local_addr()?.port())
}

fn await_server(server: &mut Running, port: u16) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        if let Some(status) = server.ended()? {
            bail!("the mock server ended at once, with {status}");
        }
        ensure!(Instant::now() < deadline, "the mock server does not listen on port {port}");
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Shows the page where there is a screen. No browser is no failure: the address has been told.
fn open_browser(url: &str) {
    let screen =
        cfg!(target_os = "macos") || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    if screen && on_path(opener).is_some() {
        let _ = Program::new(opener).arg(url).deadline(Duration::from_secs(10)).run_quietly();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_refused_if_it_was_asked_for() {
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        assert!(choose_port(Some(port)).unwrap_err().to_string().contains("--port"));
        drop(taken);
        assert_eq!(choose_port(Some(port)).unwrap(), port);
    }

    #[test]
    fn without_a_wish_there_is_always_a_port() {
        let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT));
        assert_ne!(choose_port(None).unwrap(), 0);
    }
}
