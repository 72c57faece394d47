//! What the service can do beside letting a conversation speak.

use pagehand::net::Method;
use pagehand::protocol::{Command, Page};
use serde_json::json;

use super::rig::{ID, Rig};

const API: &str = "http://localhost:9/org/tenant/autopilotforeveryone_/api/v1";

#[test]
fn deeds_that_are_requests_go_where_the_reference_says() {
    let own = format!("/conversation/{ID}");
    let of_exchange = json!({ "exchangeId": "x", "messageId": "m", "contentPartId": "p" });
    for (name, given, method, path, body) in [
        ("agents", json!({ "folderId": 11 }), Method::Get, "/agent?folderId=11".to_owned(), None),
        ("agents", json!(null), Method::Get, "/agent".into(), None),
        ("agent", json!({ "folderId": 11, "agentId": "a b" }), Method::Get, "/agent/11/a%20b".into(), None),
        (
            "conversations",
            json!({ "limit": 5, "cursor": "c/", "sort": "descending", "agentKey": "k", "agentId": 7, "label": "l" }),
            Method::Get,
            "/conversation?limit=5&cursor=c%2F&sort=descending&agentReleaseKey=k&agentReleaseId=7&search=l".into(),
            None,
        ),
        ("conversation", json!({ "conversationId": "other" }), Method::Get, "/conversation/other".into(), None),
        ("conversation", json!(null), Method::Get, own.clone(), None),
        ("update", json!({ "label": "x" }), Method::Patch, own.clone(), Some(r#"{"label":"x"}"#)),
        ("delete", json!({ "conversationId": "other" }), Method::Delete, "/conversation/other".into(), None),
        (
            "exchanges",
            json!({ "limit": 2, "exchangeSort": "ascending" }),
            Method::Get,
            format!("{own}/exchange?limit=2&exchangeSort=ascending"),
            None,
        ),
        ("exchange", of_exchange.clone(), Method::Get, format!("{own}/exchange/x"), None),
        ("message", of_exchange.clone(), Method::Get, format!("{own}/exchange/x/message/m"), None),
        ("contentPart", of_exchange, Method::Get, format!("{own}/exchange/x/message/m/contentPart/p"), None),
        (
            "feedback",
            json!({ "exchangeId": "x", "rating": "negative", "comment": "\"no\"" }),
            Method::Post,
            format!("{own}/exchange/x/feedback"),
            Some(r#"{"rating":"negative","comment":"\"no\""}"#),
        ),
        ("settings", json!(null), Method::Get, "/user/settings".into(), None),
        ("updateSettings", json!({ "name": null }), Method::Patch, "/user/settings".into(), Some(r#"{"name":null}"#)),
        (
            "attachment",
            json!({ "name": "a.pdf" }),
            Method::Post,
            format!("{own}/attachment"),
            Some(r#"{"name":"a.pdf"}"#),
        ),
    ] {
        let mut rig = Rig::ready(&[]);
        rig.deed(name, &given);
        let (_, request) = rig.requests.pop().unwrap_or_else(|| panic!("{name}: {}", rig.said()));
        assert_eq!((request.method, request.url), (method, format!("{API}{path}")), "{name}");
        assert_eq!(request.body.as_deref(), body, "{name}");
    }
}

#[test]
fn deeds_that_are_events_leave_on_the_session() {
    let at = json!({ "exchangeId": "x", "messageId": "m" });
    let with = |more: &serde_json::Value| {
        let mut given = at.clone();
        for (name, value) in more.as_object().unwrap() {
            given[name] = value.clone();
        }
        given
    };
    for (name, given, sent) in [
        ("sendMetaEvent", json!({ "event": { "a": 1 } }), json!({ "metaEvent": { "a": 1 } })),
        (
            "sendMetaEvent",
            json!({ "exchangeId": "x", "event": {} }),
            json!({ "exchange": { "exchangeId": "x", "metaEvent": {} } }),
        ),
        (
            "sendMetaEvent",
            with(&json!({ "toolCallId": "c", "event": {} })),
            json!({ "exchange": { "exchangeId": "x", "message": { "messageId": "m",
                "toolCall": { "toolCallId": "c", "metaEvent": {} } } } }),
        ),
        (
            "sendMetaEvent",
            with(&json!({ "contentPartId": "p" })),
            json!({ "exchange": { "exchangeId": "x", "message": { "messageId": "m",
                "contentPart": { "contentPartId": "p", "metaEvent": {} } } } }),
        ),
        (
            "answerInterrupt",
            with(&json!({ "interruptId": "i", "answer": { "any": 1 } })),
            json!({ "exchange": { "exchangeId": "x", "message": { "messageId": "m",
                "interrupt": { "interruptId": "i", "endInterrupt": { "any": 1 } } } } }),
        ),
        (
            "startStream",
            json!({ "streamId": "s", "mimeType": "audio/pcm;rate=16000", "prefixPaddingMs": 10, "other": 1 }),
            json!({ "asyncInputStream": { "streamId": "s",
                "startAsyncInputStream": { "mimeType": "audio/pcm;rate=16000", "prefixPaddingMs": 10 } } }),
        ),
        (
            "streamChunk",
            json!({ "streamId": "s", "data": "AAAA" }),
            json!({ "asyncInputStream": { "streamId": "s", "chunk": { "data": "AAAA" } } }),
        ),
        (
            "endStream",
            json!({ "streamId": "s", "lastChunkContentPartSequence": 1 }),
            json!({ "asyncInputStream": { "streamId": "s", "endAsyncInputStream": { "lastChunkContentPartSequence": 1 } } }),
        ),
        ("endExchange", json!({ "exchangeId": "x" }), json!({ "exchange": { "exchangeId": "x", "endExchange": {} } })),
    ] {
        let mut rig = Rig::ready(&[]);
        let id = rig.deed(name, &given);
        let mut expected = sent;
        expected["conversationId"] = json!(ID);
        assert_eq!(rig.sent, [expected], "{name}");
        assert!(rig.done[&id].is_ok(), "{name}");
    }
}

#[test]
fn a_stream_without_a_name_gets_one() {
    let mut rig = Rig::ready(&[]);
    let id = rig.deed("startStream", &json!({ "mimeType": "audio/pcm" }));
    let stream = rig.done[&id].clone().unwrap()["streamId"].clone();
    assert_eq!(rig.sent[0]["asyncInputStream"]["streamId"], stream);
    assert_eq!(stream.as_str().unwrap().len(), 36);
}

#[test]
fn what_is_missing_or_unknown_is_refused() {
    let mut rig = Rig::ready(&[]);
    for (name, given) in [
        ("agent", json!({ "folderId": 1 })),
        ("exchange", json!({})),
        ("message", json!({ "exchangeId": "x" })),
        ("feedback", json!({ "exchangeId": "x", "rating": "meh" })),
        ("attachment", json!({ "name": "" })),
        ("sendMetaEvent", json!({ "event": 5 })),
        ("sendMetaEvent", json!({ "exchangeId": "x", "messageId": "m", "contentPartId": "p", "toolCallId": "c" })),
        ("startStream", json!({})),
        ("streamChunk", json!({ "streamId": "s" })),
        ("hologram", json!(null)),
        ("agents", json!([])),
    ] {
        let id = rig.deed(name, &given);
        assert_eq!(rig.done[&id], Err("invalid_argument"), "{name}");
    }
    assert!(rig.requests.is_empty() && rig.sent.is_empty());
}

#[test]
fn results_take_the_houses_form() {
    let mut rig = Rig::ready(&[]);
    let list = rig.deed("conversations", &json!(null));
    rig.answer("/conversation", 200, r#"{"data":[{"conversationId":"a"}],"cursor":"n"}"#);
    assert_eq!(rig.done[&list], Ok(json!({ "conversations": [{ "conversationId": "a" }], "next": "n" })));
    let feedback = rig.deed("feedback", &json!({ "exchangeId": "x", "rating": "positive" }));
    rig.answer("/feedback", 204, "");
    assert_eq!(rig.done[&feedback], Ok(json!(null)));
    let refused = rig.deed("settings", &json!(null));
    rig.answer("/user/settings", 403, r#"{"message":"no"}"#);
    assert_eq!(rig.done[&refused], Err("request_refused"));
    let history = rig.history(Page { limit: 5, newest_first: true, page: Some("c".into()) });
    let (_, request) = rig.requests[0].clone();
    assert!(request.url.ends_with("/exchange?limit=5&exchangeSort=descending&messageSort=ascending&cursor=c"));
    rig.answer("/exchange", 200, r#"{"data":[{"exchangeId":"x"}]}"#);
    assert_eq!(rig.done[&history], Ok(json!({ "events": [{ "exchangeId": "x" }], "next": null })));
}

#[test]
fn a_conversation_that_is_deleted_ends() {
    let mut rig = Rig::ready(&[]);
    rig.deed("delete", &json!(null));
    rig.answer("/conversation", 204, "");
    assert_eq!(rig.said(), "done ok, ended closed, left");
}

#[test]
fn events_wait_for_a_session_and_what_is_too_large_is_refused() {
    let mut rig = Rig::ready(&[]);
    rig.lose(1006);
    let waits = rig.deed("sendMetaEvent", &json!({ "event": {} }));
    assert!(!rig.done.contains_key(&waits));
    rig.come_back();
    rig.newest("");
    assert!(rig.done[&waits].is_ok());
    let large = rig.deed("sendMetaEvent", &json!({ "event": { "a": "x".repeat(5_000) } }));
    assert_eq!(rig.done[&large], Err("invalid_argument"));
}

#[test]
fn ending_an_exchange_by_its_name_is_a_stop() {
    let mut rig = Rig::ready(&[]);
    let x = rig.begin("hi");
    rig.deed("endExchange", &json!({ "exchangeId": x }));
    assert_eq!(rig.said(), "over paused, done ok");
    let id = rig.command(Command::Fetch(pagehand::call::CallId::new("x")));
    assert_eq!(rig.done[&id], Err("invalid_argument"));
}
