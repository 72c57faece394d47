//! A page: one load of a tab, with the core in it. It does for the core what the edge does in a browser.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pagehand::call::{EngineError, Ledger, RunId, Settled};
use pagehand::conversation::{
    Command, Conversation, Effect, Input, OperationId, Settings as Resumption, Surroundings, Wire, WireEffect,
};
use pagehand::error::Error;
use pagehand::net::Millis;
use pagehand::protocol::openhands::{OpenHands, Opening, SessionKey, Settings};
use pagehand::tool::SchemaId;

use crate::browser::owner;
use crate::reached::Situation;
use crate::server::text;
use crate::tools::{self, Deed, Rule};
use crate::world::{Coming, Tab, Who, World, trace};

pub struct Page {
    conversation: Conversation,
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
    aside: Option<VecDeque<Input>>,
    /// The question that the page shows.
    pub approval: Option<String>,
    pub status: String,
    pub connection: String,
    pub rare: bool,
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
        let key = text::KEY.to_owned();
        let session_key = if self.plan.key_asked { SessionKey::Asked } else { SessionKey::Fixed(key) };
        let settings = Settings { url: "http://server".into(), session_key };
        // One of them made it, and makes it again when it comes back; the others know its id.
        let opening = if (tab == 0 && !self.plan.there) || !self.server.created {
            Opening::Create { id: text::ID.into(), request: r#"{"agent":{},"workspace":"/w"}"#.into() }
        } else {
            Opening::Attach { id: text::ID.into() }
        };
        let rare = (self.plan.seed >> tab) & 1 == 0;
        let protocol = Box::new(OpenHands::new(settings, opening).unwrap());
        let resumption = Resumption { resume_within: Millis(300_000), results: self.plan.results };
        let seed = self.plan.seed.wrapping_add(who.life.into());
        let conversation =
            Conversation::new(protocol, tools::tools(rare, self.plan.confirm), resumption, seed).unwrap();
        let page = Page {
            conversation,
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
            approval: None,
            status: String::new(),
            connection: String::new(),
            rare,
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
            return aside.push_back(input);
        }
        let effects = page.conversation.handle(input, clock);
        for effect in effects {
            self.perform(who, effect);
        }
        self.set_alarm(who);
    }

    fn set_alarm(&mut self, who: Who) {
        let clock = self.clock();
        let now = self.now;
        let late = self.network.chance.below(3);
        let Some(page) = self.page(who) else { return };
        let at = page.conversation.next_wakeup();
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
            Effect::Wire(WireEffect::Carry(carry)) => panic!("nothing is shared: {carry:?}"),
            Effect::Wire(WireEffect::AskKey) => {
                let key = Input::Wire(Wire::Key(Ok(text::KEY.to_owned())));
                self.comes(self.now + 1, Coming::Input(who, key));
            }
            Effect::CompileSchema { schema, text } => {
                let Some(page) = self.page(who) else { return };
                page.schemas.insert(schema, Rule::read(&text));
                self.comes(self.now, Coming::Input(who, Input::SchemaCompiled { schema, result: Ok(()) }));
            }
            Effect::Validate { check, schema, instance } => {
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
            Effect::Review { call, .. } => panic!("no tool is looked at: {call}"),
            Effect::Run { run, tool, call, arguments } => {
                trace!(self, "{who} RUNS {} of {call}", tool.as_str());
                self.check_run(who, call.as_str(), &arguments);
                self.run_handler(who, run, tool.as_str());
            }
            Effect::Abort { run, .. } => self.abort(who, run),
            Effect::Emit(event) => self.told(who, event.topic, &event.json),
            Effect::Settle { operation, result } => self.settled(who, operation, result),
        }
    }

    fn run_handler(&mut self, who: Who, run: RunId, tool: &str) {
        self.reached.note(Situation::Ran);
        self.may_crash(who);
        if let Some(page) = self.page(who) {
            page.running.insert(run);
        }
        match tools::handler(tool, &mut self.handlers) {
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
            if format!("{error} {}", serde_json::to_string(&error).unwrap()).contains(text::KEY) {
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
            self.input(who, Input::Wire(Wire::Surroundings(Surroundings::Leaving)));
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
        self.end_page(who);
        self.tabs[tab].over = true;
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
        self.input(who, Input::Wire(Wire::Surroundings(Surroundings::Shown)));
    }

    pub fn put_aside(&mut self, tab: usize, length: u64) {
        let Some(who) = self.shown(tab) else { return };
        if self.page(who).is_none_or(|page| page.aside.is_some()) {
            return;
        }
        self.reached.note(Situation::Away);
        self.input(who, Input::Wire(Wire::Surroundings(Surroundings::Leaving)));
        if let Some(page) = self.page(who) {
            page.aside.get_or_insert_default();
        }
        self.comes(self.now + length, Coming::Back(who));
    }

    pub fn back(&mut self, who: Who) {
        let Some(page) = self.page(who) else { return };
        let Some(waited) = page.aside.take() else { return };
        self.input(who, Input::Wire(Wire::Surroundings(Surroundings::Back)));
        for input in waited {
            self.input(who, input);
        }
    }
}
