//! The loop: takes inputs one at a time, performs what the core wants done, and sets the timer.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use js_sys::{Function, Map};
use wasm_bindgen::prelude::*;
use web_sys::AbortController;

use crate::call::{Ledger, RunId};
use crate::conversation::{Command, Conversation, Effect, Input, OperationId};
use crate::error::Error;
use crate::net::{RequestId, SocketId};
use crate::tool::ToolName;

use super::clock::{self, Alarm};
use super::hooks::{Hooks, report};
use super::slots::Slots;
use super::socket::{self, Socket};
use super::{error, fetch, handler, schema};

thread_local! {
    /// What ran already, for all conversations of the page.
    static LEDGER: RefCell<Ledger> = RefCell::new(Ledger::default());
}

/// One conversation with everything that is open for it.
pub(super) struct Driver {
    conversation: RefCell<Conversation>,
    queue: RefCell<VecDeque<Input>>,
    draining: Cell<bool>,
    stopped: Cell<bool>,
    alarm: Alarm,
    sockets: Slots<SocketId, Rc<Socket>>,
    fetches: Slots<RequestId, AbortController>,
    runs: Slots<RunId, AbortController>,
    declaring: Slots<OperationId, (ToolName, Function)>,
    handlers: Map,
    hooks: Hooks,
}

impl Driver {
    pub(super) fn new(conversation: Conversation, handlers: Map, hooks: Hooks) -> Rc<Self> {
        Rc::new(Self {
            conversation: RefCell::new(conversation),
            queue: RefCell::new(VecDeque::new()),
            draining: Cell::new(false),
            stopped: Cell::new(false),
            alarm: Alarm::default(),
            sockets: Slots::new(),
            fetches: Slots::new(),
            runs: Slots::new(),
            declaring: Slots::new(),
            handlers,
            hooks,
        })
    }

    /// Queues an input and works through the queue. When JS calls back from within an effect, the input waits its turn:
    /// the loop that runs already takes it.
    pub(super) fn push(self: &Rc<Self>, input: Input) {
        if self.stopped.get() {
            return;
        }
        if let Ok(mut queue) = self.queue.try_borrow_mut() {
            queue.push_back(input);
        }
        if self.draining.replace(true) {
            return;
        }
        while let Some(input) = self.next_input() {
            for effect in self.handle(input) {
                self.perform(effect);
            }
        }
        self.draining.set(false);
        if !self.stopped.get() {
            let wakeup = self.conversation.try_borrow().ok().and_then(|conversation| conversation.next_wakeup());
            self.alarm.set(self, wakeup);
        }
    }

    pub(super) fn ask(self: &Rc<Self>, operation: OperationId, command: Command) {
        self.push(Input::App { operation, command });
    }

    pub(super) fn abandon(self: &Rc<Self>, operation: OperationId) {
        self.push(Input::Abandoned { operation });
    }

    /// A handler that takes effect when its declaration is settled.
    pub(super) fn declaring(&self, operation: OperationId, tool: ToolName, handler: Function) {
        self.declaring.insert(operation, (tool, handler));
    }

    pub(super) fn settle(&self, operation: OperationId, result: Result<String, Error>) {
        let declared = self.declaring.take(operation);
        match result {
            Ok(json) => {
                if let Some((tool, handler)) = declared {
                    self.handlers.set(&tool.as_str().into(), &handler);
                }
                report(self.hooks.settle(operation.0, &json));
            }
            Err(error) => report(self.hooks.fail(operation.0, &error::to_js(&self.hooks, &error))),
        }
    }

    /// Ends everything that is open. Nothing is heard of it any more.
    pub(super) fn stop(&self) {
        self.stopped.set(true);
        self.alarm.stop();
        drop(self.sockets.drain());
        for (_, controller) in self.fetches.drain() {
            controller.abort();
        }
    }

    pub(super) fn handler(&self, tool: &ToolName) -> Option<Function> {
        self.handlers.get(&tool.as_str().into()).dyn_into().ok()
    }

    pub(super) fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    pub(super) fn sockets(&self) -> &Slots<SocketId, Rc<Socket>> {
        &self.sockets
    }

    pub(super) fn fetches(&self) -> &Slots<RequestId, AbortController> {
        &self.fetches
    }

    pub(super) fn runs(&self) -> &Slots<RunId, AbortController> {
        &self.runs
    }

    pub(super) fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    fn next_input(&self) -> Option<Input> {
        self.queue.try_borrow_mut().ok()?.pop_front()
    }

    fn handle(&self, input: Input) -> Vec<Effect> {
        let now = clock::now();
        // Nothing of JS runs inside `handle`, so the cell is free whenever the loop comes here.
        self.conversation.try_borrow_mut().map(|mut core| core.handle(input, now)).unwrap_or_default()
    }

    fn perform(self: &Rc<Self>, effect: Effect) {
        match effect {
            Effect::Fetch { request, what } => fetch::start(self, request, what),
            Effect::OpenSocket { socket, url } => socket::open(self, socket, &url),
            Effect::SendText { socket, text } => {
                if let Some(socket) = self.sockets.get(socket) {
                    socket.send(&text);
                }
            }
            Effect::CloseSocket { socket } => drop(self.sockets.take(socket)),
            Effect::CompileSchema { schema, text } => schema::compile(self, schema, text),
            Effect::Validate { check, schema, instance } => schema::validate(self, check, schema, instance),
            Effect::Claim { call, key } => {
                let won = LEDGER.with(|ledger| ledger.try_borrow_mut().is_ok_and(|mut ledger| ledger.claim(&key)));
                self.push(Input::Claimed { call, won });
            }
            Effect::Run { run, tool, call, arguments } => handler::start(self, run, &tool, call, arguments),
            Effect::Abort { run, cause } => handler::abort(self, run, &cause),
            Effect::Emit(event) => report(self.hooks.emit(event.topic.as_str(), &event.json)),
            Effect::Settle { operation, result } => self.settle(operation, result),
        }
    }
}
