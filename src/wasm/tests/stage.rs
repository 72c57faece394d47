//! What the tests stand on: a scripted protocol, recording hooks, replaced globals.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Function, Promise, Reflect, eval, global};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::call::CallId;
use crate::conversation::{Command, Conversation, OperationId, Settings};
use crate::error::Error;
use crate::net::{Millis, SocketId};
use crate::protocol::{
    self, CommandId, Delivery, Meaning, Opened, Outlet, Protocol, Schemas, Signal, Status, Wire, WireEffect,
};
use crate::tool::{Tool, ToolName};
use crate::wasm::driver::Driver;
use crate::wasm::hooks::Hooks;

/// A JS function.
pub(super) fn function(parameters: &str, body: &str) -> Function {
    Function::new_with_args(parameters, body)
}

/// Hooks that write down what they are told.
pub(super) fn hooks() -> Hooks {
    js(HOOKS).unchecked_into()
}

/// What the facade does when a session is over.
pub(super) fn end(hooks: &Hooks) {
    function("hooks", "hooks.end()").call1(&JsValue::NULL, hooks).unwrap();
}

/// The value of a JS expression.
pub(super) fn js(expression: &str) -> JsValue {
    eval(&["(", expression, ")"].concat()).unwrap()
}

/// Lets tasks and timers run for some milliseconds.
pub(super) async fn pause(milliseconds: u32) {
    let wait = function("ms", "return new Promise((done) => setTimeout(done, ms))");
    let promise = wait.call1(&JsValue::UNDEFINED, &milliseconds.into()).unwrap();
    JsFuture::from(promise.unchecked_into::<Promise>()).await.unwrap();
}

/// Lets tasks and timers run until something is so.
pub(super) async fn met(condition: impl Fn() -> bool) {
    for _ in 0..5_000 {
        if condition() {
            return;
        }
        pause(1).await;
    }
    panic!("it never was so");
}

/// The value of a JS expression that may be a promise.
pub(super) async fn awaited(expression: &str) -> JsValue {
    JsFuture::from(Promise::resolve(&js(expression))).await.unwrap()
}

/// A global that is something else until this is dropped.
pub(super) struct Replaced {
    name: &'static str,
    original: JsValue,
}

pub(super) fn replace(name: &'static str, value: &JsValue) -> Replaced {
    let original = Reflect::get(&global(), &name.into()).unwrap();
    Reflect::set(&global(), &name.into(), value).unwrap();
    Replaced { name, original }
}

impl Drop for Replaced {
    fn drop(&mut self) {
        Reflect::set(&global(), &self.name.into(), &self.original).unwrap();
    }
}

/// A property of an object that is something else until this is dropped.
pub(super) struct Defined(Function);

/// `object` and `value` are JS expressions.
pub(super) fn define(object: &str, name: &str, value: &str) -> Defined {
    let define = function(
        "object, name, value",
        "const old = Object.getOwnPropertyDescriptor(object, name);
         Object.defineProperty(object, name, { value, configurable: true, writable: true });
         return () => { delete object[name]; if (old) Object.defineProperty(object, name, old); };",
    );
    Defined(define.call3(&JsValue::NULL, &js(object), &name.into(), &js(value)).unwrap().unchecked_into())
}

impl Drop for Defined {
    fn drop(&mut self) {
        self.0.call0(&JsValue::NULL).unwrap();
    }
}

/// A protocol that opens one socket, takes every text as an event, and writes down what it sees.
///
/// Frames are commands to it: `call NAME` announces and authorises a call, `close` closes the socket.
pub(super) struct Scripted {
    pub(super) seen: Rc<RefCell<Vec<String>>>,
    pub(super) deadline: Rc<Cell<Option<Millis>>>,
    /// Each stage is a conversation of its own: the page's ledger outlives it.
    number: u32,
    calls: u32,
}

thread_local! {
    static STAGES: Cell<u32> = const { Cell::new(0) };
}

const SOCKET: SocketId = SocketId(1);

impl Protocol for Scripted {
    fn check(&self, _: &Tool, _: &[&Tool]) -> Result<(), Error> {
        Ok(())
    }

    fn undeclare(&mut self, _: &ToolName) {}

    fn binds(&self) -> bool {
        true
    }

    fn answers(&self) -> bool {
        false
    }

    fn declare(&mut self, _: &Tool, _: &[&Tool]) -> Result<(), Error> {
        Ok(())
    }

