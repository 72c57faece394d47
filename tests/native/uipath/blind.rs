//! A gap after which the service shows nothing for a while: what waits until it does, and what does not.

use serde_json::json;

use super::recovery::{call, calls_of, running};
use super::rig::{ID, Rig, record, tools};

#[test]
fn a_question_of_before_is_asked_once_the_past_can_be_read_after_all() {
    let asks = calls_of("x", &json!({ "name": "create_task", "requireConfirmation": true, "inputSchema": {} }));
    let mut rig = Rig::attaching(&tools());
    rig.answer("/conversation", 200, &format!(r#"{{"conversationId":"{ID}"}}"#));
    rig.admit();
    rig.start();
    rig.said();
    for _ in 0..2 {
        rig.answer("exchangeSort", 500, "");
        assert_eq!(rig.said(), "");
    }
    rig.answer("exchangeSort", 500, "");
    assert_eq!(rig.said(), "notice missed, ready");
    for _ in 0..3 {
        rig.answer("exchangeSort", 500, "");
        assert_eq!(rig.said(), "", "it is said once, and nothing waits for it");
    }
    rig.newest(&asks);
    assert_eq!(rig.said(), r#"running, announced c create task {"a":1}, waiting_for_confirmation, asks [c]"#);
    rig.decide("x/c", true, None);
    rig.call("x", "c", "executingToolCall", json!({ "input": { "a": 1 } }));
    assert_eq!(rig.said(), "asks [], running, authorised c, done ok");
    rig.pass(10_000);
    assert!(rig.requests.is_empty(), "what was read is not read again");
}

#[test]
fn what_is_read_late_is_nothing_new_where_it_was_heard_meanwhile() {
    let (mut rig, x) = running();
    rig.reconnect();
    for _ in 0..3 {
        rig.answer("exchangeSort", 500, "");
    }
    rig.said();
    rig.call_runs(&x, "d", "read_board_tasks");
    let heard = rig.said();
    assert!(heard.contains("authorised d"), "{heard}");
    rig.newest(&record(&x, &json!([call(&json!({})), call(&json!({ "toolCallId": "d" }))])));
    assert_eq!(rig.said(), "");
    // Where it is refused for good, nobody goes on asking.
    rig.reconnect();
    rig.answer("exchangeSort", 403, "");
    rig.pass(10_000);
    assert!(rig.requests.is_empty());
}

#[test]
fn an_answer_waits_until_it_is_clear_that_the_yes_before_it_was_heard() {
    for (there, sent) in [
        (json!({ "requireConfirmation": true }), "confirmToolCall c, endToolCall c"),
        (json!({ "requireConfirmation": true, "confirmation": { "approved": true } }), "endToolCall c"),
    ] {
        let mut rig = Rig::ready(&tools());
        let x = rig.begin("hi");
        rig.call(
            &x,
            "c",
            "startToolCall",
            call(&json!({ "toolName": "read_board_tasks", "requireConfirmation": true })),
        );
        rig.decide(&format!("{x}/c"), true, None);
        rig.reconnect();
        for _ in 0..3 {
            rig.answer("exchangeSort", 500, "");
        }
        rig.sent.clear();
        rig.settle(&format!("{x}/c"), &json!({ "kind": "cancelled", "message": "m" }));
        assert_eq!(rig.wrote(), "", "the service would take it for the yes");
        rig.answer(&format!("/exchange/{x}"), 200, &calls_of(&x, &there));
        assert_eq!(rig.wrote(), sent);
    }
}

#[test]
fn an_answer_that_was_held_back_is_not_sent_again_where_a_look_shows_it() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call(&x, "c", "startToolCall", call(&json!({ "toolName": "read_board_tasks", "requireConfirmation": true })));
    rig.decide(&format!("{x}/c"), true, None);
    let answer = rig.settle(&format!("{x}/c"), &json!({ "kind": "cancelled", "message": "m" }));
    rig.reconnect();
    for _ in 0..3 {
        rig.answer("exchangeSort", 500, "");
    }
    rig.sent.clear();
    let there =
        json!({ "requireConfirmation": true, "confirmation": { "approved": true }, "result": { "output": {} } });
    rig.answer(&format!("/exchange/{x}"), 200, &calls_of(&x, &there));
    assert_eq!(rig.wrote(), "");
    assert!(rig.done[&answer].is_ok());
}
