//! What is known about the pages, and what must hold at every step.

use std::collections::{BTreeMap, BTreeSet};

use pagehand::call::LedgerEffect;
use pagehand::conversation::Topic;
use serde::Deserialize;

use crate::page::Asked;
use crate::people::Act;
use crate::plan::Kind;
use crate::reached::Situation;
use crate::server::text;
use crate::world::{Coming, Tab, Who, World, trace};

#[derive(Default)]
pub struct Checks {
    pub failure: Option<String>,
    /// Everything has come to its end.
    pub at_rest: bool,
    /// Whether a page lost its storage: then "once" holds in each page, and among the pages that have storage, but not
    /// between the two.
    pub storage_lost: bool,
    pub pages: BTreeMap<Who, Seen>,
    /// When a page was told that it comes too late to go on. What happened before is history for all pages.
    pub missed_at: Vec<u64>,
    /// Who ran which call, and on whose word.
    pub runs: BTreeMap<u32, Vec<(Who, Domain)>>,
    answers: BTreeMap<String, Answers>,
    words: u32,
}

/// Whose claims exclude each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    Storage,
    Page,
}

/// What one page was told.
#[derive(Default)]
pub struct Seen {
    pub opened_at: u64,
    pub ready_at: Option<u64>,
    pub ended_at: Option<u64>,
    /// Whether it took up where another page left off, and was not told that it came too late.
    pub resumed: bool,
    pub missed: bool,
    pub calls: BTreeMap<u32, Told>,
    pub delivered: BTreeSet<u32>,
    newest: u32,
    fetched: BTreeSet<u32>,
}

/// What a page was told about a call.
#[derive(Clone, Debug, Default)]
pub struct Told {
    pub state: &'static str,
    pub authorised: bool,
    pub end: Option<String>,
}

#[derive(Default)]
struct Answers {
    seen: bool,
    given: Vec<Who>,
    allowed: u32,
    arrived: u32,
    given_at: u64,
    /// When the first one arrived.
    first: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step<'a> {
    call_id: &'a str,
    state: &'a str,
    reason: &'a str,
    #[serde(borrow)]
    outcome: Option<End<'a>>,
}

#[derive(Deserialize)]
struct End<'a> {
    kind: &'a str,
}

#[derive(Deserialize)]
struct Question<'a> {
    id: &'a str,
    state: &'a str,
}

#[derive(Deserialize)]
struct Named<'a> {
    state: &'a str,
}

const STATES: [&str; 11] = [
    "announced",
    "waiting",
    "authorised",
    "validating",
    "claiming",
    "elsewhere",
    "guarding",
    "confirming",
    "running",
    "settled",
    "withdrawn",
];

/// By how much the state that a server shows may be old.
const SAVED: u64 = 40;

impl Told {
    pub fn is_under_way(&self) -> bool {
        self.end.is_none() && !matches!(self.state, "announced" | "waiting" | "")
    }
}

impl Checks {
    pub fn fail(&mut self, what: &str) {
        self.failure.get_or_insert_with(|| what.to_owned());
    }

    pub fn next_word(&mut self) -> u32 {
        self.words += 1;
        self.words
    }

    pub fn opened(&mut self, who: Who, now: u64) {
        self.pages.entry(who).or_default().opened_at = now;
    }

    pub fn recalled(&mut self, who: Who, place: bool) {
        self.pages.entry(who).or_default().resumed = place;
    }

    /// An event that is fetched by itself comes out of its order.
    pub fn fetched(&mut self, who: Who, url: &str) {
        if let Some(number) = url.split("/events/").nth(1).and_then(text::number) {
            self.pages.entry(who).or_default().fetched.insert(number);
        }
    }

    /// Some call of a page that has not ended.
    pub fn open_call(&self, who: Who) -> Option<u32> {
        self.pages.get(&who)?.calls.iter().rev().find(|(_, told)| told.end.is_none()).map(|(call, _)| *call)
    }

