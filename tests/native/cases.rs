//! What went wrong for users of comparable packages, each under its number. More of them are where their subject is: in
//! `approval`, `connection`, `conformance`, `ledger`, `liveness`, `messages`, `results`.

use pagehand::call::Settled;
use pagehand::conversation::{Command, Topic};
use pagehand::protocol::openhands::Opening;
use pagehand::tool::Tool;
use serde_json::json;

use crate::stage::{ID, Stage, ack, action, full_state, status, tool, tool_with};

const ANY: &str = r#"{"type":"object"}"#;

/// Announces a call and lets it through.
fn call(stage: &mut Stage, id: &str, tool: &str, seq: i64) {
    stage.durable(seq, &action(id, tool, "{}"));
    stage.durable(seq + 1, &ack(id));
}

fn slow(tools: Vec<Tool>) -> Stage {
    let mut stage = Stage::ready(tools);
    stage.returns = None;
    stage
}

#[test]
fn case_1_a_call_settled_twice_has_one_outcome_and_the_second_attempt_is_told() {
    let mut stage = slow(vec![tool("t", ANY)]);
    call(&mut stage, "a", "t", 0);
    stage.cancel("a");
    stage.settle_run(Settled::Returned("1".into()));
    assert_eq!(stage.outcome("a")["kind"], "cancelled");
    assert_eq!(stage.notices(), ["late_signal"]);
    let again = stage.cancel("a");
    assert_eq!(stage.error(again), "unknown_call");
}

