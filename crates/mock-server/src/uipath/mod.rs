//! The conversation service of UiPath: Socket.IO between clients and the runtime of an agent, REST beside it, and an
//! agent of our own in the place of the runtime.

mod agent;
mod clients;
mod control;
mod conversation;
mod envelope;
mod history;
mod levers;
mod process;
mod rest;
mod runtimes;
mod service;
mod settings;
mod socket;
mod wire;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;

use crate::shared::Shared;

pub(crate) use control::router as control_router;
pub(crate) use rest::{fault_answer, is_rest};
pub(crate) use service::Service;
pub use settings::UipathConfig;
pub(crate) use wire::is_socket;

/// The routes of the service.
pub(crate) fn router(shared: &Arc<Shared>) -> Router {
    wire::router(shared).merge(rest::router(shared))
}

/// A folder that the server may have made; it is removed with it.
pub(crate) fn scratch(shared: &Shared) -> PathBuf {
    process::all_folders(shared)
}
