//! The network between pages and the server: it is slow, loses things, and breaks.

use pagehand::conversation::{Input, Surroundings, Wire};
use pagehand::net::{Answer, Request, RequestId, SocketId};

use crate::chance::Chance;
use crate::plan::{Kind, Rates};
use crate::reached::Situation;
use crate::server::{Out, Reply, Took, text};
use crate::service::text as words;
use crate::world::{Coming, Who, World, trace};

/// How long what came over a socket may wait in the queue of a page that is about to close it.
const QUEUED: u64 = 40;

pub struct Network {
    pub chance: Chance,
    pub rates: Rates,
    pub conns: Vec<Conn>,
}

/// One WebSocket.
pub struct Conn {
    pub who: Who,
    socket: SocketId,
    session: bool,
    after: Option<i64>,
    pub stage: Stage,
    /// Nothing gets through any more, and nobody says so.
    pub silent: bool,
    /// What the page has sent and has not arrived is lost.
    pub sends_nothing: bool,
    pub last_sent: u64,
    /// Whether the page knows that its session stands, and how many there were.
    pub started: bool,
    pub sessions: u32,
    /// Whether the page was asked if it lives, and has not answered.
    pub asked: bool,
    /// Frames keep their order.
    last: u64,
    replaying: u32,
    /// When the page closed it: what was on its way into the page's queue still comes.
    closed_at: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Connecting,
    Open,
    /// A legacy socket hears what is live before it is told the state.
    Registered,
    Subscribed,
    /// The server has given it up: what it sent before is on its way.
    GivenUp,
    Gone,
}

/// What becomes of a request on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Well,
    Lost {
        late: bool,
    },
    AnswerLost {
        late: bool,
    },
    Failed,
    /// It has waited at the server's door already.
    Waited,
}

impl Network {
    pub fn new(seed: u64, rates: Rates) -> Self {
        Self { chance: Chance::new(seed, 5), rates, conns: Vec::new() }
    }

    pub fn delay(&mut self) -> u64 {
        match self.chance.below(20) {
            0 => self.chance.between(50, 900),
            1..5 => self.chance.between(10, 80),
            _ => self.chance.between(1, 9),
        }
    }

    fn fate(&mut self) -> Fate {
        let roll = self.chance.below(1_000);
        let late = self.chance.per_mille(60);
        let Rates { lost, answer_lost, hidden, .. } = self.rates;
        if roll < lost {
            Fate::Lost { late }
        } else if roll < lost + answer_lost {
            Fate::AnswerLost { late }
        } else if roll < lost + answer_lost + hidden {
            Fate::Failed
        } else {
            Fate::Well
        }
    }
}

impl World {
    pub fn is_cut_off(&self) -> bool {
        self.now < self.browser.offline_until || self.now < self.server.down_until
    }

    pub fn fetch(&mut self, who: Who, request: RequestId, what: Request) {
        if what.url.contains(text::KEY) {
            self.checks.fail("the key is in an address");
        }
        trace!(
            self,
            "{who} > {} {} {}",
            what.method.as_str(),
            short(&what.url),
            what.body.as_deref().unwrap_or_default()
        );
        let mut fate = self.network.fate();
        if approves(&what) && self.network.rates.answer_lost > 0 && self.network.chance.per_mille(300) {
            fate = Fate::AnswerLost { late: self.network.chance.per_mille(60) };
        }
        let at = self.now + self.network.delay();
        self.comes(at, Coming::Request(who, request, Box::new(what), fate));
    }

