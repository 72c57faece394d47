//! A conversation and, with UiPath, its line; everything that they want done is done at once, and looked at.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pagehand::call::{Ledger, LedgerEffect, LedgerInput, Limits, Owner, Place, RunId, Settled};
use pagehand::conversation::{Command, Conversation, Effect, Input, OperationId, Settings, Topic, Wire, WireEffect};
use pagehand::net::{Answer, Millis, Request, RequestId, SocketId};
use pagehand::protocol::uipath::{Line, LineEffect, LineInput, MemberId};
use pagehand::protocol::{Carry, Protocol};
use pagehand::tool::{Report, Tool};
use serde_json::value::RawValue;

const ME: MemberId = MemberId(1);

/// More bytes than that for each that came were made up. A call is told in a dozen steps, each with its arguments.
const ECHO: usize = 64;

pub struct House {
    pub conversation: Conversation,
    pub line: Option<Line>,
    pub now: Millis,
    pub requests: VecDeque<(RequestId, Request)>,
    pub socket: SocketId,
    pub sockets: u32,
    /// How often each call ran.
    pub runs: BTreeMap<String, u32>,
    /// Handlers that have not settled.
    open: Vec<RunId>,
    /// Whether handlers settle at once.
    pub settles: bool,
    /// What left over the sockets.
    pub sent: Vec<String>,
    /// The events of a topic that were told last.
    pub told: Vec<(Topic, String)>,
    ledger: Ledger,
    operations: u32,
    settled: BTreeSet<u32>,
    /// Bytes that came and bytes that were made of them.
    heard: usize,
    made: usize,
}

