//! What the pages have declared, and what a call may be started with: what was declared when it was let through.

use std::collections::{BTreeMap, BTreeSet};

use pagehand::conversation::{Command, OperationId};
use pagehand::tool::{HandlerId, Tool, ToolName};

use crate::page::Asked;
use crate::reached::Situation;
use crate::tools;
use crate::world::{Coming, Who, World};

/// The handlers of a page.
#[derive(Default)]
pub struct Handlers {
    by_tool: BTreeMap<&'static str, HandlerId>,
    forgotten: BTreeSet<HandlerId>,
    /// Of each call that was let through: what its tool had then.
    bound: BTreeMap<u32, Option<HandlerId>>,
}

impl Handlers {
    pub fn new(tools: &[Tool]) -> Self {
        let numbered = (0..).zip(tools).filter(|(_, tool)| tool.has_handler);
        let by_tool = numbered.map(|(place, tool)| (tools::name(tool.name.as_str()), HandlerId(place)));
        Self { by_tool: by_tool.collect(), ..Self::default() }
    }
}

impl World {
    /// Somebody changes the tools of a page: one is declared anew, or taken back.
    pub fn change_tool(&mut self, who: Who, back: bool) {
        let tool = self.people.pick(&["plain", "plain", "strict", "shaped", "rare"]);
        if back {
            self.reached.note(Situation::Undeclared);
            return self.ask(who, Asked::Undeclare(tool), Command::Undeclare(ToolName::received(tool)));
        }
        self.reached.note(Situation::Redeclared);
        self.ask(who, Asked::Declare(tool), Command::Declare(tools::anew(tool)));
    }

    /// A declaration counts.
    pub fn declared(&mut self, who: Who, operation: OperationId, handler: HandlerId) {
        let Some(page) = self.page(who) else { return };
        if let Asked::Declare(tool) = page.operations[operation.0 as usize].what {
            page.handlers.by_tool.insert(tool, handler);
        }
    }

    /// A tool was taken back.
    pub fn undeclared(&mut self, who: Who, tool: &str) {
        if let Some(page) = self.page(who) {
            page.handlers.by_tool.remove(tool);
        }
    }

    /// Nothing is to start this handler any more.
    pub fn forget(&mut self, who: Who, handler: HandlerId) {
        let Some(page) = self.page(who) else { return };
        let current = page.handlers.by_tool.values().any(|known| *known == handler);
        if !page.handlers.forgotten.insert(handler) || current {
            self.checks.fail(&format!("{who} lets go of a handler that it needs"));
        }
    }

    /// A call is let through. Somebody may change its tool in the very next moment.
    pub fn bind(&mut self, who: Who, number: u32) {
        let tool = self.tool_of(number);
        let Some(page) = self.page(who) else { return };
        let handler = tool.and_then(|tool| page.handlers.by_tool.get(tool).copied());
        page.handlers.bound.insert(number, handler);
        if self.people.per_mille(30) {
            let (at, back) = (self.now + self.people.below(12), self.people.per_mille(300));
            self.comes(at, Coming::ChangeTool(who, back));
        }
    }

    /// Whether a call has no handler: none was declared when it was let through.
    pub fn lacks_handler(&mut self, who: Who, number: u32) -> bool {
        self.page(who).is_none_or(|page| page.handlers.bound.get(&number).is_none_or(Option::is_none))
    }

    /// A handler is started for a call.
    pub fn check_handler(&mut self, who: Who, number: u32, handler: HandlerId) {
        let tool = self.tool_of(number).unwrap_or_default();
        let Some(page) = self.page(who) else { return };
        let bound = page.handlers.bound.get(&number).copied().flatten();
        let kept = page.handlers.by_tool.get(tool) != Some(&handler);
        if bound != Some(handler) || page.handlers.forgotten.contains(&handler) {
            self.checks.fail(&format!("e{number} is started in {who} with a handler that is not its own"));
        } else if kept {
            self.reached.note(Situation::HandlerKept);
        }
    }
}