    pub fn request_arrives(&mut self, who: Who, request: RequestId, what: Box<Request>, fate: Fate) {
        let timeout = self.now + what.timeout.0;
        let late = |late: bool| if late { Some(timeout) } else { None };
        if self.is_cut_off() {
            return self.answer(who, request, Answer::Unreachable, None);
        }
        if let Fate::Lost { late: waits } = fate {
            self.reached.note(Situation::RequestLost);
            let answer = if waits { Answer::TimedOut } else { Answer::Unreachable };
            return self.answer(who, request, answer, late(waits));
        }
        if fate == Fate::Failed {
            self.reached.note(Situation::Hidden500);
            return self.answer(who, request, Answer::Unreachable, None);
        }
        if self.plan.kind == Kind::UiPath {
            return self.service_answers(who, request, &what, fate);
        }
        if self.server.waits(&what, self.now) {
            let again = if let Fate::AnswerLost { late } = fate { Fate::AnswerLost { late } } else { Fate::Waited };
            return self.comes(self.server.locked_until, Coming::Request(who, request, what, again));
        }
        let crowded = approves(&what) && self.network.rates.answer_lost > 0 && self.network.chance.per_mille(150);
        let full = crowded || self.now < self.full_until;
        let (reply, took) = self.server.serve(&what, full, self.now);
        if let Took::Approval(words) = took {
            self.checks.approval_arrived(&words, self.now);
        }
        let answer = match reply {
            Reply::Http(status, body) => {
                if status == 429 {
                    self.reached.note(Situation::TooMany);
                }
                Answer::Http { status, body }
            }
            Reply::Hidden => Answer::Unreachable,
        };
        if let Fate::AnswerLost { late: waits } = fate {
            self.reached.note(Situation::AnswerLost);
            let answer = if waits { Answer::TimedOut } else { Answer::Unreachable };
            return self.answer(who, request, answer, late(waits));
        }
        self.answer(who, request, answer, None);
    }

    fn service_answers(&mut self, who: Who, request: RequestId, what: &Request, fate: Fate) {
        let (status, body, looks) = self.service.serve(what, self.now);
        let answer = Answer::Http { status, body };
        if let Fate::AnswerLost { late } = fate {
            self.reached.note(Situation::AnswerLost);
            let answer = if late { Answer::TimedOut } else { Answer::Unreachable };
            return self.answer(who, request, answer, late.then_some(self.now + what.timeout.0));
        }
        let at = self.now + self.network.delay();
        if looks {
            self.comes(at, Coming::Looked(who, self.now));
        }
        self.answer(who, request, answer, Some(at));
    }

    fn answer(&mut self, who: Who, request: RequestId, answer: Answer, at: Option<u64>) {
        let delay = self.network.delay();
        let at = at.unwrap_or(self.now + delay);
        let reads = |answer: &Answer| matches!(answer, Answer::Http { status: 200 | 404, .. });
        if self.plan.kind == Kind::UiPath && !reads(&answer) {
            self.comes(at, Coming::Unread(who));
        }
        self.comes(at, Coming::Input(who, Input::Wire(Wire::Answered { request, answer })));
    }

    pub fn open_socket(&mut self, who: Who, socket: SocketId, url: &str) {
        if url.contains(text::KEY) {
            self.checks.fail("the key is in an address");
        }
        trace!(self, "{who} opens socket {} {}", socket.0, short(url));
        let after = url.split("after_seq=").nth(1).and_then(|number| number.parse().ok());
        let session = url.contains("/sockets/session/");
        let conn = Conn {
            who,
            socket,
            session,
            after,
            stage: Stage::Connecting,
            silent: false,
            sends_nothing: false,
            last_sent: 0,
            started: false,
            sessions: 0,
            asked: false,
            last: self.now,
            replaying: 0,
            closed_at: 0,
        };
        self.network.conns.push(conn);
        let late = self.plan.late.filter(|(tab, _)| *tab == who.tab);
        let more = late.map_or(0, |(_, most)| self.network.chance.below(most));
        let at = self.now + self.network.delay() + more;
        self.comes(at, Coming::Connect(self.network.conns.len() - 1));
    }

    pub fn connect(&mut self, conn: usize) {
        let refused = self.network.chance.per_mille(self.network.rates.refused);
        let Conn { who, socket, stage, .. } = self.network.conns[conn];
        if stage == Stage::Gone {
            return;
        }
        if self.is_cut_off() || refused {
            self.reached.note(Situation::ConnectFailed);
            return self.comes(self.now, Coming::SocketClosed(conn, 1006));
        }
        self.network.conns[conn].stage = Stage::Open;
        self.hear_socket(who, Wire::Opened { socket });
        if self.plan.kind == Kind::UiPath {
            self.carry(conn, words::greeting(self.service.largest));
        }
    }

    pub fn send_text(&mut self, who: Who, socket: SocketId, text: String) {
        let Some(conn) = self.conn_of(who, socket) else { return };
        let at = self.now + self.network.delay();
        self.comes(at, Coming::Auth(conn, text));
    }

