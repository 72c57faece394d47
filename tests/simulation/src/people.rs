//! The people in front of the pages: they say things, and answer what they are asked, sometimes twice.

use pagehand::call::CallId;
use pagehand::conversation::{Command, Content, Deed, HistoryQuery};

use serde_json::value::RawValue;

use crate::page::Asked;
use crate::plan::Kind;
use crate::reached::Situation;
use crate::world::{Coming, Who, World};

/// How long somebody waits for an agent of which nothing comes.
const ENOUGH: u64 = 120_000;

/// What a person does about a question.
#[derive(Clone, Debug)]
pub enum Act {
    Answer {
        approval: String,
        accept: bool,
        say: bool,
        /// JSON text of other arguments.
        edit: Option<String>,
    },
    /// Says something, knowing that it approves.
    Say(String),
    /// Lets the agent go on, knowing that it approves.
    Run(String),
}

impl World {
    fn words(&mut self, what: &str) -> String {
        format!("{what} #{}", self.checks.next_word())
    }

    pub fn send(&mut self, tab: usize, run: bool) {
        let Some(who) = self.shown(tab) else { return };
        let words = self.words("said");
        let content = Content::text(&words).unwrap();
        self.ask(who, Asked::Say(words), Command::Send { content, run, approve: false });
    }

    pub fn ask_run(&mut self, tab: usize) {
        let Some(who) = self.shown(tab) else { return };
        self.ask(who, Asked::Other, Command::Run { approve: false });
    }

    pub fn cancel(&mut self, tab: usize) {
        let Some(who) = self.shown(tab) else { return };
        let Some(call) = self.checks.open_call(who) else { return };
        self.reached.note(Situation::Cancelled);
        let call = match self.plan.kind {
            Kind::OpenHands => CallId::new(format!("e{call}")),
            Kind::UiPath => CallId::new(self.service.call(call).unwrap().id.clone()),
        };
        self.ask(who, Asked::Other, Command::Cancel { call, reason: "no longer wanted".into() });
    }

    pub fn deed(&mut self, tab: usize, name: &str) {
        let Some(who) = self.shown(tab) else { return };
        let deed = Deed::read(name, "{}").unwrap();
        let what = if name == "endExchange" { Asked::Stop } else { Asked::Other };
        self.ask(who, what, Command::Do(deed));
    }

    pub fn stop(&mut self, tab: usize) {
        let Some(who) = self.shown(tab) else { return };
        self.reached.note(Situation::Stopped);
        self.ask(who, Asked::Stop, Command::Stop { reason: "enough".into() });
    }

    pub fn delete(&mut self, tab: usize) {
        let Some(who) = self.shown(tab) else { return };
        self.reached.note(Situation::Deleted);
        self.ask(who, Asked::Delete, Command::Do(Deed::read("delete", "null").unwrap()));
    }

    pub fn ask_idle(&mut self, tab: usize) {
        let Some(who) = self.shown(tab) else { return };
        self.ask(who, Asked::Idle, Command::Idle);
    }

    pub fn ask_history(&mut self, tab: usize) {
        let Some(who) = self.shown(tab) else { return };
        let page = HistoryQuery { limit: 3, newest_first: self.people.per_mille(500), page: None };
        self.ask(who, Asked::Other, Command::History(page));
    }

