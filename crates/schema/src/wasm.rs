//! What the page sees: schemas compiled under a number, checked as JSON text.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

use wasm_bindgen::prelude::*;

use crate::{Validator, Values};

// Half as large as Rust's own, and no slower.
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// Holds compiled schemas. One per page.
#[wasm_bindgen]
#[derive(Default)]
pub struct Engine {
    validators: RefCell<BTreeMap<u32, Rc<Validator>>>,
    last_id: Cell<u32>,
}

#[wasm_bindgen]
impl Engine {
    /// An engine without schemas.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Compiles the JSON text of a schema; throws an `Error` that names the place of what is wrong with it.
    pub fn compile(&self, schema: &str) -> Result<u32, JsError> {
        let validator = Validator::compile(schema).map_err(|error| JsError::new(&error.to_string()))?;
        let id = self.last_id.get().checked_add(1).ok_or_else(|| JsError::new("too many schemas"))?;
        self.last_id.set(id);
        self.validators.borrow_mut().insert(id, Rc::new(validator));
        Ok(id)
    }

    /// Checks the JSON text of a value; the answer is the JSON text of a `Report`, which does not repeat the value if that is
    /// `masked`. Throws for an unknown id.
    pub fn check(&self, id: u32, instance: &str, masked: bool) -> Result<String, JsError> {
        let validator = self.validators.borrow().get(&id).cloned();
        let validator = validator.ok_or_else(|| JsError::new("no schema is compiled under this id"))?;
        let values = if masked { Values::Masked } else { Values::Shown };
        Ok(validator.check_with(instance, values).to_json())
    }

    /// Forgets a schema. An unknown id is fine.
    pub fn release(&self, id: u32) {
        self.validators.borrow_mut().remove(&id);
    }
}