    fn open(&mut self, _tools: &[&Tool], _position: Option<String>, _seed: u64, _now: Millis, out: &mut Outlet) {
        out.effects.push(WireEffect::OpenSocket { socket: SOCKET, url: "ws://stage.invalid/".into() });
    }

    fn wire(&mut self, wire: Wire, _now: Millis, out: &mut Outlet) {
        let line = match wire {
            Wire::Answered { answer, .. } => format!("answered {answer:?}"),
            Wire::Opened { .. } => {
                out.effects.push(WireEffect::SendText { socket: SOCKET, text: "hello".into() });
                out.say(Signal::Opened(Opened {
                    id: "stage".into(),
                    created: true,
                    status: Status::Idle,
                    tools: Some(Vec::new()),
                    gate: None,
                    loses_messages: false,
                }));
                out.say(Signal::Ready);
                "opened".into()
            }
            Wire::Frame { text, .. } => {
                match text.as_str() {
                    "close" => out.effects.push(WireEffect::CloseSocket { socket: SOCKET }),
                    "key" => out.effects.push(WireEffect::AskKey),
                    _ => {}
                }
                if let Some(tool) = text.strip_prefix("call ") {
                    self.calls += 1;
                    let call = CallId::new(format!("call-{}", self.calls));
                    let arguments = serde_json::value::to_raw_value(&serde_json::json!({ "n": 1 })).unwrap();
                    let announced = Meaning::Announced {
                        call: call.clone(),
                        tool: tool.into(),
                        arguments,
                        schemas: Schemas::default(),
                    };
                    let meanings = vec![announced, Meaning::Authorised { call, arguments: None }];
                    out.say(Signal::Delivered(Delivery { id: None, raw: "{}".into(), meanings }));
                }
                format!("frame {text}")
            }
            Wire::Closed { code, reason, .. } => format!("closed {code} {reason}"),
            Wire::Fed { text, .. } => format!("fed {text}"),
            Wire::Carried(carried) => format!("carried {carried:?}"),
            Wire::Key(key) => format!("key {key:?}"),
            Wire::Surroundings(surroundings) => format!("{surroundings:?}"),
        };
        self.seen.borrow_mut().push(line);
    }

    fn command(&mut self, command: CommandId, what: protocol::Command, _now: Millis, out: &mut Outlet) {
        self.seen.borrow_mut().push(format!("{what:?}"));
        out.say(Signal::Done { command, result: Ok("null".into()) });
    }

    fn close(&mut self, out: &mut Outlet) {
        out.effects.push(WireEffect::CloseSocket { socket: SOCKET });
    }

    fn tick(&mut self, now: Millis, _out: &mut Outlet) {
        if self.deadline.get().is_some_and(|deadline| deadline <= now) {
            self.deadline.set(None);
            self.seen.borrow_mut().push("tick".into());
        }
    }

    fn next_deadline(&self) -> Option<Millis> {
        self.deadline.get()
    }

    fn ledger_key(&self) -> String {
        format!("stage {}", self.number)
    }

    fn position(&self) -> Option<String> {
        None
    }
}

/// A driver over the scripted protocol and a fake WebSocket.
pub(super) struct Stage {
    pub(super) driver: Rc<Driver>,
    pub(super) seen: Rc<RefCell<Vec<String>>>,
    pub(super) deadline: Rc<Cell<Option<Millis>>>,
    number: u32,
    /// `{ log, onEmit }`: what the hooks were told, as texts, and a function that they call with every event.
    hooks: Hooks,
    _sockets: Replaced,
}

