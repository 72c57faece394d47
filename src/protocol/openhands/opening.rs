//! How a conversation is opened.

use crate::error::Error;
use crate::json::{self, Json, Members, Object, Value, Write};
use crate::tool::Tool;

use super::info;

/// How to get at a conversation.
pub enum Opening {
    /// Create it under an id of ours, or join it when it is there already.
    Create {
        /// A UUID.
        id: String,
        /// JSON text of an object: the other fields of the create request.
        request: String,
    },
    /// Join one that is there.
    Attach {
        /// Its id.
        id: String,
    },
    /// Follow one that is there over a connection of the app's.
    Feed {
        /// Its id.
        id: String,
    },
}

/// A client tool as the server takes it.
struct ClientToolSpec<'a>(&'a Tool);

impl Write for ClientToolSpec<'_> {
    fn write(&self, text: &mut String) {
        let mut members = Members::of(text);
        members.set("name", &self.0.wire).set("description", &self.0.description);
        members.set("parameters", &self.0.input.text()).set_some("annotations", self.0.annotations.as_ref()).end();
    }
}

/// Fields that the app may not set, and what to do instead.
const OURS: [(&str, &str); 3] = [
    ("client_tools", "give tools as `tools`"),
    ("conversation_id", "give the id as `conversationId`"),
    ("initial_message", "it would run before the page listens: call send() once start() has resolved"),
];

impl Opening {
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Create { id, .. } | Self::Attach { id } | Self::Feed { id } => id,
        }
    }

    /// The same with its id as the server writes it: a conversation has one name.
    pub(super) fn normalised(self) -> Result<Self, Error> {
        let bad = || Error::InvalidArgument { field: "conversationId", message: "a UUID".into() };
        let id = uuid(self.id()).ok_or_else(bad)?;
        Ok(match self {
            Self::Create { request, .. } => Self::Create { id, request },
            Self::Attach { .. } => Self::Attach { id },
            Self::Feed { .. } => Self::Feed { id },
        })
    }

    /// Checks what can be checked without the server.
    pub(super) fn check(&self) -> Result<(), Error> {
        let Self::Create { request, .. } = self else { return Ok(()) };
        let fields = Object::read(request).ok_or_else(not_an_object)?;
        if let Some((field, instead)) = OURS.iter().find(|(name, _)| fields.contains(name)) {
            return Err(Error::InvalidArgument { field, message: (*instead).to_owned() });
        }
        if !matches!(fields.value("workspace"), Value::String(_) | Value::Object(_)) {
            let message = "a path on the server, or the server's workspace object".into();
            return Err(Error::InvalidArgument { field: "workspace", message });
        }
        Ok(())
    }

    /// What could hold back an announced call, as far as the request decides it.
    pub(super) fn gate(&self) -> Option<&'static str> {
        match self {
            Self::Create { request, .. } => info::gate(&Object::read(request).unwrap_or_default()),
            Self::Attach { .. } | Self::Feed { .. } => None,
        }
    }
}

/// The body of `POST /api/conversations`: the app's fields as they came, the id and the tools. A workspace that is only a
/// path becomes the server's object.
pub(super) fn create_body(id: &str, request: &str, tools: &[&Tool]) -> Result<String, Error> {
    let mut fields = Object::read(request).ok_or_else(not_an_object)?;
    let specs: Vec<_> = tools.iter().map(|tool| ClientToolSpec(tool)).collect();
    let (id, specs) = (json::text(id), json::text(&specs));
    let at = |path: String| {
        json::text(&json::object(|workspace| {
            workspace.set("working_dir", &path);
        }))
    };
    let workspace = fields.string("workspace").map(at);
    if let Some(workspace) = &workspace {
        fields.set("workspace", Json::written(workspace));
    }
    fields.set("conversation_id", Json::written(&id));
    fields.set("client_tools", Json::written(&specs));
    Ok(fields.to_text())
}

fn not_an_object() -> Error {
    Error::InvalidArgument { field: "options", message: "an object that JSON can carry".into() }
}

