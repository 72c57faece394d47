//! A stage for one conversation: it performs the effects that need no network, and keeps the rest for the test.

mod events;
mod ledger;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use pagehand::call::{CallId, EngineError, Key, Ledger, LedgerEffect, Limits, Over, RunId, Settled};
use pagehand::conversation::{
    Command, Content, Conversation, Effect, HistoryQuery, Input, OperationId, Settings as Resumption, Topic, Topics,
    Wire, WireEffect,
};
use pagehand::error::Error;
use pagehand::net::{Answer, Millis, Request, RequestId, SocketId};
use pagehand::protocol::openhands::{OpenHands, Opening, SessionKey, Settings};
use pagehand::protocol::{Carry, Protocol};
use pagehand::tool::{HandlerId, Part, Report, SchemaId, Tool};
use pagehand_schema::Validator;
use serde_json::Value;

pub use events::{ack, action, full_state, page_of, said, status};

pub const ID: &str = "7c1f0f3e-6a52-4c0c-9a38-2a3f0e4ad111";

/// A handler that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    pub tool: String,
    pub handler: HandlerId,
    pub call: String,
    pub arguments: Value,
}

#[derive(Default)]
pub struct Stage {
    conversation: Option<Conversation>,
    pub now: Millis,
    engine: BTreeMap<SchemaId, Validator>,
    pub engine_is_there: bool,
    /// Validations are answered by [`Stage::engine_answers`], not at once.
    pub engine_is_slow: bool,
    reports: Vec<Input>,
    /// What validators of the app's own were asked: what it is, of which declaration, the value. They find nothing wrong,
    /// or throw this.
    pub judged: Vec<(Part, Option<HandlerId>, String)>,
    pub thrown: Option<EngineError>,
    /// What all pages of the browser know.
    pub ledger: Rc<RefCell<Ledger>>,
    /// The name of this page in the ledger, and of the pages that live.
    pub owner: String,
    pub living: Rc<RefCell<BTreeSet<String>>>,
    pub watched: Vec<Key>,
    /// The ledger is answered by [`Stage::ledger_answers`], not at once.
    pub ledger_is_slow: bool,
    claims: VecDeque<LedgerEffect>,
    operations: u32,
    /// What handlers return: nothing means that they never settle.
    pub returns: Option<Settled>,
    pub runs: Vec<Ran>,
    pub open_runs: Vec<RunId>,
    /// The handlers of later declarations, by their operations, and those that nothing starts any more.
    pub declared: Vec<(u32, HandlerId)>,
    pub forgotten: Vec<HandlerId>,
    /// What the app is to look at: the run, the call, its arguments.
    pub reviews: Vec<(RunId, String, Value)>,
    pub aborted: Vec<RunId>,
    pub requests: Vec<(RequestId, Request)>,
    pub sockets: Vec<(SocketId, String)>,
    pub sent: Vec<(SocketId, String)>,
    pub closed: Vec<SocketId>,
    /// What was asked of a shared connection.
    pub carried: Vec<Carry>,
    /// How often the app was asked for its key.
    pub keys_asked: u32,
    pending_inputs: Vec<Input>,
    pub events: Vec<(Topic, Value)>,
    pub settled: BTreeMap<u32, Result<Value, Error>>,
}

pub fn resumption() -> Resumption {
    Resumption { resume_within: Millis(300_000), results: false, limits: Limits::default() }
}

