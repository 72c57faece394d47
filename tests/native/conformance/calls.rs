//! Which calls run.

use pagehand::conversation::{Command, Topic};
use pagehand::protocol::openhands::Opening;
use serde_json::json;

use super::{attached, ran, ready};
use crate::stage::{ID, Stage, ack, action, full_state, page_of, status, tool};

const LEVEL: &str = r#"{"type":"object","properties":{"level":{"enum":["info","warn"]}}}"#;

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
