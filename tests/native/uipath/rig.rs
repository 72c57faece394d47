//! A conversation on its line, without a network: the test is the service, and the house.

use std::collections::BTreeMap;

use pagehand::call::CallId;
use pagehand::net::{Answer, Millis, Request, RequestId, SocketId};
use pagehand::protocol::uipath::{Line, LineEffect, LineInput, MemberId, Opening, Settings, UiPath};
use pagehand::protocol::{
    Carry, Command, CommandId, Connection, Deed, Meaning, Outlet, Page, Protocol, SessionKey, Signal, Wire, WireEffect,
};
use pagehand::tool::Tool;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::shapes;

pub const ID: &str = "C0FFEE00-0000-4000-8000-000000000001";
const ME: MemberId = MemberId(1);
pub const GREETING: &str = r#"0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":5000}"#;

pub fn settings(token: SessionKey) -> Settings {
    Settings {
        url: "http://localhost:9".into(),
        organization: "org".into(),
        tenant: "tenant".into(),
        token,
        socket_path: None,
        external_user: None,
        surface: None,
    }
}

pub fn tool(name: &str) -> Tool {
    tool_with(name, r#""hasHandler":true"#)
}

pub fn tool_with(name: &str, more: &str) -> Tool {
    Tool::from_json(&format!(r#"{{"name":"{name}","description":"d",{more}}}"#)).unwrap()
}

/// The tools of the documentation's example.
pub fn tools() -> Vec<Tool> {
    vec![tool("read_board_tasks"), tool("create task")]
}

pub struct Rig {
    pub protocol: UiPath,
    line: Line,
    pub now: Millis,
    /// What the house was told, one word each.
    told: Vec<String>,
    /// The raw events that were delivered.
    pub events: Vec<Value>,
    /// The envelopes that were sent, on any socket.
    pub sent: Vec<Value>,
    /// The packets around them.
    pub packets: Vec<String>,
    pub requests: Vec<(RequestId, Request)>,
    pub socket: SocketId,
    pub sockets: u32,
    pub done: BTreeMap<u32, Result<Value, &'static str>>,
    commands: u32,
}

impl Rig {
    pub fn new(opening: Opening, tools: &[Tool]) -> Self {
        Self::with(UiPath::new(settings(SessionKey::Fixed("canary".into())), opening).unwrap(), tools)
    }

    pub fn with(protocol: UiPath, tools: &[Tool]) -> Self {
        let line = Line::new(settings(SessionKey::Fixed("canary".into())), 7).unwrap();
        let mut rig = Self {
            protocol,
            line,
            now: Millis(1_000_000),
            told: Vec::new(),
            events: Vec::new(),
            sent: Vec::new(),
            packets: Vec::new(),
            requests: Vec::new(),
            socket: SocketId(0),
            sockets: 0,
            done: BTreeMap::new(),
            commands: 0,
        };
        rig.act(|protocol, now, out| protocol.open(&tools.iter().collect::<Vec<_>>(), None, 7, now, out));
        rig
    }

    pub fn creating(tools: &[Tool]) -> Self {
        Self::new(Opening::Create { request: r#"{"agentReleaseId":7,"folderId":11}"#.into() }, tools)
    }

    pub fn attaching(tools: &[Tool]) -> Self {
        Self::new(Opening::Attach { id: ID.into() }, tools)
    }

    /// A conversation that was created, with its session.
    pub fn ready(tools: &[Tool]) -> Self {
        let mut rig = Self::creating(tools);
        rig.made_ready();
        rig
    }

    pub fn made_ready(&mut self) {
        self.answer("/conversation", 200, &format!(r#"{{"conversationId":"{ID}"}}"#));
        self.admit();
        self.start();
        assert!(self.said().ends_with("ready"));
        self.sent.clear();
    }

    /// A conversation that is joined, with the exchanges that are there, newest first.
    pub fn joined(tools: &[Tool], exchanges: &str) -> Self {
        let mut rig = Self::attaching(tools);
        rig.answer("/conversation", 200, &format!(r#"{{"conversationId":"{ID}"}}"#));
        rig.admit();
        rig.start();
        rig.newest(exchanges);
        rig
    }

    /// Answers what is read at the beginning of a later session.
    pub fn newest(&mut self, exchanges: &str) {
        self.answer("exchangeSort=descending", 200, &format!(r#"{{"data":[{exchanges}]}}"#));
    }

    /// The service lets the newest socket in.
    pub fn admit(&mut self) {
        self.packet(GREETING);
        self.packet(r#"40{"sid":"x"}"#);
    }

    /// The service starts the session.
    pub fn start(&mut self) {
        self.server(&json!({ "sessionStarted": {} }));
    }

    /// The connection breaks, and is there again with its session.
    pub fn reconnect(&mut self) {
        self.lose(1006);
        self.come_back();
    }

    pub fn come_back(&mut self) {
        let sockets = self.sockets;
        self.wait_for("a new socket", |rig| rig.sockets > sockets);
        self.admit();
        self.start();
    }

    pub fn lose(&mut self, code: u16) {
        let closed = Wire::Closed { socket: self.socket, code, reason: String::new() };
        self.line_input(LineInput::Wire(closed));
    }

    pub fn packet(&mut self, text: &str) {
        self.line_input(LineInput::Wire(Wire::Frame { socket: self.socket, text: text.into() }));
    }

    /// The service says something about the conversation: members of an envelope.
    pub fn server(&mut self, members: &Value) {
        let mut envelope = members.clone();
        envelope["conversationId"] = json!(ID);
        self.packet(&format!(r#"42["ConversationEvent",{envelope}]"#));
    }

    /// The service says something about an exchange.
    pub fn exchange(&mut self, exchange: &str, members: Value) {
        let mut members = members;
        members["exchangeId"] = json!(exchange);
        self.server(&json!({ "exchange": members }));
    }

    pub fn end_exchange(&mut self, exchange: &str) {
        self.exchange(exchange, json!({ "endExchange": {} }));
    }

    pub fn message(&mut self, exchange: &str, message: &str, members: Value) {
        let mut members = members;
        members["messageId"] = json!(message);
        self.exchange(exchange, json!({ "message": members }));
    }

    /// A whole message of the agent's.
    pub fn agent_says(&mut self, exchange: &str, message: &str, text: &str) {
        let part = |member: Value| {
            let mut part = member;
            part["contentPartId"] = json!("p");
            json!({ "contentPart": part })
        };
        let mut start = part(json!({ "startContentPart": { "mimeType": "text/markdown" } }));
        start["startMessage"] = json!({ "role": "assistant" });
        self.message(exchange, message, start);
        self.message(exchange, message, part(json!({ "chunk": { "data": text } })));
        self.message(exchange, message, part(json!({ "endContentPart": {} })));
        self.message(exchange, message, json!({ "endMessage": {} }));
    }

    /// The service says something about a call in message `m`.
    pub fn call(&mut self, exchange: &str, call: &str, member: &str, value: Value) {
        let mut members = json!({ "toolCallId": call });
        members[member] = value;
        self.message(exchange, "m", json!({ "toolCall": members }));
    }

    /// A call of the client's is announced and let through.
    pub fn call_runs(&mut self, exchange: &str, call: &str, tool: &str) {
        self.call(
            exchange,
            call,
            "startToolCall",
            json!({ "toolName": tool, "input": { "a": 1 }, "isClientSideTool": true }),
        );
        self.call(exchange, call, "executingToolCall", json!({ "input": { "a": 1 } }));
    }

    /// A call of the client's is announced, and a person is to be asked.
    pub fn call_asks(&mut self, exchange: &str, call: &str, tool: &str) {
        let start = json!({
            "toolName": tool, "input": { "a": 1 }, "isClientSideTool": true, "requireConfirmation": true,
            "inputSchema": { "type": "object" },
        });
        self.call(exchange, call, "startToolCall", start);
    }

    pub fn command(&mut self, command: Command) -> u32 {
        self.commands += 1;
        let id = CommandId(self.commands);
        self.act(|protocol, now, out| protocol.command(id, command, now, out));
        id.0
    }

    /// Says something. The exchange that begins with it, once it leaves.
    pub fn say(&mut self, text: &str) -> u32 {
        self.say_parts(&json!([{ "type": "text", "text": text }]))
    }

    pub fn say_parts(&mut self, parts: &Value) -> u32 {
        let content = raw(&parts.to_string());
        self.command(Command::Say { content, run: true })
    }

    /// The same on a session that stands: the name of the exchange.
    pub fn begin(&mut self, text: &str) -> String {
        let before = self.sent.len();
        self.say(text);
        let exchange = self.sent[before]["exchange"]["exchangeId"].as_str().unwrap().to_owned();
        self.said();
        self.sent.clear();
        exchange
    }

    pub fn settle(&mut self, call: &str, outcome: &Value) -> u32 {
        let (call, outcome) = (CallId::new(call), raw(&outcome.to_string()));
        self.command(Command::Answer { call, outcome, doubtful: false })
    }

    /// The same for one that another page may have told.
    pub fn settle_doubtful(&mut self, call: &str, outcome: &Value) -> u32 {
        let (call, outcome) = (CallId::new(call), raw(&outcome.to_string()));
        self.command(Command::Answer { call, outcome, doubtful: true })
    }

    pub fn decide(&mut self, call: &str, accept: bool, arguments: Option<&str>) -> u32 {
        let (question, arguments) = (CallId::new(call), arguments.map(raw));
        self.command(Command::Decide { question, accept, reason: "not today".into(), arguments })
    }

    pub fn deed(&mut self, name: &str, given: &Value) -> u32 {
        self.command(Command::Do(Deed::read(name, &given.to_string()).unwrap()))
    }

    pub fn history(&mut self, page: Page) -> u32 {
        self.command(Command::History(page))
    }

    pub fn close(&mut self) {
        self.act(|protocol, _, out| protocol.close(out));
    }

    pub fn token(&mut self, token: Result<&str, &str>) {
        let key = token.map(Into::into).map_err(Into::into);
        self.act(|protocol, now, out| protocol.wire(Wire::Key(key), now, out));
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
        // What was sent last may still be on its way: nothing is read before it has settled.
        self.wait_for("a request", |rig| rig.requests.iter().any(|(_, request)| request.url.contains(url)));
        let (request, _) = self.take(url).unwrap_or_else(|| panic!("nothing asks for {url}"));
        self.act(|protocol, now, out| protocol.wire(Wire::Answered { request, answer }, now, out));
    }

    /// Lets time pass until something is to be done.
    pub fn wait(&mut self) -> bool {
        let deadlines = [self.protocol.next_deadline(), self.line.next_wakeup()];
        let Some(at) = deadlines.into_iter().flatten().min() else { return false };
        self.now = self.now.max(at);
        self.act(Protocol::tick);
        self.line_input(LineInput::Tick);
        true
    }

    /// Lets this much time pass, with pings all the while.
    pub fn pass(&mut self, milliseconds: u64) {
        let until = Millis(self.now.0 + milliseconds);
        loop {
            let deadline = self.protocol.next_deadline().filter(|at| *at > self.now);
            self.now = until.min(Millis(self.now.0 + 10_000)).min(deadline.unwrap_or(until));
            self.packet("2");
            self.act(Protocol::tick);
            if self.now >= until {
                return;
            }
        }
    }

    pub fn wait_for(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        for _ in 0..10_000 {
            if is_so(self) {
                return;
            }
            assert!(self.wait(), "nothing more happens, and not {what}");
        }
        panic!("time goes on, and not {what}");
    }

    /// What the house was told since the last question.
    pub fn said(&mut self) -> String {
        std::mem::take(&mut self.told).join(", ")
    }

    /// What was sent since the last question, as `path member` words.
    pub fn wrote(&mut self) -> String {
        let words: Vec<_> = std::mem::take(&mut self.sent).iter().map(shapes::words).collect();
        words.join(", ")
    }

    /// The values of a member in what was sent about calls.
    pub fn about_calls(&self, member: &str) -> Vec<(String, Value)> {
        let calls = self.sent.iter().map(|envelope| &envelope["exchange"]["message"]["toolCall"]);
        let calls = calls.filter(|call| call.get(member).is_some());
        calls.map(|call| (call["toolCallId"].as_str().unwrap().to_owned(), call[member].clone())).collect()
    }

    pub fn line_input(&mut self, input: LineInput) {
        for effect in self.line.handle(input, self.now) {
            match effect {
                LineEffect::Wire(WireEffect::OpenSocket { socket, .. }) => {
                    self.socket = socket;
                    self.sockets += 1;
                }
                LineEffect::Wire(WireEffect::SendText { text, .. }) => {
                    if let Some(event) = text.strip_prefix(r#"42["ConversationEvent","#) {
                        let envelope: Value = serde_json::from_str(event.strip_suffix(']').unwrap()).unwrap();
                        shapes::check(&envelope);
                        self.sent.push(envelope);
                    }
                    self.packets.push(text);
                }
                LineEffect::Wire(_) => {}
                LineEffect::Carried { member, what } => {
                    assert_eq!(member, ME);
                    self.act(|protocol, now, out| protocol.wire(Wire::Carried(what), now, out));
                }
            }
        }
    }

    fn act(&mut self, what: impl FnOnce(&mut UiPath, Millis, &mut Outlet)) {
        let mut out = Outlet::default();
        what(&mut self.protocol, self.now, &mut out);
        for signal in out.signals {
            self.hear(signal);
        }
        for effect in out.effects {
            match effect {
                WireEffect::Fetch { request, what } => self.requests.push((request, what)),
                WireEffect::AskKey => self.told.push("key?".into()),
                WireEffect::Carry(what) => {
                    if matches!(what, Carry::Leave) {
                        self.told.push("left".into());
                    }
                    self.line_input(LineInput::Carry { member: ME, what });
                }
                WireEffect::OpenSocket { .. } | WireEffect::SendText { .. } | WireEffect::CloseSocket { .. } => {
                    panic!("the line has the sockets")
                }
            }
        }
    }

    fn hear(&mut self, signal: Signal) {
        let word = match signal {
            Signal::Opened(opened) => format!("opened {}", if opened.created { "new" } else { "old" }),
            Signal::Ready => "ready".into(),
            Signal::Ended(error) => format!("ended {}", error.code()),
            Signal::Connection(connection) => match connection {
                Connection::Connecting { .. } => "connecting".into(),
                Connection::Connected { .. } => "connected".into(),
                Connection::Waiting { .. } => "waiting".into(),
                Connection::Ready { .. } => "up again".into(),
                Connection::Lost { close_code, .. } => format!("lost {close_code}"),
                Connection::Closed { .. } => "closed".into(),
            },
            Signal::Delivered(delivery) => {
                assert_eq!(delivery.id, None);
                self.events.push(serde_json::from_str(&delivery.raw).unwrap());
                return self.told.extend(delivery.meanings.into_iter().map(meaning));
            }
            Signal::Found(meanings) => return self.told.extend(meanings.into_iter().map(meaning)),
            Signal::Condition(condition) => {
                let over = if condition.over { " over" } else { "" };
                format!("condition {} {}{over}", condition.level, condition.code)
            }
            Signal::Label { text, generated } => format!("label {text} {generated}"),
            Signal::Delta { content, .. } => format!("~{content}"),
            Signal::Polled(status) => format!("polled {}", status.as_str()),
            Signal::Waiting(questions) => format!("waiting {questions:?}"),
            Signal::Repeated(id) => format!("repeated {id:?}"),
            Signal::Notice { code, .. } => format!("notice {}", pagehand::json::text(&code).trim_matches('"')),
            Signal::Done { command, result } => {
                let result = result.map(|text| serde_json::from_str(&text).unwrap()).map_err(|error| error.code());
                let word = format!("done {}", result.as_ref().map_or_else(|code| *code, |_| "ok"));
                assert!(self.done.insert(command.0, result).is_none(), "a command is done twice");
                word
            }
        };
        self.told.push(word);
    }
}

fn meaning(meaning: Meaning) -> String {
    /// The exchange's name is the tests' business.
    fn short(call: &CallId) -> &str {
        call.as_str().split_once('/').unwrap().1
    }
    match meaning {
        Meaning::Announced { call, tool, arguments, .. } => format!("announced {} {tool} {arguments}", short(&call)),
        Meaning::Authorised { call, arguments } => {
            let arguments = arguments.map(|arguments| format!(" {arguments}")).unwrap_or_default();
            format!("authorised {}{arguments}", short(&call))
        }
        Meaning::Ended { call, .. } => format!("server ended {}", short(&call)),
        Meaning::Orphaned { call, .. } => format!("orphaned {}", short(&call)),
        Meaning::Rejected { call, reason, .. } => format!("rejected {}: {reason}", short(&call)),
        Meaning::Withdrawn { .. } | Meaning::Gate(_) => panic!("not of this protocol"),
        Meaning::Status(status) => status.as_str().into(),
        Meaning::Approvals(questions) => {
            let calls = questions.iter().map(|calls| {
                let [call] = calls.as_slice() else { panic!("one call is one question") };
                assert!(call.editable);
                short(&call.call_id)
            });
            format!("asks [{}]", calls.collect::<Vec<_>>().join(" "))
        }
        Meaning::TurnOver(status) => format!("over {}", status.as_str()),
        Meaning::RunFailed { code, .. } => format!("failed {code}"),
        Meaning::Message { role, text, .. } => format!("{role}: {text}"),
    }
}

pub fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

/// A successful outcome.
pub fn ok() -> Value {
    json!({ "kind": "ok", "result": { "b": 2 } })
}

/// An exchange as REST has it, with these calls in message `m`.
pub fn record(exchange: &str, calls: &Value) -> String {
    record_with(exchange, &json!([{ "messageId": "m", "role": "assistant", "contentParts": [], "toolCalls": calls }]))
}

pub fn record_with(exchange: &str, messages: &Value) -> String {
    json!({ "exchangeId": exchange, "messages": messages }).to_string()
}
