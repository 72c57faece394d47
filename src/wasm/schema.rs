//! The schema engine, which the facade loads when it is needed, or the app's own validators.

use js_sys::Function;
use wasm_bindgen::JsValue;

use crate::conversation::{CheckId, EngineError, Input};
use crate::tool::{Part, Report, SchemaId};

use super::hooks::Hooks;
use super::inputs::Inputs;
use super::{convert, task};

/// Gives a schema to the engine.
pub(super) fn compile(hooks: &Hooks, inputs: &Inputs, schema: SchemaId, text: String) {
    let (hooks, inputs) = (hooks.clone(), inputs.clone());
    task::spawn("compiling a schema", async move {
        let answer = convert::resolved(hooks.compile(schema.0, &text)).await;
        let result = answer.map(|_| ()).map_err(|thrown| engine_error(&thrown));
        inputs.push(Input::SchemaCompiled { schema, result });
    });
}

/// Checks a value.
pub(super) fn validate(
    hooks: &Hooks,
    inputs: &Inputs,
    check: CheckId,
    schema: SchemaId,
    instance: String,
    part: Part,
    handler: Option<Function>,
) {
    let (hooks, inputs) = (hooks.clone(), inputs.clone());
    let handler = handler.map(JsValue::from).unwrap_or_default();
    task::spawn("validating", async move {
        let answer = convert::resolved(hooks.check(schema.0, &instance, part == Part::Output, &handler)).await;
        let result = match answer {
            Ok(text) => text
                .as_string()
                .and_then(|text| Report::from_json(&text))
                .ok_or_else(|| EngineError::Unavailable("the engine gave no report".into())),
            Err(thrown) => Err(engine_error(&thrown)),
        };
        inputs.push(Input::Validated { check, result });
    });
}

fn engine_error(thrown: &JsValue) -> EngineError {
    let message = convert::description(thrown).1;
    match convert::text_at(thrown, "code").as_deref() {
        Some("invalid_schema") => EngineError::Schema(message),
        Some("validator_threw") => EngineError::Validator(message),
        _ => EngineError::Unavailable(message),
    }
}
