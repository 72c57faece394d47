//! Bugs of other SDKs, by their number in the guide, as far as the protocol has to do with them.

use pagehand::protocol::Command;
use serde_json::json;

use super::rig::{Rig, ok, record, tools};

fn running() -> (Rig, String) {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call_runs(&x, "c", "read_board_tasks");
    rig.said();
    (rig, x)
}

fn open_call(x: &str) -> String {
    record(x, &json!([{ "toolCallId": "c", "name": "read_board_tasks", "input": {} }]))
}

#[test]
fn case_01_a_call_that_is_settled_twice_is_answered_once_and_the_second_is_told() {
    let (mut rig, x) = running();
    rig.settle(&format!("{x}/c"), &ok());
    let second = rig.settle(&format!("{x}/c"), &ok());
    assert_eq!(rig.done[&second], Err("unknown_call"));
    assert_eq!(rig.wrote(), "endToolCall c");
}

#[test]
fn case_04_what_another_page_answered_is_not_answered_again() {
    let mut rig = Rig::joined(&tools(), &open_call("x"));
    rig.sent.clear();
    rig.pass(5_000);
    assert!(rig.said().ends_with("orphaned c"));
    let answer = rig.settle_doubtful("x/c", &json!({ "kind": "interrupted", "message": "m" }));
    let answered = record("x", &json!([{ "toolCallId": "c", "name": "read_board_tasks", "result": { "output": {} } }]));
    rig.answer("/exchange/x", 200, &answered);
    assert!(rig.done[&answer].is_ok());
    assert_eq!(rig.wrote(), "");
}

#[test]
fn case_05_every_call_that_is_pending_when_we_attach_comes_to_an_end() {
    let calls = json!([
        { "toolCallId": "a", "name": "read_board_tasks", "input": {} },
        { "toolCallId": "b", "name": "create_task", "input": {}, "requireConfirmation": true },
        { "toolCallId": "c", "name": "create_task", "input": {}, "result": { "output": 1 } },
    ]);
    let mut rig = Rig::joined(&tools(), &record("x", &calls));
    rig.pass(5_000);
    let told = rig.said();
    assert!(told.contains("asks [b]") && told.ends_with("orphaned a") && !told.contains(" c "), "{told}");
}

#[test]
fn case_07_answers_that_are_given_in_one_moment_all_leave() {
    let (mut rig, x) = running();
    for call in ["d", "e"] {
        rig.call_runs(&x, call, "read_board_tasks");
    }
    for call in ["e", "c", "d"] {
        rig.settle(&format!("{x}/{call}"), &ok());
    }
    assert_eq!(rig.wrote(), "endToolCall e, endToolCall c, endToolCall d");
    rig.message(&x, "m", json!({ "endMessage": {} }));
    assert_eq!(rig.done.values().filter(|result| result.is_ok()).count(), 4, "the message, and three answers");
}

#[test]
fn case_09_an_unknown_tool_is_answered_by_its_name() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call_runs(&x, "c", "hologram");
    assert_eq!(rig.said(), r#"announced c hologram {"a":1}, authorised c"#);
    rig.settle(
        &format!("{x}/c"),
        &json!({ "kind": "missing_handler", "tool": "hologram", "registered": ["create task"] }),
    );
    let (_, end) = rig.about_calls("endToolCall").pop().unwrap();
    let words = "No handler is registered for client-side tool 'hologram'. Registered are: create task.";
    assert_eq!(end, json!({ "isError": true, "output": { "error": words } }));
}

#[test]
fn case_11_a_handler_that_never_ends_is_answered_once() {
    let (mut rig, x) = running();
    rig.settle(&format!("{x}/c"), &json!({ "kind": "timed_out", "timeout": 60_000 }));
    rig.settle(&format!("{x}/c"), &ok());
    let told = rig.about_calls("endToolCall");
    assert_eq!(told.len(), 1);
    assert!(told[0].1["output"]["error"].as_str().unwrap().contains("60000 ms"));
}

#[test]
fn case_13_a_cancelled_call_gets_one_answer_and_nothing_goes_on() {
    let (mut rig, x) = running();
    rig.settle(&format!("{x}/c"), &json!({ "kind": "cancelled", "message": "stop" }));
    rig.command(Command::Stop);
    rig.settle(&format!("{x}/c"), &ok());
    rig.message(&x, "m", json!({ "endMessage": {} }));
    assert_eq!(rig.wrote(), "endToolCall c, endExchange");
}

#[test]
fn case_14_a_policy_error_while_a_handler_runs_keeps_its_result() {
    let (mut rig, x) = running();
    rig.lose(1008);
    assert_eq!(rig.said(), "lost 1008");
    rig.settle(&format!("{x}/c"), &ok());
    rig.come_back();
    rig.newest(&open_call(&x));
    assert_eq!(rig.wrote(), "startSession, endToolCall c");
}

#[test]
fn case_16_answer_leaves_once_after_reconnect() {
    let (mut rig, x) = running();
    rig.lose(1006);
    rig.settle(&format!("{x}/c"), &ok());
    for _ in 0..3 {
        // It comes back and breaks before the session stands.
        let sockets = rig.sockets;
        rig.wait_for("a new socket", |rig| rig.sockets > sockets);
        rig.admit();
        rig.lose(1006);
    }
    rig.come_back();
    rig.newest(&open_call(&x));
    assert_eq!(rig.about_calls("endToolCall").len(), 1);
}