    pub fn close_socket(&mut self, who: Who, socket: SocketId) {
        if let Some(conn) = self.conn_of(who, socket) {
            self.network.conns[conn].stage = Stage::Gone;
            self.network.conns[conn].closed_at = self.now;
        }
    }

    pub fn conn_of(&self, who: Who, socket: SocketId) -> Option<usize> {
        self.network.conns.iter().rposition(|conn| conn.who == who && conn.socket == socket)
    }

    /// The connections of pages that are gone are gone.
    pub fn drop_sockets(&mut self, who: Who) {
        for conn in self.network.conns.iter_mut().filter(|conn| conn.who == who && conn.stage != Stage::Gone) {
            conn.stage = Stage::Gone;
            conn.sends_nothing |= self.network.chance.per_mille(300);
        }
    }

    pub fn auth_arrives(&mut self, conn: usize, sent: &str) {
        if self.network.conns[conn].stage != Stage::Open || self.network.conns[conn].silent {
            return;
        }
        if sent != format!(r#"{{"type":"auth","session_api_key":"{}"}}"#, text::KEY) {
            self.checks.fail("the first frame of a socket is not the key and nothing else");
        }
        if self.is_cut_off() {
            return;
        }
        if self.server.deleted {
            return self.comes(self.now + 1, Coming::SocketClosed(conn, 4004));
        }
        if self.now < self.server.broken_until {
            return self.comes(self.now + 100, Coming::SocketClosed(conn, 1006));
        }
        if !self.network.conns[conn].session {
            self.network.conns[conn].stage = Stage::Registered;
        }
        let at = self.now.max(self.server.locked_until).max(self.server.written_at());
        self.comes(at, Coming::Subscribe(conn));
    }

    pub fn subscribe(&mut self, conn: usize) {
        let Conn { session, after, stage, .. } = self.network.conns[conn];
        if !matches!(stage, Stage::Open | Stage::Registered) || self.is_cut_off() {
            return;
        }
        let busy = self.server.locked_until.max(self.server.written_at());
        if self.now < busy {
            return self.comes(busy, Coming::Subscribe(conn));
        }
        if session {
            let through = self.server.log.len().checked_sub(1).and_then(|last| i64::try_from(last).ok());
            self.carry(conn, text::sync(after, through));
            let first = after.map_or(self.server.log.len(), |after| usize::try_from(after + 1).unwrap_or(0));
            for seq in first..self.server.log.len() {
                if self.server.log[seq].large {
                    return self.too_large(conn);
                }
                let frame = text::durable(seq, &self.server.log[seq].text);
                self.network.conns[conn].replaying += 1;
                self.carry(conn, frame);
            }
        }
        let state = self.server.full_state();
        self.carry(conn, if session { text::transient(&state) } else { state });
        self.network.conns[conn].stage = Stage::Subscribed;
    }

    /// What the server says goes to all who listen.
    pub fn server_speaks(&mut self) {
        for out in std::mem::take(&mut self.server.out) {
            match out {
                Out::Timer { at, generation } => self.comes(at, Coming::Agent(generation)),
                Out::Close(code) => self.close_all(code),
                Out::Durable(seq, event) => {
                    trace!(self, "server: {event}");
                    let large = self.server.log.get(seq).is_some_and(|event| event.large);
                    self.broadcast(&event, large, |event| text::durable(seq, event));
                }
                Out::Transient(event) => self.broadcast(&event, false, text::transient),
            }
        }
    }

    fn broadcast(&mut self, event: &str, large: bool, envelope: impl Fn(&str) -> String) {
        for conn in 0..self.network.conns.len() {
            let Conn { stage, session, .. } = self.network.conns[conn];
            match (stage, session) {
                (Stage::Subscribed, true) if large => self.too_large(conn),
                (Stage::Subscribed, true) => self.carry(conn, envelope(event)),
                (Stage::Subscribed | Stage::Registered, false) => self.carry(conn, event.to_owned()),
                _ => {}
            }
        }
    }

    fn too_large(&mut self, conn: usize) {
        self.reached.note(Situation::TooLarge);
        self.network.conns[conn].stage = Stage::GivenUp;
        let at = self.network.conns[conn].last.max(self.now + 1);
        self.comes(at, Coming::TooLarge(conn));
    }

