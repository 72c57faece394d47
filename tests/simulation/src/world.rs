//! The world: one queue of what comes next, in the order of time, and who is in it.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use pagehand::call::{Key, RunId, Settled};
use pagehand::conversation::{Input, LedgerEffect};
use pagehand::net::{Request, RequestId};
use pagehand::protocol::uipath::LineInput;

use crate::answers::{Answers, Sent};
use crate::browser::Browser;
use crate::chance::Chance;
use crate::checks::Checks;
use crate::network::{Fate, Network};
use crate::page::Page;
use crate::people::Act;
use crate::plan::{Happening, Kind, Plan};
use crate::reached::{Reached, Situation};
use crate::server::Server;
use crate::service::{Alarm, Service};
use crate::tools;

/// One load of a page: which tab, and the how manyth.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Who {
    pub tab: usize,
    pub life: u32,
}

/// Something that comes.
pub enum Coming {
    Happening(usize),
    Open(usize),
    Input(Who, Input),
    /// A socket's frame or end, which is no longer of interest when the socket is gone.
    Frame(usize, String),
    SocketClosed(usize, u16),
    /// The next event is too large for a socket's frames.
    TooLarge(usize),
    Wake(Who, u32),
    Request(Who, RequestId, Box<Request>, Fate),
    Connect(usize),
    Auth(usize, String),
    Subscribe(usize),
    Agent(u32),
    /// A packet of a page's reaches the service.
    Packet(usize, String, Sent),
    /// The service lets a socket in, and starts its session.
    Admit(usize, String),
    Session(usize),
    /// The service wants to know whether a socket lives.
    Beat(usize),
    /// The service ends a socket's connection.
    Kick(usize),
    Runtime(Alarm),
    Line(Who, LineInput),
    /// A page has read how things were then.
    Looked(Who, u64),
    /// A page could not read something.
    Unread(Who),
    Well,
    Ledger(Who, LedgerEffect),
    /// A page asks the others again what became of something.
    Ask(Who, Key),
    Handler(Who, RunId, Settled),
    OwnerGone(Who),
    Renew(Who),
    Act(Who, Act),
    /// Somebody declares a tool anew, or takes it back.
    ChangeTool(Who, bool),
    Shown(Who),
    Gone(Who),
    Back(Who),
    Online,
    Heal,
    Care,
}

