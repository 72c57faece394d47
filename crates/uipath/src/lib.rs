//! The core with the protocol of UiPath's conversation service, and no other: what becomes `uipath.wasm`.

pub use pagehand::protocol::uipath;
