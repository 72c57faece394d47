//! The edge: the only code that names JS. It performs the core's effects with what a browser offers, feeds the results
//! back, and decides nothing. One file per browser facility.
//!
//! The facade (`pkg-template/`) is the only caller. It gives every operation its number, keeps the promises, and is told
//! through [`Hooks`] how an operation ended. So an export never returns a promise, and a trap leaves none pending: the
//! facade holds them all.
//!
//! Rules for this folder, each from a bug that was seen:
//! - exports take `&self`; state sits in cells, and no guard lives while JS runs, for JS may call back at any moment;
//! - what comes from JS is any value, also from `fetch` and from a promise's rejection;
//! - imports that can throw are declared with `catch`: an exception through our frames would skip every destructor;
//! - data crosses as JSON text, see `convert.rs`.

mod clock;
mod convert;
mod driver;
mod error;
mod fetch;
mod handler;
mod hooks;
mod inputs;
mod key;
mod ledger;
mod line;
mod listen;
mod moment;
mod page;
mod panic;
mod schema;
mod slots;
mod socket;
mod task;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use js_sys::{Function, Map};
use serde_json::value::RawValue;
use wasm_bindgen::prelude::*;

use crate::call::CallId;
use crate::conversation::{
    Command, Content, Conversation, Deed, HistoryQuery, Input, OperationId, Settings as Resumption, Wire,
};
use crate::error::Error;
use crate::net::Millis;
use crate::protocol::openhands::{OpenHands, Opening, SessionKey, Settings};
use crate::protocol::uipath::UiPath;
use crate::tool::Tool;

use driver::Driver;
use hooks::Hooks;
use line::Line;

/// Prepares a fresh instance. `report` is called with the message of a panic, before the trap.
#[wasm_bindgen]
pub fn begin(report: Function) {
    panic::install(report);
}

/// Gives the instance up after a trap that was no panic, for example a stack overflow: the next call into the module
/// runs on a new instance.
#[wasm_bindgen(js_name = giveUp)]
pub fn give_up() {
    wasm_bindgen::handler::schedule_reinit();
}

/// One conversation. Every method but `abandon` takes the number of an operation, which the facade chose and which is
/// settled through [`Hooks`] exactly once, unless it is abandoned before.
#[wasm_bindgen]
pub struct Session {
    driver: Rc<Driver>,
}

#[wasm_bindgen]
impl Session {
    /// A conversation with an OpenHands agent-server.
    ///
    /// `options` has `url`, `sessionKey?`, `asksKey`, `id` and, to create the conversation, `request`: the JSON text of the
    /// create request's other fields. `tools` is the JSON text of the declarations, `handlers` a map of name to function.
    /// Throws the error of [`Hooks`]' making when something is refused.
    pub fn openhands(options: &JsValue, tools: &str, handlers: Map, hooks: Hooks) -> Result<Session, JsValue> {
        match conversation(options, tools) {
            Ok(conversation) => Ok(Self { driver: Driver::new(conversation, handlers, None, hooks) }),
            Err(error) => Err(error::to_js(&hooks, &error)),
        }
    }

    /// A conversation with an agent of UiPath's, over a connection that it shares with others.
    ///
    /// `options` has `url`, `organization`, `tenant`, `sessionKey?`, `socketPath?`, `externalUser?`, `surfaceName?`,
    /// `surfaceVersion?`, `resumeWithin`, `answerUnflagged`, and `id`, or to create the conversation `request`: the JSON text
    /// of the create request. The rest as above.
    pub fn uipath(
        line: &Line,
        options: &JsValue,
        tools: &str,
        handlers: Map,
        hooks: Hooks,
    ) -> Result<Session, JsValue> {
        match agent_conversation(options, tools) {
            Ok(conversation) => Ok(Self { driver: Driver::new(conversation, handlers, Some(line), hooks) }),
            Err(error) => Err(error::to_js(&hooks, &error)),
        }
    }

    /// Opens the conversation.
    pub fn open(&self, operation: u32) {
        self.ask(operation, Ok(Command::Open));
    }

    /// Sends a user message: the JSON text of its content parts.
    pub fn send(&self, operation: u32, content: String, run: bool, approve: bool) {
        self.ask(operation, Content::parts(content).map(|content| Command::Send { content, run, approve }));
    }

    /// Lets the agent go on.
    pub fn run(&self, operation: u32, approve: bool) {
        self.ask(operation, Ok(Command::Run { approve }));
    }

