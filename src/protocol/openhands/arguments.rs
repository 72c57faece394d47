//! The arguments of a call, out of the server's encoding.

use serde_json::value::RawValue;

use crate::json::Object;
use crate::tool::{KnownTool, Schema};

const PREFIX: &str = "ClientAction_";

/// A call of a client tool.
pub(super) struct ClientAction {
    pub(super) tool: String,
    /// JSON text of an object.
    pub(super) arguments: Box<RawValue>,
}

/// Reads the `action` of an `ActionEvent`; `None` when it is not a client tool's.
///
/// Arguments lie flat beside `kind`, which is the prefix and the tool's name. A property that the tool itself calls `kind`
/// arrives as `mcp_arg_kind`, or as `mcp_arg_kind_2` when that name is taken too. The server drops nulls at the top, but adds
/// one for every absent argument when an event is read by itself: a null is an absent argument.
pub(super) fn read(action: &Object, known: &[KnownTool]) -> Option<ClientAction> {
    let kind = action.string("kind")?;
    let tool = kind.strip_prefix(PREFIX)?.to_owned();
    let mut arguments = action.clone().without_nulls_and("kind");
    let schema = known.iter().find(|known| known.name.as_str() == tool).and_then(|known| known.input.as_ref());
    if let Some(carrier) = schema.filter(|schema| schema.declares("kind")).map(carrier_of_kind) {
        arguments.rename(carrier, "kind");
    }
    Some(ClientAction { tool, arguments: arguments.to_raw() })
}

fn carrier_of_kind(schema: &Schema) -> &'static str {
    if schema.declares("mcp_arg_kind") { "mcp_arg_kind_2" } else { "mcp_arg_kind" }
}

/// The text that an agent ends its turn with, when the `action` is the built-in `finish`.
pub(super) fn finish_message(action: &Object) -> Option<String> {
    (action.text("kind") == "FinishAction").then(|| action.string("message")).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    fn arguments(action: &str, schema: &str) -> String {
        let known = [KnownTool::new("t", Json::read(schema))];
        read(&Object::read(action).unwrap(), &known).unwrap().arguments.get().to_owned()
    }

    #[test]
    fn arguments_are_what_lies_beside_kind_untouched() {
        let action = r#"{"b":2.0,"a":[1,{"kind":"x"}],"big":123456789012345678901,"kind":"ClientAction_t"}"#;
        let expected = r#"{"b":2.0,"a":[1,{"kind":"x"}],"big":123456789012345678901}"#;
        assert_eq!(arguments(action, r#"{"type":"object"}"#), expected);
    }

    #[test]
    fn a_property_named_kind_comes_back_under_its_name() {
        let one = r#"{"type":"object","properties":{"kind":{"type":"string"}}}"#;
        assert_eq!(arguments(r#"{"mcp_arg_kind":"k","kind":"ClientAction_t"}"#, one), r#"{"kind":"k"}"#);
        let two = r#"{"type":"object","properties":{"kind":{},"mcp_arg_kind":{}}}"#;
        let action = r#"{"mcp_arg_kind":"m","mcp_arg_kind_2":"k","kind":"ClientAction_t"}"#;
        assert_eq!(arguments(action, two), r#"{"mcp_arg_kind":"m","kind":"k"}"#);
        let none = r#"{"type":"object","properties":{"mcp_arg_kind":{}}}"#;
        assert_eq!(arguments(r#"{"mcp_arg_kind":"m","kind":"ClientAction_t"}"#, none), r#"{"mcp_arg_kind":"m"}"#);
    }

    #[test]
    fn a_null_at_the_top_is_an_absent_argument() {
        let action = r#"{"path":"f0","line":null,"deep":{"x":null},"kind":"ClientAction_t"}"#;
        assert_eq!(arguments(action, r#"{"type":"object"}"#), r#"{"path":"f0","deep":{"x":null}}"#);
    }

    #[test]
    fn tools_of_the_server_are_no_calls() {
        for action in [r#"{"kind":"FinishAction","message":"m"}"#, r#"{"command":"ls"}"#, "{}"] {
            assert!(read(&Object::read(action).unwrap(), &[]).is_none(), "{action}");
        }
    }
}
