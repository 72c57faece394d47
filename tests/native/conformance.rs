//! What a client of this server must do, one test for each rule. 17 is in `approval`, 22 and 23 are in `ledger`, with what they
//! need.

use pagehand::conversation::{Command, Input, Topic, Wire};
use pagehand::net::Answer;
use pagehand::protocol::openhands::Opening;
use serde_json::{Value, json};

use crate::stage::{ID, Stage, ack, action, full_state, page_of, status, tool};

const ANY: &str = r#"{"type":"object"}"#;
const LEVEL: &str = r#"{"type":"object","properties":{"level":{"enum":["info","warn"]}}}"#;

fn ready() -> Stage {
    Stage::ready(vec![tool("t", ANY)])
}

/// A created conversation on a server without the session socket.
fn legacy() -> Stage {
    let mut stage = Stage::new(vec![tool("t", ANY)]);
    stage.command(Command::Open);
    stage.open("1.43.1", 201, "[]");
    stage.frame(&full_state("subscribed", "idle"));
    stage.answer("/events/search", 200, &page_of(&[], None));
    stage
}

fn attached() -> Stage {
    let mut stage = Stage::with(Opening::Attach { id: ID.into() }, vec![tool("t", ANY)]);
    stage.command(Command::Open);
    stage.open("1.58.2", 200, "[]");
    stage
}

fn ran(stage: &Stage) -> Vec<&str> {
    stage.runs.iter().map(|run| run.call.as_str()).collect()
}

fn rejected(call: &str, source: &str) -> String {
    format!(
        r#"{{"id":"r_{call}","kind":"UserRejectObservation","tool_name":"t","tool_call_id":"tc_{call}","action_id":"{call}","rejection_reason":"no","rejection_source":"{source}"}}"#
    )
}

#[test]
fn conformance_1_an_action_and_its_acknowledgement_run_the_handler_once() {
    let mut stage = ready();
    stage.durable(0, &action("a", "t", "{}"));
    assert_eq!(ran(&stage), Vec::<&str>::new());
    stage.durable(1, &ack("a"));
    assert_eq!(ran(&stage), ["a"]);
}

