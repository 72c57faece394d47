//! The edge: the only code that names JS. It performs the core's effects with what a browser offers, feeds the results
//! back, and decides nothing. One file per browser facility.
//!
//! The facade (`pkg-template/`) is the only caller. It gives every operation its number, keeps the promises, and is told
//! through [`Hooks`](hooks::Hooks) how an operation ended. So an export never returns a promise, and a trap leaves none pending: the
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
#[cfg(feature = "uipath")]
mod line;
mod listen;
mod moment;
#[cfg(feature = "openhands")]
mod openhands;
mod page;
mod panic;
mod question;
mod schema;
mod slots;
mod socket;
mod task;
#[cfg(test)]
mod tests;
#[cfg(feature = "uipath")]
mod uipath;

use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::prelude::*;

use crate::call::CallId;
use crate::conversation::{Command, Content, Deed, HistoryQuery, Input, OperationId, Topics, Wire};
use crate::error::Error;
use crate::json;
use crate::tool::{Tool, ToolName};

use driver::Driver;

/// Prepares a fresh instance. `report` is called with the message of a panic, before the trap; `watch` whenever a task is
/// taken up: once nothing is on the stack any more, [`stuck`] must be empty.
#[wasm_bindgen]
pub fn begin(report: Function, watch: Function) {
    panic::install(report, watch);
}

/// What the task did that trapped; empty as long as none has.
#[wasm_bindgen]
pub fn stuck() -> String {
    panic::doing_what().to_owned()
}

/// Gives the instance up after a trap that was no panic, for want of stack or memory: the next call into the module runs on
/// a new instance.
#[wasm_bindgen(js_name = giveUp)]
pub fn give_up() {
    wasm_bindgen::handler::schedule_reinit();
}

/// One conversation. Every method but `listen`, `feed` and `abandon` takes the number of an operation, which the facade chose and which is
/// settled through [`Hooks`](hooks::Hooks) exactly once, unless it is abandoned before. Each protocol has a file with the
/// constructor for its conversations.
#[wasm_bindgen]
pub struct Session {
    driver: Rc<Driver>,
}

#[wasm_bindgen]
impl Session {
    /// Which topics are listened to, one bit for each in the order of `TOPICS`. All are told until this is called.
    pub fn listen(&self, topics: u32) {
        self.driver.listen(Topics::from_bits(topics));
    }

    /// Opens the conversation.
    pub fn open(&self, operation: u32) {
        self.ask(operation, Ok(Command::Open));
    }

    /// Sends a user message: the JSON text of its content parts.
    pub fn send(&self, operation: u32, content: &str, run: bool, approve: bool) {
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
            let say = say.map(|say| Content::parts(&say)).transpose()?;
            let raw = |text: String| json::raw(&text).ok_or_else(|| Error::invalid("arguments", "must be JSON"));
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
    pub fn perform(&self, operation: u32, name: &str, given: &str) {
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
    pub fn declare(&self, operation: u32, definition: &str, handler: Function) {
        let tool = Tool::from_json(definition);
        if tool.is_ok() {
            self.driver.declaring(OperationId(operation), handler);
        }
        self.ask(operation, tool.map(Command::Declare));
    }

    /// Takes a tool back.
    pub fn undeclare(&self, operation: u32, name: &str) {
        self.ask(operation, Ok(Command::Undeclare(ToolName::received(name))));
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