    pub fn first_sight(&mut self, approval: &str) -> bool {
        !std::mem::replace(&mut self.answers.entry(approval.to_owned()).or_default().seen, true)
    }

    /// Whether an answer has been given of which nothing is known yet.
    pub fn answer_is_under_way(&self, tabs: &[Tab], approval: &str) -> bool {
        let given = self.answers.get(approval).map(|answers| answers.given.as_slice()).unwrap_or_default();
        given.iter().any(|who| open_answers(tabs, *who, approval))
    }

    /// A person answers. Who has been told that nothing is known of an answer, or whose page is gone, may well answer again:
    /// then two may arrive.
    pub fn answered(&mut self, tabs: &[Tab], who: Who, approval: &str, now: u64) {
        let again = !self.answer_is_under_way(tabs, approval) && !taken(tabs, self.answers.get(approval), approval);
        let answers = self.answers.entry(approval.to_owned()).or_default();
        if again {
            answers.allowed += 1;
        }
        answers.given.push(who);
        answers.given_at = now;
    }

    /// An answer reached the server. It says which question it is about.
    pub fn approval_arrived(&mut self, words: &str, now: u64) {
        let Some(approval) = words.strip_prefix("ap ").and_then(|rest| rest.split(' ').next()) else { return };
        let Some(answers) = self.answers.get_mut(approval) else { return };
        answers.arrived += 1;
        // Who answers again looks first what the server waits for: that it has its answer, or asks something else by now. The
        // wire has no name for what is answered: what arrives between the look and the answer cannot be told.
        let needless = *answers.first.get_or_insert(now) + SAVED < answers.given_at;
        if self.storage_lost {
            return;
        }
        if answers.arrived > answers.allowed {
            self.fail(&format!("two answers to {approval} reached the server"));
        } else if needless {
            self.fail(&format!("{approval} was answered again, though the server had its answer"));
        }
    }
}

fn operations<'a>(tabs: &'a [Tab], who: Who, approval: &'a str) -> impl Iterator<Item = &'a crate::page::Operation> {
    let page = tabs.get(who.tab).filter(|tab| tab.life == who.life).and_then(|tab| tab.page.as_ref());
    let operations = page.map(|page| page.operations.as_slice()).unwrap_or_default();
    operations.iter().filter(move |operation| match &operation.what {
        Asked::Answer { approval: about, .. } | Asked::Approve { approval: about, .. } => about == approval,
        _ => false,
    })
}

fn open_answers(tabs: &[Tab], who: Who, approval: &str) -> bool {
    operations(tabs, who, approval).any(|operation| operation.result.is_none())
}

fn taken(tabs: &[Tab], answers: Option<&Answers>, approval: &str) -> bool {
    let given = answers.map(|answers| answers.given.as_slice()).unwrap_or_default();
    given.iter().any(|who| operations(tabs, *who, approval).any(|operation| matches!(operation.result, Some(Ok(_)))))
}

impl World {
    pub fn told(&mut self, who: Who, topic: Topic, json: &str) {
        if json.contains(text::KEY) {
            self.checks.fail("the key is in an event");
        }
        match topic {
            Topic::Event => return self.event_told(who, json),
            Topic::Call => self.call_told(who, json),
            Topic::Approval => {
                let question: Question = serde_json::from_str(json).unwrap();
                let (open, id) = (question.state == "open", question.id.to_owned());
                if let Some(page) = self.page(who) {
                    page.approvals.retain(|other| *other != id);
                    page.approvals.extend(open.then(|| id.clone()));
                }
                if open {
                    self.question(who, &id);
                }
            }
            Topic::Connection => {
                let Named { state } = serde_json::from_str(json).unwrap();
                let now = self.now;
                if state == "ready" {
                    self.checks.pages.entry(who).or_default().ready_at.get_or_insert(now);
                }
                if let Some(page) = self.page(who) {
                    state.clone_into(&mut page.connection);
                }
                // Failures enough can look like a conversation that the server cannot load: the person loads the page anew.
                if json.contains(r#""conversation_unavailable""#) {
                    self.reached.note(Situation::Unavailable);
                    self.comes(now + 2_000, Coming::Renew(who));
                }
            }
            Topic::Status => {
                let status: serde_json::Value = serde_json::from_str(json).unwrap();
                if let Some(page) = self.page(who) {
                    status["status"].as_str().unwrap().clone_into(&mut page.status);
                }
            }
            Topic::Notice => {
                let notice: serde_json::Value = serde_json::from_str(json).unwrap();
                match notice["code"].as_str().unwrap() {
                    "missed" => {
                        self.checks.pages.entry(who).or_default().missed = true;
                        self.checks.missed_at.push(self.now);
                    }
                    "duplicate_event" => self.reached.note(Situation::DuplicateDropped),
                    "unflagged_call" => self.reached.note(Situation::Unflagged),
                    "result_too_large" => self.reached.note(Situation::ToldTooLarge),
                    _ => {}
                }
            }
            Topic::Message | Topic::Delta | Topic::Tools | Topic::Error | Topic::Condition | Topic::Label => {}
        }
        trace!(self, "{who} tells {}: {json}", topic.as_str());
    }