#[test]
fn conformance_2_a_call_that_waits_and_is_rejected_never_runs() {
    let mut stage = ready();
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(1, &status("w", "waiting_for_confirmation"));
    stage.command(Command::Answer {
        approval: "a".into(),
        accept: false,
        reason: "no".into(),
        arguments: None,
        say: None,
    });
    stage.answer("/respond_to_confirmation", 200, r#"{"success":true}"#);
    stage.durable(2, &status("i", "idle"));
    stage.durable(3, &rejected("a", "user"));
    stage.durable(4, &ack("a"));
    assert_eq!(ran(&stage), Vec::<&str>::new());
    assert_eq!(stage.outcome("a")["kind"], "rejected");
}

#[test]
fn conformance_3_a_call_that_waits_and_is_accepted_runs_once() {
    let mut stage = ready();
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(1, &status("w", "waiting_for_confirmation"));
    stage.command(Command::Answer {
        approval: "a".into(),
        accept: true,
        reason: String::new(),
        arguments: None,
        say: None,
    });
    stage.answer("/respond_to_confirmation", 200, r#"{"success":true}"#);
    assert_eq!(ran(&stage), Vec::<&str>::new());
    stage.durable(2, &status("r", "running"));
    stage.durable(3, &ack("a"));
    stage.durable(3, &ack("a"));
    assert_eq!(ran(&stage), ["a"]);
}

#[test]
fn conformance_4_doubled_frames_replays_and_two_pages_run_a_call_once() {
    let mut stage = ready();
    for _ in 0..2 {
        stage.durable(0, &action("a", "t", "{}"));
        stage.durable(1, &ack("a"));
    }
    stage.lose_socket(1006);
    stage.reconnect();
    stage.frame(r#"{"type":"sync","from_seq":-1,"through_seq":1}"#);
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(1, &ack("a"));
    assert_eq!(ran(&stage), ["a"]);
    let mut other = attached().on_page("other", &stage);
    other.frame(r#"{"type":"sync","through_seq":-1}"#);
    other.joined("[]");
    other.durable(0, &action("a", "t", "{}"));
    other.durable(1, &ack("a"));
    assert_eq!(ran(&other), Vec::<&str>::new());
}

#[test]
fn conformance_5_an_acknowledgement_of_an_unseen_action_fetches_it_and_runs_it_once() {
    let mut stage = ready();
    stage.durable(1, &ack("a"));
    assert_eq!(ran(&stage), Vec::<&str>::new());
    stage.answer("/events/a", 200, &action("a", "t", r#"{"n":1,"absent":null}"#));
    stage.durable(0, &action("a", "t", r#"{"n":1}"#));
    assert_eq!(ran(&stage), ["a"]);
    assert_eq!(stage.runs[0].arguments, json!({"n": 1}));
}

#[test]
fn conformance_6_an_interrupted_call_never_runs() {
    let mut stage = ready();
    stage.durable(0, &action("a", "t", "{}"));
    let error = r#"{"id":"e","kind":"AgentErrorEvent","tool_name":"t","tool_call_id":"tc_a","error":"Tool call interrupted before completion."}"#;
    stage.durable(1, error);
    stage.durable(2, &status("p", "paused"));
    stage.durable(3, r#"{"id":"i","kind":"InterruptEvent"}"#);
    stage.durable(4, &ack("a"));
    assert_eq!(ran(&stage), Vec::<&str>::new());
    assert_eq!(stage.states("a"), "announced withdrawn");
}

#[test]
fn conformance_7_a_call_that_a_hook_rejects_never_runs() {
    let mut stage = ready();
    stage.durable(0, r#"{"id":"h","kind":"HookExecutionEvent","blocked":true,"action_id":"a"}"#);
    stage.durable(1, &action("a", "t", "{}"));
    stage.durable(2, &rejected("a", "hook"));
    stage.durable(3, &ack("a"));
    assert_eq!(ran(&stage), Vec::<&str>::new());
    assert_eq!(stage.outcome("a")["kind"], "rejected");
}

#[test]
fn conformance_8_an_action_event_without_an_action_never_runs() {
    let mut stage = ready();
    for (seq, id, action) in [(0, "absent", ""), (2, "null", r#""action":null,"#)] {
        let event = format!(
            r#"{{"id":"{id}",{action}"tool_name":"t","tool_call_id":"tc_{id}","thought":[],"kind":"ActionEvent"}}"#
        );
        stage.durable(seq, &event);
        let error = format!(
            r#"{{"id":"e_{id}","kind":"AgentErrorEvent","tool_name":"t","tool_call_id":"tc_{id}","error":"Field required"}}"#
        );
        stage.durable(seq + 1, &error);
    }
    assert_eq!(ran(&stage), Vec::<&str>::new());
    assert_eq!(stage.topic(Topic::Event).len(), 4);
    assert_eq!(stage.notices(), ["call_refused", "call_refused"]);
}

#[test]
fn conformance_9_unknown_kinds_frames_and_keys_are_kept_and_break_nothing() {
    let mut stage = ready();
    stage.frame(r#"{"type":"hologram","deep":{"er":[1]}}"#);
    stage.durable(0, r#"{"id":"u","kind":"HologramEvent","x":{"y":null}}"#);
    let event = action("a", "t", "{}").replacen('{', r#"{"new_key":[1.50],"#, 1);
    stage.frame(&format!(r#"{{"type":"durable","seq":1,"new":true,"event":{event}}}"#));
    stage.durable(2, &ack("a"));
    assert_eq!(ran(&stage), ["a"]);
    assert_eq!(stage.notices(), ["unknown_frame", "unknown_event"]);
    assert_eq!(stage.topic(Topic::Event)[0]["x"], json!({"y": null}));
    assert_eq!(stage.topic(Topic::Event)[1]["new_key"], json!([1.5]));
}

#[test]
fn conformance_10_arguments_outside_an_enum_are_reported_and_run_nothing() {
    let mut stage = Stage::ready(vec![tool("t", LEVEL)]);
    stage.durable(0, &action("a", "t", r#"{"level":"zzz"}"#));
    stage.durable(1, &ack("a"));
    assert_eq!(ran(&stage), Vec::<&str>::new());
    assert_eq!(stage.outcome("a")["kind"], "invalid_arguments");
}

#[test]
fn conformance_11_the_name_that_the_server_changes_is_refused_or_mapped_back() {
    let kind = || tool("t", r#"{"type":"object","properties":{"kind":{"type":"string"}}}"#);
    let create = Opening::Create { id: ID.into(), request: r#"{"workspace":"/"}"#.into() };
    let settings = pagehand::protocol::openhands::Settings { url: "http://server".into(), session_key: <_>::default() };
    let protocol = pagehand::protocol::openhands::OpenHands::new(settings, create).unwrap();
    let refused =
        pagehand::conversation::Conversation::new(Box::new(protocol), vec![kind()], crate::stage::resumption(), 1);
    assert_eq!(refused.err().unwrap().code(), "invalid_tool");
    let mut stage = Stage::with(Opening::Attach { id: ID.into() }, vec![kind()]);
    stage.command(Command::Open);
    let parameters = r#"{"type":"object","properties":{"kind":{"type":"string"}}}"#;
    stage.open("1.58.2", 200, &format!(r#"[{{"name":"t","parameters":{parameters}}}]"#));
    stage.frame(r#"{"type":"sync"}"#);
    stage.joined("[]");
    stage.durable(0, &action("a", "t", r#"{"mcp_arg_kind":"x"}"#));
    stage.durable(1, &ack("a"));
    assert_eq!(stage.runs[0].arguments, json!({"kind": "x"}));
}

#[test]
fn conformance_12_history_is_not_run_and_what_a_gap_held_is_run_once() {
    let mut stage = attached();
    stage.frame(r#"{"type":"sync","through_seq":1}"#);
    stage.answer("/events/search", 200, &page_of(&[ack("old"), action("old", "t", "{}")], None));
    assert_eq!(ran(&stage), Vec::<&str>::new());
    stage.lose_socket(1006);
    stage.reconnect();
    assert!(stage.sockets[1].1.ends_with("?after_seq=1"));
    stage.frame(r#"{"type":"sync","from_seq":1,"through_seq":3}"#);
    stage.durable(2, &action("gap", "t", "{}"));
    stage.durable(3, &ack("gap"));
    assert_eq!(ran(&stage), ["gap"]);
}

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
fn conformance_18_a_run_is_over_with_the_full_state_whatever_a_stop_hook_does_before() {
    let mut stage = ready();
    stage.send("hi");
    let idle = stage.command(Command::Idle);
    for (seq, word) in ["running", "finished", "running", "finished"].into_iter().enumerate() {
        stage.durable(i64::try_from(seq).unwrap(), &status(&format!("s{seq}"), word));
        assert!(!stage.settled.contains_key(&idle));
    }
    stage.frame(&format!(r#"{{"type":"transient","event":{}}}"#, full_state("f", "finished")));
    assert_eq!(stage.settled[&idle], Ok(json!({"status": "finished"})));
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
fn conformance_20_a_message_during_a_run_of_an_older_server_waits_for_the_full_state() {
    let mut stage = legacy();
    stage.send("one");
    stage.answer("/events", 200, r#"{"success":true}"#);
    stage.frame(&status("s", "running"));
    let second = stage.send("two");
    assert!(stage.take("/events").is_none(), "the server would lose it");
    stage.frame(&full_state("f", "finished"));
    stage.answer("/events", 200, r#"{"success":true}"#);
    assert_eq!(stage.settled[&second], Ok(json!(null)));
    let mut newer = ready();
    newer.send("one");
    newer.durable(0, &status("s", "running"));
    newer.send("two");
    assert_eq!(newer.requests.len(), 2, "a newer server keeps it");
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
fn conformance_25_an_agent_that_repeats_itself_is_stuck() {
    let mut stage = ready();
    stage.send("hi");
    let idle = stage.command(Command::Idle);
    stage.durable(0, &status("s", "running"));
    for call in 0..4 {
        stage.durable(call * 2 + 1, &action(&format!("a{call}"), "t", "{}"));
        stage.durable(call * 2 + 2, &ack(&format!("a{call}")));
    }
    stage.durable(9, &status("stuck", "stuck"));
    stage.frame(&format!(r#"{{"type":"transient","event":{}}}"#, full_state("f", "stuck")));
    assert_eq!(ran(&stage).len(), 4);
    assert_eq!(stage.settled[&idle], Ok(json!({"status": "stuck"})));
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

#[test]
fn conformance_27_calls_that_share_a_tool_call_id_each_run_once() {
    let mut stage = ready();
    let same = |event: String| event.replace("tc_a", "tc").replace("tc_b", "tc");
    stage.durable(0, &same(action("a", "t", "{}")));
    stage.durable(1, &same(action("b", "t", "{}")));
    stage.durable(2, &same(ack("a")));
    stage.durable(3, &same(ack("b")));
    assert_eq!(ran(&stage), ["a", "b"]);
}

#[test]
fn conformance_28_a_call_that_is_let_through_after_a_pause_runs_once() {
    let mut stage = ready();
    stage.durable(0, &status("s", "running"));
    stage.durable(1, &status("p", "paused"));
    stage.durable(2, r#"{"id":"pe","kind":"PauseEvent"}"#);
    stage.frame(&format!(r#"{{"type":"transient","event":{}}}"#, full_state("f1", "paused")));
    stage.durable(3, &action("a", "t", "{}"));
    stage.durable(4, &ack("a"));
    stage.frame(&format!(r#"{{"type":"transient","event":{}}}"#, full_state("f2", "paused")));
    assert_eq!(ran(&stage), ["a"]);
}