    /// Answers what waits for approval. `arguments` is the JSON text of the object to run the call with instead, `say` that of
    /// the content parts that follow a no.
    pub fn answer(
        &self,
        operation: u32,
        approval: String,
        accept: bool,
        reason: String,
        arguments: Option<String>,
        say: Option<String>,
    ) {
        let answer = || {
            let say = say.map(Content::parts).transpose()?;
            let raw = |text| RawValue::from_string(text).map_err(|_| Error::invalid("arguments", "must be JSON"));
            Ok(Command::Answer { approval, accept, reason, arguments: arguments.map(raw).transpose()?, say })
        };
        self.ask(operation, answer());
    }

    /// Ends the turn.
    pub fn stop(&self, operation: u32, reason: String) {
        self.ask(operation, Ok(Command::Stop { reason }));
    }

    /// Something that is the server's alone: a name of [`Deed`] and the JSON text of what it takes.
    #[wasm_bindgen(js_name = "do")]
    pub fn perform(&self, operation: u32, name: &str, given: String) {
        self.ask(operation, Deed::read(name, given).map(Command::Do));
    }

    /// Something that the app heard over a connection of its own; `past` when it was there before the app came.
    pub fn feed(&self, text: String, past: bool) {
        self.driver.push(Input::Wire(Wire::Fed { text, past }));
    }

    /// Waits for the end of the turn.
    pub fn idle(&self, operation: u32) {
        self.ask(operation, Ok(Command::Idle));
    }

    /// Reads a page of the log.
    pub fn history(&self, operation: u32, limit: u32, newest_first: bool, page: Option<String>) {
        self.ask(operation, Ok(Command::History(HistoryQuery { limit, newest_first, page })));
    }

    /// Declares a tool, or gives a known one its handler. A refused declaration leaves the handler as it was.
    pub fn declare(&self, operation: u32, definition: &str, handler: Option<Function>) {
        let tool = Tool::from_json(definition);
        if let (Ok(tool), Some(handler)) = (&tool, handler) {
            self.driver.declaring(OperationId(operation), tool.name.clone(), handler);
        }
        self.ask(operation, tool.map(Command::Declare));
    }

    /// Cancels a call.
    pub fn cancel(&self, operation: u32, call: String, reason: String) {
        self.ask(operation, Ok(Command::Cancel { call: CallId::new(call), reason }));
    }

    /// Closes the conversation.
    pub fn close(&self, operation: u32) {
        self.driver.close(OperationId(operation));
    }

    /// Nobody waits for this operation any more.
    pub fn abandon(&self, operation: u32) {
        self.driver.abandon(OperationId(operation));
    }

    fn ask(&self, operation: u32, command: Result<Command, Error>) {
        let operation = OperationId(operation);
        match command {
            Ok(command) => self.driver.ask(operation, command),
            Err(error) => self.driver.settle(operation, Err(error)),
        }
    }
}

/// What is still open ends with the session, so that nothing of it calls into freed memory.
impl Drop for Session {
    fn drop(&mut self) {
        self.driver.stop();
    }
}

fn agent_conversation(options: &JsValue, tools: &str) -> Result<Conversation, Error> {
    let convert::Joining { service, opening, resume_within, answer_unflagged } = convert::joining(options)?;
    let protocol = UiPath::new(service, opening)?;
    let protocol = if answer_unflagged { protocol.answering_unflagged() } else { protocol };
    let resumption = Resumption { resume_within: Millis(resume_within), results: false };
    Conversation::new(Box::new(protocol), Tool::list_from_json(tools)?, resumption, clock::seed())
}

fn conversation(options: &JsValue, tools: &str) -> Result<Conversation, Error> {
    let options = convert::options(options)?;
    let opening = match options.request {
        Some(request) => Opening::Create { id: options.id, request },
        None if options.feed => Opening::Feed { id: options.id },
        None => Opening::Attach { id: options.id },
    };
    let session_key = match options.session_key {
        _ if options.asks_key => SessionKey::Asked,
        Some(key) => SessionKey::Fixed(key),
        None => SessionKey::None,
    };
    let protocol = OpenHands::new(Settings { url: options.url, session_key }, opening)?;
    let resumption = Resumption { resume_within: Millis(options.resume_within), results: options.results };
    Conversation::new(Box::new(protocol), Tool::list_from_json(tools)?, resumption, clock::seed())
}
