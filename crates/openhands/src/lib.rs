//! The core with the protocol of OpenHands' agent-servers, and no other: what becomes `openhands.wasm`.

pub use pagehand::protocol::openhands;
