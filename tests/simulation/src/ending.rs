//! What must hold in the end, once the network has healed and time has gone on.

use std::collections::BTreeMap;

use crate::page::{Asked, Operation};
use crate::plan::Kind;
use crate::server::Phase;
use crate::world::{Who, World};

/// A page was ready this long before: what happened since is its own.
const MARGIN: u64 = 1;

impl World {
    pub fn at_rest(&self) -> bool {
        self.checks.at_rest
    }

    /// Whether nothing is left to be done.
    pub fn at_peace(&mut self) -> bool {
        self.unfinished().is_none()
    }

    /// What has not come to its end.
    fn unfinished(&mut self) -> Option<String> {
        if self.plan.kind == Kind::UiPath {
            return self.unfinished_of_uipath();
        }
        if self.server.deleted {
            return None;
        }
        if self.server.rewound {
            // A log that lost its end and has grown again cannot be told from the one that was known.
            return self.everybody().into_iter().find_map(|who| {
                let connection = self.page(who)?.connection.as_str();
                (connection != "ready").then(|| format!("{who}: the connection is {connection}"))
            });
        }
        let everybody = self.everybody();
        if everybody.is_empty() && self.tabs.iter().all(|tab| tab.over || tab.life == 0) {
            return None;
        }
        if self.server.phase != Phase::Resting {
            return Some("the agent still runs".to_owned());
        }
        if let Some(tab) = self.tabs.iter().position(|tab| tab.page.is_none() && !tab.over && tab.life > 0) {
            return Some(format!("tab{tab} is not loaded"));
        }
        if self.server.status == "waiting_for_confirmation" && !everybody.is_empty() {
            return Some("the server still waits for an answer".to_owned());
        }
        everybody.into_iter().find_map(|who| self.unfinished_in(who).map(|what| format!("{who}: {what}")))
    }

    fn unfinished_of_uipath(&mut self) -> Option<String> {
        let everybody = self.everybody();
        if everybody.is_empty() && self.tabs.iter().all(|tab| tab.over || tab.life == 0) {
            return None;
        }
        if let Some(tab) = self.tabs.iter().position(|tab| tab.page.is_none() && !tab.over && tab.life > 0) {
            return Some(format!("tab{tab} is not loaded"));
        }
        // Of a call that nothing marks as the page's a page that comes later knows nothing.
        if !self.service.rests() && !self.service.waits_unflagged() {
            return Some("the agent still runs".to_owned());
        }
        everybody.into_iter().find_map(|who| self.open_in(who).map(|what| format!("{who}: {what}")))
    }

    /// What is open in a page, whatever its server is.
    fn open_in(&mut self, who: Who) -> Option<String> {
        let page = self.page(who)?;
        if page.connection != "ready" {
            return Some(format!("the connection is {}", page.connection));
        }
        if let Some(open) = page.operations.iter().find(|operation| operation.result.is_none()) {
            return Some(format!("{:?} is not settled", open.what));
        }
        if let Some(approval) = page.approvals.first() {
            return Some(format!("{approval} is still asked"));
        }
        if matches!(page.status.as_str(), "running" | "waiting_for_confirmation") {
            return Some(format!("it says {}, and the agent rests", page.status));
        }
        if !page.operations.iter().any(|operation| operation.what == Asked::Idle) {
            return Some("nobody has asked when all is done".to_owned());
        }
        let said = |operation: &Operation| match (&operation.what, &operation.result) {
            (Asked::Say(words) | Asked::Answer { say: Some(words), .. }, Some(Ok(_))) => Some(words.clone()),
            _ => None,
        };
        let stopped = page.operations.iter().rposition(|operation| operation.what == Asked::Stop);
        let since = stopped.map_or(0, |at| at + 1);
        let said: Vec<String> = page.operations[since..].iter().filter_map(said).collect();
        if let Some(lost) = said.iter().find(|words| !self.service.said.contains_key(*words)) {
            return Some(format!("{lost:?} was sent, and has not arrived"));
        }
        let seen = self.checks.pages.get(&who)?;
        let open = seen.calls.iter().find(|(_, told)| told.is_under_way());
        open.map(|(call, told)| format!("call {call} is still {}", told.state))
    }

