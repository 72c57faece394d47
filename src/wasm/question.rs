//! What is asked of the app or the facade, and answered at once or later.

use wasm_bindgen::JsValue;

use crate::conversation::Input;

use super::inputs::Inputs;
use super::{convert, task};

/// Asks in a task of its own: a slow answer holds up nothing, and who calls back meanwhile finds nothing locked. The session
/// hears what the answer means.
pub(super) fn ask(
    label: &'static str,
    inputs: &Inputs,
    question: impl FnOnce() -> Result<JsValue, JsValue> + 'static,
    meaning: impl FnOnce(Result<JsValue, JsValue>) -> Input + 'static,
) {
    ask_boxed(label, inputs.clone(), Box::new(question), Box::new(meaning));
}

/// Once for all questions: a future would be compiled again for each kind.
fn ask_boxed(
    label: &'static str,
    inputs: Inputs,
    question: Box<dyn FnOnce() -> Result<JsValue, JsValue>>,
    meaning: Box<dyn FnOnce(Result<JsValue, JsValue>) -> Input>,
) {
    task::spawn(label, async move {
        let answer = convert::resolved(question()).await;
        inputs.push(meaning(answer));
    });
}
