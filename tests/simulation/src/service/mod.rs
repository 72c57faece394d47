//! UiPath's service: one conversation, its sockets' sessions, what REST shows of it, and the runtime that plays the agent. What
//! it does follows what was seen of the real ones; where nobody knows, seeds differ.

mod hearing;
mod rest;
mod runtime;
mod script;
pub mod text;

use std::collections::{BTreeMap, VecDeque};

pub use runtime::Alarm;
pub use script::{Step, Wish, script};

use crate::chance::Chance;
use crate::reached::{Reached, Situation};
use crate::world::Who;

use runtime::Run;

/// What the service tells the world that carries its words.
pub enum Out {
    /// An envelope for one socket.
    One(usize, String),
    /// An envelope for all that have a session.
    All(String),
    Timer {
        at: u64,
        alarm: Alarm,
    },
}

/// A user's message and all that follows it.
pub struct Exchange {
    pub id: String,
    pub messages: Vec<Message>,
    pub end: Option<End>,
    /// Whether the agent was started for it.
    ordered: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Agent,
    Client,
    Error,
}

pub struct Message {
    pub id: String,
    pub role: &'static str,
    /// When it began.
    begun: u64,
    parts: Vec<Part>,
    /// Places in the list of all calls.
    calls: Vec<usize>,
}

struct Part {
    id: String,
    text: String,
    incomplete: bool,
}

/// What became of a call, as the service knows: the truth that pages are measured by.
pub struct Call {
    /// Its name in the house.
    pub id: String,
    pub exchange: usize,
    pub message: String,
    pub wire: String,
    pub wish: Wish,
    /// JSON text of what it is to run with.
    pub arguments: String,
    /// Whether that fits the tool's schema.
    pub valid: bool,
    /// When it was let through.
    pub let_through: Option<u64>,
    pub refused: bool,
    /// A person's word, as it came: whether that is a yes, and JSON text of what it is to run with.
    pub confirmed: Option<(bool, String)>,
    /// JSON text of the result, whoever gave it.
    pub result: Option<String>,
    /// What came and was not taken yet; of several the last counts.
    early: Option<Early>,
    awaits: Awaits,
}

#[derive(Clone)]
enum Early {
    Confirmation(bool, String),
    End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Awaits {
    Confirmation,
    End,
    Nothing,
}

pub struct Service {
    pub created: bool,
    /// Who was the first to be told so.
    pub maker: Option<Who>,
    /// The sockets with a session.
    pub sessions: Vec<usize>,
    pub exchanges: Vec<Exchange>,
    pub calls: Vec<Call>,
    /// How often a text of the page's came, whole.
    pub said: BTreeMap<String, u32>,
    pub script: Vec<Step>,
    pub out: Vec<Out>,
    pub reached: Reached,
    /// The number of the token that it takes.
    pub token: u32,
    /// Until when REST fails.
    pub broken_until: u64,
    /// Whether something is wrong with the conversation as a whole.
    pub condition: bool,
    /// The largest packet that it takes, in bytes.
    pub largest: u64,
    /// Whether REST says whose a call is.
    says_whose: bool,
    orders: VecDeque<usize>,
    run: Option<Run>,
    generation: u32,
    next: u32,
    chance: Chance,
}

impl Service {
    pub fn new(seed: u64, script: Vec<Step>) -> Self {
        let mut chance = Chance::new(seed, 2);
        Self {
            created: false,
            maker: None,
            sessions: Vec::new(),
            exchanges: Vec::new(),
            calls: Vec::new(),
            said: BTreeMap::new(),
            script,
            out: Vec::new(),
            reached: Reached::default(),
            token: 1,
            broken_until: 0,
            condition: false,
            largest: chance.pick(&[3_000, 1_000_000]),
            says_whose: chance.per_mille(500),
            orders: VecDeque::new(),
            run: None,
            generation: 0,
            next: 0,
            chance,
        }
    }

    /// Whether nothing is left for the agent to do.
    pub fn rests(&self) -> bool {
        self.run.is_none() && self.orders.is_empty()
    }

    /// The number of a call, by its name in the house; they begin with 1.
    pub fn number(&self, id: &str) -> Option<u32> {
        let at = self.calls.iter().position(|call| call.id == id)?;
        u32::try_from(at + 1).ok()
    }

    pub fn call(&self, number: u32) -> Option<&Call> {
        self.calls.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    /// The number of a call by its ids on the wire.
    pub fn number_at(&self, exchange: &str, wire: &str) -> Option<u32> {
        let is_it = |call: &Call| call.wire == wire && self.exchanges[call.exchange].id == exchange;
        let at = self.calls.iter().position(is_it)?;
        u32::try_from(at + 1).ok()
    }

    /// Whether a page that was not there at the right moment cannot know that an exchange is over, or never hears why it is not:
    /// nothing of what can be read says so.
    pub fn is_silent_about_an_end(&self) -> bool {
        let silent = |end| matches!(end, Some(End::Client | End::Error));
        // A second yes counts as the result, and the call stays open in what can be read.
        let open = |call: &Call| {
            call.let_through.is_some() && call.result.is_none() && self.exchanges[call.exchange].end.is_some()
        };
        self.exchanges.iter().any(|exchange| silent(exchange.end)) || self.calls.iter().any(open)
    }

    /// Whether the agent waits for a call of which a page cannot know that it is its own.
    pub fn waits_unflagged(&self) -> bool {
        let unknown = |wish| matches!(wish, Wish::Hidden(_)) || (wish == Wish::Unknown && !self.says_whose);
        let waits = |call: &Call| unknown(call.wish) && call.awaits == Awaits::End;
        self.run.is_some() && self.calls.iter().any(waits)
    }

    /// A socket has its session from now on.
    pub fn session(&mut self, conn: usize) {
        if !self.sessions.contains(&conn) {
            self.sessions.push(conn);
        }
        self.out.push(Out::One(conn, text::of_session(text::ID, "sessionStarted", "{}")));
        if self.condition {
            self.out.push(Out::One(conn, Self::condition(true)));
        }
    }

    pub fn gone(&mut self, conn: usize) {
        self.sessions.retain(|session| *session != conn);
    }

    fn condition(begins: bool) -> String {
        text::of_session(text::ID, "conversationError", &text::error("SERVICE_UNWELL", begins))
    }

    pub fn be_unwell(&mut self, unwell: bool) {
        if std::mem::replace(&mut self.condition, unwell) != unwell {
            self.reached.note(Situation::Condition);
            self.out.push(Out::All(Self::condition(unwell)));
        }
    }

    fn after(&mut self, length: u64, now: u64) {
        self.generation += 1;
        self.out.push(Out::Timer { at: now + length, alarm: Alarm::Think(self.generation) });
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next
    }
}