#[test]
fn case_17_what_nothing_waits_for_cannot_be_answered() {
    let (mut rig, x) = running();
    let decided = rig.decide(&format!("{x}/c"), true, None);
    let unknown = rig.decide("x/unknown", true, None);
    assert_eq!((&rig.done[&decided], &rig.done[&unknown]), (&Err("approval_answered"), &Err("approval_answered")));
    assert_eq!(rig.wrote(), "");
}

#[test]
fn case_18_a_rejection_is_final_also_after_a_reload() {
    let rejected = json!([{ "toolCallId": "c", "name": "create_task", "input": {}, "requireConfirmation": true,
        "confirmation": { "approved": false } }]);
    let mut rig = Rig::joined(&tools(), &record("x", &rejected));
    rig.pass(60_000);
    assert_eq!(rig.said(), "opened old, connecting, connected, ready");
}

#[test]
fn case_19_an_approved_call_runs_only_on_the_go_signal() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call_asks(&x, "c", "create_task");
    rig.decide(&format!("{x}/c"), true, None);
    rig.pass(60_000);
    assert!(!rig.said().contains("authorised"));
    rig.call(&x, "c", "executingToolCall", json!({ "input": { "a": 1 } }));
    assert_eq!(rig.said(), "authorised c");
}

#[test]
fn case_20_two_prompts_of_one_tool_get_each_their_own_answer() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call_asks(&x, "c", "create_task");
    rig.call_asks(&x, "d", "create_task");
    rig.said();
    rig.decide(&format!("{x}/d"), true, Some(r#"{"d":1}"#));
    assert_eq!(rig.said(), "asks [c]", "the first still waits");
    rig.decide(&format!("{x}/c"), false, None);
    assert_eq!(rig.said(), "rejected c: not today, asks [], running");
    assert_eq!(
        rig.about_calls("confirmToolCall"),
        [("d".into(), json!({ "approved": true, "input": { "d": 1 } })), ("c".into(), json!({ "approved": false }))]
    );
}

#[test]
fn case_21_a_reload_in_any_state_gives_the_agent_one_result() {
    for (known, doubtful, sent) in
        [(ok(), false, "endToolCall c"), (json!({ "kind": "interrupted", "message": "m" }), true, "endToolCall c")]
    {
        let mut rig = Rig::joined(&tools(), &open_call("x"));
        rig.sent.clear();
        if doubtful {
            rig.settle_doubtful("x/c", &known);
            rig.answer("/exchange/x", 200, &open_call("x"));
        } else {
            rig.settle("x/c", &known);
        }
        rig.pass(60_000);
        assert_eq!(rig.wrote(), sent);
        assert!(!rig.said().contains("orphaned"), "it has its answer");
        rig.end_exchange("x");
        rig.begin("the next turn");
    }
}

#[test]
fn case_22_a_question_survives_errors_of_the_connection() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call_asks(&x, "c", "create_task");
    rig.server(&json!({ "conversationError": { "errorId": "E", "startError": { "message": "m" } } }));
    rig.lose(1006);
    rig.decide(&format!("{x}/c"), true, None);
    assert_eq!(rig.wrote(), "");
    rig.come_back();
    let asks = json!([{ "toolCallId": "c", "name": "create_task", "input": {}, "requireConfirmation": true }]);
    rig.newest(&record(&x, &asks));
    assert_eq!(rig.wrote(), "startSession, confirmToolCall c");
}

#[test]
fn case_23_answered_stays_answered_and_pending_is_offered_again() {
    let call = |id: &str, more: serde_json::Value| {
        let mut call = json!({ "toolCallId": id, "name": "create_task", "input": {}, "requireConfirmation": true });
        for (name, value) in more.as_object().unwrap() {
            call[name] = value.clone();
        }
        call
    };
    let yes = json!({ "confirmation": { "approved": true }, "result": { "output": {} } });
    let no = json!({ "confirmation": { "approved": false }, "result": { "output": {} } });
    let calls = json!([call("a", yes), call("b", no), call("c", json!({}))]);
    let mut rig = Rig::joined(&tools(), &record("x", &calls));
    let told = rig.said();
    assert!(told.contains("asks [c]") && !told.contains(" a ") && !told.contains(" b "), "{told}");
}

#[test]
fn case_24_what_did_not_run_is_never_an_empty_success() {
    for kind in [
        "missing_handler",
        "invalid_arguments",
        "invalid_output",
        "failed",
        "timed_out",
        "cancelled",
        "interrupted",
        "hologram",
    ] {
        let (mut rig, x) = running();
        rig.settle(&format!("{x}/c"), &json!({ "kind": kind, "message": "m", "code": "c", "name": "" }));
        let (_, end) = rig.about_calls("endToolCall").pop().unwrap();
        assert_eq!(end["isError"], true, "{kind}");
        assert!(end["output"]["error"].as_str().is_some_and(|words| words.len() > 10), "{kind}");
    }
}
