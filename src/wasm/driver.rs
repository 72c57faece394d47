//! The loop: takes inputs one at a time, performs what the core wants done, and sets the timer.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use js_sys::{Array, Function};

use crate::conversation::{Command, Conversation, Effect, Input, OperationId, Topics, WireEffect};
use crate::error::Error;
use crate::protocol::Carry;

use super::clock::{self, Alarm};
use super::fetch::Fetches;
use super::handler::Handlers;
use super::hooks::{Hooks, needed, report};
use super::inputs::Inputs;
use super::ledger::Keeper;
use super::listen::Listener;
use super::slots::Slots;
use super::socket::Sockets;
use super::{error, key, page, schema};

/// A place on a connection that conversations share; dropping it gives it up.
pub(super) trait Carrier {
    fn carry(&self, what: Carry);
}

/// One conversation with everything that is open for it.
pub(super) struct Driver {
    conversation: RefCell<Conversation>,
    queue: RefCell<VecDeque<Input>>,
    draining: Cell<bool>,
    stopped: Cell<bool>,
    inputs: Inputs,
    alarm: Alarm,
    sockets: Sockets,
    fetches: Fetches,
    handlers: Handlers,
    ledger: Rc<Keeper>,
    /// The connection, where it is one that conversations share.
    carrier: RefCell<Option<Box<dyn Carrier>>>,
    surroundings: RefCell<Vec<Listener>>,
    closing: Cell<Option<OperationId>>,
    itself: Weak<Self>,
    declaring: Slots<OperationId, Function>,
    hooks: Hooks,
}

impl Driver {
    /// `join` takes a place on the connection that the conversation shares with others, if there is one.
    pub(super) fn new(
        conversation: Conversation,
        handlers: &Array,
        join: impl FnOnce(&Inputs) -> Option<Box<dyn Carrier>>,
        hooks: Hooks,
    ) -> Rc<Self> {
        Rc::new_cyclic(|weak: &Weak<Self>| {
            let itself = weak.clone();
            let inputs = Inputs::new(move |input| {
                if let Some(driver) = itself.upgrade() {
                    driver.push(input);
                }
            });
            Self {
                conversation: RefCell::new(conversation),
                queue: RefCell::new(VecDeque::new()),
                draining: Cell::new(false),
                stopped: Cell::new(false),
                ledger: Keeper::new(&hooks, &inputs),
                carrier: RefCell::new(join(&inputs)),
                surroundings: RefCell::new(page::listen(&hooks, &inputs)),
                closing: Cell::new(None),
                itself: weak.clone(),
                inputs,
                alarm: Alarm::default(),
                sockets: Sockets::new(),
                fetches: Fetches::new(),
                handlers: Handlers::new(handlers),
                declaring: Slots::new(),
                hooks,
            }
        })
    }

    /// Queues an input and works through the queue. When JS calls back from within an effect, the input waits its turn:
    /// the loop that runs already takes it.
    pub(super) fn push(&self, input: Input) {
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
            self.alarm.set(wakeup, &self.hooks, &self.inputs);
        }
    }

    pub(super) fn ask(&self, operation: OperationId, command: Command) {
        self.push(Input::App { operation, command });
    }

    /// Closes the conversation. The operation is settled when the ledger has everything: what is left of the session must
    /// not be taken for the remains of a dead one.
    pub(super) fn close(&self, operation: OperationId) {
        self.closing.set(Some(operation));
        self.ask(operation, Command::Close);
    }

    pub(super) fn abandon(&self, operation: OperationId) {
        self.push(Input::Abandoned { operation });
    }

    /// Says what is listened to. At once: nothing of the core runs while JS does.
    pub(super) fn listen(&self, topics: Topics) {
        if let Ok(mut conversation) = self.conversation.try_borrow_mut() {
            conversation.tell_only(topics);
        }
    }

    /// A handler that counts as soon as its declaration does.
    pub(super) fn declaring(&self, operation: OperationId, handler: Function) {
        self.declaring.insert(operation, handler);
    }

    pub(super) fn settle(&self, operation: OperationId, result: Result<String, Error>) {
        drop(self.declaring.take(operation));
        match result {
            Ok(json) => needed(self.hooks.settle(operation.0, &json)),
            Err(error) => needed(self.hooks.fail(operation.0, &error::to_js(&self.hooks, &error))),
        }
    }

    /// Ends everything that is open. Nothing is heard of it any more.
    pub(super) fn stop(&self) {
        self.stopped.set(true);
        self.alarm.stop();
        let surroundings = self.surroundings.try_borrow_mut().map(|mut listeners| std::mem::take(&mut *listeners));
        drop(surroundings);
        let carrier = self.carrier.try_borrow_mut().ok().and_then(|mut carrier| carrier.take());
        drop(carrier);
        self.sockets.close_all();
        self.fetches.abort();
        self.ledger.stop();
    }

    fn next_input(&self) -> Option<Input> {
        self.queue.try_borrow_mut().ok()?.pop_front()
    }

    fn handle(&self, input: Input) -> Vec<Effect> {
        let now = clock::now();
        // Nothing of JS runs inside `handle`, so the cell is free whenever the loop comes here.
        self.conversation.try_borrow_mut().map(|mut core| core.handle(input, now)).unwrap_or_default()
    }

    fn perform(&self, effect: Effect) {
        match effect {
            Effect::Wire(WireEffect::Fetch { request, what }) => {
                self.fetches.start(&self.hooks, &self.inputs, request, what);
            }
            Effect::Wire(WireEffect::OpenSocket { socket, url }) => {
                self.sockets.open(&self.hooks, &self.inputs, socket, &url);
            }
            Effect::Wire(WireEffect::SendText { socket, text }) => self.sockets.send(socket, &text),
            Effect::Wire(WireEffect::CloseSocket { socket }) => self.sockets.close(socket),
            Effect::CompileSchema { schema, text } => schema::compile(&self.hooks, &self.inputs, schema, text),
            Effect::Validate { check, schema, instance, part, handler } => {
                let handler = handler.and_then(|handler| self.handlers.get(handler));
                schema::validate(&self.hooks, &self.inputs, check, schema, instance, part, handler);
            }
            Effect::Wire(WireEffect::Carry(what)) => {
                if let Ok(Some(carrier)) = self.carrier.try_borrow().as_deref() {
                    carrier.carry(what);
                }
            }
            Effect::Wire(WireEffect::AskKey) => key::ask(&self.hooks, &self.inputs),
            Effect::Ledger(effect) => self.ledger.perform(effect),
            Effect::Review { run, handler, tool, call, arguments } => {
                self.handlers.review(&self.hooks, &self.inputs, (run, handler), &tool, &call, &arguments);
            }
            Effect::Run { run, handler, call, arguments, .. } => {
                self.handlers.start(&self.inputs, run, handler, call, arguments);
            }
            Effect::Declared { operation, handler } => {
                if let Some(function) = self.declaring.take(operation) {
                    self.handlers.add(handler, function);
                }
            }
            Effect::Forget { handler } => self.handlers.forget(handler),
            Effect::Abort { run, cause } => self.handlers.abort(run, &cause),
            Effect::Emit(event) => report(self.hooks.emit(event.topic as u32, &event.json)),
            Effect::Settle { operation, result } if self.closing.get() == Some(operation) => {
                let itself = self.itself.clone();
                self.ledger.then(move || {
                    if let Some(driver) = itself.upgrade() {
                        driver.settle(operation, result);
                    }
                });
            }
            Effect::Settle { operation, result } => self.settle(operation, result),
        }
    }
}
