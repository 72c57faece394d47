//! Opening, sessions, and their ends.

use pagehand::net::Answer;
use pagehand::protocol::uipath::{Opening, UiPath};
use pagehand::protocol::{Protocol, SessionKey, Wire};
use serde_json::json;

use super::rig::{ID, Rig, settings, tools};

#[test]
fn a_conversation_is_created_then_joined_then_started() {
    let mut rig = Rig::creating(&tools());
    let (_, request) = rig.requests[0].clone();
    assert_eq!(request.url, "http://localhost:9/org/tenant/autopilotforeveryone_/api/v1/conversation");
    assert_eq!(request.body.as_deref(), Some(r#"{"agentReleaseId":7,"folderId":11}"#));
    assert!(request.headers.contains(&("Authorization", "Bearer canary".into())));
    rig.answer("/conversation", 200, &format!(r#"{{"conversationId":"{ID}"}}"#));
    assert_eq!(rig.said(), "opened new, connecting");
    assert_eq!(rig.protocol.ledger_key(), format!("http://localhost:9/org/tenant {ID}"));
    rig.admit();
    assert_eq!((rig.said().as_str(), rig.wrote().as_str()), ("connected", "startSession"));
    rig.say("early");
    assert_eq!(rig.wrote(), "", "nothing is sent before the session stands");
    rig.start();
    assert_eq!(rig.said(), "ready, user: early, running, done ok");
    assert!(rig.wrote().starts_with("startExchange"));
}

#[test]
fn a_conversation_that_is_there_is_read_before_it_is_ready() {
    let mut rig = Rig::attaching(&tools());
    rig.answer(&format!("/conversation/{ID}"), 200, &format!(r#"{{"id":"{ID}"}}"#));
    rig.admit();
    rig.start();
    assert_eq!(rig.said(), "opened old, connecting, connected");
    rig.newest("");
    assert_eq!(rig.said(), "ready");
}

#[test]
fn what_rest_refuses_ends_the_opening() {
    for (status, body, code) in [
        (401, "", "unauthorized"),
        (404, r#"{"error":"gone"}"#, "not_found"),
        (400, r#"{"title":"Bad","errors":{"folderId":["odd"]}}"#, "invalid_request"),
        (200, "{}", "bad_response"),
        (500, "<html>", "server_error"),
    ] {
        let mut rig = Rig::attaching(&[]);
        rig.answer("/conversation", status, body);
        assert_eq!(rig.said(), format!("ended {code}"));
        assert!(!rig.wait());
    }
}

#[test]
fn a_token_is_asked_for_and_once_more_when_it_is_refused() {
    let protocol = UiPath::new(settings(SessionKey::Asked), Opening::Attach { id: ID.into() }).unwrap();
    let mut rig = Rig::with(protocol, &[]);
    assert_eq!((rig.said().as_str(), rig.requests.len()), ("key?", 0));
    rig.token(Ok("one"));
    rig.answer("/conversation", 401, "");
    assert_eq!(rig.said(), "key?");
    rig.token(Ok("two"));
    let (_, request) = rig.requests[0].clone();
    assert!(request.headers.contains(&("Authorization", "Bearer two".into())));
    rig.answer("/conversation", 401, "");
    assert_eq!(rig.said(), "ended unauthorized");
}

#[test]
fn without_a_token_there_is_no_conversation() {
    let protocol = UiPath::new(settings(SessionKey::Asked), Opening::Attach { id: ID.into() }).unwrap();
    let mut rig = Rig::with(protocol, &[]);
    rig.token(Err("signed out"));
    assert_eq!(rig.said(), "key?, ended unauthorized");
}

#[test]
fn a_session_that_does_not_start_is_tried_on_another_connection_and_then_given_up() {
    let mut rig = Rig::creating(&[]);
    rig.answer("/conversation", 200, &format!(r#"{{"conversationId":"{ID}"}}"#));
    rig.admit();
    rig.said();
    rig.pass(30_000);
    assert_eq!(rig.said(), "notice server_error");
    assert_eq!(rig.sockets, 2);
    rig.admit();
    assert_eq!(rig.said(), "connected");
    rig.pass(30_000);
    assert_eq!(rig.said(), "ended request_timeout, left");
}

#[test]
fn a_session_that_worked_is_tried_for_as_long_as_it_takes() {
    let mut rig = Rig::ready(&[]);
    rig.lose(1006);
    rig.wait_for("a new socket", |rig| rig.sockets == 2);
    for sockets in 3..10 {
        rig.admit();
        rig.pass(30_000);
        assert_eq!(rig.sockets, sockets);
    }
    rig.admit();
    rig.start();
    rig.newest("");
    assert!(rig.said().ends_with("up again"));
}

#[test]
fn a_session_that_is_about_to_end_moves_to_a_fresh_connection() {
    let mut rig = Rig::ready(&[]);
    rig.server(&json!({ "sessionEnding": { "timeToLiveMS": 5000 } }));
    assert_eq!(rig.sockets, 2);
    rig.admit();
    assert_eq!(rig.packets[rig.packets.len() - 2..].first().unwrap(), "41", "the old one ends when the new one stands");
    assert_eq!((rig.said().as_str(), rig.wrote().as_str()), ("connected", "startSession"));
    rig.say("meanwhile");
    assert_eq!(rig.wrote(), "");
    rig.start();
    rig.newest("");
    assert_eq!(rig.said(), "up again, user: meanwhile, running, done ok");
}

#[test]
fn a_session_that_the_service_ends_is_started_again_and_not_in_a_rage() {
    let mut rig = Rig::ready(&[]);
    let began = rig.now;
    for _ in 0..10 {
        rig.server(&json!({ "endSession": {} }));
        rig.wait_for("another session", |rig| !rig.sent.is_empty());
        assert_eq!(rig.wrote(), "startSession");
        rig.start();
        rig.newest("");
    }
    assert!(rig.now.0 - began.0 > 30_000, "{} ms", rig.now.0 - began.0);
    assert_eq!(rig.sockets, 1);
}

#[test]
fn closing_ends_the_session_and_leaves_the_line() {
    let mut rig = Rig::ready(&[]);
    rig.close();
    rig.close();
    assert_eq!(rig.said(), "left");
    assert_eq!(rig.wrote(), "endSession");
    assert_eq!(rig.packets.last().unwrap(), "41");
    assert!(!rig.wait());
}

#[test]
fn a_line_that_is_refused_ends_the_conversation() {
    let mut rig = Rig::creating(&[]);
    rig.answer("/conversation", 200, &format!(r#"{{"conversationId":"{ID}"}}"#));
    rig.packet(super::rig::GREETING);
    rig.said();
    rig.packet(r#"44{"message":"Unauthorized","data":{"code":401}}"#);
    assert_eq!(rig.said(), "ended unauthorized, left");
}

#[test]
fn what_is_wrong_with_a_conversation_does_not_outlast_its_session() {
    let mut rig = Rig::ready(&[]);
    rig.server(&json!({ "conversationError": { "errorId": "E", "startError": { "message": "m" } } }));
    rig.say("hi");
    rig.lose(1006);
    rig.said();
    rig.come_back();
    rig.newest("");
    assert_eq!(
        rig.said(),
        "connecting, connected, condition conversation E over, up again, user: hi, running, done ok"
    );
}

#[test]
fn no_event_and_no_error_carries_the_token() {
    let mut rig = Rig::ready(&[]);
    rig.lose(1006);
    rig.come_back();
    rig.reply("exchangeSort", Answer::Unreachable);
    rig.wait();
    assert!(!rig.said().contains("canary"));
    assert!(rig.requests.iter().all(|(_, request)| !request.url.contains("canary")));
    assert!(rig.sent.iter().chain(&rig.events).all(|value| !value.to_string().contains("canary")));
}

#[test]
fn what_is_of_no_concern_changes_nothing() {
    let mut rig = Rig::ready(&[]);
    let mut out = pagehand::protocol::Outlet::default();
    rig.protocol.wire(Wire::Fed { text: "{}".into(), past: false }, rig.now, &mut out);
    rig.protocol.wire(Wire::Key(Ok("unasked".into())), rig.now, &mut out);
    assert!(out.signals.is_empty() && out.effects.is_empty());
    assert_eq!(rig.protocol.position(), None);
    assert!(rig.protocol.answers());
}