pub fn tool(name: &str, schema: &str) -> Tool {
    tool_with(name, schema, r#""hasHandler":true"#)
}

pub fn tool_with(name: &str, schema: &str, more: &str) -> Tool {
    let text = format!(r#"{{"name":{name:?},"description":"d","inputSchema":{schema},{more}}}"#);
    Tool::from_json(&text).unwrap()
}

impl Stage {
    pub fn new(tools: Vec<Tool>) -> Self {
        Self::with(Opening::Create { id: ID.into(), request: r#"{"agent":{},"workspace":"/"}"#.into() }, tools)
    }

    pub fn with(opening: Opening, tools: Vec<Tool>) -> Self {
        Self::with_key(SessionKey::Fixed("canary".into()), opening, tools)
    }

    pub fn with_key(session_key: SessionKey, opening: Opening, tools: Vec<Tool>) -> Self {
        Self::with_all(session_key, opening, tools, resumption())
    }

    /// A created conversation whose agent is told the outcomes of its calls, on the session socket.
    pub fn ready_with_results(tools: Vec<Tool>) -> Self {
        let opening = Opening::Create { id: ID.into(), request: r#"{"agent":{},"workspace":"/"}"#.into() };
        let key = SessionKey::Fixed("canary".into());
        Self::with_all(key, opening, tools, Resumption { results: true, ..resumption() }).made_ready()
    }

    /// The same with limits of its own.
    pub fn ready_within(limits: Limits, tools: Vec<Tool>) -> Self {
        let opening = Opening::Create { id: ID.into(), request: r#"{"agent":{},"workspace":"/"}"#.into() };
        let key = SessionKey::Fixed("canary".into());
        Self::with_all(key, opening, tools, Resumption { limits, ..resumption() }).made_ready()
    }

    pub fn joins_with_results(tools: Vec<Tool>) -> Self {
        let (key, opening) = (SessionKey::Fixed("canary".into()), Opening::Attach { id: ID.into() });
        Self::with_all(key, opening, tools, Resumption { results: true, ..resumption() })
    }

    fn with_all(session_key: SessionKey, opening: Opening, tools: Vec<Tool>, resumption: Resumption) -> Self {
        let settings = Settings { url: "http://server".into(), session_key };
        Self::over(Box::new(OpenHands::new(settings, opening).unwrap()), tools, resumption)
    }

    pub fn over(protocol: Box<dyn Protocol>, tools: Vec<Tool>, resumption: Resumption) -> Self {
        let conversation = Conversation::new(protocol, tools, resumption, 7).unwrap();
        Self {
            owner: "page".into(),
            living: Rc::new(RefCell::new(BTreeSet::from(["page".to_owned()]))),
            conversation: Some(conversation),
            now: Millis(1_000_000),
            engine_is_there: true,
            returns: Some(Settled::Returned("null".into())),
            ..Self::default()
        }
    }

    /// A created conversation that is ready to speak, on the session socket.
    pub fn ready(tools: Vec<Tool>) -> Self {
        Self::new(tools).made_ready()
    }

    fn made_ready(mut self) -> Self {
        self.command(Command::Open);
        self.open("1.58.2", 201, "[]");
        self.frame(r#"{"type":"sync","from_seq":-1}"#);
        self
    }

    pub fn tell_only(&mut self, topics: Topics) {
        self.conversation.as_mut().unwrap().tell_only(topics);
    }

    /// Answers the two requests of opening and opens the socket.
    pub fn open(&mut self, version: &str, status: u16, client_tools: &str) {
        self.answer("/server_info", 200, &format!(r#"{{"version":"{version}"}}"#));
        let info = format!(r#"{{"id":"{ID}","execution_status":"idle","client_tools":{client_tools}}}"#);
        self.answer("/api/conversations", status, &info);
        self.connect();
    }

    /// Opens the newest socket.
    pub fn connect(&mut self) {
        let (socket, _) = self.sockets.last().cloned().expect("no socket is wanted");
        self.input(Input::Wire(Wire::Opened { socket }));
    }

    pub fn socket(&self) -> SocketId {
        self.sockets.last().expect("no socket is wanted").0
    }

    pub fn frame(&mut self, text: &str) {
        self.input(Input::Wire(Wire::Frame { socket: self.socket(), text: text.into() }));
    }

    /// A durable frame of the session socket.
    pub fn durable(&mut self, seq: i64, event: &str) {
        self.frame(&format!(r#"{{"type":"durable","seq":{seq},"event":{event}}}"#));
    }

    pub fn lose_socket(&mut self, code: u16) {
        self.input(Input::Wire(Wire::Closed { socket: self.socket(), code, reason: String::new() }));
    }

    /// Lets time pass until the conversation wants to be woken.
    pub fn wait(&mut self) -> bool {
        let Some(at) = self.conversation.as_ref().and_then(Conversation::next_wakeup) else { return false };
        self.now = self.now.max(at);
        self.input(Input::Tick);
        true
    }

    /// Lets time pass until something is so.
    pub fn wait_for(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        for _ in 0..10_000 {
            if is_so(self) {
                return;
            }
            assert!(self.wait(), "nothing more happens, and not {what}");
        }
        panic!("time goes on, and not {what}");
    }

    /// Lets time pass until a new socket is wanted, and opens it.
    pub fn reconnect(&mut self) {
        let sockets = self.sockets.len();
        self.wait_for("a new socket", |stage| stage.sockets.len() > sockets);
        self.connect();
    }

    pub fn command(&mut self, command: Command) -> u32 {
        self.operations += 1;
        self.input(Input::App { operation: OperationId(self.operations), command });
        self.operations
    }

    pub fn send(&mut self, text: &str) -> u32 {
        self.command(Command::Send { content: Content::text(text).unwrap(), run: true, approve: false })
    }

    pub fn history(&mut self) -> u32 {
        self.command(Command::History(HistoryQuery { limit: 5, newest_first: false, page: None }))
    }

    pub fn cancel(&mut self, call: &str) -> u32 {
        self.command(Command::Cancel { call: CallId::new(call), reason: "no longer needed".into() })
    }

    /// Takes the oldest open request whose URL contains the text.
    pub fn take(&mut self, url: &str) -> Option<(RequestId, Request)> {
        let at = self.requests.iter().position(|(_, request)| request.url.contains(url))?;
        Some(self.requests.remove(at))
    }

    pub fn answer(&mut self, url: &str, status: u16, body: &str) {
        self.reply(url, Answer::Http { status, body: body.into() });
    }

    pub fn reply(&mut self, url: &str, answer: Answer) {
        let (request, _) = self.take(url).unwrap_or_else(|| panic!("nothing asks for {url}"));
        self.input(Input::Wire(Wire::Answered { request, answer }));
    }

    pub fn settle_run(&mut self, settled: Settled) {
        let run = self.open_runs.remove(0);
        self.input(Input::HandlerSettled { run, settled });
    }

    pub fn topic(&self, topic: Topic) -> Vec<&Value> {
        self.events.iter().filter(|(of, _)| *of == topic).map(|(_, value)| value).collect()
    }

    /// The states that a call went through.
    pub fn states(&self, call: &str) -> String {
        let steps = self.topic(Topic::Call).into_iter().filter(|step| step["callId"] == call);
        steps.map(|step| step["state"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    /// The outcome of a call.
    pub fn outcome(&self, call: &str) -> Value {
        let mut steps = self.topic(Topic::Call).into_iter().filter(|step| step["callId"] == call);
        let outcomes: Vec<_> = steps.by_ref().filter_map(|step| step.get("outcome")).collect();
        assert!(outcomes.len() < 2, "two outcomes: {outcomes:?}");
        outcomes.first().map_or(Value::Null, |outcome| (*outcome).clone())
    }

    pub fn notices(&self) -> Vec<&str> {
        self.topic(Topic::Notice).into_iter().map(|notice| notice["code"].as_str().unwrap()).collect()
    }

    pub fn error(&self, operation: u32) -> &'static str {
        self.settled[&operation].as_ref().unwrap_err().code()
    }

    /// The answer to what is read on joining, if it is asked: a page of the log, newest first.
    pub fn joined(&mut self, items: &str) {
        if self.requests.iter().any(|(_, request)| request.url.contains("TIMESTAMP_DESC")) {
            self.answer("TIMESTAMP_DESC", 200, &format!(r#"{{"items":{items},"next_page_id":null}}"#));
        }
    }

    /// A slow engine gives its latest report.
    pub fn engine_answers(&mut self) {
        let report = self.reports.pop().expect("nothing is being validated");
        self.input(report);
    }

    pub fn input(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let conversation = self.conversation.as_mut().unwrap();
            for effect in conversation.handle(input, self.now) {
                inputs.extend(self.perform(effect));
            }
            self.now = Millis(self.now.0 + 1);
        }
    }

    fn perform(&mut self, effect: Effect) -> Option<Input> {
        match effect {
            Effect::Wire(WireEffect::Fetch { request, what }) => self.requests.push((request, what)),
            Effect::Wire(WireEffect::OpenSocket { socket, url }) => self.sockets.push((socket, url)),
            Effect::Wire(WireEffect::SendText { socket, text }) => self.sent.push((socket, text)),
            Effect::Wire(WireEffect::CloseSocket { socket }) => self.closed.push(socket),
            Effect::CompileSchema { schema, text } => {
                let result = match Validator::compile(&text) {
                    Ok(validator) => {
                        self.engine.insert(schema, validator);
                        Ok(())
                    }
                    Err(error) => Err(EngineError::Schema(error.to_string())),
                };
                return Some(Input::SchemaCompiled { schema, result });
            }
            Effect::Validate { check, schema: SchemaId::OWN, instance, part, handler } => {
                self.judged.push((part, handler, instance));
                let result = self.thrown.clone().map_or_else(|| Ok(Report::valid()), Err);
                let report = Input::Validated { check, result };
                if !self.engine_is_slow {
                    return Some(report);
                }
                self.reports.push(report);
            }
            Effect::Validate { check, schema, instance, .. } => {
                let result = match self.engine.get(&schema) {
                    _ if !self.engine_is_there => Err(EngineError::Unavailable("not found".into())),
                    None => Err(EngineError::Schema("it did not compile".into())),
                    Some(validator) => {
                        let report = serde_json::to_string(&validator.check(&instance)).unwrap();
                        Ok(Report::from_json(&report).unwrap())
                    }
                };
                let report = Input::Validated { check, result };
                if !self.engine_is_slow {
                    return Some(report);
                }
                self.reports.push(report);
            }
            Effect::Wire(WireEffect::Carry(carry)) => self.carried.push(carry),
            Effect::Wire(WireEffect::AskKey) => self.keys_asked += 1,
            Effect::Ledger(
                effect @ (LedgerEffect::Claim { .. } | LedgerEffect::Remember { over: Over::Only(_), .. }),
            ) if self.ledger_is_slow => self.claims.push_back(effect),
            Effect::Ledger(effect) => return self.ledger_answer(effect),
            Effect::Review { run, call, arguments, .. } => {
                self.reviews.push((run, call.to_string(), serde_json::from_str(&arguments).unwrap()));
            }
            Effect::Run { run, handler, tool, call, arguments } => {
                assert!(!self.forgotten.contains(&handler), "a handler that was let go of is started");
                let arguments = serde_json::from_str(&arguments).unwrap();
                self.runs.push(Ran { tool: tool.to_string(), handler, call: call.to_string(), arguments });
                match self.returns.clone() {
                    Some(settled) => return Some(Input::HandlerSettled { run, settled }),
                    None => self.open_runs.push(run),
                }
            }
            Effect::Declared { operation, handler } => self.declared.push((operation.0, handler)),
            Effect::Forget { handler } => self.forgotten.push(handler),
            Effect::Abort { run, .. } => self.aborted.push(run),
            Effect::Emit(event) => self.events.push((event.topic, serde_json::from_str(&event.json).unwrap())),
            Effect::Settle { operation, result } => {
                let result = result.map(|json| serde_json::from_str(&json).unwrap());
                assert!(self.settled.insert(operation.0, result).is_none(), "settled twice: {}", operation.0);
            }
        }
        None
    }
}
