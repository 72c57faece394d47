//! The machine: which server, which conversation, which socket, then events and commands.

use crate::call::CallId;
use crate::error::Error;
use crate::list::List;
use crate::net::{Answer, Millis, Request, RequestId, SocketId};
use crate::protocol::{Command, CommandId, Connection, Outlet, Protocol, Signal, Wire, WireEffect};
use crate::tool::{RunOn, Tool};

use super::link::{Closed, Link};
use super::opening::{self, Opening};
use super::rest::Rest;
use super::stream::{Next, Stream};
use super::version::{self, Socket};
use super::{answer, info, rules};

/// Attempts at reading a call that was let through unseen: the log may lag behind the socket.
const CALL_ATTEMPTS: u32 = 3;
const CALL_RETRY: Millis = Millis(500);

/// Which server, and how it knows us.
pub struct Settings {
    /// The base URL.
    pub url: String,
    /// The session key, if the server has one.
    pub session_key: Option<String>,
}

/// One conversation on an OpenHands agent-server.
pub struct OpenHands {
    rest: Rest,
    opening: Opening,
    /// The id under which the server has it.
    id: String,
    /// The body of the create request, until it is sent.
    body: Option<String>,
    link: Link,
    stream: Option<Stream>,
    socket: Socket,
    requests: List<RequestId, Purpose>,
    /// Requests to be sent at a time.
    later: Vec<(Millis, Purpose)>,
    next_request: u32,
}

/// What an answer is for.
#[derive(Clone)]
enum Purpose {
    ServerInfo,
    Open,
    /// A page of the log for the stream on this socket.
    Log(SocketId),
    Say(CommandId),
    Deed(CommandId),
    Run(CommandId),
    History(CommandId),
    Poll(CommandId),
    Call {
        command: CommandId,
        call: CallId,
        attempt: u32,
    },
}

impl OpenHands {
    /// A conversation that is not open yet. What can be checked without the server is checked here.
    pub fn new(settings: Settings, opening: Opening) -> Result<Self, Error> {
        opening.check()?;
        Ok(Self {
            rest: Rest::new(&settings.url, settings.session_key)?,
            id: opening.id().to_owned(),
            opening,
            body: None,
            link: Link::new(0),
            stream: None,
            socket: Socket::Session,
            requests: List::default(),
            later: Vec::new(),
            next_request: 0,
        })
    }

    fn fetch(&mut self, what: Request, purpose: Purpose, out: &mut Outlet) {
        self.next_request = self.next_request.wrapping_add(1);
        let request = RequestId(self.next_request);
        self.requests.add(request, purpose);
        out.effects.push(WireEffect::Fetch { request, what });
    }

    fn answered(&mut self, request: RequestId, answer: Answer, now: Millis, out: &mut Outlet) {
        let Some(purpose) = self.requests.take(&request) else { return };
        let result = answer::read(answer);
        match purpose {
            Purpose::ServerInfo => self.probed(result.and_then(|(_, body)| version::choose_socket(&body)), out),
            Purpose::Open => self.opened(result, out),
            Purpose::Log(socket) if self.link.is_current(socket) => self.log_read(result, now, out),
            Purpose::Log(_) => {}
            Purpose::Say(command) => out.say(Signal::Done { command, result: result.map(|_| "null".to_owned()) }),
            Purpose::Deed(command) => out.say(Signal::Done { command, result: result.map(|(_, body)| body) }),
            Purpose::Run(command) => {
                let result = match result {
                    // The agent runs already: what was asked for is so.
                    Ok(_) | Err(Error::AlreadyRunning) => Ok("null".to_owned()),
                    Err(error) => Err(error),
                };
                out.say(Signal::Done { command, result });
            }
            Purpose::History(command) => {
                let result = result.and_then(|(_, body)| info::history_page(&body));
                out.say(Signal::Done { command, result });
            }
            Purpose::Poll(command) => {
                let result = result.and_then(|(_, body)| info::read_status(&body));
                if let Ok(status) = &result {
                    out.say(Signal::Polled(status.clone()));
                }
                out.say(Signal::Done { command, result: result.map(|_| "null".to_owned()) });
            }
            Purpose::Call { command, call, attempt } => self.call_read(command, call, attempt, result, now, out),
        }
    }

