//! The browser's own engine.

use wasm_bindgen::prelude::*;

use crate::{Invalid, Undecided};

#[wasm_bindgen]
extern "C" {
    #[derive(Debug, Clone)]
    type RegExp;

    #[wasm_bindgen(constructor, catch)]
    fn new(source: &str, flags: &str) -> Result<RegExp, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn test(this: &RegExp, text: &str) -> Result<bool, JsValue>;
}

#[derive(Debug, Clone)]
pub(crate) struct Engine(RegExp);

impl Engine {
    pub(crate) fn new(source: &str) -> Result<Self, Invalid> {
        RegExp::new(source, "u").map(Self).map_err(|_| Invalid)
    }

    /// Engines throw where a match would take more memory than they give it.
    pub(crate) fn matches(&self, text: &str) -> Result<bool, Undecided> {
        self.0.test(text).map_err(|_| Undecided)
    }
}
