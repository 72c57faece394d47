//! Sockets, requests, and the order of what comes.

use pagehand::conversation::{Command, Input, Topic, Wire};
use pagehand::net::Answer;
use serde_json::{Value, json};

use super::{legacy, ran, ready};
use crate::stage::{ID, Stage, ack, action, full_state, page_of, status};

#[test]
fn conformance_13_a_first_frame_that_takes_a_minute_still_connects() {
    let mut stage = Stage::new(vec![]);
    stage.command(Command::Open);
    stage.open("1.43.1", 201, "[]");
    let began = stage.now;
    while stage.now.0 - began.0 < 60_000 {
        assert!(stage.wait());
        if stage.requests.iter().any(|(_, request)| request.url.contains(&format!("{ID}?"))) {
            stage.answer(&format!("{ID}?"), 200, &format!(r#"{{"id":"{ID}","execution_status":"running"}}"#));
        }
    }
    stage.frame(&full_state("subscribed", "idle"));
    stage.answer("/events/search", 200, &page_of(&[], None));
    assert!(stage.settled[&1].is_ok());
    assert_eq!(stage.sockets.len(), 1);
}

#[test]
fn conformance_14_a_live_frame_before_an_older_replayed_one_is_put_in_order_and_delivered_once() {
    let mut stage = legacy();
    stage.frame(&action("a", "t", "{}"));
    stage.lose_socket(1006);
    stage.reconnect();
    stage.frame(&ack("b"));
    let log = [action("a", "t", "{}"), ack("a"), action("b", "t", "{}"), ack("b")];
    stage.answer("/events/search", 200, &page_of(&log, None));
    assert_eq!(ran(&stage), ["a", "b"]);
    let ids: Vec<_> = stage.topic(Topic::Event).into_iter().map(|event| event["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["subscribed", "a", "ack_a", "b", "ack_b"]);
}

#[test]
fn case_3_a_reconnection_that_brings_everything_again_delivers_each_event_once_and_in_order() {
    let mut stage = legacy();
    let log = [action("a", "t", "{}"), ack("a"), status("s", "running"), action("b", "t", "{}")];
    for event in &log {
        stage.frame(event);
    }
    stage.lose_socket(1006);
    stage.reconnect();
    for event in &log {
        stage.frame(event);
    }
    stage.answer("/events/search", 200, &page_of(&[log[3].clone(), ack("b")], None));
    let ids: Vec<_> = stage.topic(Topic::Event).into_iter().map(|event| event["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["subscribed", "a", "ack_a", "s", "b", "ack_b"]);
    assert_eq!(ran(&stage), ["a", "b"]);
}

#[test]
fn conformance_15_fatal_closes_end_the_conversation_and_all_others_are_tried_again() {
    let mut stage = ready();
    stage.lose_socket(4001);
    assert_eq!(stage.topic(Topic::Error)[0]["code"], "unauthorized");
    let mut stage = ready();
    stage.lose_socket(4004);
    stage.answer(&format!("{ID}?"), 404, r#"{"detail":"Not Found"}"#);
    assert_eq!(stage.topic(Topic::Error)[0]["code"], "not_found");
    for code in [1001, 1006, 1011, 1012, 1013] {
        let mut stage = ready();
        stage.lose_socket(code);
        stage.reconnect();
    }
}

#[test]
fn conformance_15_a_conversation_that_a_socket_denies_and_the_server_has_is_tried_again() {
    let mut stage = ready();
    stage.lose_socket(4004);
    stage.answer(&format!("{ID}?"), 200, &format!(r#"{{"id":"{ID}"}}"#));
    stage.reconnect();
    stage.frame(r#"{"type":"sync","from_seq":-1}"#);
    assert_eq!(stage.topic(Topic::Connection).last().unwrap()["state"], "ready");
}

#[test]
fn case_14_a_close_by_policy_during_a_call_has_a_typed_reason_and_the_call_its_outcome() {
    let mut stage = ready();
    stage.returns = None;
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(1, &ack("a"));
    stage.lose_socket(1008);
    assert_eq!(stage.topic(Topic::Error)[0]["code"], "request_refused");
    assert_eq!(stage.outcome("a")["kind"], "cancelled");
    assert_eq!(stage.aborted, stage.open_runs);
    stage.settle_run(pagehand::call::Settled::Returned("1".into()));
    assert_eq!(stage.outcome("a")["kind"], "cancelled");
}

#[test]
fn conformance_16_the_key_is_the_first_frame_alone_and_in_no_address() {
    let stage = ready();
    assert_eq!(stage.sent.len(), 1);
    let frame: Value = serde_json::from_str(&stage.sent[0].1).unwrap();
    assert_eq!(frame, json!({"type": "auth", "session_api_key": "canary"}));
    assert!(!stage.sockets[0].1.contains("canary"));
}

#[test]
fn case_16_what_is_said_while_the_socket_is_gone_leaves_once() {
    let mut stage = ready();
    stage.lose_socket(1006);
    let send = stage.send("hi");
    let (request, _) = stage.take("/events").unwrap();
    stage.reconnect();
    stage.frame(r#"{"type":"sync","from_seq":-1}"#);
    let answer = Answer::Http { status: 200, body: r#"{"success":true}"#.into() };
    stage.input(Input::Wire(Wire::Answered { request, answer }));
    assert_eq!(stage.settled[&send], Ok(json!(null)));
    assert!(stage.take("/events").is_none());
}

#[test]
fn conformance_19_both_forms_of_422_are_read_and_a_new_conversation_is_told_from_one_that_was_there() {
    for (body, code) in [
        (r#"{"detail":[{"type":"missing","loc":["body","workspace"],"msg":"Field required"}]}"#, "invalid_request"),
        (r#"{"detail":"Client tool 't' is already registered with a different parameters schema."}"#, "tool_conflict"),
    ] {
        let mut stage = Stage::new(vec![]);
        stage.command(Command::Open);
        stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
        stage.answer("/api/conversations", 422, body);
        assert_eq!(stage.error(1), code);
    }
    for (status, created) in [(201, true), (200, false)] {
        let mut stage = Stage::new(vec![]);
        stage.command(Command::Open);
        stage.open("1.58.2", status, "[]");
        stage.frame(r#"{"type":"sync"}"#);
        stage.joined("[]");
        assert_eq!(stage.settled[&1].as_ref().unwrap()["created"], created);
    }
}

#[test]
fn conformance_21_the_session_socket_resumes_over_gaps() {
    let mut stage = ready();
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(7, &status("s", "running"));
    stage.lose_socket(1006);
    stage.reconnect();
    assert!(stage.sockets[1].1.ends_with("?after_seq=7"));
    stage.frame(r#"{"type":"sync","from_seq":7,"through_seq":12}"#);
    stage.durable(12, &ack("a"));
    assert_eq!(ran(&stage), ["a"]);
    assert_eq!(stage.topic(Topic::Connection).last().unwrap()["state"], "ready");
}

#[test]
fn conformance_21_a_log_that_was_rewound_is_told_and_read_anew() {
    let mut stage = ready();
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(1, &status("lost", "running"));
    stage.lose_socket(1006);
    stage.reconnect();
    stage.frame(r#"{"type":"sync","from_seq":1,"through_seq":0}"#);
    stage.durable(1, &ack("a"));
    stage.answer("/events/search", 200, &page_of(&[action("a", "t", "{}"), ack("a")], None));
    assert_eq!(ran(&stage), ["a"]);
    assert!(stage.notices().contains(&"log_rewound"));
    stage.lose_socket(1006);
    stage.reconnect();
    assert!(stage.sockets[2].1.ends_with("?after_seq=1"));
}

#[test]
fn conformance_21_a_frame_that_is_too_large_is_read_in_the_log_and_refuses_nothing_twice() {
    let mut stage = ready();
    stage.durable(0, &status("s", "running"));
    let socket = stage.socket();
    stage.input(Input::Wire(Wire::Closed { socket, code: 1013, reason: "frame_too_large".into() }));
    stage.reconnect();
    assert!(!stage.sockets[1].1.contains("after_seq"));
    stage.frame(r#"{"type":"sync","through_seq":2}"#);
    let log = [status("s", "running"), action("large", "t", "{}"), ack("large")];
    stage.answer("/events/search", 200, &page_of(&log, None));
    assert_eq!(ran(&stage), ["large"]);
    stage.lose_socket(1006);
    stage.reconnect();
    assert!(stage.sockets[2].1.ends_with("?after_seq=2"));
}

#[test]
fn conformance_24_a_failure_that_the_browser_hides_is_unreachable_and_says_nothing_of_keys() {
    let mut stage = Stage::new(vec![]);
    stage.command(Command::Open);
    stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
    stage.reply("/api/conversations", Answer::Unreachable);
    assert_eq!(stage.error(1), "unreachable");
}

#[test]
fn conformance_26_timestamps_order_nothing() {
    let mut stage = legacy();
    let at = |event: String, timestamp: &str| event.replacen('{', &format!(r#"{{"timestamp":"{timestamp}","#), 1);
    stage.frame(&at(action("a", "t", "{}"), "2026-11-30T23:59:59.000001"));
    stage.lose_socket(1006);
    stage.reconnect();
    stage.frame(&full_state("f", "running"));
    let log = [
        at(action("a", "t", "{}"), "2026-11-30T23:59:59.000001"),
        at(ack("a"), "1999-01-01T00:00:00"),
        at(action("b", "t", "{}"), "not a time"),
        at(ack("b"), ""),
    ];
    stage.answer("/events/search", 200, &page_of(&log, None));
    assert_eq!(ran(&stage), ["a", "b"]);
}