    fn probed(&mut self, socket: Result<Socket, Error>, out: &mut Outlet) {
        match socket {
            Err(error) => out.say(Signal::Ended(error)),
            Ok(socket) => {
                self.socket = socket;
                let request = match self.body.take() {
                    Some(body) => self.rest.create(body),
                    None => self.rest.conversation(&self.id),
                };
                self.fetch(request, Purpose::Open, out);
            }
        }
    }

    fn opened(&mut self, result: Result<(u16, String), Error>, out: &mut Outlet) {
        match result.and_then(|(status, body)| info::read(status == 201, &body)) {
            Err(error) => out.say(Signal::Ended(error)),
            Ok(opened) => {
                self.id.clone_from(&opened.id);
                let mut stream = Stream::new(self.socket, opened.created);
                stream.reader.known.clone_from(&opened.tools);
                self.stream = Some(stream);
                out.say(Signal::Opened(opened));
                self.connect("opening", out);
            }
        }
    }

    fn connect(&mut self, reason: &'static str, out: &mut Outlet) {
        let Some(stream) = &mut self.stream else { return };
        stream.connecting();
        let (route, query) = stream.address();
        let url = self.rest.socket(route, &self.id, &query);
        let socket = self.link.next();
        out.effects.push(WireEffect::OpenSocket { socket, url });
        out.say(Signal::Connection(Connection::Connecting { reason }));
    }

    fn socket_opened(&mut self, socket: SocketId, out: &mut Outlet) {
        if !self.link.is_current(socket) {
            return;
        }
        // The first frame, and only these two members: a server that asks for no key takes any other for a message.
        if let Some(key) = self.rest.key() {
            let key = serde_json::Value::from(key).to_string();
            let text = [r#"{"type":"auth","session_api_key":"#, &key, "}"].concat();
            out.effects.push(WireEffect::SendText { socket, text });
        }
        out.say(Signal::Connection(Connection::Connected { reason: "the socket is open" }));
    }

    fn frame(&mut self, socket: SocketId, text: String, out: &mut Outlet) {
        if !self.link.is_current(socket) {
            return;
        }
        self.link.heard();
        let Some(stream) = &mut self.stream else { return };
        let next = stream.frame(text, out);
        if stream.is_caught_up() {
            self.link.useful();
        }
        self.follow(next, socket, out);
    }

    fn follow(&mut self, next: Next, socket: SocketId, out: &mut Outlet) {
        match next {
            Next::Nothing => {}
            Next::CaughtUp => out.say(Signal::Ready),
            Next::Ask(page) => self.fetch(self.rest.search(&self.id, &page), Purpose::Log(socket), out),
        }
    }

    fn log_read(&mut self, result: Result<(u16, String), Error>, now: Millis, out: &mut Outlet) {
        let Some(stream) = &mut self.stream else { return };
        match result.and_then(|(_, body)| stream.page(&body, out)) {
            Ok(next) => {
                if let Some(socket) = self.link.current() {
                    self.follow(next, socket, out);
                }
            }
            Err(error @ (Error::Unauthorized | Error::NotFound { .. })) => out.say(Signal::Ended(error)),
            // Without the log the socket is of no use: begin again.
            Err(error) => {
                let (socket, closed) = self.link.give_up(now);
                out.effects.extend(socket.map(|socket| WireEffect::CloseSocket { socket }));
                Self::lost(closed, 1000, error.to_string(), out);
            }
        }
    }

    fn lost(closed: Closed, close_code: u16, reason: String, out: &mut Outlet) {
        match closed {
            Closed::Stale => {}
            Closed::Retry(delay) => {
                let reason = if reason.is_empty() { "the socket broke or was closed".into() } else { reason };
                out.say(Signal::Connection(Connection::Lost { reason, close_code, retry_in: delay.0 }));
            }
            Closed::Fatal(error) => out.say(Signal::Ended(error)),
        }
    }

    fn call_read(
        &mut self,
        command: CommandId,
        call: CallId,
        attempt: u32,
        result: Result<(u16, String), Error>,
        now: Millis,
        out: &mut Outlet,
    ) {
        match result {
            Ok((_, body)) => {
                if let Some(stream) = &mut self.stream {
                    stream.event(&body, out);
                }
                out.say(Signal::Done { command, result: Ok("null".to_owned()) });
            }
            Err(error) if attempt >= CALL_ATTEMPTS => out.say(Signal::Done { command, result: Err(error) }),
            Err(_) => self.later.push((now + CALL_RETRY, Purpose::Call { command, call, attempt: attempt + 1 })),
        }
    }
}

impl Protocol for OpenHands {
    fn check(&self, tool: &Tool) -> Result<(), Error> {
        // The server's tools are the truth of a conversation that exists: only what we declare to it has to please it.
        if matches!(self.opening, Opening::Attach { .. }) {
            return Ok(());
        }
        if let (RunOn::Announcement, Some(because)) = (tool.run_on, self.opening.gate()) {
            return Err(Error::AnnouncementRefused { tool: tool.name.to_string(), because });
        }
        rules::check(tool)
    }