#[test]
fn case_26_nothing_is_made_of_texts_that_look_like_something_else() {
    let either = r#"{"oneOf":[{"type":"integer"},{"type":"array","items":{"type":"integer"}}]}"#;
    let whole = r#"{"type":"integer"}"#;
    for (schema, given, takes) in [
        (whole, r#""7""#, false),
        (whole, r#""7.5""#, false),
        (whole, "7", true),
        (r#"{"type":"array"}"#, r#""[1,2]""#, false),
        (r#"{"type":"object"}"#, r#""{}""#, false),
        (r#"{"type":"boolean"}"#, r#""true""#, false),
        (r#"{"type":"string"}"#, "7", false),
        (either, r#""7""#, false),
        (either, r#""[7]""#, false),
        (either, "[7]", true),
    ] {
        let mut stage = Stage::ready(vec![tool("t", &format!(r#"{{"type":"object","properties":{{"v":{schema}}}}}"#))]);
        let arguments = format!(r#"{{"v":{given}}}"#);
        stage.durable(0, &action("a", "t", &arguments));
        stage.durable(1, &ack("a"));
        let outcome = stage.outcome("a");
        if takes {
            assert_eq!(stage.runs[0].arguments.to_string(), arguments);
        } else {
            assert_eq!((outcome["kind"].as_str(), stage.runs.len()), (Some("invalid_arguments"), 0), "{arguments}");
            assert_eq!(outcome["issues"][0]["path"], "/v");
        }
    }
}

#[test]
fn case_28_a_schema_that_is_wrong_is_told_for_its_tool_and_the_others_go_on() {
    let vendor =
        r#"{"type":"object","x-order":["v"],"properties":{"v":{"type":"string","format":"board-id","x-ui":{}}}}"#;
    let wrong = r#"{"type":"object","properties":{"v":{"minLength":"three"}}}"#;
    let mut stage = Stage::ready(vec![tool("vendor", vendor), tool("wrong", wrong)]);
    let told = stage.topic(Topic::Error);
    assert_eq!((told.len(), &told[0]["details"]["tool"]), (1, &json!("wrong")));
    assert!(told[0].to_string().contains("/properties/v/minLength"), "{}", told[0]);
    call(&mut stage, "a", "wrong", 0);
    call(&mut stage, "b", "vendor", 2);
    assert_eq!(stage.outcome("a")["code"], "invalid_schema");
    assert_eq!(stage.outcome("b")["kind"], "ok");
}

#[test]
fn case_2_history_runs_nothing_when_we_join() {
    let mut stage = Stage::with(Opening::Attach { id: ID.into() }, vec![tool("t", ANY)]);
    stage.command(Command::Open);
    stage.open("1.58.2", 200, "[]");
    stage.frame(r#"{"type":"sync","through_seq":1}"#);
    // The newest first.
    stage.joined(&format!("[{},{}]", ack("old"), action("old", "t", "{}")));
    assert!(stage.runs.is_empty() && stage.topic(Topic::Call).is_empty());
    call(&mut stage, "new", "t", 2);
    assert_eq!(stage.runs.len(), 1);
}

#[test]
fn case_5_what_was_pending_when_we_joined_is_there_and_every_call_ends() {
    let mut stage = Stage::with(Opening::Attach { id: ID.into() }, vec![tool("t", ANY)]);
    stage.command(Command::Open);
    stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
    let info = format!(r#"{{"id":"{ID}","execution_status":"running","client_tools":[]}}"#);
    stage.answer("/api/conversations", 200, &info);
    stage.connect();
    stage.frame(r#"{"type":"sync","through_seq":0}"#);
    stage.joined(&format!("[{}]", action("pending", "t", "{}")));
    assert_eq!(stage.states("pending"), "announced");
    stage.durable(1, &ack("pending"));
    assert_eq!(stage.outcome("pending")["kind"], "ok");
}

#[test]
fn case_6_the_turn_is_over_only_after_its_slowest_call() {
    let mut stage = slow(vec![tool("t", ANY)]);
    stage.durable(0, &status("s", "running"));
    call(&mut stage, "a", "t", 1);
    call(&mut stage, "b", "t", 3);
    let idle = stage.command(Command::Idle);
    stage.durable(5, &full_state("f", "finished"));
    stage.settle_run(Settled::Returned("1".into()));
    assert!(!stage.settled.contains_key(&idle));
    stage.settle_run(Settled::Returned("2".into()));
    assert_eq!(stage.settled[&idle], Ok(json!({ "status": "finished" })));
}

#[test]
fn case_7_handlers_that_end_at_the_same_moment_all_count() {
    let mut stage = slow(vec![tool("t", ANY)]);
    stage.durable(0, &status("s", "running"));
    for (seq, id) in [(1, "a"), (3, "b"), (5, "c")] {
        call(&mut stage, id, "t", seq);
    }
    let idle = stage.command(Command::Idle);
    stage.durable(7, &full_state("f", "finished"));
    let now = stage.now;
    for _ in 0..3 {
        stage.now = now;
        stage.settle_run(Settled::Returned("1".into()));
    }
    assert!(["a", "b", "c"].iter().all(|id| stage.outcome(id)["kind"] == "ok"));
    assert!(stage.settled.contains_key(&idle));
}

#[test]
fn case_8_a_run_that_fails_right_after_a_call_repeats_nothing() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.durable(0, &status("s", "running"));
    call(&mut stage, "a", "t", 1);
    stage.durable(3, &status("e", "error"));
    stage.durable(
        4,
        r#"{"id":"ce","kind":"ConversationErrorEvent","code":"LLMServiceUnavailableError","detail":"500"}"#,
    );
    stage.durable(5, &full_state("f", "error"));
    stage.lose_socket(1006);
    stage.wait();
    stage.connect();
    stage.frame(r#"{"type":"sync","from_seq":5,"through_seq":5}"#);
    assert_eq!(stage.runs.len(), 1);
    assert_eq!(stage.topic(Topic::Error).len(), 1);
}

#[test]
fn case_9_an_unknown_tool_ends_its_call_at_once() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    call(&mut stage, "a", "unheard_of", 0);
    assert_eq!(stage.outcome("a"), json!({ "kind": "missing_handler", "tool": "unheard_of", "registered": ["t"] }));
}

#[test]
fn case_10_a_declared_tool_without_a_handler_ends_its_call_at_once() {
    let mut stage = Stage::ready(vec![tool_with("mute", ANY, r#""hasHandler":false"#)]);
    call(&mut stage, "a", "mute", 0);
    assert_eq!(stage.outcome("a")["kind"], "missing_handler");
}

#[test]
fn case_11_a_handler_that_never_ends_is_timed_out_once_and_its_late_end_does_not_count() {
    let mut stage = slow(vec![tool_with("t", ANY, r#""hasHandler":true,"timeout":500"#)]);
    call(&mut stage, "a", "t", 0);
    while stage.outcome("a").is_null() {
        assert!(stage.wait());
    }
    assert_eq!(stage.outcome("a"), json!({ "kind": "timed_out", "timeout": 500 }));
    assert_eq!(stage.aborted.len(), 1);
    stage.settle_run(Settled::Returned("1".into()));
    assert_eq!(stage.notices(), ["late_signal"]);
}

#[test]
fn case_12_a_timeout_that_is_no_number_of_milliseconds_is_refused_and_the_message_names_the_unit() {
    for timeout in ["0", "-1", "1e400", "\"5s\"", "null", "2147483648"] {
        let text = format!(r#"{{"name":"t","description":"d","inputSchema":{ANY},"timeout":{timeout}}}"#);
        match Tool::from_json(&text) {
            Err(error) => {
                assert!(timeout == "1e400" || error.to_string().contains("milliseconds"), "{timeout}: {error}");
            }
            // Absent is the default.
            Ok(_) => assert_eq!(timeout, "null"),
        }
    }
}

#[test]
fn case_13_a_cancelled_handler_is_told_and_what_it_returns_goes_nowhere() {
    let mut stage = Stage::ready_with_results(vec![tool("t", ANY)]);
    stage.returns = None;
    stage.durable(0, &status("s", "running"));
    call(&mut stage, "a", "t", 1);
    stage.cancel("a");
    assert_eq!(stage.aborted.len(), 1);
    stage.settle_run(Settled::Returned(r#""secret""#.into()));
    stage.durable(3, &full_state("f", "finished"));
    let (_, message) = stage.take("/events").unwrap();
    let body = message.body.unwrap();
    assert!(body.contains("cancelled") && !body.contains("secret"), "{body}");
}

#[test]
fn case_15_a_call_is_under_way_from_the_servers_word_to_its_outcome() {
    let mut stage = slow(vec![tool("t", ANY)]);
    stage.durable(0, &action("a", "t", "{}"));
    let announced = stage.command(Command::Idle);
    assert!(stage.settled.contains_key(&announced), "an announcement alone is nothing to wait for");
    stage.durable(1, &ack("a"));
    let busy = stage.command(Command::Idle);
    assert!(!stage.settled.contains_key(&busy));
    stage.settle_run(Settled::Threw { name: "Error".into(), message: "x".into() });
    assert!(stage.settled.contains_key(&busy));
}

#[test]
fn case_20_two_calls_of_one_tool_have_their_own_answers() {
    let mut stage = slow(vec![tool("t", ANY)]);
    call(&mut stage, "a", "t", 0);
    call(&mut stage, "b", "t", 2);
    let first = stage.open_runs.remove(0);
    stage.settle_run(Settled::Returned(r#""of b""#.into()));
    stage.open_runs.push(first);
    stage.settle_run(Settled::Returned(r#""of a""#.into()));
    assert_eq!(
        (stage.outcome("a")["result"].as_str(), stage.outcome("b")["result"].as_str()),
        (Some("of a"), Some("of b"))
    );
}

#[test]
fn case_23_what_waits_is_asked_again_after_a_reload_and_what_was_answered_is_not() {
    let joined = |status: &str, tail: &str| {
        let mut stage = Stage::with(Opening::Attach { id: ID.into() }, vec![tool("t", ANY)]);
        stage.command(Command::Open);
        stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
        let info = format!(r#"{{"id":"{ID}","execution_status":"{status}","client_tools":[]}}"#);
        stage.answer("/api/conversations", 200, &info);
        stage.connect();
        stage.frame(r#"{"type":"sync","through_seq":1}"#);
        stage.joined(tail);
        stage
    };
    let waits =
        format!("[{},{}]", crate::stage::status("w", "waiting_for_confirmation"), action("a", "t", r#"{"n":1}"#));
    let mut stage = joined("waiting_for_confirmation", &waits);
    assert_eq!(stage.topic(Topic::Approval)[0]["calls"][0]["arguments"]["n"], 1);
    assert_eq!(stage.states("a"), "announced waiting");
    let run = stage.command(Command::Run { approve: false });
    assert_eq!(stage.error(run), "approval_pending");
    stage.durable(2, &status("r", "running"));
    stage.durable(3, &ack("a"));
    assert_eq!(stage.runs.len(), 1);

    let rejected = r#"{"id":"r","kind":"UserRejectObservation","tool_name":"t","tool_call_id":"tc_a","action_id":"a","rejection_reason":"no"}"#;
    let answered = format!("[{rejected},{}]", action("a", "t", "{}"));
    let stage = joined("idle", &answered);
    assert!(stage.topic(Topic::Approval).is_empty() && stage.topic(Topic::Call).is_empty());
}

#[test]
fn case_24_a_no_is_an_outcome_in_words_and_never_an_empty_success() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(
        1,
        r#"{"id":"r","kind":"UserRejectObservation","tool_name":"t","tool_call_id":"tc_a","action_id":"a","rejection_reason":"","rejection_source":"hook"}"#,
    );
    assert_eq!(stage.outcome("a")["kind"], "rejected");
    assert!(stage.runs.is_empty());
}

#[test]
fn case_29_tools_that_changed_since_are_told_one_by_one() {
    let other = r#"{"type":"object","properties":{"x":{"type":"string"}}}"#;
    let tools = vec![tool("same", ANY), tool("changed", other), tool("added", ANY)];
    let mut stage = Stage::with(Opening::Attach { id: ID.into() }, tools);
    stage.command(Command::Open);
    let known = ["same", "changed", "removed"]
        .map(|name| format!(r#"{{"name":"{name}","description":"d","parameters":{ANY}}}"#));
    stage.open("1.58.2", 200, &format!("[{}]", known.join(",")));
    stage.frame(r#"{"type":"sync"}"#);
    stage.joined("[]");
    let told = stage.topic(Topic::Tools)[0].clone();
    let expected = json!({ "ready": ["same"], "missingHandlers": ["removed"], "unknownToServer": ["added"], "differentSchema": ["changed"] });
    assert_eq!(told, expected);
    call(&mut stage, "a", "removed", 0);
    assert_eq!(stage.outcome("a")["kind"], "missing_handler");
    call(&mut stage, "b", "same", 2);
    assert_eq!(stage.outcome("b")["kind"], "ok");
}

#[test]
fn integers_that_javascript_rounds_are_told_by_their_place_and_digits() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.durable(
        0,
        &action(
            "a",
            "t",
            r#"{"id":9007199254740993,"deep":[{"x":-12345678901234567890.0}],"ok":[1.5,"99999999999999999999"]}"#,
        ),
    );
    let told: Vec<_> = stage.topic(Topic::Notice).into_iter().cloned().collect();
    assert_eq!(
        told,
        [
            json!({ "code": "inexact_number", "eventId": "a", "message": "/id is 9007199254740993, which JavaScript rounds" }),
            json!({ "code": "inexact_number", "eventId": "a", "message": "/deep/0/x is -12345678901234567890.0, which JavaScript rounds" }),
        ]
    );
    stage.durable(1, &ack("a"));
    assert_eq!(stage.outcome("a")["kind"], "ok");
    assert_eq!(stage.notices().len(), 2, "once");
}
