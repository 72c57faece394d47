//! The tools of one conversation.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::{ConflictPlace, Error, ToolFault};
use crate::list::List;

use super::{Against, Schema, SchemaId, Tool, ToolName};

/// A declared tool with the names of its schemas. A schema without a name constrains nothing.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The tool.
    pub tool: Tool,
    /// The schema of the arguments.
    pub input: Option<SchemaId>,
    /// The schema of the result.
    pub output: Option<SchemaId>,
}

/// A schema that the engine must learn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaRequest {
    /// Its name from now on.
    pub schema: SchemaId,
    /// Its text.
    pub text: String,
}

/// A tool as the server has it.
#[derive(Debug, Clone)]
pub struct KnownTool {
    /// The name.
    pub name: ToolName,
    /// The schema of the arguments, if it could be read.
    pub input: Option<Schema>,
}

impl KnownTool {
    /// A tool as the server describes it.
    pub fn new(name: &str, input: Option<&RawValue>) -> Self {
        Self { name: ToolName::received(name), input: input.and_then(Schema::read) }
    }
}

/// How the app's tools compare with the server's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// On both sides, with a handler and the same schema.
    pub ready: Vec<ToolName>,
    /// The server's, without a handler here.
    pub missing_handlers: Vec<ToolName>,
    /// The app's, unknown to the server.
    pub unknown_to_server: Vec<ToolName>,
    /// On both sides, with different schemas.
    pub different_schema: Vec<ToolName>,
}

/// The declared tools by name.
#[derive(Debug, Default)]
pub struct Registry {
    entries: List<ToolName, Entry>,
    /// Schemas that the server sent, by their text.
    received: List<String, SchemaId>,
    schemas: u32,
}

impl Registry {
    /// The tools that a conversation starts with. A name that occurs twice is an error.
    pub fn declare_all(&mut self, tools: Vec<Tool>) -> Result<Vec<SchemaRequest>, Error> {
        let mut requests = Vec::new();
        for tool in tools {
            if self.entries.get(&tool.name).is_some() {
                return Err(Error::DuplicateTool { tool: tool.name.to_string() });
            }
            requests.extend(self.declare(tool)?);
        }
        Ok(requests)
    }

    /// Declares a tool. The same name with the same schema may be declared again: the new declaration counts from the next
    /// call on. With another schema it is a conflict.
    pub fn declare(&mut self, tool: Tool) -> Result<Vec<SchemaRequest>, Error> {
        let known = self.entries.get(&tool.name);
        if known.is_some_and(|known| known.tool.input != tool.input) {
            return Err(Error::ToolConflict { tool: tool.name.to_string(), place: ConflictPlace::Here });
        }
        let (known_input, known_output) = match known {
            Some(known) if known.tool.output == tool.output => (known.input, known.output),
            Some(known) => (known.input, None),
            None => (None, None),
        };
        let mut requests = Vec::new();
        let input = known_input.or_else(|| self.name_schema(&tool.input, &mut requests));
        let output =
            known_output.or_else(|| tool.output.as_ref().and_then(|schema| self.name_schema(schema, &mut requests)));
        let name = tool.name.clone();
        self.entries.take(&name);
        self.entries.add(name, Entry { tool, input, output });
        Ok(requests)
    }

    fn next_schema(&mut self) -> SchemaId {
        let id = SchemaId(self.schemas);
        self.schemas = self.schemas.saturating_add(1);
        id
    }

    fn name_schema(&mut self, schema: &Schema, requests: &mut Vec<SchemaRequest>) -> Option<SchemaId> {
        if schema.accepts_every_object() {
            return None;
        }
        let id = self.next_schema();
        requests.push(SchemaRequest { schema: id, text: schema.text().get().to_owned() });
        Some(id)
    }

    /// Names what a value is held against, for the engine.
    pub fn resolve(&mut self, against: Against) -> (SchemaId, Option<SchemaRequest>) {
        let text = match against {
            Against::Declared(schema) => return (schema, None),
            Against::Received(text) => text.get().to_owned(),
        };
        if let Some(schema) = self.received.get(&text) {
            return (*schema, None);
        }
        let schema = self.next_schema();
        self.received.add(text.clone(), schema);
        (schema, Some(SchemaRequest { schema, text }))
    }