    fn event_told(&mut self, who: Who, json: &str) {
        // What is told of the moment has no place.
        let Some(number) = text::number(json) else { return };
        trace!(self, "{who} tells event e{number}");
        let seen = self.checks.pages.entry(who).or_default();
        let again = !seen.delivered.insert(number);
        let fetched = seen.fetched.contains(&number);
        let behind = number < seen.newest && !fetched;
        if !fetched {
            seen.newest = seen.newest.max(number);
        }
        if again {
            self.checks.fail(&format!("{who} is told event e{number} twice"));
        }
        if behind {
            self.checks.fail(&format!("{who} is told event e{number} after a later one"));
        }
    }

    fn call_told(&mut self, who: Who, json: &str) {
        let step: Step = serde_json::from_str(json).unwrap();
        let Some(number) = self.number(step.call_id) else {
            return self.checks.fail(&format!("{who} tells of {}, which the agent never asked for", step.call_id));
        };
        let rank = |state: &str| STATES.iter().position(|known| *known == state);
        let now = rank(step.state).unwrap();
        let told = self.checks.pages.entry(who).or_default().calls.entry(number).or_default();
        // What a guard or a person changes is told in the state that the call is in.
        let changes = matches!(step.state, "guarding" | "confirming");
        let forward =
            told.end.is_none() && rank(told.state).is_none_or(|before| before < now || (changes && before == now));
        let before = told.state;
        told.state = STATES[now];
        told.authorised |= step.state == "authorised";
        let end = step.outcome.as_ref().map(|outcome| outcome.kind.to_owned());
        told.end = end.or_else(|| (step.state == "withdrawn").then(|| "withdrawn".to_owned()));
        if !forward {
            self.checks.fail(&format!("{who} is told that e{number} goes from {before} to {}", step.state));
        }
        if let Some(situation) = told_situation(&step) {
            self.reached.note(situation);
        }
        if step.state == "authorised" {
            self.bind(who, number);
            self.may_crash(who);
        }
        // What another page said counts where the agent waits for one answer.
        let here = self.plan.kind == Kind::OpenHands || step.reason == "no handler has this name";
        if here
            && step.outcome.is_some_and(|outcome| outcome.kind == "missing_handler")
            && !self.lacks_handler(who, number)
        {
            self.checks.fail(&format!("{who} says that no handler is there for e{number}"));
        }
    }