impl House {
    pub fn new(protocol: Box<dyn Protocol>, line: Option<Line>) -> Self {
        let tools = r#"[
            {"name":"open","description":"d","inputSchema":{"type":"object"},"hasHandler":true},
            {"name":"create","description":"d","inputSchema":{"type":"object","properties":{"title":{"type":"string"},"n":{"type":"array"}}},"outputSchema":{"type":"object"},"hasHandler":true},
            {"name":"nobody","description":"d"}
        ]"#;
        let tools = Tool::list_from_json(tools).unwrap();
        let settings = Settings {
            resume_within: Millis(300_000),
            results: line.is_none(),
            limits: Limits { argument_depth: usize::MAX, ..Limits::default() },
        };
        Self {
            conversation: Conversation::new(protocol, tools, settings, 7).unwrap(),
            line,
            now: Millis(1_800_000_000_000),
            requests: VecDeque::new(),
            socket: SocketId(0),
            sockets: 0,
            runs: BTreeMap::new(),
            open: Vec::new(),
            settles: true,
            sent: Vec::new(),
            told: Vec::new(),
            ledger: Ledger::default(),
            operations: 0,
            settled: BTreeSet::new(),
            heard: 10_000,
            made: 0,
        }
    }

    pub fn command(&mut self, command: Command) -> u32 {
        self.operations += 1;
        self.input(Input::App { operation: OperationId(self.operations), command });
        self.operations
    }

    pub fn is_settled(&self, operation: u32) -> bool {
        self.settled.contains(&operation)
    }

    /// A text comes over the newest socket.
    pub fn frame(&mut self, text: &str) {
        self.wire(Wire::Frame { socket: self.socket, text: text.to_owned() }, text.len());
    }

    pub fn answer(&mut self, request: RequestId, status: u16, body: &str) {
        let wire = Wire::Answered { request, answer: Answer::Http { status, body: body.to_owned() } };
        self.heard += body.len();
        self.input(Input::Wire(wire));
    }

    /// A socket's wire: the line has them where there is one.
    pub fn wire(&mut self, wire: Wire, bytes: usize) {
        self.heard += bytes;
        if self.line.is_some() {
            self.line_input(LineInput::Wire(wire));
        } else {
            self.input(Input::Wire(wire));
        }
    }

    /// Whether the conversation has ended.
    pub fn is_over(&self) -> bool {
        self.told.iter().any(|(topic, text)| *topic == Topic::Connection && text.contains(r#""state":"closed""#))
    }

    /// Lets time pass until the next thing is due.
    pub fn wait(&mut self) -> bool {
        let line = self.line.as_ref().and_then(Line::next_wakeup);
        let Some(at) = self.conversation.next_wakeup().into_iter().chain(line).min() else { return false };
        // A point in time that never comes is none.
        if at.0 > self.now.0 + 86_400_000 {
            return false;
        }
        self.now = self.now.max(at);
        self.tick();
        true
    }

    /// Time has passed.
    pub fn tick(&mut self) {
        self.input(Input::Tick);
        self.line_input(LineInput::Tick);
    }

    /// The handlers that have not settled do.
    pub fn settle_runs(&mut self) {
        for run in std::mem::take(&mut self.open) {
            self.input(Input::HandlerSettled { run, settled: Settled::Returned(r#"{"a":1}"#.into()) });
        }
    }

    pub fn input(&mut self, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for effect in self.conversation.handle(input, self.now) {
                self.perform(effect, &mut inputs);
            }
            assert!(self.made <= self.heard * ECHO, "{} bytes became {}", self.heard, self.made);
        }
    }

    fn line_input(&mut self, input: LineInput) {
        let Some(line) = &mut self.line else { return };
        for effect in line.handle(input, self.now) {
            match effect {
                LineEffect::Wire(effect) => self.wire_effect(effect),
                LineEffect::Carried { what, .. } => self.input(Input::Wire(Wire::Carried(what))),
            }
        }
    }

    fn wire_effect(&mut self, effect: WireEffect) {
        match effect {
            WireEffect::Fetch { request, what } => {
                self.made += what.url.len() + what.body.as_ref().map_or(0, String::len);
                assert!(!what.url.contains("canary") && what.url.is_ascii(), "{}", what.url);
                self.requests.push_back((request, what));
            }
            WireEffect::OpenSocket { socket, url } => {
                assert!(!url.contains("canary") && url.is_ascii(), "{url}");
                (self.socket, self.sockets) = (socket, self.sockets + 1);
            }
            WireEffect::SendText { text, .. } => {
                self.made += text.len();
                self.sent.push(text);
            }
            WireEffect::Carry(what) => {
                if let Carry::Send(text) = &what {
                    is_json(text);
                }
                self.line_input(LineInput::Carry { member: ME, what });
            }
            WireEffect::AskKey | WireEffect::CloseSocket { .. } => {}
        }
    }

    fn perform(&mut self, effect: Effect, inputs: &mut VecDeque<Input>) {
        match effect {
            Effect::Wire(effect) => self.wire_effect(effect),
            Effect::CompileSchema { schema, .. } => inputs.push_back(Input::SchemaCompiled { schema, result: Ok(()) }),
            Effect::Validate { check, instance, .. } => {
                is_json(&instance);
                inputs.push_back(Input::Validated { check, result: Ok(Report::valid()) });
            }
            Effect::Ledger(effect) => inputs.extend(self.ask_ledger(effect).map(Input::Ledger)),
            Effect::Review { run, .. } => {
                let verdict = pagehand::conversation::Verdict::Allow;
                inputs.push_back(Input::Reviewed { run, verdict, arguments: None });
            }
            Effect::Run { run, call, arguments, .. } => {
                is_json(&arguments);
                let times = self.runs.entry(call.to_string()).or_default();
                *times += 1;
                assert!(*times == 1, "a call ran twice: {call}");
                if self.settles {
                    let settled = Settled::Returned(r#"{"a":1}"#.into());
                    inputs.push_back(Input::HandlerSettled { run, settled });
                } else {
                    self.open.push(run);
                }
            }
            Effect::Abort { .. } | Effect::Declared { .. } | Effect::Forget { .. } => {}
            Effect::Emit(event) => {
                self.made += event.json.len();
                is_json(&event.json);
                assert!(!event.json.contains("canary"), "the key is told: {}", event.json);
                self.told.push((event.topic, event.json));
            }
            Effect::Settle { operation, result } => {
                self.made += result.as_ref().map_or(0, String::len);
                let text = result.unwrap_or_else(|error| pagehand::json::text(&error.to_string()));
                is_json(&text);
                assert!(self.settled.insert(operation.0), "settled twice: {}", operation.0);
            }
        }
    }

    fn ask_ledger(&mut self, effect: LedgerEffect) -> Option<LedgerInput> {
        let owner = Owner("page".into());
        match effect {
            LedgerEffect::Recall { conversation } => {
                Some(LedgerInput::Recalled(self.ledger.recall(&conversation, |_| true)))
            }
            LedgerEffect::Claim { key, tool, .. } => {
                let claim = self.ledger.claim(&key, &tool, &owner, |_| true);
                Some(LedgerInput::Claimed { key, claim })
            }
            LedgerEffect::Record { key, outcome, owed } => {
                self.made += outcome.len();
                self.ledger.record(&key, RawValue::from_string(outcome).unwrap(), owed, &owner);
                None
            }
            LedgerEffect::Discharge { key } => {
                self.ledger.discharge(&key);
                None
            }
            LedgerEffect::Remember { conversation, position, over } => {
                let place = Place { position, at: self.now };
                let theirs = self.ledger.remember(&conversation, place, &owner, &over);
                matches!(over, pagehand::call::Over::Only(_)).then_some(LedgerInput::Placed { theirs })
            }
            LedgerEffect::Watch { .. } => None,
        }
    }
}

/// What leaves the core is JSON, whatever came into it.
fn is_json(text: &str) {
    if let Err(error) = serde_json::from_str::<&RawValue>(text) {
        panic!("{error} in {text}");
    }
}
