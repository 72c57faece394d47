//! The edge in a real browser: `cargo xtask test browser`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::unused_self, reason = "tests")]

mod bench;
mod fetch;
mod handler;
mod key;
mod ledger;
mod moment;
mod page;
mod schema;
mod session;
mod stage;
mod storage;
mod store;

use wasm_bindgen_test::wasm_bindgen_test_configure;

wasm_bindgen_test_configure!(run_in_browser);