struct Next {
    at: u64,
    order: u64,
    what: Coming,
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Next {}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Next {
    /// The earliest is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}

/// How long after the network has healed everything must have come to its end. A lost message is given up after ten minutes.
const PATIENCE: u64 = 1_300_000;
/// More inputs than this at one moment: something spins.
const SPIN: u32 = 3_000;

/// More inputs than this in one schedule, which has a few hundred.
const STEPS: u64 = 50_000;

pub struct World {
    pub now: u64,
    pub plan: Plan,
    pub server: Server,
    pub service: Service,
    pub network: Network,
    pub browser: Browser,
    pub tabs: Vec<Tab>,
    pub checks: Checks,
    pub answers: Answers,
    pub people: Chance,
    pub handlers: Chance,
    pub reached: Reached,
    pub healed: bool,
    pub full_until: u64,
    pub steps: u64,
    queue: BinaryHeap<Next>,
    order: u64,
    at_once: u32,
    pub trace: Option<Vec<String>>,
}

/// A tab of the browser; nothing is in it while it is closed or being loaded.
#[derive(Default)]
pub struct Tab {
    pub life: u32,
    pub page: Option<Page>,
    /// Whether the person is done with it.
    pub over: bool,
}

/// Tells a step, if anybody listens.
macro_rules! trace {
    ($world:expr, $($what:tt)*) => {
        if let Some(lines) = &mut $world.trace {
            lines.push(format!("{:>9} {}", $world.now, format_args!($($what)*)));
        }
    };
}
pub(crate) use trace;

impl World {
    pub fn new(plan: Plan, trace: bool) -> Self {
        let seed = plan.seed;
        let server = Server::new(seed, plan.session, plan.confirm, plan.script.clone(), tools::known());
        let mut world = Self {
            now: 0,
            server,
            service: Service::new(seed, plan.steps.clone()),
            network: Network::new(seed, plan.rates),
            browser: Browser::default(),
            tabs: (0..plan.tabs).map(|_| Tab::default()).collect(),
            checks: Checks::default(),
            answers: Answers::default(),
            people: Chance::new(seed, 3),
            handlers: Chance::new(seed, 4),
            reached: Reached::default(),
            healed: false,
            full_until: 0,
            steps: 0,
            queue: BinaryHeap::new(),
            order: 0,
            at_once: 0,
            trace: trace.then(Vec::new),
            plan,
        };
        world.server.created = world.plan.there;
        world.server.large = world.plan.large;
        world.service.created = world.plan.there;
        if world.plan.kind == Kind::OpenHands {
            world.reached.note(if world.plan.session { Situation::Session } else { Situation::Legacy });
        }
        if world.plan.confirm {
            world.reached.note(Situation::Confirming);
        }
        if world.plan.tabs > 1 {
            world.reached.note(Situation::SeveralTabs);
        }
        for place in 0..world.plan.happenings.len() {
            world.comes(world.plan.happenings[place].0, Coming::Happening(place));
        }
        world.comes(world.plan.ends, Coming::Heal);
        world
    }

    /// Puts something into the queue.
    pub fn comes(&mut self, at: u64, what: Coming) {
        self.order += 1;
        self.queue.push(Next { at: at.max(self.now), order: self.order, what });
    }

    pub fn page(&mut self, who: Who) -> Option<&mut Page> {
        let tab = self.tabs.get_mut(who.tab)?;
        if tab.life == who.life { tab.page.as_mut() } else { None }
    }

    /// The page that a tab shows now.
    pub fn shown(&self, tab: usize) -> Option<Who> {
        let shows = self.tabs.get(tab)?;
        shows.page.as_ref().map(|_| Who { tab, life: shows.life })
    }

    pub fn everybody(&self) -> Vec<Who> {
        (0..self.tabs.len()).filter_map(|tab| self.shown(tab)).collect()
    }

    /// Runs the schedule. The violation that was found, if any.
    pub fn run(&mut self) -> Option<String> {
        while let Some(next) = self.queue.pop() {
            if next.at > self.plan.ends + PATIENCE {
                break;
            }
            self.at_once = if next.at == self.now { self.at_once + 1 } else { 0 };
            self.now = next.at;
            self.steps += 1;
            if self.at_once > SPIN || self.steps > STEPS {
                self.checks.fail("the core spins: hardly any time passes between its wakeups");
            }
            self.step(next.what);
            if self.checks.failure.is_some() || self.at_rest() {
                break;
            }
        }
        if self.checks.failure.is_none() {
            self.check_end();
        }
        self.reached.add(&self.server.reached.clone());
        self.reached.add(&self.service.reached.clone());
        self.checks.failure.take()
    }

    fn step(&mut self, what: Coming) {
        match what {
            Coming::Happening(place) => {
                let happening = self.plan.happenings[place].1.clone();
                trace!(self, "-- {happening:?}");
                self.happens(happening);
            }
            Coming::Open(tab) => self.open(tab),
            Coming::Input(who, input) => self.input(who, input),
            Coming::Frame(conn, text) => self.frame_arrives(conn, text),
            Coming::SocketClosed(conn, code) => self.close_arrives(conn, code),
            Coming::TooLarge(conn) => self.end_arrives(conn, 1013, "frame_too_large"),
            Coming::Wake(who, generation) => self.wake(who, generation),
            Coming::Request(who, request, what, fate) => self.request_arrives(who, request, what, fate),
            Coming::Connect(conn) => self.connect(conn),
            Coming::Auth(conn, text) => self.auth_arrives(conn, &text),
            Coming::Subscribe(conn) => self.subscribe(conn),
            Coming::Agent(generation) => {
                if self.server.down_until <= self.now {
                    self.server.timer(generation, self.now);
                }
            }
            Coming::Packet(conn, text, sent) => self.packet_arrives(conn, &text, sent),
            Coming::Admit(conn, answer) => self.admit(conn, answer),
            Coming::Session(conn) => self.start_session(conn),
            Coming::Beat(conn) => self.beat(conn),
            Coming::Kick(conn) => self.kick_arrives(conn),
            Coming::Runtime(alarm) => self.service.alarm(alarm, self.now),
            Coming::Line(who, input) => self.line_input(who, input),
            Coming::Looked(who, at) => self.answers.looked(who, at),
            Coming::Unread(who) => self.answers.unread(who),
            Coming::Well => self.service.be_unwell(false),
            Coming::Ledger(who, effect) => self.ledger_does(who, effect),
            Coming::Ask(who, key) => {
                if self.page(who).is_some() {
                    self.ask_pages(who, &key);
                }
            }
            Coming::Handler(who, run, settled) => self.handler_ends(who, run, settled),
            Coming::OwnerGone(who) => self.owner_gone(who),
            Coming::Renew(who) => {
                if self.page(who).is_some() {
                    let word = self.network.chance.per_mille(500);
                    self.reload(who.tab, 100, word);
                }
            }
            Coming::Act(who, act) => self.act(who, act),
            Coming::ChangeTool(who, back) => self.change_tool(who, back),
            Coming::Gone(who) => self.end_page(who),
            Coming::Shown(who) => self.show(who),
            Coming::Back(who) => self.back(who),
            Coming::Online => self.online(),
            Coming::Heal => self.heal(),
            Coming::Care => self.care(),
        }
        match self.plan.kind {
            Kind::OpenHands => self.server_speaks(),
            Kind::UiPath => self.service_speaks(),
        }
    }

    fn happens(&mut self, happening: Happening) {
        match happening {
            Happening::Open(tab) => self.open(tab),
            Happening::Reload { tab, away, word } => self.reload(tab, away, word),
            Happening::Die(tab) => self.die(tab),
            Happening::Leave(tab) => self.leave(tab),
            Happening::Hide(tab, length) => self.hide(tab, length),
            Happening::Away(tab, length) => self.put_aside(tab, length),
            Happening::Offline(length) => self.offline(length),
            Happening::Jump(by) => {
                self.reached.note(Situation::ClockJumped);
                self.browser.skew += by;
            }
            Happening::LoseStorage(tab) => self.lose_storage(tab),
            Happening::Cut(tab, code) => self.cut(tab, code),
            Happening::HalfOpen(tab) => self.half_open(tab),
            Happening::Restart { kill, down, lose } => {
                if self.plan.kind == Kind::UiPath {
                    self.restart_service(down);
                } else if self.server.created && self.server.down_until <= self.now {
                    self.server.restart(kill, down, lose, self.now);
                }
            }
            Happening::Full(length) => self.full_until = self.now + length,
            Happening::Broken(length) if self.plan.kind == Kind::UiPath => {
                self.reached.note(Situation::RestFails);
                self.service.broken_until = self.now + length;
            }
            Happening::Broken(length) => {
                self.server.broken_until = self.now + length;
                self.close_all(1006);
            }
            Happening::Send { tab, run } => self.send(tab, run),
            Happening::Run(tab) => self.ask_run(tab),
            Happening::Cancel(tab) => self.cancel(tab),
            Happening::Pause(tab) => self.deed(tab, "pause"),
            Happening::Interrupt(tab) => self.deed(tab, "interrupt"),
            Happening::Fork(tab) => self.deed(tab, "fork"),
            Happening::Delete(tab) => self.delete(tab),
            Happening::Idle(tab) => self.ask_idle(tab),
            Happening::History(tab) => self.ask_history(tab),
            Happening::ChangeTool { tab, back } => {
                if let Some(who) = self.shown(tab) {
                    self.change_tool(who, back);
                }
            }
            Happening::Stop(tab) => self.stop(tab),
            Happening::EndExchange(tab) => self.deed(tab, "endExchange"),
            Happening::Ending(tab, within) => self.session_is_ending(tab, within),
            Happening::EndSession(tab) => self.end_session(tab),
            Happening::Kick(tab) => self.kick(tab),
            Happening::Unwell(length) => {
                self.service.be_unwell(true);
                self.comes(self.now + length, Coming::Well);
            }
            Happening::Expire => self.expire(),
            Happening::Neighbour(tab) => self.neighbour(tab),
        }
    }

    fn heal(&mut self) {
        trace!(self, "== the network heals");
        self.healed = true;
        self.network.rates = crate::plan::Rates::default();
        self.full_until = 0;
        self.server.broken_until = 0;
        self.service.broken_until = 0;
        self.comes(self.now + 1, Coming::Care);
    }
}
