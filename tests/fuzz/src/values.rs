//! What is read beside any conversation: JSON itself, definitions of tools, reports of the schema engine, addresses and keys.

use pagehand::call::Limits;
use pagehand::conversation::{Conversation, Settings};
use pagehand::json::{self, Json, Object, Value};
use pagehand::net::{Millis, url};
use pagehand::protocol::SessionKey;
use pagehand::protocol::openhands::{self, OpenHands};
use pagehand::protocol::uipath::{self, UiPath};
use pagehand::tool::{Report, Tool, ToolName};
use pagehand_schema::Validator;
use serde_json::value::RawValue;

use crate::play::{Played, number};

/// Reading is lenient about types and strict about syntax: exactly what `serde_json` takes for JSON is JSON, and what is in it.
pub fn json(inputs: &[String]) -> Played {
    let mut last: Option<Json> = None;
    for text in inputs {
        let json = Json::read(text);
        let whole = text.trim_matches([' ', '\n', '\r', '\t']);
        let begins = |mark: char| json.is_some() && whole.starts_with(mark);
        let items = json.and_then(Json::items).map(|items| items.into_iter().map(Json::get).collect());
        let known = serde_json::from_str::<Vec<&RawValue>>(text).ok();
        let known = known.map(|items| items.into_iter().map(RawValue::get).collect::<Vec<_>>());
        assert_eq!(items, known, "a list: {text}");
        // A name that is half of a surrogate pair is none.
        let object = Object::read(text);
        assert!(object.is_none() || begins('{'), "an object: {text}");
        if let Some(object) = object {
            for name in object.names() {
                assert!(object.contains(name) && object.raw(name).is_some(), "{name} in {text}");
                _ = (object.string(name), object.integer(name), object.bool(name), object.list(name));
            }
            let again = object.to_text();
            assert_eq!(Object::read(&again).map(|again| again.names().count()), Some(object.names().count()));
        }
        let Some(json) = json else { continue };
        if let Some(value) = Value::read(json) {
            assert!(value == value.clone(), "not equal to itself: {text}");
            assert!(json::edits(Some(json), json).is_empty(), "it differs from itself: {text}");
        }
        if let Some((from, to)) = last.map(|last| (last, json)) {
            for edit in json::edits(Some(from), to) {
                assert!(edit.from.is_some() || edit.to.is_some(), "an edit of nothing at {}", edit.path);
            }
        }
        last = Some(json);
    }
    Played::Works
}

pub fn tools(inputs: &[String]) -> Played {
    for text in inputs {
        if let Ok(tool) = Tool::from_json(text) {
            assert!(ToolName::declared(tool.name.as_str()).is_some(), "{}", tool.name);
            // What was taken is taken again, whoever says it.
            _ = tool.input.properties().count();
        }
        // Many of them together are a conversation's, or refused as a whole.
        if let Ok(tools) = Tool::list_from_json(text) {
            let settings = openhands::Settings { url: "http://x".into(), session_key: SessionKey::None };
            let opening = openhands::Opening::Attach { id: "7c1f0f3e-6a52-4c0c-9a38-2a3f0e4ad111".into() };
            let protocol = Box::new(OpenHands::new(settings, opening).unwrap());
            let resumption = Settings { resume_within: Millis(0), results: false, limits: Limits::default() };
            _ = Conversation::new(protocol, tools, resumption, 7);
        }
    }
    Played::Works
}

pub fn reports(inputs: &[String]) -> Played {
    for text in inputs {
        if let Some(report) = Report::from_json(text) {
            let again = json::text(&report.issues);
            serde_json::from_str::<&RawValue>(&again).expect("issues are JSON");
        }
    }
    Played::Works
}

/// Addresses, names and keys: what is accepted makes addresses that are ASCII, and no key is in one.
pub fn addresses(inputs: &[String]) -> Played {
    for text in inputs {
        assert!(url::encode(text).is_ascii());
        if let Some(base) = url::base(text) {
            assert!(base.starts_with("http") && !base.ends_with('/'), "{base}");
            assert!(url::websocket(base).starts_with("ws"), "{base}");
        }
        let part = |place: usize, usual: &str| if number(text) % 5 == place { text.clone() } else { usual.to_owned() };
        let settings = openhands::Settings { url: part(0, "http://x"), session_key: SessionKey::Fixed(text.clone()) };
        let made = OpenHands::new(
            settings,
            openhands::Opening::Attach { id: part(1, "7c1f0f3e-6a52-4c0c-9a38-2a3f0e4ad111") },
        );
        if let Err(error) = made {
            assert!(text.len() < 8 || !error.to_string().contains(text), "an error repeats a key: {error}");
        }
        let settings = uipath::Settings {
            url: part(0, "http://x"),
            organization: part(2, "o"),
            tenant: part(3, "t"),
            token: SessionKey::Fixed(text.clone()),
            socket_path: number(text).is_multiple_of(7).then(|| text.clone()),
            external_user: number(text).is_multiple_of(3).then(|| text.clone()),
            surface: None,
        };
        _ = UiPath::new(settings, uipath::Opening::Attach { id: part(4, "c") });
    }
    Played::Works
}

/// The schema engine itself, on a schema and then on values.
pub fn engine(inputs: &[String]) -> Played {
    let mut validator = None;
    for text in inputs {
        if let Some(validator) = &validator {
            let report: &Validator = validator;
            let report = report.check(text).to_json();
            assert!(Report::from_json(&report).is_some(), "the core does not understand {report}");
        }
        if number(text).is_multiple_of(2)
            && let Ok(compiled) = Validator::compile(text)
        {
            validator = Some(compiled);
        }
    }
    Played::Works
}
