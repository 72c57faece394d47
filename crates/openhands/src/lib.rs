//! The core with the protocol of OpenHands' agent-servers, and no other: what becomes `openhands.wasm`.

pub use pagehand::protocol::openhands;

// Half as large as Rust's own, and no slower.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
