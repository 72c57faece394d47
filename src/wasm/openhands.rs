//! Conversations with an OpenHands agent-server.

use js_sys::Array;
use wasm_bindgen::prelude::*;

use crate::conversation::{Conversation, Settings as Resumption};
use crate::error::Error;
use crate::protocol::openhands::{OpenHands, Opening, SessionKey, Settings};
use crate::tool::Tool;

use super::convert::{flag_at, limits_of, millis_at, needed_text_at, text_at};
use super::driver::Driver;
use super::hooks::Hooks;
use super::{Session, clock, error};

#[wasm_bindgen]
impl Session {
    /// A conversation with an OpenHands agent-server.
    ///
    /// `options` has `url`, `sessionKey?`, `asksKey`, `id`, `resumeWithin`, `results`, `feed?` (the app has a connection of
    /// its own) and, to create the conversation, `request`: the JSON text of the create request's other fields. `tools` is the
    /// JSON text of the declarations; `handlers` has a function in the place of each, which never runs where the declaration has no
    /// handler. Throws the error of [`Hooks`]' making when something is refused.
    pub fn openhands(options: &JsValue, tools: &str, handlers: &Array, hooks: Hooks) -> Result<Session, JsValue> {
        match conversation(options, tools) {
            Ok(conversation) => Ok(Self { driver: Driver::new(conversation, handlers, |_| None, hooks) }),
            Err(error) => Err(error::to_js(&hooks, &error)),
        }
    }
}

/// The facade built the options itself, from checked texts: nothing of the app's is in them.
///
/// Read member by member: the reading half of `serde-wasm-bindgen` brings messages that can write floats, 20 kB of them.
fn conversation(options: &JsValue, tools: &str) -> Result<Conversation, Error> {
    let id = needed_text_at(options, "id")?;
    let opening = match text_at(options, "request") {
        Some(request) => Opening::Create { id, request },
        None if flag_at(options, "feed") => Opening::Feed { id },
        None => Opening::Attach { id },
    };
    let session_key = match text_at(options, "sessionKey") {
        _ if flag_at(options, "asksKey") => SessionKey::Asked,
        Some(key) => SessionKey::Fixed(key),
        None => SessionKey::None,
    };
    let protocol = OpenHands::new(Settings { url: needed_text_at(options, "url")?, session_key }, opening)?;
    let resumption = Resumption {
        resume_within: millis_at(options, "resumeWithin").unwrap_or_default(),
        results: flag_at(options, "results"),
        limits: limits_of(options),
    };
    Conversation::new(Box::new(protocol), Tool::list_from_json(tools)?, resumption, clock::seed())
}
