//! The tools of one conversation.

use std::mem;

use serde_json::value::RawValue;

use crate::error::{ConflictPlace, Error, ToolFault};
use crate::json::{Json, Members, Write};
use crate::list::List;

use super::{Schema, SchemaId, Source, Tool, ToolName, version};

/// Names the handler of one declaration. Those that a conversation starts with are numbered by their place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandlerId(pub u32);

/// A declared tool with the names of its schemas and of its handler. A schema without a name constrains nothing.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The tool.
    pub tool: Tool,
    /// The schema of the arguments.
    pub input: Option<SchemaId>,
    /// The schema of the result.
    pub output: Option<SchemaId>,
    /// The handler, if there is one.
    pub handler: HandlerId,
}

/// What becomes of a declaration that gives a known name another schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is a conflict: the server has bound the name to the schema.
    Refused,
    /// It counts for the calls of the next turn: those of this one were made from the old schema.
    NextTurn,
    /// It counts from the next call on.
    AtOnce,
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
    pub fn new(name: &str, input: Option<Json>) -> Self {
        Self { name: ToolName::received(name), input: input.and_then(Schema::read) }
    }
}

/// How the app's tools compare with the server's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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

impl Write for Drift {
    fn write(&self, text: &mut String) {
        let mut members = Members::of(text);
        members.set("ready", &self.ready).set("missingHandlers", &self.missing_handlers);
        members.set("unknownToServer", &self.unknown_to_server).set("differentSchema", &self.different_schema).end();
    }
}

/// The declared tools by name.
#[derive(Debug, Default)]
pub struct Registry {
    entries: List<ToolName, Entry>,
    /// Declarations that count from the next turn on.
    next: Vec<Entry>,
    /// The schemas that the engine knows, by their text.
    schemas: List<String, SchemaId>,
    handlers: u32,
    /// The tools that the server has; unknown where it takes what is declared, turn by turn.
    server: Option<Vec<KnownTool>>,
    /// Handlers that no declaration has any more; calls that were let through before may have them.
    retired: Vec<HandlerId>,
}

impl Registry {
    /// The tools that a conversation starts with. A name that occurs twice is an error.
    pub fn declare_all(&mut self, tools: Vec<Tool>) -> Result<Vec<SchemaRequest>, Error> {
        let mut requests = Vec::new();
        for tool in tools {
            if self.entries.get(&tool.name).is_some() {
                return Err(Error::DuplicateTool { tool: tool.name.to_string() });
            }
            requests.extend(self.declare(tool, Change::Refused)?.1);
        }
        Ok(requests)
    }

    /// Declares a tool. The same name with the same schema may be declared again: the new declaration counts from the next
    /// call on. The name of its handler, and what the engine must learn.
    pub fn declare(&mut self, tool: Tool, change: Change) -> Result<(HandlerId, Vec<SchemaRequest>), Error> {
        let changed = self.entries.get(&tool.name).is_some_and(|known| known.tool.input != tool.input);
        if changed && change == Change::Refused {
            let suggestion = Some(tool.input.versioned(&tool.name).to_string());
            return Err(Error::ToolConflict { tool: tool.name.to_string(), place: ConflictPlace::Here, suggestion });
        }
        if self.tools().any(|other| other.wire == tool.wire && other.name != tool.name) {
            return Err(Error::DuplicateTool { tool: tool.wire.to_string() });
        }
        let mut requests = Vec::new();
        let input = self.name_declared(&tool.input, &mut requests);
        let output = tool.output.as_ref().and_then(|schema| self.name_declared(schema, &mut requests));
        let handler = HandlerId(self.handlers);
        self.handlers = self.handlers.wrapping_add(1);
        let entry = Entry { tool, input, output, handler };
        self.forget_next(&entry.tool.name);
        if changed && change == Change::NextTurn {
            self.next.push(entry);
        } else {
            self.put(entry);
        }
        Ok((handler, requests))
    }

    /// Takes a tool back: its calls from now on find no handler. Whether it was declared.
    pub fn undeclare(&mut self, name: &ToolName) -> bool {
        self.forget_next(name);
        let gone = self.entries.take(name);
        self.retired.extend(gone.iter().map(|entry| entry.handler));
        gone.is_some()
    }