    pub fn check_settled(&mut self, who: Who, what: &Asked, result: &Result<String, String>) {
        match (what, result) {
            (Asked::Undeclare(tool), Ok(_)) => self.undeclared(who, tool),
            (Asked::Idle, Ok(_)) => {
                self.reached.note(Situation::Idle);
                let calls = self.checks.pages.get(&who).map(|seen| &seen.calls);
                if calls.is_some_and(|calls| calls.values().any(Told::is_under_way)) {
                    self.checks.fail(&format!("{who} is idle while a call is under way"));
                }
            }
            (
                Asked::Say(words) | Asked::Approve { say: Some(words), .. } | Asked::Answer { say: Some(words), .. },
                Ok(_),
            ) if self.plan.kind == Kind::OpenHands && !self.server.said.contains_key(words) => {
                self.checks.fail(&format!("{who} says that {words:?} was sent, and it is not in the log"));
            }
            (Asked::Answer { .. } | Asked::Approve { .. }, Err(code)) => match code.as_str() {
                "approval_answered" => self.reached.note(Situation::AnswerRefused),
                "invalid_edit" => self.reached.note(Situation::InvalidEdit),
                "unreachable" | "request_timeout" | "unconfirmed" => self.unknown(who, what),
                _ => {}
            },
            _ => {}
        }
    }

    /// Nothing was heard of an answer: the person may give it again.
    fn unknown(&mut self, who: Who, what: &Asked) {
        self.reached.note(Situation::AnswerUnknown);
        let (Asked::Answer { approval, .. } | Asked::Approve { approval, .. }) = what else { return };
        if self.people.per_mille(700) {
            let at = self.now + self.people.pick(&[50, 500, 3_000, 10_000]);
            let again = Act::Answer { approval: approval.clone(), accept: true, say: false, edit: None };
            self.comes(at, Coming::Act(who, again));
        }
    }

    /// A page writes how far it has come: never further than what it was told.
    pub fn check_ledger(&mut self, who: Who, effect: &LedgerEffect) {
        let LedgerEffect::Remember { position, .. } = effect else { return };
        if self.server.rewound {
            return;
        }
        let (seq, id) = position.split_once('/').unwrap();
        let place = self.server.log.iter().position(|event| Some(event.number) == text::number(id));
        let seq: Option<usize> = seq.parse().ok();
        let Some(seen) = self.checks.pages.get(&who) else { return };
        let first = seq.or(place).max(place).map_or(0, |last| last + 1);
        let Some(ready) = seen.ready_at else { return };
        let Some(log) = self.server.log.get(..first) else {
            let wrong = format!("{who} remembers {position}, which the log does not have yet");
            return self.checks.fail(&wrong);
        };
        let begun = log.iter().rev().take_while(|event| event.written_at > ready);
        let ahead = begun.filter(|event| !seen.delivered.contains(&event.number)).last();
        if let Some(event) = ahead {
            let wrong = format!("{who} remembers {position}, and was not told e{}", event.number);
            self.checks.fail(&wrong);
        }
    }

    pub fn page_ends(&mut self, who: Who) {
        let now = self.now;
        self.checks.pages.entry(who).or_default().ended_at = Some(now);
    }

    /// After a page has closed its conversation nothing of it is open.
    pub fn check_closed(&mut self, who: Who) {
        let Some(page) = self.page(who) else { return };
        if let Some(open) = page.operations.iter().find(|operation| operation.result.is_none()) {
            let what = format!("{who} is closed, and {:?} is not settled", open.what);
            self.checks.fail(&what);
        }
        let calls = self.checks.pages.get(&who).map(|seen| &seen.calls);
        let open = calls.and_then(|calls| calls.iter().find(|(_, told)| told.end.is_none()));
        if let Some((call, told)) = open {
            let what = format!("{who} is closed, and e{call} is still {}", told.state);
            self.checks.fail(&what);
        }
    }
}

fn told_situation(step: &Step) -> Option<Situation> {
    Some(match (step.state, step.outcome.as_ref().map(|outcome| outcome.kind)) {
        ("elsewhere", _) => Situation::Elsewhere,
        ("withdrawn", _) => Situation::Withdrawn,
        (_, Some("interrupted")) if step.reason == "nothing is known of it" => Situation::Orphaned,
        (_, Some("interrupted")) => Situation::Interrupted,
        (_, Some("timed_out")) => Situation::TimedOut,
        (_, Some("invalid_arguments")) => Situation::Unfit,
        (_, Some("missing_handler")) => Situation::MissingHandler,
        _ => return None,
    })
}
