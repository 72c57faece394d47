//! A connection that several conversations share. The facade keeps one for each of the app's servers.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use crate::conversation::{Input, Wire, WireEffect};
use crate::protocol::Carry;
use crate::protocol::uipath::{Line as Core, LineEffect, LineInput, MemberId};

use super::clock::{self, Alarm};
use super::driver::Carrier;
use super::hooks::Hooks;
use super::inputs::Inputs;
use super::listen::Listener;
use super::slots::Slots;
use super::socket::Sockets;
use super::{key, page};

/// A connection. It is opened when the first session needs it and closed with the last.
#[wasm_bindgen]
pub struct Line {
    driver: Rc<Driver>,
}

impl Line {
    pub(super) fn new(core: Core, hooks: Hooks) -> Self {
        Self { driver: Driver::new(core, hooks) }
    }

    pub(super) fn join(&self, inputs: &Inputs) -> Member {
        let driver = Rc::clone(&self.driver);
        let id = MemberId(driver.joined.get().wrapping_add(1));
        driver.joined.set(id.0);
        driver.members.insert(id, inputs.clone());
        Member { driver, id }
    }
}

/// One session's place on a line; it leaves when this is dropped.
pub(super) struct Member {
    driver: Rc<Driver>,
    id: MemberId,
}

impl Carrier for Member {
    fn carry(&self, what: Carry) {
        self.driver.push(LineInput::Carry { member: self.id, what });
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        drop(self.driver.members.take(self.id));
        self.carry(Carry::Leave);
    }
}

/// The loop of one line, like that of a session.
struct Driver {
    core: RefCell<Core>,
    queue: RefCell<VecDeque<LineInput>>,
    draining: Cell<bool>,
    joined: Cell<u32>,
    members: Slots<MemberId, Inputs>,
    inputs: Inputs,
    alarm: Alarm,
    sockets: Sockets,
    /// There are some as long as there are members.
    surroundings: RefCell<Vec<Listener>>,
    hooks: Hooks,
}

impl Driver {
    fn new(core: Core, hooks: Hooks) -> Rc<Self> {
        Rc::new_cyclic(|weak: &std::rc::Weak<Self>| {
            let itself = weak.clone();
            let inputs = Inputs::new(move |input| {
                let input = match input {
                    Input::Wire(wire) => LineInput::Wire(wire),
                    Input::Tick => LineInput::Tick,
                    // What only a conversation is told.
                    Input::App { .. }
                    | Input::Abandoned { .. }
                    | Input::SchemaCompiled { .. }
                    | Input::Validated { .. }
                    | Input::Ledger(_)
                    | Input::Reviewed { .. }
                    | Input::HandlerSettled { .. } => return,
                };
                if let Some(driver) = itself.upgrade() {
                    driver.push(input);
                }
            });
            Self {
                core: RefCell::new(core),
                queue: RefCell::default(),
                draining: Cell::new(false),
                joined: Cell::new(0),
                members: Slots::new(),
                inputs,
                alarm: Alarm::default(),
                sockets: Sockets::new(),
                surroundings: RefCell::default(),
                hooks,
            }
        })
    }

    fn push(&self, input: LineInput) {
        if let Ok(mut queue) = self.queue.try_borrow_mut() {
            queue.push_back(input);
        }
        if self.draining.replace(true) {
            return;
        }
        while let Some(input) = self.queue.try_borrow_mut().ok().and_then(|mut queue| queue.pop_front()) {
            let now = clock::now();
            let effects = self.core.try_borrow_mut().map(|mut core| core.handle(input, now)).unwrap_or_default();
            for effect in effects {
                self.perform(effect);
            }
        }
        self.draining.set(false);
        let wakeup = self.core.try_borrow().ok().and_then(|core| core.next_wakeup());
        self.alarm.set(wakeup, &self.hooks, &self.inputs);
        self.listen();
    }

    /// Hears what is around the page while somebody needs the connection.
    fn listen(&self) {
        let Ok(mut listeners) = self.surroundings.try_borrow_mut() else { return };
        if self.members.is_empty() {
            listeners.clear();
        } else if listeners.is_empty() {
            *listeners = page::listen(&self.hooks, &self.inputs);
        }
    }

    fn perform(&self, effect: LineEffect) {
        match effect {
            LineEffect::Wire(WireEffect::OpenSocket { socket, url }) => {
                self.sockets.open(&self.hooks, &self.inputs, socket, &url);
            }
            LineEffect::Wire(WireEffect::SendText { socket, text }) => self.sockets.send(socket, &text),
            LineEffect::Wire(WireEffect::CloseSocket { socket }) => self.sockets.close(socket),
            LineEffect::Wire(WireEffect::AskKey) => key::ask(&self.hooks, &self.inputs),
            // A line asks nothing over HTTP, and is carried by nobody.
            LineEffect::Wire(WireEffect::Fetch { .. } | WireEffect::Carry(_)) => {}
            LineEffect::Carried { member, what } => {
                if let Some(inputs) = self.members.get(member) {
                    inputs.push(Input::Wire(Wire::Carried(what)));
                }
            }
        }
    }
}