    pub fn carry(&mut self, conn: usize, frame: String) {
        let tab = self.network.conns[conn].who.tab;
        let slow = self.plan.slow.filter(|slow| slow.tab == tab && slow.from <= self.now);
        let more = slow.map_or(0, |slow| self.network.chance.below(slow.most));
        let at = self.now + self.network.delay() + more;
        let last = &mut self.network.conns[conn].last;
        *last = (*last).max(at);
        let at = *last;
        self.comes(at, Coming::Frame(conn, frame));
    }

    pub fn frame_arrives(&mut self, conn: usize, frame: String) {
        let Conn { who, socket, stage, silent, replaying, closed_at, .. } = self.network.conns[conn];
        let queued = closed_at > 0 && self.now <= closed_at + QUEUED;
        if (stage == Stage::Gone && !queued) || silent {
            return;
        }
        if queued {
            self.reached.note(Situation::StaleFrame);
            return self.hear_socket(who, Wire::Frame { socket, text: frame });
        }
        if self.network.chance.per_mille(self.network.rates.cut) {
            if replaying > 0 {
                self.reached.note(Situation::CutInReplay);
            }
            return self.close_arrives(conn, 1006);
        }
        self.network.conns[conn].replaying = replaying.saturating_sub(1);
        let uipath = self.plan.kind == Kind::UiPath;
        if uipath {
            trace!(self, "{who} < {} {}", socket.0, crate::packets::short(&frame));
            self.heard_about_calls(who, conn, &frame);
        }
        // A service may say again what happened, never its packets.
        let may_repeat = !uipath || frame.contains(r#""exchange""#);
        if may_repeat && self.network.chance.per_mille(self.network.rates.duplicate) {
            self.reached.note(Situation::Duplicate);
            self.hear_socket(who, Wire::Frame { socket, text: frame.clone() });
        }
        self.hear_socket(who, Wire::Frame { socket, text: frame });
    }

    pub fn close_arrives(&mut self, conn: usize, code: u16) {
        self.end_arrives(conn, code, "");
    }

    pub fn end_arrives(&mut self, conn: usize, code: u16, reason: &str) {
        let Conn { who, socket, stage, silent, .. } = self.network.conns[conn];
        if stage == Stage::Gone || silent {
            return;
        }
        self.network.conns[conn].stage = Stage::Gone;
        if self.plan.kind == Kind::UiPath {
            self.service.gone(conn);
            self.network.conns[conn].sends_nothing |= self.network.chance.per_mille(500);
        }
        self.hear_socket(who, Wire::Closed { socket, code, reason: reason.to_owned() });
    }

    pub fn close_all(&mut self, code: u16) {
        for conn in 0..self.network.conns.len() {
            if self.network.conns[conn].stage != Stage::Gone {
                let at = self.network.conns[conn].last.max(self.now + 1);
                self.comes(at, Coming::SocketClosed(conn, code));
            }
        }
    }

    pub fn newest(&self, tab: usize) -> Option<usize> {
        let who = self.shown(tab)?;
        self.network.conns.iter().rposition(|conn| conn.who == who && conn.stage != Stage::Gone)
    }

    pub fn cut(&mut self, tab: usize, code: u16) {
        if let Some(conn) = self.newest(tab) {
            self.reached.note(Situation::SocketCut);
            self.close_arrives(conn, code);
        }
    }

    pub fn half_open(&mut self, tab: usize) {
        if let Some(conn) = self.newest(tab) {
            self.reached.note(Situation::HalfOpen);
            self.network.conns[conn].silent = true;
        }
    }

    pub fn offline(&mut self, length: u64) {
        self.reached.note(Situation::Offline);
        self.browser.offline_until = self.now + length;
        for conn in 0..self.network.conns.len() {
            self.close_arrives(conn, 1006);
        }
        self.network_is(Surroundings::Offline);
        self.comes(self.now + length, Coming::Online);
    }

    pub fn online(&mut self) {
        self.network_is(Surroundings::Online);
    }
}

/// Of requests that approve, more get lost: they matter most.
fn approves(request: &Request) -> bool {
    let said = || request.body.as_deref().is_some_and(|body| body.contains(r#""ap e"#));
    request.url.ends_with("/respond_to_confirmation") || (request.url.ends_with("/events") && said())
}

fn short(url: &str) -> &str {
    url.split(text::ID).nth(1).unwrap_or(url)
}