    /// A page shows a question. Whoever sees it first decides how it will be answered.
    pub fn question(&mut self, who: Who, approval: &str) {
        if !self.checks.first_sight(approval) {
            return;
        }
        let after = self.people.pick(&[5, 200, 200, 2_000]);
        let at = self.now + after;
        let id = approval.to_owned();
        let answer = |accept, say| Act::Answer { approval: id.clone(), accept, say, edit: None };
        let edited = self.plan.kind == Kind::UiPath && self.people.per_mille(250);
        match self.people.below(100) {
            _ if edited => {
                self.reached.note(Situation::Edited);
                let mode = self.people.pick(&["fit", "fit", "unfit"]);
                let edit = Some(format!(r#"{{"edited":{at},"mode":"{mode}"}}"#));
                self.comes(at, Coming::Act(who, Act::Answer { approval: id, accept: true, say: false, edit }));
            }
            0..45 => self.comes(at, Coming::Act(who, answer(true, false))),
            45..58 => self.comes(at, Coming::Act(who, answer(false, false))),
            58..66 => {
                self.reached.note(Situation::RejectedAndSaid);
                self.comes(at, Coming::Act(who, answer(false, true)));
            }
            66..74 => {
                self.reached.note(Situation::DoubleClick);
                let second = self.people.per_mille(700);
                self.comes(at, Coming::Act(who, answer(true, false)));
                let later = at + self.people.below(3);
                self.comes(later, Coming::Act(who, answer(second, false)));
            }
            74..84 => {
                let accept = self.people.per_mille(600);
                for other in self.everybody() {
                    if other != who {
                        self.reached.note(Situation::TwoTabsAnswer);
                    }
                    let at = at + self.people.below(60);
                    self.comes(at, Coming::Act(other, answer(accept, false)));
                }
            }
            84..92 if self.plan.kind == Kind::UiPath => self.comes(at, Coming::Act(who, answer(true, false))),
            84..89 => self.comes(at, Coming::Act(who, Act::Say(approval.to_owned()))),
            89..92 => self.comes(at, Coming::Act(who, Act::Run(approval.to_owned()))),
            _ => {}
        }
    }

    pub fn act(&mut self, who: Who, act: Act) {
        let (Act::Answer { approval: id, .. } | Act::Say(id) | Act::Run(id)) = &act;
        if self.page(who).is_none_or(|page| !page.approvals.contains(id)) {
            return;
        }
        let approval = id.clone();
        let words = self.words(&format!("ap {approval}"));
        self.checks.answered(self.tabs.as_slice(), who, &approval, self.now);
        match act {
            Act::Answer { accept, say, edit, .. } => {
                let after = say.then(|| self.words("said after"));
                let content = after.as_deref().map(|words| Content::text(words).unwrap());
                let what = Asked::Answer { approval: approval.clone(), say: after };
                let arguments = edit.map(|edit| RawValue::from_string(edit).unwrap());
                self.ask(who, what, Command::Answer { approval, accept, reason: words, arguments, say: content });
            }
            Act::Say(_) => {
                let content = Content::text(&words).unwrap();
                let what = Asked::Approve { approval, say: Some(words) };
                self.ask(who, what, Command::Send { content, run: true, approve: true });
            }
            Act::Run(_) => self.ask(who, Asked::Approve { approval, say: None }, Command::Run { approve: true }),
        }
    }

    /// After the faults somebody comes by now and then and answers what is open, and wants to know when all is done.
    pub fn care(&mut self) {
        if self.at_peace() {
            self.checks.at_rest = true;
            return;
        }
        let everybody = self.everybody();
        for who in &everybody {
            let waits =
                |page: &crate::page::Page| page.operations.iter().any(|operation| operation.what == Asked::Idle);
            if self.page(*who).is_some_and(|page| !waits(page)) {
                self.ask(*who, Asked::Idle, Command::Idle);
            }
        }
        // Any page can answer, whichever had an answer that was lost.
        let mut shown: Vec<(Who, String)> = Vec::new();
        for who in everybody {
            let open = self.page(who).map(|page| page.approvals.clone()).unwrap_or_default();
            shown.extend(open.into_iter().map(|approval| (who, approval)));
        }
        let mut asked: Vec<String> = Vec::new();
        for (who, approval) in shown {
            if !asked.contains(&approval) && !self.checks.answer_is_under_way(self.tabs.as_slice(), &approval) {
                asked.push(approval.clone());
                self.act(who, Act::Answer { approval, accept: true, say: false, edit: None });
            }
        }
        self.lose_patience();
        self.comes(self.now + 3_000, Coming::Care);
    }

    /// Who waits for an agent that nobody can know to have ended, or that forgot to say whose a call is, stops the turn.
    fn lose_patience(&mut self) {
        let hopeless = self.service.rests() && self.service.is_silent_about_an_end();
        if self.now < self.plan.ends + ENOUGH || !(hopeless || self.service.waits_unflagged()) {
            return;
        }
        for who in self.everybody() {
            let goes_on = |status: &str| matches!(status, "running" | "waiting_for_confirmation");
            let waits = self.page(who).is_some_and(|page| goes_on(&page.status) && page.connection == "ready");
            if waits {
                self.stop(who.tab);
            }
        }
    }
}