impl Stage {
    /// `handlers` are pairs of a tool's name and its function.
    pub(super) fn new(handlers: &[(&str, Function)]) -> Self {
        Self::with_schemas(handlers, r#"{"type":"object","properties":{}}"#)
    }

    /// The same, with an input schema for every tool.
    pub(super) fn with_schemas(handlers: &[(&str, Function)], schema: &str) -> Self {
        let sockets = replace("WebSocket", &js(FAKE_SOCKET));
        let seen = Rc::new(RefCell::new(Vec::new()));
        let deadline = Rc::new(Cell::new(None));
        STAGES.set(STAGES.get() + 1);
        let protocol =
            Scripted { seen: Rc::clone(&seen), deadline: Rc::clone(&deadline), number: STAGES.get(), calls: 0 };
        let functions = Array::new();
        let mut tools = Vec::new();
        for (name, handler) in handlers {
            functions.push(handler);
            let text = format!(r#"{{"name":"{name}","description":"d","inputSchema":{schema},"hasHandler":true}}"#);
            tools.push(Tool::from_json(&text).unwrap());
        }
        let hooks = hooks();
        let settings =
            Settings { resume_within: Millis(0), results: false, limits: crate::conversation::Limits::default() };
        let conversation = Conversation::new(Box::new(protocol), tools, settings, 1).unwrap();
        let driver = Driver::new(conversation, &functions, |_| None, hooks.clone());
        Self { driver, seen, deadline, number: STAGES.get(), hooks, _sockets: sockets }
    }

    /// The name of the conversation in the ledger.
    pub(super) fn ledger_key(&self) -> String {
        format!("stage {}", self.number)
    }

    /// Opens the conversation on its fake socket.
    pub(super) async fn open(&self) {
        self.driver.ask(OperationId(1), Command::Open);
        self.connecting().await;
        self.socket_does("open", "{}");
    }

    /// The ledger is asked before the socket is opened.
    pub(super) async fn connecting(&self) {
        met(|| js("WebSocket.all.length > 0").is_truthy()).await;
    }

    /// The newest fake socket fires an event with these fields.
    pub(super) fn socket_does(&self, event: &str, fields: &str) {
        let fire = function(
            "type, fields",
            "const socket = WebSocket.all.at(-1);
             if (type === 'open') socket.readyState = 1;
             if (type === 'close') socket.readyState = 3;
             socket.dispatchEvent(Object.assign(new Event(type), fields));",
        );
        fire.call2(&JsValue::UNDEFINED, &event.into(), &js(fields)).unwrap();
    }

    /// What the newest fake socket was told.
    pub(super) fn socket_log(&self) -> Vec<String> {
        texts(&js("WebSocket.all.at(-1).log"))
    }

    pub(super) fn log(&self) -> Vec<String> {
        texts(&Reflect::get(&self.hooks, &"log".into()).unwrap())
    }

    /// Lets tasks and timers run until what the hooks were told has so many lines with this text.
    pub(super) async fn told(&self, times: usize, text: &str) -> Vec<String> {
        for _ in 0..2_000 {
            let log = self.log();
            if log.iter().filter(|line| line.contains(text)).count() >= times {
                return log;
            }
            pause(1).await;
        }
        panic!("{text} was not told {times} times: {:?}", self.log())
    }

    pub(super) fn on_emit(&self, listener: &JsValue) {
        self.hook("onEmit", listener);
    }

    /// Replaces a hook.
    pub(super) fn hook(&self, name: &str, function: &JsValue) {
        Reflect::set(&self.hooks, &name.into(), function).unwrap();
    }

    pub(super) fn seen(&self) -> Vec<String> {
        self.seen.borrow().clone()
    }
}

impl Drop for Stage {
    /// As the facade does it.
    fn drop(&mut self) {
        self.driver.stop();
        end(&self.hooks);
    }
}

fn texts(array: &JsValue) -> Vec<String> {
    Array::from(array).iter().map(|text| text.as_string().unwrap()).collect()
}

const FAKE_SOCKET: &str = "class Fake extends EventTarget {
    static all = [];
    readyState = 0;
    log = [];
    constructor(url) { super(); this.log.push('new ' + url); Fake.all.push(this); }
    send(text) { this.log.push('send ' + text); }
    close(code) { this.log.push('close ' + code); this.readyState = 3; }
    addEventListener(type, f) { this.log.push('+' + type); super.addEventListener(type, f); }
    removeEventListener(type, f) { this.log.push('-' + type); super.removeEventListener(type, f); }
}";

const HOOKS: &str = "{
    log: [],
    onEmit() {},
    topics: ['call', 'approval', 'status', 'message', 'delta', 'event', 'connection', 'tools', 'notice', 'error', 'condition', 'label'],
    emit(number, json) {
        const topic = this.topics[number];
        this.log.push(topic + ' ' + json);
        this.onEmit(topic, json);
    },
    settle(operation, json) { this.log.push('settle ' + operation + ' ' + json); },
    fail(operation, error) { this.log.push('fail ' + operation + ' ' + error.code); },
    error(code, message, details, retryable) { return Object.assign(new Error(message), { code, details, retryable }); },
    text: (event, buffer) => typeof event.data === 'string' && event.data.length * 3 <= buffer.length
        ? new TextEncoder().encodeInto(event.data, buffer).written : -1,
    guard: (closure) => (...given) => closure(...given),
    compile() { return Promise.resolve(); },
    check() { return Promise.resolve('{\"valid\":true,\"issues\":[]}'); },
    over: undefined,
    end() {},
    ended() { return this.over ??= new Promise((done) => { this.end = done; }); },
    key() {},
}";
