//! What all handlers work with.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::watch;

use crate::clock::Clock;
use crate::config::Config;
use crate::faults::Faults;
use crate::openhands::{Conversations, Registry};
use crate::recorder::Recorder;
use crate::script::Scripts;

/// Everything that handlers share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) clock: Clock,
    pub(crate) started: Instant,
    pub(crate) scripts: Scripts,
    pub(crate) faults: Arc<Faults>,
    pub(crate) recorder: Recorder,
    pub(crate) registry: std::sync::Mutex<Registry>,
    pub(crate) conversations: Conversations,
    /// True once the server stops.
    pub(crate) stopping: watch::Receiver<bool>,
    /// How many sockets are open, so that `stop` can wait for the last one.
    pub(crate) open: watch::Sender<usize>,
    /// For the labels of sockets in the record.
    pub(crate) sockets: std::sync::atomic::AtomicU64,
}

/// Resolves when the server is to stop.
pub(crate) async fn stopped(mut stops: watch::Receiver<bool>) {
    // An error means that `Running` is gone: a stop as well.
    let _ = stops.wait_for(|stop| *stop).await;
}
