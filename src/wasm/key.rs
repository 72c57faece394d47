//! The key of a connection, from the app.

use crate::conversation::{Input, Wire};

use super::hooks::Hooks;
use super::inputs::Inputs;
use super::{convert, question};

/// Asks the app. What it says instead of a key is told; what it gives is not.
pub(super) fn ask(hooks: &Hooks, inputs: &Inputs) {
    let hooks = hooks.clone();
    question::ask(
        "asking for the key",
        inputs,
        move || hooks.key(),
        |answer| {
            let key = match answer {
                Ok(key) => key
                    .as_string()
                    .filter(|key| is_key(key))
                    .ok_or_else(|| "the key must be a string of visible ASCII characters".to_owned()),
                Err(thrown) => Err(convert::description(&thrown).1),
            };
            Input::Wire(Wire::Key(key))
        },
    );
}

/// What a header can carry.
fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}
