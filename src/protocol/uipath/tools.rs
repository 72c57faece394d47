//! The tools that the app has, as they are declared with each exchange.

use serde_json::value::RawValue;

use crate::json::{self, Members, Write};
use crate::tool::{Tool, ToolName};

use super::names::clean;

/// The app's tools.
#[derive(Default)]
pub(super) struct Tools(Vec<Declared>);

struct Declared {
    /// The name that the app gave.
    name: String,
    /// The name on the wire.
    cleaned: String,
    input: Box<RawValue>,
    output: Option<Box<RawValue>>,
    has_handler: bool,
}

/// A tool as the service takes it.
impl Write for Declared {
    fn write(&self, text: &mut String) {
        let mut members = Members::of(text);
        members.set("name", &self.cleaned).set("inputSchema", &self.input);
        members.set_some("outputSchema", self.output.as_ref()).end();
    }
}

impl Tools {
    pub(super) fn add(&mut self, tool: &Tool) {
        let declared = Declared {
            name: tool.name.to_string(),
            cleaned: clean(tool.name.as_str()),
            input: tool.input.text().to_owned(),
            output: tool.output.as_ref().map(|schema| schema.text().to_owned()),
            has_handler: tool.has_handler,
        };
        self.0.retain(|other| other.cleaned != declared.cleaned);
        self.0.push(declared);
    }

    /// Offers a tool no more. Its name is still that of one of ours: the agent may wait for calls that were made before.
    pub(super) fn take_back(&mut self, name: &ToolName) {
        for tool in self.0.iter_mut().filter(|tool| tool.name == name.as_str()) {
            tool.has_handler = false;
        }
    }

    /// The name that the app gave, of a name on the wire.
    pub(super) fn named(&self, wire: &str) -> Option<&str> {
        let cleaned = clean(wire);
        self.0.iter().find(|tool| tool.cleaned == cleaned).map(|tool| tool.name.as_str())
    }

    /// JSON text of a `startExchange`. Without the member all tools of the agent would count as available.
    pub(super) fn start_of_exchange(&self) -> String {
        let tools: Vec<_> = self.0.iter().filter(|tool| tool.has_handler).collect();
        ["{\"clientSideTools\":", &json::text(&tools), "}"].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(tools: &mut Tools, name: &str, more: &str) {
        tools.add(&Tool::from_json(&format!(r#"{{"name":"{name}","description":"d"{more}}}"#)).unwrap());
    }

    #[test]
    fn tools_with_handlers_are_declared_under_their_clean_names() {
        let mut tools = Tools::default();
        assert_eq!(tools.start_of_exchange(), r#"{"clientSideTools":[]}"#);
        add(&mut tools, "mute", "");
        add(
            &mut tools,
            "create task",
            r#","hasHandler":true,"inputSchema":{ "type":"object" },"outputSchema":{"x":1.0}"#,
        );
        add(&mut tools, "read", "");
        add(&mut tools, "read", r#","hasHandler":true"#);
        assert_eq!(
            tools.start_of_exchange(),
            r#"{"clientSideTools":[{"name":"create_task","inputSchema":{ "type":"object" },"outputSchema":{"x":1.0}},{"name":"read","inputSchema":{"type":"object","properties":{}}}]}"#
        );
    }

    #[test]
    fn a_tool_that_was_taken_back_is_not_declared_and_its_name_is_known() {
        let mut tools = Tools::default();
        add(&mut tools, "create task", r#","hasHandler":true"#);
        tools.take_back(&ToolName::received("create task"));
        assert_eq!(tools.start_of_exchange(), r#"{"clientSideTools":[]}"#);
        assert_eq!(tools.named("create_task"), Some("create task"));
        add(&mut tools, "create_task", r#","hasHandler":true"#);
        assert_eq!(tools.named("create_task"), Some("create_task"));
    }

    #[test]
    fn a_name_on_the_wire_is_that_of_the_declared_tool() {
        let mut tools = Tools::default();
        add(&mut tools, "create task", "");
        assert_eq!(tools.named("create_task"), Some("create task"));
        assert_eq!(tools.named("create task"), Some("create task"));
        assert_eq!(tools.named("create_tasks"), None);
    }
}
