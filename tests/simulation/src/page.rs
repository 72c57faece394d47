//! A page: one load of a tab, with the core in it. It does for the core what the edge does in a browser.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;

use pagehand::call::{EngineError, Ledger, Limits, RunId, Settled, Verdict};
use pagehand::conversation::{
    Command, Conversation, Effect, Input, OperationId, Settings as Resumption, Surroundings, Wire, WireEffect,
};
use pagehand::error::Error;
use pagehand::net::Millis;
use pagehand::protocol::Protocol;
use pagehand::protocol::uipath::Line;
use pagehand::protocol::uipath::LineInput;
use pagehand::tool::SchemaId;
use serde_json::value::RawValue;

use crate::browser::owner;
use crate::declared::Handlers;
use crate::plan::Kind;
use crate::reached::Situation;
use crate::server::text;
use crate::tools::{self, Deed, Rule};
use crate::world::{Coming, Tab, Who, World, trace};

pub struct Page {
    conversation: Conversation,
    /// The connection, where the conversation has none of its own.
    pub line: Option<Line>,
    /// What is to be told to the conversation, and whether somebody is at it.
    queue: VecDeque<Input>,
    draining: bool,
    /// The same of the connection.
    pub line_queue: VecDeque<LineInput>,
    pub line_draining: bool,
    /// How far another conversation over the same connection has come.
    pub neighbour: u32,
    /// When the alarm is set for, by the page's clock, and which alarm it is.
    alarm: Option<Millis>,
    alarms: u32,
    schemas: BTreeMap<SchemaId, Rule>,
    /// Handlers that have not ended.
    running: BTreeSet<RunId>,
    pub operations: Vec<Operation>,
    pub stored_at: u64,
    pub storage_lost: bool,
    /// What the page itself did, for when the storage is gone.
    pub local: Ledger,
    pub hidden_until: u64,
    /// What waits for a page that was put aside.
    pub aside: Option<VecDeque<Waiting>>,
    /// The questions that the page shows.
    pub approvals: Vec<String>,
    pub status: String,
    pub connection: String,
    pub handlers: Handlers,
}

/// Something that waits for a page that was put aside.
pub enum Waiting {
    Input(Input),
    Line(LineInput),
}

