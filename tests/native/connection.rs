//! Sockets come and go.

use pagehand::conversation::{Command, Input, Topic, Wire};
use pagehand::net::Answer;
use serde_json::Value;

use crate::stage::{ID, Stage, ack, action, tool};

const ANY: &str = r#"{"type":"object"}"#;

fn legacy(tools: Vec<pagehand::tool::Tool>) -> Stage {
    let mut stage = Stage::new(tools);
    stage.command(Command::Open);
    stage.open("1.43.1", 201, "[]");
    stage.frame(r#"{"kind":"ConversationStateUpdateEvent","key":"full_state","value":{"execution_status":"idle"}}"#);
    stage.answer("/events/search", 200, r#"{"items":[],"next_page_id":null}"#);
    stage
}

fn connection(stage: &Stage) -> String {
    let states = stage.topic(Topic::Connection).into_iter().map(|event| event["state"].as_str().unwrap().to_owned());
    states.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_lost_session_socket_is_resumed_after_the_last_number() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.durable(0, &action("a", "t", "{}"));
    stage.lose_socket(1006);
    stage.reconnect();
    assert!(stage.sockets[1].1.ends_with("?after_seq=0"));
    stage.frame(r#"{"type":"sync","from_seq":0,"through_seq":1}"#);
    stage.durable(1, &ack("a"));
    assert_eq!(stage.runs.len(), 1);
    assert_eq!(connection(&stage), "connecting connected ready lost connecting connected ready");
    assert_eq!(stage.sent.len(), 2, "each socket begins with the key");
}

#[test]
fn a_lost_legacy_socket_is_reconciled_with_the_log() {
    let mut stage = legacy(vec![tool("t", ANY)]);
    stage.frame(&action("a", "t", "{}"));
    stage.lose_socket(1012);
    stage.reconnect();
    // A live frame comes before the older ones that were missed.
    stage.frame(&action("b", "t", "{}"));
    let (_, request) = stage.take("/events/search").unwrap();
    assert!(request.url.ends_with("page_id=a"), "{}", request.url);
    stage.lose_socket(1006);
    stage.reconnect();
    stage.frame(&action("b", "t", "{}"));
    let page = format!(
        r#"{{"items":[{},{},{}],"next_page_id":null}}"#,
        action("a", "t", "{}"),
        ack("a"),
        action("b", "t", "{}")
    );
    stage.answer("/events/search", 200, &page);
    stage.frame(&ack("b"));
    let order: Vec<_> = stage.runs.iter().map(|run| run.call.as_str()).collect();
    assert_eq!(order, ["a", "b"]);
    assert_eq!(stage.notices(), ["duplicate_event"]);
}

#[test]
fn a_log_that_cannot_be_read_begins_the_connection_anew() {
    let mut stage = legacy(vec![]);
    stage.lose_socket(1006);
    stage.reconnect();
    stage.frame(r#"{"id":"x","kind":"PauseEvent"}"#);
    let socket = stage.socket();
    stage.reply("/events/search", Answer::Unreachable);
    assert_eq!(stage.closed, [socket]);
    stage.reconnect();
    assert_ne!(stage.socket(), socket);
}

#[test]
fn what_comes_from_a_replaced_socket_is_not_heard() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    let old = stage.socket();
    stage.lose_socket(1006);
    stage.reconnect();
    let text = format!(r#"{{"type":"durable","seq":0,"event":{}}}"#, action("a", "t", "{}"));
    stage.input(Input::Wire(Wire::Frame { socket: old, text }));
    stage.input(Input::Wire(Wire::Closed { socket: old, code: 4001, reason: String::new() }));
    assert_eq!(stage.topic(Topic::Event), Vec::<&Value>::new());
    assert_eq!(stage.sockets.len(), 2);
}

#[test]
fn closes_that_no_attempt_can_mend_end_the_conversation_with_their_error() {
    for (code, error) in [(4001, "unauthorized"), (4004, "not_found"), (1008, "request_refused")] {
        let mut stage = Stage::ready(vec![]);
        let idle = {
            stage.send("x");
            stage.command(Command::Idle)
        };
        stage.lose_socket(code);
        if code == 4004 {
            assert!(!stage.settled.contains_key(&idle), "a socket's word alone");
            stage.answer(&format!("{ID}?"), 404, r#"{"detail":"Not Found"}"#);
        }
        assert_eq!(stage.error(idle), error);
        assert_eq!(stage.topic(Topic::Error)[0]["code"], error);
        assert!(!stage.wait());
    }
}

#[test]
fn a_connection_that_worked_is_tried_for_as_long_as_it_takes() {
    let mut stage = Stage::ready(vec![]);
    for _ in 0..50 {
        stage.lose_socket(1006);
        let sockets = stage.sockets.len();
        stage.wait_for("a new socket", |stage| stage.sockets.len() > sockets);
    }
    assert_eq!(stage.sockets.len(), 51);
}

#[test]
fn frames_that_are_odd_are_told_and_break_nothing() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    for odd in ["", "nonsense", "[]", "null", "{}", r#"{"type":7}"#, r#"{"type":"hologram","x":1}"#] {
        stage.frame(odd);
    }
    stage.frame(r#"{"type":"durable","event":{"id":"u","kind":"HologramEvent","x":{"y":null}}}"#);
    stage.frame(r#"{"type":"durable","seq":null,"event":{"kind":null,"id":null}}"#);
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(1, &ack("a"));
    assert_eq!(stage.runs.len(), 1);
    let notices = stage.notices();
    assert_eq!(notices.iter().filter(|code| **code == "malformed_frame").count(), 6);
    assert!(notices.contains(&"unknown_frame") && notices.contains(&"unknown_event"));
    assert_eq!(stage.topic(Topic::Event)[0]["x"], serde_json::json!({"y": null}));
}

#[test]
fn no_event_and_no_error_carries_the_key() {
    let mut stage = Stage::ready(vec![]);
    stage.lose_socket(1006);
    stage.reconnect();
    stage.lose_socket(4001);
    assert!(stage.events.iter().all(|(_, value)| !value.to_string().contains("canary")));
    assert!(stage.settled.values().all(|result| !format!("{result:?}").contains("canary")));
}

/// An event that is too large for the session socket is in the log only.
fn refuse_a_large_frame(stage: &mut Stage) {
    let socket = stage.socket();
    stage.input(Input::Wire(Wire::Closed { socket, code: 1013, reason: "frame_too_large".into() }));
    stage.reconnect();
    assert!(!stage.sockets.last().unwrap().1.contains("after_seq"), "the replay would be refused again");
}

#[test]
fn what_the_session_socket_refuses_to_carry_is_read_in_the_log() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.durable(0, &action("a", "t", "{}"));
    refuse_a_large_frame(&mut stage);
    stage.frame(r#"{"type":"sync","through_seq":2}"#);
    stage.durable(3, &ack("large"));
    assert_eq!(stage.runs, [], "live events wait for the log");
    let (_, request) = stage.take("/events/search").unwrap();
    assert!(request.url.ends_with("page_id=a"), "{}", request.url);
    stage.lose_socket(1006);
    stage.reconnect();
    stage.frame(r#"{"type":"sync","through_seq":3}"#);
    let items = [action("a", "t", "{}"), ack("a"), action("large", "t", "{}"), ack("large")].join(",");
    stage.answer("/events/search", 200, &format!(r#"{{"items":[{items}],"next_page_id":null}}"#));
    let order: Vec<_> = stage.runs.iter().map(|run| run.call.as_str()).collect();
    assert_eq!(order, ["a", "large"]);
    stage.lose_socket(1006);
    stage.reconnect();
    assert!(stage.sockets.last().unwrap().1.ends_with("?after_seq=3"), "the socket can replay again");
}

#[test]
fn a_large_frame_right_after_joining_is_found_behind_the_past() {
    let mut stage = Stage::with(
        pagehand::protocol::openhands::Opening::Attach { id: crate::stage::ID.into() },
        vec![tool("t", ANY)],
    );
    stage.command(Command::Open);
    stage.open("1.58.2", 200, "[]");
    stage.frame(r#"{"type":"sync","through_seq":1}"#);
    let newest_first = [ack("old"), action("old", "t", "{}")].join(",");
    stage.answer("/events/search", 200, &format!(r#"{{"items":[{newest_first}],"next_page_id":null}}"#));
    refuse_a_large_frame(&mut stage);
    stage.frame(r#"{"type":"sync","through_seq":3}"#);
    let items = [ack("old"), action("large", "t", "{}"), ack("large")].join(",");
    stage.answer("/events/search", 200, &format!(r#"{{"items":[{items}],"next_page_id":null}}"#));
    let order: Vec<_> = stage.runs.iter().map(|run| run.call.as_str()).collect();
    assert_eq!(order, ["large"]);
}

#[test]
fn a_socket_that_only_greets_is_tried_less_and_less_often() {
    let mut stage = Stage::ready(vec![]);
    stage.durable(0, r#"{"id":"a","kind":"PauseEvent"}"#);
    let began = stage.now;
    for _ in 0..20 {
        stage.lose_socket(1006);
        stage.reconnect();
        stage.frame(r#"{"type":"sync","from_seq":0,"through_seq":1}"#);
    }
    assert!(stage.now.0 - began.0 > 100_000, "{} ms for 20 attempts", stage.now.0 - began.0);
}
