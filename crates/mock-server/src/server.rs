//! Puts the parts together and serves them.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::config::Config;
use crate::connection::{Cutter, Door};
use crate::control;
use crate::openhands::{self, Conversations};
use crate::recorder::Recorder;
use crate::restarts::Restarts;
use crate::script::Scripts;
use crate::shared::{Shared, stopped};
use crate::uipath::{self, Service};
use crate::{cors, static_files, wire_tap};

/// How long `stop` waits for what is under way.
const PATIENCE: Duration = Duration::from_secs(2);

/// A server that runs until it is stopped or dropped.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stopping: watch::Sender<bool>,
    open: watch::Receiver<usize>,
    task: JoinHandle<()>,
    /// What is removed at the end, if it is there.
    scratch: PathBuf,
}

impl Running {
    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Closes the sockets with 1012, as the real server does when it is terminated, and stops.
    pub async fn stop(mut self) {
        self.stopping.send_replace(true);
        let _ = tokio::time::timeout(PATIENCE, self.open.wait_for(|open| *open == 0)).await;
        if tokio::time::timeout(PATIENCE, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopping.send_replace(true);
        // Mostly there is nothing.
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}

/// Starts a server on 127.0.0.1.
///
/// # Errors
///
/// If the port is taken, or `config.scripts` holds no scripts.
pub async fn serve(config: Config) -> std::io::Result<Running> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, config.port)).await?;
    let address = listener.local_addr()?;
    let (stopping, stops) = watch::channel(false);
    let (open, opened) = watch::channel(0);
    let shared = Arc::new(Shared {
        clock: Clock::ahead_of_utc(config.utc_offset_minutes),
        started: Instant::now(),
        scripts: Scripts::default(),
        faults: Arc::default(),
        recorder: Recorder::new(),
        registry: std::sync::Mutex::default(),
        conversations: Conversations::default(),
        restarts: Restarts::new(),
        uipath: Service::new(&config.uipath).map_err(std::io::Error::other)?,
        listens: address,
        key: std::sync::Mutex::new(config.key.clone()),
        stopping: stops.clone(),
        open,
        sockets: std::sync::atomic::AtomicU64::new(0),
        config,
    });
    if let Some(scripts) = &shared.config.scripts {
        shared.scripts.put_all(scripts).map_err(std::io::Error::other)?;
    }
    let scratch = uipath::scratch(&shared);
    let app = app(&shared).into_make_service_with_connect_info::<Cutter>();
    let task = tokio::spawn(async move {
        let serving = axum::serve(Door(listener), app).with_graceful_shutdown(stopped(stops));
        // Accept errors are retried by axum; nothing else can go wrong here.
        let _ = serving.await;
    });
    Ok(Running { address, stopping, open: opened, task, scratch })
}

fn app(shared: &Arc<Shared>) -> Router {
    let tap = axum::middleware::from_fn_with_state(Arc::clone(shared), wire_tap::layer);
    let openhands = openhands::router(shared).layer(axum::middleware::from_fn(cors::layer));
    let service = openhands.merge(uipath::router(shared)).layer(tap);
    let control = control::router(shared)
        .merge(uipath::control_router(shared))
        .layer(axum::middleware::from_fn(cors::open_layer));
    let app = service.merge(control).layer(DefaultBodyLimit::disable());
    static_files::add(app, shared)
}
