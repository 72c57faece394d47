//! What all handlers work with.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::watch;

use crate::clock::Clock;
use crate::config::Config;
use crate::faults::Faults;
use crate::openhands::{Conversations, Registry};
use crate::recorder::Recorder;
use crate::restarts::Restarts;
use crate::script::Scripts;
use crate::uipath::Service;

/// Everything that handlers share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) clock: Clock,
    pub(crate) started: Instant,
    pub(crate) scripts: Scripts,
    pub(crate) faults: Arc<Faults>,
    pub(crate) recorder: Recorder,
    pub(crate) registry: Mutex<Registry>,
    pub(crate) conversations: Conversations,
    pub(crate) restarts: Restarts,
    pub(crate) uipath: Service,
    /// Where the server listens.
    pub(crate) listens: SocketAddr,
    /// The session key that clients must give.
    pub(crate) key: Mutex<Option<String>>,
    /// True once the server stops.
    pub(crate) stopping: watch::Receiver<bool>,
    /// How many sockets are open, so that `stop` can wait for the last one.
    pub(crate) open: watch::Sender<usize>,
    /// For the labels of sockets in the record.
    pub(crate) sockets: std::sync::atomic::AtomicU64,
}

impl Shared {
    pub(crate) fn key(&self) -> Option<String> {
        self.key.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// `127.0.0.1:PORT`
    pub(crate) fn address(&self) -> String {
        self.listens.to_string()
    }

    pub(crate) fn port(&self) -> u16 {
        self.listens.port()
    }

    pub(crate) fn change_key(&self, key: String) {
        *self.key.lock().unwrap_or_else(PoisonError::into_inner) = Some(key);
    }
}

/// Resolves when the server is to stop.
pub(crate) async fn stopped(mut stops: watch::Receiver<bool>) {
    // An error means that `Running` is gone: a stop as well.
    let _ = stops.wait_for(|stop| *stop).await;
}
