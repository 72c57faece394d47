//! The core with the protocol of UiPath's conversation service, and no other: what becomes `uipath.wasm`.

pub use pagehand::protocol::uipath;

// Half as large as Rust's own, and no slower.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