/// Something that the app asked for.
pub struct Operation {
    pub what: Asked,
    pub result: Option<Result<String, String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    Open,
    Close,
    Say(String),
    /// An answer to a question, and what is to be said after it.
    Answer {
        approval: String,
        say: Option<String>,
    },
    /// A message or a run that may approve.
    Approve {
        approval: String,
        say: Option<String>,
    },
    Idle,
    Delete,
    /// The end of the turn, and of what was said in it.
    Stop,
    Declare(&'static str),
    Undeclare(&'static str),
    Other,
}

impl Page {
    pub fn is_aside(&self) -> bool {
        self.aside.is_some()
    }
}

impl World {
    pub fn open(&mut self, tab: usize) {
        if self.tabs[tab].page.is_some() || self.tabs[tab].over {
            return;
        }
        let who = Who { tab, life: self.tabs[tab].life + 1 };
        let rare = (self.plan.seed >> tab) & 1 == 0;
        let seed = self.plan.seed.wrapping_add(who.life.into());
        let (protocol, line, tools): (Box<dyn Protocol>, _, _) = match self.plan.kind {
            Kind::OpenHands => (Box::new(self.openhands(tab)), None, tools::tools(rare, self.plan.confirm)),
            Kind::UiPath => (Box::new(self.uipath()), Some(self.line(seed)), tools::uipath(rare)),
        };
        let handlers = Handlers::new(&tools);
        // Names that pages give must differ.
        let seed = if self.plan.kind == Kind::UiPath { seed.wrapping_mul(8).wrapping_add(tab as u64) } else { seed };
        let resumption =
            Resumption { resume_within: Millis(300_000), results: self.plan.results, limits: Limits::default() };
        let conversation = Conversation::new(protocol, tools, resumption, seed).unwrap();
        let page = Page {
            conversation,
            line,
            queue: VecDeque::new(),
            draining: false,
            line_queue: VecDeque::new(),
            line_draining: false,
            neighbour: 0,
            alarm: None,
            alarms: 0,
            schemas: BTreeMap::new(),
            running: BTreeSet::new(),
            operations: Vec::new(),
            stored_at: self.now,
            storage_lost: false,
            local: Ledger::default(),
            hidden_until: 0,
            aside: None,
            approvals: Vec::new(),
            status: String::new(),
            connection: String::new(),
            handlers,
        };
        self.tabs[tab] = Tab { life: who.life, page: Some(page), over: false };
        self.browser.living.insert(owner(who).0.to_string());
        self.reached.note(Situation::Opened);
        trace!(self, "{who} is opened");
        self.checks.opened(who, self.now);
        self.ask(who, Asked::Open, Command::Open);
    }

    pub fn ask(&mut self, who: Who, what: Asked, command: Command) {
        // Nobody can use a page that was put aside.
        let Some(page) = self.page(who).filter(|page| page.aside.is_none()) else { return };
        page.operations.push(Operation { what: what.clone(), result: None });
        let operation = OperationId(u32::try_from(page.operations.len() - 1).unwrap());
        trace!(self, "{who} asks {}: {what:?}", operation.0);
        self.input(who, Input::App { operation, command });
    }

    /// Something happens to a page.
    pub fn input(&mut self, who: Who, input: Input) {
        let clock = self.clock();
        let Some(page) = self.page(who) else { return };
        if let Some(aside) = &mut page.aside {
            return aside.push_back(Waiting::Input(input));
        }
        page.queue.push_back(input);
        if mem::replace(&mut page.draining, true) {
            return;
        }
        while let Some(page) = self.page(who)
            && let Some(input) = page.queue.pop_front()
        {
            for effect in page.conversation.handle(input, clock) {
                self.perform(who, effect);
            }
        }
        if let Some(page) = self.page(who) {
            page.draining = false;
        }
        self.set_alarm(who);
    }

    pub fn set_alarm(&mut self, who: Who) {
        let clock = self.clock();
        let now = self.now;
        let late = self.network.chance.below(3);
        let Some(page) = self.page(who) else { return };
        let wakeups = [page.conversation.next_wakeup(), page.line.as_ref().and_then(Line::next_wakeup)];
        let at = wakeups.into_iter().flatten().min();
        if at == page.alarm {
            return;
        }
        page.alarm = at;
        page.alarms += 1;
        let Some(at) = at else { return };
        let mut rings = now + at.0.saturating_sub(clock.0) + late;
        if rings < page.hidden_until {
            // A page that is not looked at gets one timer a minute.
            rings = page.hidden_until.min(rings.next_multiple_of(60_000));
        }
        let alarm = page.alarms;
        self.comes(rings, Coming::Wake(who, alarm));
    }

    pub fn wake(&mut self, who: Who, alarm: u32) {
        let Some(page) = self.page(who).filter(|page| page.alarms == alarm) else { return };
        page.alarm = None;
        self.input(who, Input::Tick);
        if self.plan.kind == Kind::UiPath {
            self.line_input(who, LineInput::Tick);
        }
    }

    fn perform(&mut self, who: Who, effect: Effect) {
        match effect {
            Effect::Wire(WireEffect::Fetch { request, what }) => {
                self.checks.fetched(who, &what.url);
                self.fetch(who, request, what);
            }
            Effect::Wire(WireEffect::OpenSocket { socket, url }) => self.open_socket(who, socket, &url),
            Effect::Wire(WireEffect::SendText { socket, text }) => self.send_text(who, socket, text),
            Effect::Wire(WireEffect::CloseSocket { socket }) => self.close_socket(who, socket),
            Effect::Wire(WireEffect::Carry(carry)) => self.carry_for(who, carry),
            Effect::Wire(WireEffect::AskKey) => {
                let key = Input::Wire(Wire::Key(Ok(self.key())));
                self.comes(self.now + 1, Coming::Input(who, key));
            }
            Effect::CompileSchema { schema, text } => {
                let Some(page) = self.page(who) else { return };
                page.schemas.insert(schema, Rule::read(&text));
                self.comes(self.now, Coming::Input(who, Input::SchemaCompiled { schema, result: Ok(()) }));
            }
            Effect::Validate { check, schema, instance, .. } => {
                let Some(page) = self.page(who) else { return };
                let rule = page.schemas[&schema];
                let unloaded = self.handlers.per_mille(8);
                let result = if unloaded {
                    Err(EngineError::Unavailable("not loaded".into()))
                } else {
                    Ok(rule.check(&instance))
                };
                let at = self.now + self.handlers.below(6);
                self.comes(at, Coming::Input(who, Input::Validated { check, result }));
            }
            Effect::Ledger(effect) => {
                self.check_ledger(who, &effect);
                self.ask_ledger(who, effect);
            }
            Effect::Review { run, arguments, .. } => self.review(who, run, &arguments),
            Effect::Run { run, handler, tool, call, arguments } => {
                trace!(self, "{who} RUNS {} of {call}", tool.as_str());
                self.check_run(who, call.as_str(), handler, &arguments);
                self.run_handler(who, run, tool.as_str());
            }
            Effect::Declared { operation, handler } => self.declared(who, operation, handler),
            Effect::Forget { handler } => self.forget(who, handler),
            Effect::Abort { run, .. } => self.abort(who, run),
            Effect::Emit(event) => self.told(who, event.topic, &event.json),
            Effect::Settle { operation, result } => self.settled(who, operation, result),
        }
    }

    /// Something happens around a page: whatever has a connection hears it.
    pub fn around(&mut self, who: Who, what: Surroundings) {
        self.input(who, Input::Wire(Wire::Surroundings(what)));
        if self.plan.kind == Kind::UiPath {
            self.line_input(who, LineInput::Wire(Wire::Surroundings(what)));
        }
    }

    /// The app looks at a call: it lets it run, asks, or stops it; and may change the arguments.
    fn review(&mut self, who: Who, run: RunId, arguments: &str) {
        let verdict = match self.handlers.below(10) {
            0..5 => Verdict::Allow,
            5..8 => Verdict::Ask,
            _ => Verdict::Block { reason: "not like this".into() },
        };
        if verdict == Verdict::Ask {
            self.reached.note(Situation::AskedByPage);
        }
        let edited = self.handlers.per_mille(300).then(|| RawValue::from_string(arguments.to_owned()).unwrap());
        let at = self.now + self.handlers.pick(&[0, 1, 300]);
        self.comes(at, Coming::Input(who, Input::Reviewed { run, verdict, arguments: edited }));
    }

    fn run_handler(&mut self, who: Who, run: RunId, tool: &str) {
        self.reached.note(Situation::Ran);
        self.may_crash(who);
        if let Some(page) = self.page(who) {
            page.running.insert(run);
        }
        let large = if self.plan.kind == Kind::UiPath { self.plan.large } else { 0 };
        match tools::handler(tool, large, &mut self.handlers) {
            Deed::Never => self.reached.note(Situation::NeverEnded),
            Deed::Settles(length, settled) => {
                if matches!(settled, Settled::Threw { .. }) {
                    self.reached.note(Situation::Threw);
                }
                self.comes(self.now + length, Coming::Handler(who, run, settled));
            }
        }
    }

    /// A page may crash in the midst of a call.
    pub fn may_crash(&mut self, who: Who) {
        if self.network.chance.per_mille(self.network.rates.crash) {
            let at = self.now + self.network.chance.below(16);
            self.comes(at, Coming::Renew(who));
        }
    }

    /// A handler that listens to its signal ends at once, with an error.
    fn abort(&mut self, who: Who, run: RunId) {
        if self.handlers.per_mille(500) {
            self.reached.note(Situation::LateHandler);
            let settled = Settled::Threw { name: "AbortError".into(), message: "aborted".into() };
            self.comes(self.now + 1, Coming::Handler(who, run, settled));
        }
    }

    fn settled(&mut self, who: Who, operation: OperationId, result: Result<String, Error>) {
        let result = result.map_err(|error| {
            if format!("{error} {}", pagehand::json::text(&error)).contains(text::KEY) {
                self.checks.fail("the key is in an error");
            }
            error.code().to_owned()
        });
        trace!(self, "{who} settles {}: {result:?}", operation.0);
        let Some(page) = self.page(who) else { return };
        let asked = &mut page.operations[operation.0 as usize];
        let twice = asked.result.is_some();
        asked.result = Some(result.clone());
        let what = asked.what.clone();
        if twice {
            self.checks.fail(&format!("{who} settles operation {} twice", operation.0));
        }
        self.check_settled(who, &what, &result);
        if let (Asked::Open, Err(_)) = (&what, &result) {
            self.reached.note(Situation::OpeningFailed);
            let again = self.now + 2_000;
            self.end_page(who);
            self.comes(again, Coming::Open(who.tab));
        }
        let made = result.is_ok_and(|json| json.contains(r#""created":true"#));
        if what == Asked::Open
            && made
            && self.plan.kind == Kind::UiPath
            && *self.service.maker.get_or_insert(who) != who
        {
            // A service gives each that asks a conversation of its own. Here there is one: who made it second joins it.
            self.reload(who.tab, 100, true);
        }
    }

    /// A handler ends, once.
    pub fn handler_ends(&mut self, who: Who, run: RunId, settled: Settled) {
        if self.page(who).is_some_and(|page| page.running.remove(&run)) {
            self.input(who, Input::HandlerSettled { run, settled });
        }
    }

    /// A page is gone; its lock is free a moment later.
    pub fn end_page(&mut self, who: Who) {
        if self.page(who).is_none() {
            return;
        }
        self.page_ends(who);
        self.tabs[who.tab].page = None;
        self.drop_sockets(who);
        self.browser.watchers.retain(|(watcher, _)| *watcher != who);
        let at = self.now + self.handlers.below(30);
        self.comes(at, Coming::OwnerGone(who));
    }

    pub fn reload(&mut self, tab: usize, away: u64, word: bool) {
        let Some(who) = self.shown(tab) else { return };
        self.reached.note(Situation::Reloaded);
        if word {
            self.around(who, Surroundings::Leaving);
        }
        self.end_page(who);
        self.comes(self.now + away, Coming::Open(tab));
    }

    pub fn die(&mut self, tab: usize) {
        let Some(who) = self.shown(tab) else { return };
        self.reached.note(Situation::Died);
        self.end_page(who);
        self.tabs[tab].over = true;
    }

    pub fn leave(&mut self, tab: usize) {
        let Some(who) = self.shown(tab) else { return };
        if self.page(who).is_some_and(|page| page.aside.is_none()) {
            self.reached.note(Situation::LeftProperly);
            self.ask(who, Asked::Close, Command::Close);
            self.check_closed(who);
        }
        self.tabs[tab].over = true;
        if self.plan.kind == Kind::UiPath {
            // The app goes on for a moment, and so does what it has asked of the storage.
            return self.comes(self.now + 30, Coming::Gone(who));
        }
        self.end_page(who);
    }

    pub fn hide(&mut self, tab: usize, length: u64) {
        let until = self.now + length;
        let Some(who) = self.shown(tab) else { return };
        self.reached.note(Situation::Hidden);
        if let Some(page) = self.page(who) {
            page.hidden_until = until;
        }
        self.comes(until, Coming::Shown(who));
    }

    pub fn show(&mut self, who: Who) {
        self.around(who, Surroundings::Shown);
    }

    pub fn put_aside(&mut self, tab: usize, length: u64) {
        let Some(who) = self.shown(tab) else { return };
        if self.page(who).is_none_or(|page| page.aside.is_some()) {
            return;
        }
        self.reached.note(Situation::Away);
        self.around(who, Surroundings::Leaving);
        if let Some(page) = self.page(who) {
            page.aside.get_or_insert_default();
        }
        self.comes(self.now + length, Coming::Back(who));
    }

    pub fn back(&mut self, who: Who) {
        let Some(page) = self.page(who) else { return };
        let Some(waited) = page.aside.take() else { return };
        self.around(who, Surroundings::Back);
        for input in waited {
            match input {
                Waiting::Input(input) => self.input(who, input),
                Waiting::Line(input) => self.line_input(who, input),
            }
        }
    }
}
