//! What must hold whenever a handler starts.

use pagehand::tool::HandlerId;

use crate::checks::Domain;
use crate::plan::Kind;
use crate::reached::Situation;
use crate::server::text;
use crate::world::{Who, World};

impl World {
    /// A handler starts.
    pub fn check_run(&mut self, who: Who, call: &str, handler: HandlerId, arguments: &str) {
        let Some(number) = self.number(call) else { return self.checks.fail("an unknown call runs") };
        let Some(page) = self.page(who) else { return };
        let domain = if page.storage_lost { Domain::Page } else { Domain::Storage };
        let wrong = match self.plan.kind {
            Kind::OpenHands => self.wrong_run(who, number, arguments),
            Kind::UiPath => self.wrong_run_of_uipath(who, number, arguments),
        };
        if let Some(wrong) = wrong {
            self.checks.fail(&format!("{call} runs in {who} {wrong}"));
        }
        self.check_handler(who, number, handler);
        let runs = self.checks.runs.entry(number).or_default();
        let again = runs.iter().any(|(other, of)| *other == who || (*of == Domain::Storage && domain == *of));
        runs.push((who, domain));
        if again {
            self.checks.fail(&format!("{call} runs twice"));
        }
    }

    /// The number of a call, by its name in the house.
    pub fn number(&self, call: &str) -> Option<u32> {
        match self.plan.kind {
            Kind::OpenHands => text::number(call),
            Kind::UiPath => self.service.number(call),
        }
    }

    pub fn tool_of(&self, call: u32) -> Option<&'static str> {
        match self.plan.kind {
            Kind::OpenHands => self.server.calls.get(&call).map(|call| call.tool),
            Kind::UiPath => self.service.call(call).map(|call| call.wish.tool()),
        }
    }

    fn wrong_run_of_uipath(&self, who: Who, number: u32, arguments: &str) -> Option<&'static str> {
        let truth = self.service.call(number)?;
        if truth.let_through.is_none() {
            Some("before the service let it through")
        } else if !truth.wish.is_flagged() {
            Some("though it is not the page's")
        } else if truth.refused && !self.checks.storage_lost {
            Some("although it was refused")
        } else if !self.answers.knows_go_signal(who, number) {
            Some("and has not heard that it may")
        } else if self.answers.knows_end(who, number) {
            Some("and knows that it is over")
        } else if truth.arguments != arguments && !(truth.wish.tool() == "guarded" && arguments.contains("edited")) {
            // A person may have changed them here.
            Some("with arguments that are not the service's")
        } else if !truth.valid && truth.wish.tool() == "strict" {
            Some("with arguments that do not fit the schema")
        } else {
            None
        }
    }

    fn wrong_run(&mut self, who: Who, number: u32, arguments: &str) -> Option<&'static str> {
        let Some(truth) = self.server.calls.get(&number) else { return Some("and the agent never asked for it") };
        let early = truth.tool == "early";
        let told = self.checks.pages.get(&who).is_some_and(|seen| seen.delivered.contains(&number));
        let wrong = if truth.acked.is_none() && !early {
            Some("before the server let it through")
        } else if truth.acked.is_none() && !told {
            Some("on an announcement from before")
        } else if truth.refused && !early {
            Some("although it was refused")
        } else if truth.arguments != arguments {
            Some("with arguments that are not the server's")
        } else if !truth.valid {
            Some("with arguments that do not fit the schema")
        } else {
            None
        };
        if early && truth.acked.is_none() {
            self.reached.note(Situation::RanEarly);
        }
        wrong
    }
}
