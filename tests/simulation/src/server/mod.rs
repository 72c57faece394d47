//! The agent server: one conversation, its log, its agent, its two kinds of sockets. What it does follows the recorded
//! behaviour of the real one.

mod agent;
mod rest;
mod script;
pub mod text;

use std::collections::BTreeMap;
use std::rc::Rc;

pub use rest::{Reply, Took};
pub use script::{Answer, Wish, script};

use crate::chance::Chance;
use crate::reached::{Reached, Situation};

/// An event of the log.
pub struct Logged {
    pub number: u32,
    pub text: Rc<str>,
    pub written_at: u64,
    /// From when on REST can see it: an old server publishes before it writes.
    pub visible_at: u64,
    /// Whether no frame of a session socket can carry it.
    pub large: bool,
}

/// What the server tells the world that carries its words.
pub enum Out {
    /// An event of the log, with its place.
    Durable(usize, Rc<str>),
    /// An event of the moment.
    Transient(Rc<str>),
    /// Wake the agent.
    Timer { at: u64, generation: u32 },
    /// All sockets end like this.
    Close(u16),
}

/// What became of a call, as the server knows: the truth that pages are measured by.
#[derive(Clone, Debug)]
pub struct Call {
    pub tool: &'static str,
    pub arguments: String,
    /// Whether the arguments fit the tool's schema, which the server does not check.
    pub valid: bool,
    pub acked: Option<u64>,
    pub refused: bool,
}

/// An action without an answer.
#[derive(Clone)]
pub struct Pending {
    pub number: u32,
    pub tool: &'static str,
    pub call: String,
    pub wish: Wish,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Resting,
    Thinking,
    Executing,
}

pub struct Server {
    /// Whether it has the session socket.
    pub session: bool,
    pub confirm: bool,
    pub log: Vec<Logged>,
    pub status: &'static str,
    status_before: (&'static str, u64),
    pub created: bool,
    pub deleted: bool,
    /// Whether its log once lost its end.
    pub rewound: bool,
    pub calls: BTreeMap<u32, Call>,
    /// How often a text of the page's came into the log.
    pub said: BTreeMap<String, u32>,
    /// How often the agent was told what became of a call.
    pub results: BTreeMap<String, u32>,
    pub phase: Phase,
    pub pending: Vec<Pending>,
    pub script: Vec<Answer>,
    pub out: Vec<Out>,
    pub reached: Reached,
    generation: u32,
    unread: bool,
    stop_after: bool,
    pub locked_until: u64,
    pub down_until: u64,
    /// Until when it cannot load the conversation.
    pub broken_until: u64,
    /// Events on a page at most. Logs are short here, and pages must be.
    pub page: usize,
    /// How many of its events are too large for a frame, in a thousand.
    pub large: u64,
    next_event: u32,
    chance: Chance,
    tools: String,
}

impl Server {
    pub fn new(seed: u64, session: bool, confirm: bool, script: Vec<Answer>, tools: String) -> Self {
        Self {
            session,
            confirm,
            log: Vec::new(),
            status: "idle",
            status_before: ("idle", 0),
            created: false,
            deleted: false,
            rewound: false,
            calls: BTreeMap::new(),
            said: BTreeMap::new(),
            results: BTreeMap::new(),
            phase: Phase::Resting,
            pending: Vec::new(),
            script,
            out: Vec::new(),
            reached: Reached::default(),
            generation: 0,
            unread: false,
            stop_after: false,
            locked_until: 0,
            down_until: 0,
            broken_until: 0,
            page: 3 + usize::try_from(seed % 40).unwrap(),
            large: 0,
            next_event: 0,
            chance: Chance::new(seed, 2),
            tools,
        }
    }

    fn number(&mut self) -> u32 {
        self.next_event += 1;
        self.next_event
    }

    /// Writes an event and tells all.
    fn write(&mut self, now: u64, text: impl FnOnce(u32) -> String) -> u32 {
        let number = self.number();
        let text: Rc<str> = text(number).into();
        let lag = if self.session { 0 } else { self.chance.below(40) };
        // What was published before is written by now.
        if let Some(last) = self.log.last_mut() {
            last.visible_at = last.visible_at.min(now);
        }
        self.out.push(Out::Durable(self.log.len(), Rc::clone(&text)));
        let large = self.session && self.chance.per_mille(self.large);
        self.log.push(Logged { number, text, written_at: now, visible_at: now + lag, large });
        number
    }

    fn become_status(&mut self, status: &'static str, now: u64) {
        self.status_before = (self.status, now);
        self.status = status;
        self.write(now, |number| text::state(number, "execution_status", &format!("\"{status}\"")));
    }

    fn tell_full_state(&mut self) {
        let text = self.full_state();
        self.out.push(Out::Transient(text.into()));
    }

    pub fn full_state(&mut self) -> String {
        let number = self.number();
        text::full_state(number, self.status, self.confirm)
    }

    fn after(&mut self, length: u64, now: u64) {
        self.generation += 1;
        self.out.push(Out::Timer { at: now + length, generation: self.generation });
    }

    /// When the events that are published by now can be read, too: the lock is held for so long.
    pub fn written_at(&self) -> u64 {
        self.log.last().map_or(0, |last| last.visible_at)
    }

    /// The server ends and comes back. A kill may cost the end of the log.
    pub fn restart(&mut self, kill: bool, down: u64, lose: usize, now: u64) {
        self.reached.note(if kill { Situation::Killed } else { Situation::Terminated });
        self.generation += 1;
        let ran = self.phase != Phase::Resting;
        let executing = self.phase == Phase::Executing;
        self.phase = Phase::Resting;
        self.unread = false;
        self.stop_after = false;
        self.locked_until = 0;
        self.down_until = now + down;
        if kill && lose > 0 && self.log.len() > lose {
            self.lose_end(lose);
        }
        if ran {
            self.status = if kill { "error" } else { "paused" };
            if kill && executing && !self.pending.is_empty() {
                let first = self.pending.remove(0);
                self.refuse(first.number);
                self.write(now, |number| {
                    text::agent_error(
                        number,
                        first.tool,
                        &first.call,
                        "A restart occurred while this tool was in progress",
                    )
                });
            } else if !kill {
                self.write(now, |number| text::state(number, "execution_status", "\"paused\""));
            }
        }
        // Nobody is there to be told.
        self.out.clear();
        self.out.push(Out::Close(if kill { 1006 } else { 1012 }));
    }

    fn lose_end(&mut self, lose: usize) {
        self.rewound = true;
        self.reached.note(Situation::Rewound);
        let keep = self.log.len() - lose;
        let gone: Vec<u32> = self.log.drain(keep..).map(|event| event.number).collect();
        self.pending.retain(|pending| !gone.contains(&pending.number));
    }

    fn refuse(&mut self, number: u32) {
        if let Some(call) = self.calls.get_mut(&number) {
            call.refused = true;
        }
    }
}
