//! Conversations with UiPath's agents, and the connection that they share.

use js_sys::Array;
use wasm_bindgen::prelude::*;

use crate::conversation::{Conversation, Settings as Resumption};
use crate::error::Error;
use crate::protocol::SessionKey;
use crate::protocol::uipath::{Line as Core, Opening, Settings, Surface, UiPath};
use crate::tool::Tool;

use super::convert::{flag_at, limits_of, millis_at, needed_text_at, text_at};
use super::driver::Driver;
use super::hooks::Hooks;
use super::line::Line;
use super::{Session, clock, error};

#[wasm_bindgen]
impl Line {
    /// A connection with UiPath's conversation service. `options` as for `Session.uipath`; of the hooks only those for
    /// closures, keys and errors are called. Throws the error of [`Hooks`]' making when something is refused.
    pub fn uipath(options: &JsValue, hooks: Hooks) -> Result<Line, JsValue> {
        match settings(options).and_then(|settings| Core::new(settings, clock::seed())) {
            Ok(core) => Ok(Line::new(core, hooks)),
            Err(error) => Err(error::to_js(&hooks, &error)),
        }
    }
}

#[wasm_bindgen]
impl Session {
    /// A conversation with an agent of UiPath's, over a connection that it shares with others.
    ///
    /// `options` has `url`, `organization`, `tenant`, `sessionKey?`, `socketPath?`, `externalUser?`, `surfaceName?`,
    /// `surfaceVersion?`, `resumeWithin`, `answerUnflagged`, and `id`, or to create the conversation `request`: the JSON text
    /// of the create request. `tools` is the JSON text of the declarations, `handlers` as for OpenHands. Throws the
    /// error of [`Hooks`]' making when something is refused.
    pub fn uipath(
        line: &Line,
        options: &JsValue,
        tools: &str,
        handlers: &Array,
        hooks: Hooks,
    ) -> Result<Session, JsValue> {
        match conversation(options, tools) {
            Ok(conversation) => {
                let driver = Driver::new(conversation, handlers, |inputs| Some(Box::new(line.join(inputs))), hooks);
                Ok(Self { driver })
            }
            Err(error) => Err(error::to_js(&hooks, &error)),
        }
    }
}

fn conversation(options: &JsValue, tools: &str) -> Result<Conversation, Error> {
    let opening = match text_at(options, "request") {
        Some(request) => Opening::Create { request },
        None => Opening::Attach { id: text_at(options, "id").unwrap_or_default() },
    };
    let protocol = UiPath::new(settings(options)?, opening)?;
    let protocol = if flag_at(options, "answerUnflagged") { protocol.answering_unflagged() } else { protocol };
    let (resume_within, limits) = (millis_at(options, "resumeWithin").unwrap_or_default(), limits_of(options));
    let resumption = Resumption { resume_within, results: false, limits };
    Conversation::new(Box::new(protocol), Tool::list_from_json(tools)?, resumption, clock::seed())
}

/// Where the service is.
fn settings(options: &JsValue) -> Result<Settings, Error> {
    let surface = text_at(options, "surfaceName")
        .map(|name| Surface { name, version: text_at(options, "surfaceVersion").unwrap_or_default() });
    Ok(Settings {
        url: needed_text_at(options, "url")?,
        organization: needed_text_at(options, "organization")?,
        tenant: needed_text_at(options, "tenant")?,
        token: text_at(options, "sessionKey").map_or(SessionKey::Asked, SessionKey::Fixed),
        socket_path: text_at(options, "socketPath"),
        external_user: text_at(options, "externalUser"),
        surface,
    })
}