    fn open(&mut self, tools: &[&Tool], _position: Option<String>, seed: u64, _now: Millis, out: &mut Outlet) {
        self.link = Link::new(seed);
        if let Opening::Create { id, request } = &self.opening {
            match opening::create_body(id, request, tools) {
                Ok(body) => self.body = Some(body),
                Err(error) => return out.say(Signal::Ended(error)),
            }
        }
        self.fetch(self.rest.server_info(), Purpose::ServerInfo, out);
    }

    fn wire(&mut self, wire: Wire, now: Millis, out: &mut Outlet) {
        match wire {
            Wire::Answered { request, answer } => self.answered(request, answer, now, out),
            Wire::Opened { socket } => self.socket_opened(socket, out),
            Wire::Frame { socket, text } => self.frame(socket, text, out),
            Wire::Key(_) | Wire::Surroundings(_) => {}
            Wire::Closed { socket, code, reason } => {
                if let Some(stream) = self.stream.as_mut().filter(|_| self.link.is_current(socket)) {
                    stream.closed(&reason);
                }
                let closed = self.link.closed(socket, code, &reason, now);
                Self::lost(closed, code, reason, out);
            }
        }
    }

    fn command(&mut self, id: CommandId, command: Command, _now: Millis, out: &mut Outlet) {
        match command {
            Command::Say { content, run } => {
                self.fetch(self.rest.say(&self.id, &content, run), Purpose::Say(id), out);
            }
            Command::Run => self.fetch(self.rest.run(&self.id), Purpose::Run(id), out),
            Command::History(page) => self.fetch(self.rest.search(&self.id, &page), Purpose::History(id), out),
            Command::Decide { accept, reason } => {
                self.fetch(self.rest.decide(&self.id, accept, &reason), Purpose::Say(id), out);
            }
            Command::Do(deed) => self.fetch(self.rest.deed(&self.id, &deed), Purpose::Deed(id), out),
            Command::Poll => self.fetch(self.rest.conversation(&self.id), Purpose::Poll(id), out),
            Command::Fetch(call) => {
                let request = self.rest.event(&self.id, call.as_str());
                self.fetch(request, Purpose::Call { command: id, call, attempt: 1 }, out);
            }
        }
    }

    fn close(&mut self, out: &mut Outlet) {
        self.requests = List::default();
        self.later.clear();
        out.effects.extend(self.link.end().map(|socket| WireEffect::CloseSocket { socket }));
    }

    fn tick(&mut self, now: Millis, out: &mut Outlet) {
        if self.link.is_due(now) {
            self.connect("trying again", out);
        }
        let (due, later): (Vec<_>, Vec<_>) = self.later.drain(..).partition(|(at, _)| *at <= now);
        self.later = later;
        for (_, purpose) in due {
            if let Purpose::Call { call, .. } = &purpose {
                self.fetch(self.rest.event(&self.id, call.as_str()), purpose, out);
            }
        }
    }

    fn next_deadline(&self) -> Option<Millis> {
        self.later.iter().map(|(at, _)| *at).chain(self.link.next_deadline()).min()
    }

    fn position(&self) -> Option<String> {
        None
    }

    fn ledger_key(&self) -> String {
        [self.rest.base(), " ", &self.id].concat()
    }
}