    fn unfinished_in(&mut self, who: Who) -> Option<String> {
        let status = self.server.status;
        let page = self.page(who)?;
        if page.connection != "ready" {
            return Some(format!("the connection is {}", page.connection));
        }
        let open = |operation: &&Operation| operation.result.is_none();
        if let Some(open) = page.operations.iter().find(open) {
            return Some(format!("{:?} is not settled", open.what));
        }
        if let Some(approval) = page.approvals.first() {
            return Some(format!("{approval} is still asked"));
        }
        if !page.status.is_empty() && page.status != status {
            return Some(format!("it says {}, and the server is {status}", page.status));
        }
        if !page.operations.iter().any(|operation| operation.what == Asked::Idle) {
            return Some("nobody has asked when all is done".to_owned());
        }
        let seen = self.checks.pages.get(&who)?;
        let open = seen.calls.iter().find(|(_, told)| told.is_under_way());
        if let Some((call, told)) = open {
            return Some(format!("e{call} is still {}", told.state));
        }
        let calls = &self.server.calls;
        let taken_back = |number: &u32| calls.get(number).is_some_and(|call| call.refused && call.acked.is_none());
        if let Some((call, _)) = seen.calls.iter().find(|(number, told)| told.end.is_none() && taken_back(number)) {
            return Some(format!("it was never told that e{call} was taken back"));
        }
        let Some(ready) = seen.ready_at else { return Some("it was never ready".to_owned()) };
        let own = |at: u64| at > ready + MARGIN;
        let missing = self.server.calls.iter().find(|(number, call)| {
            let let_through = call.acked.is_some_and(own);
            let_through && seen.calls.get(number).is_none_or(|told| told.end.is_none())
        });
        if let Some((number, _)) = missing.filter(|_| !self.server.rewound) {
            return Some(format!("it was never told how e{number} ended"));
        }
        None
    }

    /// What must be true of a whole schedule.
    pub fn check_end(&mut self) {
        if let Some(unfinished) = self.unfinished() {
            return self.checks.fail(&unfinished);
        }
        self.check_nothing_lost();
        self.check_agreement();
        let by_hand = |words: &str| !words.starts_with('[');
        let said = if self.plan.kind == Kind::UiPath { &self.service.said } else { &self.server.said };
        if let Some((words, times)) = said.iter().find(|(words, times)| **times > 1 && by_hand(words)) {
            let what = format!("{words:?} was sent {times} times");
            self.checks.fail(&what);
        }
        let twice = self.server.results.iter().find(|(_, times)| **times > 1);
        if let Some((call, times)) = twice.filter(|_| !self.checks.storage_lost) {
            let what = format!("the agent was told {times} times how {call} ended");
            self.checks.fail(&what);
        }
        for who in self.everybody() {
            self.leave(who.tab);
        }
    }

    /// Every call that was let through while a page was there, or being loaded anew in time, was run or told.
    fn check_nothing_lost(&mut self) {
        let uipath = self.plan.kind == Kind::UiPath;
        if uipath || self.server.deleted || self.server.rewound || self.checks.storage_lost {
            return;
        }
        for who in self.everybody() {
            let Some(since) = self.present_since(who) else { continue };
            for (number, call) in &self.server.calls {
                let own = call.acked.is_some_and(|at| at > since + MARGIN);
                let told = self
                    .checks
                    .pages
                    .values()
                    .any(|seen| seen.calls.get(number).is_some_and(|told| told.end.is_some()));
                if own && !told && !self.checks.runs.contains_key(number) {
                    let what = format!("e{number} was let through while {who} was there or away in time, and is lost");
                    return self.checks.fail(&what);
                }
            }
        }
    }

    /// Since when a tab has been there without a gap that it was told of. Of several tabs that come back too late only the
    /// first is told.
    fn present_since(&self, who: Who) -> Option<u64> {
        let mut since = None;
        for life in (1..=who.life).rev() {
            let seen = self.checks.pages.get(&Who { tab: who.tab, life })?;
            let told =
                |at: &u64| seen.ended_at.is_some_and(|ended| ended <= *at) && since.is_some_and(|since| *at < since);
            if self.checks.missed_at.iter().any(told) {
                break;
            }
            since = seen.ready_at.or(since);
            if !seen.resumed || seen.missed {
                break;
            }
        }
        since
    }

    /// Pages agree on how a call ended. A cancellation may cross with an end; a page that ended without a word is taken for
    /// interrupted.
    fn check_agreement(&mut self) {
        if self.checks.storage_lost {
            return;
        }
        let mut ends: BTreeMap<u32, (&str, Who)> = BTreeMap::new();
        for (who, seen) in &self.checks.pages {
            for (call, told) in &seen.calls {
                let Some(end @ ("ok" | "failed" | "timed_out" | "invalid_output" | "invalid_arguments")) =
                    told.end.as_deref()
                else {
                    continue;
                };
                let (first, other) = *ends.entry(*call).or_insert((end, *who));
                if first != end && first != "failed" && end != "failed" {
                    let what = format!("e{call} is {first} in {other} and {end} in {who}");
                    return self.checks.fail(&what);
                }
            }
        }
    }
}
