//! Tools that the app declares later, declares anew, or takes back.
//!
//! A call keeps what was declared when it was let through, to its end: its schemas, its time, its handler.

use crate::error::Error;
use crate::tool::{Change, RunOn, SchemaRequest, Tool, ToolName};

use super::state::{Conversation, as_bound};
use super::{Effect, OperationId};

impl Conversation {
    pub(super) fn declare(&mut self, operation: OperationId, tool: Tool) -> Result<String, Error> {
        if let (RunOn::Announcement, Some(because)) = (tool.run_on, self.gate) {
            return Err(Error::AnnouncementRefused { tool: tool.name.to_string(), because });
        }
        let tool = as_bound(self.protocol.as_ref(), tool);
        let change = match (self.protocol.binds(), self.turn.is_active()) {
            (true, _) => Change::Refused,
            (false, true) => Change::NextTurn,
            (false, false) => Change::AtOnce,
        };
        let others: Vec<_> = self.registry.tools().filter(|other| other.name != tool.name).collect();
        self.protocol.declare(&tool, &others)?;
        let (handler, schemas) = self.registry.declare(tool, change)?;
        self.out.push(Effect::Declared { operation, handler });
        self.compile(schemas);
        self.tell_tools();
        Ok("null".to_owned())
    }

    pub(super) fn undeclare(&mut self, name: &ToolName) -> Result<String, Error> {
        if !self.registry.undeclare(name) {
            return Err(Error::UnknownTool { tool: name.to_string() });
        }
        self.protocol.undeclare(name);
        self.tell_tools();
        Ok("null".to_owned())
    }

    pub(super) fn compile(&mut self, schemas: impl IntoIterator<Item = SchemaRequest>) {
        self.out.extend(
            schemas.into_iter().map(|request| Effect::CompileSchema { schema: request.schema, text: request.text }),
        );
    }

    pub(super) fn forget_handlers(&mut self) {
        let unused = self.registry.take_unused(|handler| self.calls.uses(handler));
        self.out.extend(unused.into_iter().map(|handler| Effect::Forget { handler }));
    }
}