    /// The turn is over: what was declared for the next one counts.
    pub fn turn_over(&mut self) {
        for entry in mem::take(&mut self.next) {
            self.put(entry);
        }
    }

    fn put(&mut self, entry: Entry) {
        let name = entry.tool.name.clone();
        self.retired.extend(self.entries.take(&name).map(|old| old.handler));
        self.entries.add(name, entry);
    }

    fn forget_next(&mut self, name: &ToolName) {
        let gone = self.next.iter().position(|entry| entry.tool.name == *name);
        self.retired.extend(gone.map(|at| self.next.remove(at).handler));
    }

    /// The handlers that nothing can start any more.
    pub fn take_unused(&mut self, in_use: impl Fn(HandlerId) -> bool) -> Vec<HandlerId> {
        let (kept, unused) = mem::take(&mut self.retired).into_iter().partition(|handler| in_use(*handler));
        self.retired = kept;
        unused
    }

    fn name_declared(&mut self, schema: &Schema, requests: &mut Vec<SchemaRequest>) -> Option<SchemaId> {
        if schema.validated {
            return Some(SchemaId::OWN);
        }
        if schema.accepts_every_object() {
            return None;
        }
        let (id, request) = self.name_schema(schema.text());
        requests.extend(request);
        Some(id)
    }

    fn name_schema(&mut self, text: &RawValue) -> (SchemaId, Option<SchemaRequest>) {
        let text = text.get().to_owned();
        if let Some(schema) = self.schemas.get(&text) {
            return (*schema, None);
        }
        let schema = SchemaId(u32::try_from(self.schemas.iter().count()).unwrap_or(u32::MAX));
        self.schemas.add(text.clone(), schema);
        (schema, Some(SchemaRequest { schema, text }))
    }

    /// Names what a value is held against, for the engine.
    pub fn resolve(&mut self, schema: Source) -> (SchemaId, Option<SchemaRequest>) {
        match schema {
            Source::Declared(schema) => (schema, None),
            Source::Received(text) => self.name_schema(&text),
        }
    }

    /// A tool by the name that the server calls it by. It may be that of another version: then only if the schema is the same.
    pub fn get(&self, wire: &str) -> Option<&Entry> {
        let entries = || self.entries.iter().map(|(_, entry)| entry);
        entries().find(|entry| entry.tool.wire.as_str() == wire).or_else(|| {
            let same = |entry: &&Entry| self.server_schema(wire) == Some(&entry.tool.input);
            self.other_version(wire).filter(same)
        })
    }

    /// A tool by the name that the app gave it.
    pub fn named(&self, name: &str) -> Option<&Entry> {
        self.entries.get(&ToolName::received(name))
    }

    /// The name that the app gave to what the server calls so.
    pub fn plain(&self, wire: String) -> String {
        self.get(&wire).map_or(wire, |entry| entry.tool.name.to_string())
    }

    /// The tool that this is another version of.
    pub fn other_version(&self, wire: &str) -> Option<&Entry> {
        let named = |name: &str| self.named(name).filter(|entry| entry.tool.wire.as_str() != wire);
        named(wire).or_else(|| named(version::unversioned(wire)?))
    }

    /// What the server has, once that is known.
    pub fn meet(&mut self, server: Option<Vec<KnownTool>>) {
        self.server = server;
    }

    fn server_schema(&self, wire: &str) -> Option<&Schema> {
        self.server.iter().flatten().find(|known| known.name.as_str() == wire)?.input.as_ref()
    }

    /// Offers another name for a tool that the server knows with another schema.
    pub fn advise(&self, mut error: Error) -> Error {
        if let Error::ToolConflict { tool, suggestion, .. } = &mut error {
            // One with a version has met another schema of the same: there is no better name.
            let plain = self.tools().find(|known| known.name.as_str() == *tool && known.wire == known.name);
            *suggestion = plain.map(|known| known.input.versioned(&known.name).to_string());
        }
        error
    }

