//! The schema engine, which the facade loads when it is needed, or the app's own validators.

use js_sys::Function;
use wasm_bindgen::JsValue;

use crate::conversation::{CheckId, EngineError, Input};
use crate::tool::{Part, Report, SchemaId};

use super::hooks::Hooks;
use super::inputs::Inputs;
use super::{convert, question};

/// Gives a schema to the engine.
pub(super) fn compile(hooks: &Hooks, inputs: &Inputs, schema: SchemaId, text: String) {
    let hooks = hooks.clone();
    let compiled = move || hooks.compile(schema.0, &text);
    question::ask("compiling a schema", inputs, compiled, move |answer| {
        let result = answer.map(drop).map_err(|thrown| engine_error(&thrown));
        Input::SchemaCompiled { schema, result }
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
    let hooks = hooks.clone();
    let handler = handler.map(JsValue::from).unwrap_or_default();
    let checked = move || hooks.check(schema.0, &instance, part == Part::Output, &handler);
    question::ask("validating", inputs, checked, move |answer| {
        let result = match answer {
            Ok(text) => text
                .as_string()
                .and_then(|text| Report::from_json(&text))
                .ok_or_else(|| EngineError::Unavailable("the engine gave no report".into())),
            Err(thrown) => Err(engine_error(&thrown)),
        };
        Input::Validated { check, result }
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