    /// A tool by name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(&ToolName::received(name))
    }

    /// All tools, in the order they were declared.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.entries.iter().map(|(_, entry)| &entry.tool)
    }

    /// The names of the tools that have a handler.
    pub fn handled(&self) -> Vec<ToolName> {
        self.tools().filter(|tool| tool.has_handler).map(|tool| tool.name.clone()).collect()
    }

    /// The fault to report when the engine refuses a schema.
    pub fn schema_fault(&self, schema: SchemaId, message: &str) -> Option<ToolFault> {
        self.entries.iter().find_map(|(_, entry)| {
            let field = if entry.input == Some(schema) {
                "inputSchema"
            } else if entry.output == Some(schema) {
                "outputSchema"
            } else {
                return None;
            };
            let tool = entry.tool.name.to_string();
            Some(ToolFault { tool, field: field.into(), rule: "schema", message: message.to_owned() })
        })
    }

    /// Holds the tools against the server's.
    pub fn compare(&self, known: Option<&[KnownTool]>) -> Drift {
        let mut drift = Drift::default();
        let Some(known) = known else {
            for tool in self.tools() {
                let list = if tool.has_handler { &mut drift.ready } else { &mut drift.missing_handlers };
                list.push(tool.name.clone());
            }
            return drift;
        };
        for theirs in known {
            let ours = self.entries.get(&theirs.name);
            let handled = ours.is_some_and(|ours| ours.tool.has_handler);
            let differs = ours.is_some_and(|ours| theirs.input.as_ref() != Some(&ours.tool.input));
            if !handled {
                drift.missing_handlers.push(theirs.name.clone());
            }
            if differs {
                drift.different_schema.push(theirs.name.clone());
            }
            if handled && !differs {
                drift.ready.push(theirs.name.clone());
            }
        }
        let unknown =
            self.entries.iter().map(|(name, _)| name).filter(|name| !known.iter().any(|theirs| theirs.name == **name));
        drift.unknown_to_server = unknown.cloned().collect();
        drift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, schema: &str, has_handler: bool) -> Tool {
        Tool::from_json(&format!(
            r#"{{"name":"{name}","description":"d","inputSchema":{schema},"hasHandler":{has_handler}}}"#
        ))
        .unwrap()
    }

    const EMPTY: &str = r#"{"type":"object"}"#;
    const PATH: &str = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;

    #[test]
    fn the_same_name_and_schema_may_be_declared_again() {
        let mut registry = Registry::default();
        assert_eq!(registry.declare(tool("a", PATH, false)).unwrap().len(), 1);
        assert_eq!(registry.declare(tool("a", PATH, true)).unwrap(), []);
        assert!(registry.get("a").unwrap().tool.has_handler);
    }

    #[test]
    fn the_same_name_with_another_schema_is_a_conflict() {
        let mut registry = Registry::default();
        registry.declare(tool("a", PATH, true)).unwrap();
        let error = registry.declare(tool("a", EMPTY, true)).unwrap_err();
        assert_eq!(error.code(), "tool_conflict");
        assert_eq!(registry.get("a").unwrap().tool.input, tool("a", PATH, true).input);
    }

    #[test]
    fn a_name_twice_in_one_list_is_an_error() {
        let tools = vec![tool("a", PATH, true), tool("a", PATH, true)];
        assert_eq!(Registry::default().declare_all(tools).unwrap_err().code(), "duplicate_tool");
    }

    #[test]
    fn every_difference_from_the_server_is_told() {
        let mut registry = Registry::default();
        let ours = ["same", "changed", "new"].map(|name| tool(name, PATH, true));
        registry.declare_all(ours.into()).unwrap();
        registry.declare(tool("mute", PATH, false)).unwrap();
        let known = [("same", PATH), ("changed", EMPTY), ("theirs", PATH), ("mute", PATH)]
            .map(|(name, schema)| KnownTool::new(name, Some(serde_json::from_str(schema).unwrap())));
        let drift = registry.compare(Some(&known));
        let names = |list: &[ToolName]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(names(&drift.ready), "same");
        assert_eq!(names(&drift.different_schema), "changed");
        assert_eq!(names(&drift.missing_handlers), "theirs mute");
        assert_eq!(names(&drift.unknown_to_server), "new");
    }
}