    /// All tools, in the order they were declared.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.entries.iter().map(|(_, entry)| &entry.tool)
    }

    /// The names of the tools that have a handler.
    pub fn handled(&self) -> Vec<ToolName> {
        self.tools().filter(|tool| tool.has_handler).map(|tool| tool.name.clone()).collect()
    }

    /// The faults to report when the engine refuses a schema: several tools may have it.
    pub fn schema_faults(&self, schema: SchemaId, message: &str) -> Vec<ToolFault> {
        let entries = self.entries.iter().map(|(_, entry)| entry).chain(&self.next);
        let faults = entries.filter_map(|entry| {
            let field = if entry.input == Some(schema) {
                "inputSchema"
            } else if entry.output == Some(schema) {
                "outputSchema"
            } else {
                return None;
            };
            let tool = entry.tool.name.to_string();
            Some(ToolFault { tool, field: field.into(), rule: "schema", message: message.to_owned() })
        });
        faults.collect()
    }

    /// Holds the tools against the server's.
    pub fn compare(&self) -> Drift {
        let mut drift = Drift::default();
        let Some(known) = &self.server else {
            for tool in self.tools() {
                let list = if tool.has_handler { &mut drift.ready } else { &mut drift.missing_handlers };
                list.push(tool.name.clone());
            }
            return drift;
        };
        let mut met: Vec<&ToolName> = Vec::new();
        for theirs in known {
            let ours = self.get(theirs.name.as_str());
            let handled = ours.is_some_and(|ours| ours.tool.has_handler);
            let differs = ours.is_some_and(|ours| theirs.input.as_ref() != Some(&ours.tool.input));
            let name = ours.map_or(&theirs.name, |ours| &ours.tool.name);
            // The server may have one tool under several names.
            if ours.is_some() && met.contains(&name) {
                continue;
            }
            met.push(name);
            if !handled {
                drift.missing_handlers.push(name.clone());
            }
            if differs {
                drift.different_schema.push(name.clone());
            }
            if handled && !differs {
                drift.ready.push(name.clone());
            }
        }
        let unknown = self.tools().filter(|tool| {
            !known.iter().any(|theirs| self.get(theirs.name.as_str()).is_some_and(|ours| ours.tool.name == tool.name))
        });
        drift.unknown_to_server = unknown.map(|tool| tool.name.clone()).collect();
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

    fn declare(registry: &mut Registry, tool: Tool) -> (HandlerId, Vec<SchemaRequest>) {
        registry.declare(tool, Change::Refused).unwrap()
    }

    const EMPTY: &str = r#"{"type":"object"}"#;
    const PATH: &str = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;

    #[test]
    fn the_same_name_and_schema_may_be_declared_again() {
        let mut registry = Registry::default();
        assert_eq!(declare(&mut registry, tool("a", PATH, false)).1.len(), 1);
        assert_eq!(declare(&mut registry, tool("a", PATH, true)), (HandlerId(1), vec![]));
        assert!(registry.get("a").unwrap().tool.has_handler);
    }

    #[test]
    fn what_the_app_validates_itself_is_validated_whatever_the_schema_says_and_the_engine_never_hears_of_it() {
        let mut registry = Registry::default();
        for schema in [EMPTY, PATH] {
            let mut own = tool(if schema == EMPTY { "a" } else { "b" }, schema, true);
            own.input.validated = true;
            let name = own.wire.to_string();
            assert_eq!(declare(&mut registry, own).1, []);
            assert_eq!(registry.get(&name).unwrap().input, Some(SchemaId::OWN));
        }
        assert_eq!(declare(&mut registry, tool("c", PATH, true)).1.len(), 1, "another tool with the text needs it");
        assert_eq!(registry.get("c").unwrap().input, Some(SchemaId(0)));
    }

    #[test]
    fn another_schema_counts_from_the_next_turn_on_where_it_may_change() {
        let mut registry = Registry::default();
        declare(&mut registry, tool("a", PATH, true));
        for schema in [EMPTY, PATH, EMPTY] {
            registry.declare(tool("a", schema, true), Change::NextTurn).unwrap();
        }
        assert_eq!(registry.get("a").unwrap().handler, HandlerId(2), "the same schema counts at once");
        registry.turn_over();
        assert_eq!(registry.get("a").unwrap().tool.input, tool("a", EMPTY, true).input);
        registry.declare(tool("a", PATH, true), Change::AtOnce).unwrap();
        assert_eq!(registry.get("a").unwrap().tool.input, tool("a", PATH, true).input);
        registry.declare(tool("a", EMPTY, true), Change::NextTurn).unwrap();
        assert!(registry.undeclare(&ToolName::received("a")));
        registry.turn_over();
        assert!(registry.get("a").is_none() && !registry.undeclare(&ToolName::received("a")));
    }

    #[test]
    fn a_handler_is_forgotten_once_no_declaration_and_no_call_has_it() {
        let mut registry = Registry::default();
        for _ in 0..3 {
            declare(&mut registry, tool("a", PATH, true));
        }
        assert_eq!(registry.take_unused(|handler| handler == HandlerId(0)), [HandlerId(1)]);
        registry.undeclare(&ToolName::received("a"));
        assert_eq!(registry.take_unused(|_| false), [HandlerId(0), HandlerId(2)]);
        assert_eq!(registry.take_unused(|_| false), []);
    }

    #[test]
    fn the_same_name_with_another_schema_is_a_conflict() {
        let mut registry = Registry::default();
        declare(&mut registry, tool("a", PATH, true));
        let error = registry.declare(tool("a", EMPTY, true), Change::Refused).unwrap_err();
        assert_eq!(error.code(), "tool_conflict");
        assert_eq!(registry.get("a").unwrap().tool.input, tool("a", PATH, true).input);
    }

    #[test]
    fn a_name_twice_in_one_list_is_an_error() {
        let tools = vec![tool("a", PATH, true), tool("a", PATH, true)];
        assert_eq!(Registry::default().declare_all(tools).unwrap_err().code(), "duplicate_tool");
    }

    fn versioned(name: &str, schema: &str) -> Tool {
        let more = r#""hasHandler":true,"versioned":true"#;
        Tool::from_json(&format!(r#"{{"name":"{name}","description":"d","inputSchema":{schema},{more}}}"#)).unwrap()
    }

    #[test]
    fn a_tool_with_a_version_answers_to_its_name_on_the_wire_and_to_others_with_the_same_schema() {
        let mut registry = Registry::default();
        let tool = versioned("a", PATH);
        let wire = tool.wire.to_string();
        declare(&mut registry, tool);
        let known = |name: &str, schema| KnownTool::new(name, Json::read(schema));
        registry.meet(Some(vec![known("a", PATH), known("a_000000", EMPTY), known(&wire, PATH)]));
        assert!(registry.get(&wire).is_some() && registry.get("a").is_some());
        assert!(registry.get("a_000000").is_none() && registry.other_version("a_000000").is_some());
        assert_eq!((registry.plain(wire.clone()), registry.plain("a_000000".into())), ("a".into(), "a_000000".into()));
        let drift = registry.compare();
        assert_eq!(drift.ready, [ToolName::received("a")]);
        assert_eq!(drift.missing_handlers, [ToolName::received("a_000000")]);
        assert!(drift.unknown_to_server.is_empty() && drift.different_schema.is_empty());
        registry.meet(Some(vec![known("a", EMPTY)]));
        assert!(registry.get("a").is_none(), "it was declared with another schema");
        assert_eq!(registry.compare().unknown_to_server, [ToolName::received("a")]);
    }

    #[test]
    fn two_tools_cannot_have_one_name_on_the_wire() {
        let mut registry = Registry::default();
        let one = versioned("a", PATH);
        let other = tool(one.wire.as_str(), EMPTY, true);
        declare(&mut registry, one);
        assert_eq!(registry.declare(other, Change::Refused).unwrap_err().code(), "duplicate_tool");
    }

    #[test]
    fn every_difference_from_the_server_is_told() {
        let mut registry = Registry::default();
        let ours = ["same", "changed", "new"].map(|name| tool(name, PATH, true));
        registry.declare_all(ours.into()).unwrap();
        declare(&mut registry, tool("mute", PATH, false));
        let known = [("same", PATH), ("changed", EMPTY), ("theirs", PATH), ("mute", PATH)]
            .map(|(name, schema)| KnownTool::new(name, Json::read(schema)));
        registry.meet(Some(known.into()));
        let drift = registry.compare();
        let names = |list: &[ToolName]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(names(&drift.ready), "same");
        assert_eq!(names(&drift.different_schema), "changed");
        assert_eq!(names(&drift.missing_handlers), "theirs mute");
        assert_eq!(names(&drift.unknown_to_server), "new");
    }
}
