//! Calls, from their announcement to their answer.

use serde_json::json;

use super::rig::{Rig, ok, tools};
use pagehand::protocol::uipath::{Opening, UiPath};
use pagehand::protocol::{Command, Protocol, SessionKey};

/// A conversation with a message said: it, and the exchange.
fn turn() -> (Rig, String) {
    let mut rig = Rig::ready(&tools());
    let exchange = rig.begin("hi");
    (rig, exchange)
}

#[test]
fn only_the_go_signal_of_a_flagged_call_lets_it_run() {
    let (mut rig, x) = turn();
    rig.call(
        &x,
        "c",
        "startToolCall",
        json!({ "toolName": "create_task", "input": { "a": 1 }, "isClientSideTool": true }),
    );
    assert_eq!(rig.said(), r#"announced c create task {"a":1}"#, "under the name that the app gave");
    rig.call(&x, "c", "executingToolCall", json!({ "input": { "a": 2 } }));
    assert_eq!(rig.said(), r#"authorised c {"a":2}"#);
    rig.call(&x, "s", "startToolCall", json!({ "toolName": "search", "input": {} }));
    rig.call(&x, "s", "executingToolCall", json!({ "input": {} }));
    rig.call(&x, "s", "endToolCall", json!({ "output": 1 }));
    assert_eq!(rig.said(), "", "the agent's side runs its own");
}

#[test]
fn absent_arguments_are_the_empty_object_and_what_else_is_none_is_for_the_call_to_judge() {
    let (mut rig, x) = turn();
    for (call, input, told) in [("a", json!(null), "{}"), ("b", json!([1]), "[1]"), ("c", json!("{}"), r#""{}""#)] {
        rig.call(&x, call, "startToolCall", json!({ "toolName": "t", "input": input, "isClientSideTool": true }));
        rig.call(&x, call, "executingToolCall", json!({ "input": input }));
        assert_eq!(rig.said(), format!("announced {call} t {told}, authorised {call}"));
    }
}

#[test]
fn a_second_go_signal_and_a_second_announcement_change_nothing() {
    let (mut rig, x) = turn();
    rig.call_runs(&x, "c", "read_board_tasks");
    rig.said();
    rig.call_runs(&x, "c", "read_board_tasks");
    assert_eq!(rig.said(), "notice duplicate_event, notice late_signal");
    rig.settle(&format!("{x}/c"), &ok());
    rig.said();
    rig.call_runs(&x, "c", "read_board_tasks");
    assert_eq!(rig.said(), "notice duplicate_event, notice late_signal");
}

#[test]
fn the_same_id_in_another_exchange_is_another_call() {
    let (mut rig, x) = turn();
    rig.call_runs(&x, "call_1", "read_board_tasks");
    rig.settle(&format!("{x}/call_1"), &ok());
    rig.end_exchange(&x);
    let y = rig.begin("again");
    rig.call_runs(&y, "call_1", "read_board_tasks");
    assert_eq!(rig.said(), r#"announced call_1 read_board_tasks {"a":1}, authorised call_1"#);
    rig.settle(&format!("{y}/call_1"), &ok());
    assert_eq!(rig.sent[0]["exchange"]["exchangeId"], y.as_str());
}

#[test]
fn a_go_signal_without_its_beginning_runs_nothing_and_its_call_is_answered_in_the_end() {
    let (mut rig, x) = turn();
    rig.call(&x, "c", "executingToolCall", json!({ "input": {} }));
    assert_eq!(rig.said(), "notice unknown_call");
    rig.pass(5_000);
    let record = super::rig::record(&x, &json!([{ "toolCallId": "c", "name": "read_board_tasks", "input": {} }]));
    rig.answer(&format!("/exchange/{x}"), 200, &record);
    assert_eq!(rig.said(), "");
    rig.pass(5_000);
    assert_eq!(rig.said(), "orphaned c");
    rig.call(&x, "c", "executingToolCall", json!({ "input": {} }));
    assert_eq!(rig.said(), "notice unknown_call", "not even now");
    rig.settle(&format!("{x}/c"), &json!({ "kind": "interrupted", "message": "nobody knows" }));
    let told = rig.about_calls("endToolCall");
    assert!(told[0].1["output"]["error"].as_str().unwrap().contains("may or may not have completed"));
}

#[test]
fn an_answer_says_the_outcome_in_the_way_that_the_agent_can_read() {
    let (mut rig, x) = turn();
    for (call, outcome, end) in [
        ("a", ok(), json!({ "output": { "b": 2 } })),
        ("b", json!({ "kind": "ok", "result": [1] }), json!({ "output": { "result": [1] } })),
        (
            "c",
            json!({ "kind": "cancelled", "message": "stop" }),
            json!({ "isError": true, "cancelled": true, "output": { "error": "The call was cancelled: stop" } }),
        ),
        (
            "d",
            json!({ "kind": "failed", "code": "handler_threw", "name": "E", "message": "m" }),
            json!({ "isError": true, "output": { "error": "The tool failed: E: m" } }),
        ),
    ] {
        rig.call_runs(&x, call, "read_board_tasks");
        rig.settle(&format!("{x}/{call}"), &outcome);
        assert_eq!(rig.about_calls("endToolCall").pop().unwrap(), (call.to_owned(), end));
    }
    let place = &rig.sent[0]["exchange"];
    assert_eq!((&place["exchangeId"], &place["message"]["messageId"]), (&json!(x), &json!("m")));
}

#[test]
fn an_answer_is_certain_once_the_agent_goes_on() {
    for (proof, is_one) in [
        (json!({ "message": { "messageId": "m", "endMessage": {} } }), true),
        (json!({ "message": { "messageId": "n", "startMessage": { "role": "assistant" } } }), true),
        (json!({ "endExchange": {} }), true),
        (json!({ "exchangeError": { "errorId": "E", "startError": { "message": "m" } } }), true),
        (json!({ "metaEvent": {} }), false),
        (
            json!({ "message": { "messageId": "m", "toolCall": { "toolCallId": "other", "startToolCall": { "toolName": "t" } } } }),
            false,
        ),
    ] {
        let (mut rig, x) = turn();
        rig.call_runs(&x, "c", "read_board_tasks");
        let answer = rig.settle(&format!("{x}/c"), &ok());
        assert!(!rig.done.contains_key(&answer), "nothing has shown it");
        rig.exchange(&x, proof.clone());
        assert_eq!(rig.done.contains_key(&answer), is_one, "{proof}");
    }
}

#[test]
fn an_answer_is_certain_when_the_connection_lives_five_seconds_later() {
    let (mut rig, x) = turn();
    rig.call_runs(&x, "c", "read_board_tasks");
    let answer = rig.settle(&format!("{x}/c"), &ok());
    rig.pass(4_999);
    assert!(!rig.done.contains_key(&answer));
    rig.pass(1);
    assert!(rig.done[&answer].is_ok());
}

#[test]
fn the_service_may_end_a_call_in_any_state_and_then_nothing_leaves_for_it() {
    let start = json!({ "toolName": "read_board_tasks", "input": {}, "isClientSideTool": true });
    for state in ["announced", "asking", "confirmed", "executing"] {
        let (mut rig, x) = turn();
        if state == "asking" || state == "confirmed" {
            rig.call_asks(&x, "c", "read_board_tasks");
        } else {
            rig.call(&x, "c", "startToolCall", start.clone());
        }
        if state == "executing" {
            rig.call(&x, "c", "executingToolCall", json!({}));
        }
        if state == "confirmed" {
            rig.decide(&format!("{x}/c"), true, None);
        }
        rig.said();
        rig.sent.clear();
        rig.call(&x, "c", "endToolCall", json!({ "isError": true, "output": "blocked by guardrail" }));
        let told = rig.said();
        assert!(told.starts_with("server ended c"), "{state}: {told}");
        assert_eq!(told.contains("asks []"), state == "asking", "{told}");
        rig.settle(&format!("{x}/c"), &ok());
        assert_eq!((rig.said().as_str(), rig.wrote().as_str()), ("notice late_signal, done ok", ""), "{state}");
        rig.call(&x, "c", "endToolCall", json!({}));
        rig.call(&x, "c", "executingToolCall", json!({}));
        assert_eq!(rig.said(), "notice late_signal, notice late_signal");
    }
}

#[test]
fn a_call_without_the_flag_that_stays_open_is_told_and_not_run() {
    let (mut rig, x) = turn();
    let start = json!({ "toolName": "read_board_tasks", "input": {} });
    rig.call(&x, "c", "startToolCall", start.clone());
    rig.call(&x, "c", "executingToolCall", json!({}));
    rig.call(&x, "d", "startToolCall", start);
    rig.call(&x, "d", "executingToolCall", json!({}));
    rig.call(&x, "d", "endToolCall", json!({ "output": 1 }));
    rig.pass(9_000);
    rig.exchange(&x, json!({ "metaEvent": {} }));
    rig.pass(9_000);
    assert_eq!(rig.said(), "", "the exchange is not silent");
    rig.pass(2_000);
    assert_eq!((rig.said().as_str(), rig.wrote().as_str()), ("notice unflagged_call", ""));
    rig.pass(60_000);
    assert_eq!(rig.said(), "", "once is enough");
}

#[test]
fn a_call_without_the_flag_is_answered_where_the_app_wants_that() {
    let settings = super::rig::settings(SessionKey::None);
    let opening = Opening::Create { request: r#"{"agentReleaseId":7,"folderId":11}"#.into() };
    let mut rig = Rig::with(UiPath::new(settings, opening).unwrap().answering_unflagged(), &tools());
    rig.made_ready();
    let x = rig.begin("hi");
    rig.call(&x, "c", "startToolCall", json!({ "toolName": "read_board_tasks", "input": {} }));
    rig.call(&x, "c", "executingToolCall", json!({}));
    rig.pass(10_000);
    assert_eq!(rig.said(), "notice unflagged_call, orphaned c");
    rig.settle(&format!("{x}/c"), &json!({ "kind": "interrupted", "message": "it did not run here" }));
    let (call, end) = rig.about_calls("endToolCall").pop().unwrap();
    assert_eq!((call.as_str(), &end["isError"]), ("c", &json!(true)));
    assert!(end["output"]["error"].as_str().unwrap().contains("did not run"));
}

#[test]
fn a_result_that_the_connection_does_not_take_becomes_an_error_that_says_so() {
    let (mut rig, x) = turn();
    rig.call_runs(&x, "c", "read_board_tasks");
    rig.said();
    rig.settle(&format!("{x}/c"), &json!({ "kind": "ok", "result": { "text": "x".repeat(5_000) } }));
    assert_eq!(rig.said(), "notice result_too_large");
    let (_, end) = rig.about_calls("endToolCall").pop().unwrap();
    assert!(end["output"]["error"].as_str().unwrap().contains("the connection takes 5000"));
    let last = rig.packets.last().unwrap();
    assert!(last.len() < 5_000);
}

#[test]
fn declarations_are_checked_as_the_service_would() {
    let (rig, _) = turn();
    let all = tools();
    let others: Vec<_> = all.iter().collect();
    let code = |name: &str| rig.protocol.check(&super::rig::tool(name), &others).map_err(|error| error.code());
    assert_eq!(code("create task"), Ok(()));
    assert_eq!(code("create_task"), Err("invalid_tool"));
    assert_eq!(code("create-task"), Err("invalid_tool"));
}

#[test]
fn a_call_that_comes_after_the_stop_is_answered_once_however_often_it_comes() {
    for (confirm, answer) in [(false, "endToolCall c"), (true, "confirmToolCall c")] {
        let mut rig = Rig::ready(&tools());
        let x = rig.begin("hi");
        rig.command(Command::Stop);
        assert_eq!(rig.wrote(), "endExchange");
        let start =
            json!({ "toolName": "create_task", "input": {}, "isClientSideTool": true, "requireConfirmation": confirm });
        for _ in 0..2 {
            rig.call(&x, "c", "startToolCall", start.clone());
            rig.call(&x, "c", "executingToolCall", json!({ "input": {} }));
        }
        assert_eq!(rig.wrote(), answer);
        assert!(!rig.said().contains("authorised"));
    }
}