/// A UUID, dashed or not, in lower case and with dashes.
fn uuid(text: &str) -> Option<String> {
    let mut id = String::with_capacity(36);
    for digit in text.chars().filter(|c| *c != '-') {
        if matches!(id.len(), 8 | 13 | 18 | 23) {
            id.push('-');
        }
        id.push(digit.is_ascii_hexdigit().then(|| digit.to_ascii_lowercase())?);
    }
    (id.len() == 36).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(error: &Error) -> serde_json::Value {
        serde_json::from_str(&json::text(error)).unwrap()
    }

    const ID: &str = "7c1f0f3e-6a52-4c0c-9a38-2a3f0e4ad111";

    fn create(request: &str) -> Opening {
        Opening::Create { id: ID.into(), request: request.into() }
    }

    #[test]
    fn the_apps_fields_and_the_schema_travel_untouched() {
        let schema = r#"{ "type":"object", "x-1":[1.0, 12345678901234567890123], "properties":{} }"#;
        let text = format!(r#"{{"name":"a","description":"d","inputSchema":{schema},"annotations":{{"title":"T"}}}}"#);
        let tool = Tool::from_json(&text).unwrap();
        let body = create_body(ID, r#"{"agent":{"kind":"Agent"},"z":1.50}"#, &[&tool]).unwrap();
        let expected = format!(
            r#"{{"agent":{{"kind":"Agent"}},"z":1.50,"conversation_id":"{ID}","client_tools":[{{"name":"a","description":"d","parameters":{schema},"annotations":{{"title":"T"}}}}]}}"#
        );
        assert_eq!(body, expected);
    }

    #[test]
    fn fields_that_would_race_or_contradict_are_refused_with_the_way_to_do_it() {
        for field in ["client_tools", "conversation_id", "initial_message"] {
            let error = create(&format!(r#"{{"{field}":null}}"#)).check().unwrap_err();
            assert_eq!(error.code(), "invalid_argument");
            assert_eq!(details(&error)["field"], field);
        }
        assert_eq!(create(r#"{"tags":{},"workspace":"/"}"#).check(), Ok(()));
        assert!(create("[]").check().is_err());
    }

    #[test]
    fn a_workspace_is_a_path_or_the_servers_object() {
        for request in ["{}", r#"{"workspace":5}"#, r#"{"workspace":null}"#] {
            assert_eq!(details(&create(request).check().unwrap_err())["field"], "workspace", "{request}");
        }
        let body = |workspace: &str| create_body(ID, &format!(r#"{{"workspace":{workspace},"z":1}}"#), &[]).unwrap();
        assert!(body(r#""/a\"b""#).starts_with(r#"{"workspace":{"working_dir":"/a\"b"},"z":1,"#));
        assert!(body(r#"{"kind":"LocalWorkspace"}"#).starts_with(r#"{"workspace":{"kind":"LocalWorkspace"},"z":1,"#));
    }

    #[test]
    fn an_id_that_is_no_uuid_is_refused() {
        for id in ["", "x", "7c1f0f3e-6a52-4c0c-9a38-2a3f0e4ad11", "7c1f0f3e-6a52-4c0c-9a38-2a3f0e4ad11g"] {
            assert!(Opening::Attach { id: id.into() }.normalised().is_err(), "{id}");
        }
    }

    #[test]
    fn an_id_is_written_in_one_way() {
        for id in [ID.to_owned(), ID.replace('-', ""), ID.to_uppercase()] {
            assert_eq!(Opening::Attach { id: id.clone() }.normalised().unwrap().id(), ID);
            assert_eq!(Opening::Create { id, request: "{}".into() }.normalised().unwrap().id(), ID);
        }
    }

    #[test]
    fn a_policy_that_asks_and_a_hook_that_blocks_are_gates() {
        assert_eq!(create("{}").gate(), None);
        assert_eq!(create(r#"{"confirmation_policy":{"kind":"NeverConfirm"}}"#).gate(), None);
        assert!(create(r#"{"confirmation_policy":{"kind":"AlwaysConfirm"}}"#).gate().is_some());
        assert!(create(r#"{"hook_config":{"pre_tool_use":[{"matcher":"*","hooks":[]}]}}"#).gate().is_some());
    }
}
