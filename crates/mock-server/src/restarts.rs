//! Restarts of the server, as its clients see them: the process and its port stay.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use tokio::sync::watch;

/// What ends the old process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Signal {
    /// Sockets close with 1012, runs are paused.
    Term,
    /// Connections just end, runs come back in error.
    Kill,
}

/// The restarts of a server.
#[derive(Debug)]
pub(crate) struct Restarts {
    last: watch::Sender<Signal>,
    back_at: Mutex<Instant>,
}

impl Restarts {
    pub(crate) fn new() -> Self {
        Self { last: watch::Sender::new(Signal::Term), back_at: Mutex::new(Instant::now()) }
    }

    /// Sees restarts from now on.
    pub(crate) fn watch(&self) -> watch::Receiver<Signal> {
        self.last.subscribe()
    }

    /// Ends all connections, and lets no one in for a while.
    pub(crate) fn restart(&self, signal: Signal, down: Duration) {
        *self.back_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now() + down;
        self.last.send_replace(signal);
    }

    pub(crate) fn is_down(&self) -> bool {
        Instant::now() < *self.back_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Resolves at the next restart.
pub(crate) async fn restarted(mut restarts: watch::Receiver<Signal>) -> Signal {
    if restarts.changed().await.is_err() {
        // Without a server there will be none.
        std::future::pending::<()>().await;
    }
    *restarts.borrow()
}
