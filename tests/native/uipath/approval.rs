//! Questions to a person.

use serde_json::json;

use super::rig::{Rig, ok, tools};

fn asked() -> (Rig, String) {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call_asks(&x, "c", "create_task");
    assert_eq!(rig.said(), r#"announced c create task {"a":1}, waiting_for_confirmation, asks [c]"#);
    (rig, x)
}

#[test]
fn a_yes_carries_the_arguments_as_they_were_shown() {
    let (mut rig, x) = asked();
    let yes = rig.decide(&format!("{x}/c"), true, None);
    assert_eq!(rig.said(), "asks [], running");
    assert_eq!(rig.about_calls("confirmToolCall"), [("c".into(), json!({ "approved": true, "input": { "a": 1 } }))]);
    assert!(!rig.done.contains_key(&yes), "nothing has shown that it arrived");
    rig.call(&x, "c", "executingToolCall", json!({ "input": { "a": 1 } }));
    assert_eq!(rig.said(), "authorised c, done ok");
    rig.settle(&format!("{x}/c"), &ok());
    assert_eq!(rig.wrote(), "confirmToolCall c, endToolCall c");
}

#[test]
fn an_edit_replaces_the_arguments_as_a_whole() {
    let (mut rig, x) = asked();
    rig.decide(&format!("{x}/c"), true, Some(r#"{"b":1.50}"#));
    assert!(rig.packets.last().unwrap().contains(r#"{"approved":true,"input":{"b":1.50}}"#));
    rig.said();
    rig.call(&x, "c", "executingToolCall", json!({ "input": { "b": 1.5 } }));
    assert_eq!(rig.said(), r#"authorised c {"b":1.5}, done ok"#);
}

#[test]
fn an_edit_that_is_no_object_would_end_the_exchange_and_is_refused() {
    let (mut rig, x) = asked();
    for edit in ["[]", "5", r#""{}""#] {
        let id = rig.decide(&format!("{x}/c"), true, Some(edit));
        assert_eq!(rig.done[&id], Err("invalid_argument"));
    }
    assert_eq!(rig.wrote(), "");
    assert!(rig.decide(&format!("{x}/c"), true, None) > 0 && rig.wrote() == "confirmToolCall c", "it is still asked");
}

#[test]
fn an_edit_that_the_connection_does_not_take_leaves_the_question_open() {
    let (mut rig, x) = asked();
    let edit = json!({ "a": "x".repeat(5_000) }).to_string();
    let id = rig.decide(&format!("{x}/c"), true, Some(&edit));
    assert_eq!(rig.done[&id], Err("invalid_argument"));
    assert_eq!(rig.said(), "asks [], running, done invalid_argument, waiting_for_confirmation, asks [c]");
}

#[test]
fn a_no_is_final_and_what_the_agents_side_makes_of_it_is_swallowed() {
    let (mut rig, x) = asked();
    rig.decide(&format!("{x}/c"), false, None);
    assert_eq!(rig.said(), "rejected c: not today, asks [], running");
    assert_eq!(rig.about_calls("confirmToolCall"), [("c".into(), json!({ "approved": false }))]);
    rig.call(&x, "c", "endToolCall", json!({ "output": { "meta": "Cancelled by user" }, "isError": false }));
    assert_eq!(rig.said(), "done ok", "the no has arrived");
    assert_eq!(rig.wrote(), "confirmToolCall c", "nothing more leaves");
}

#[test]
fn a_call_that_is_cancelled_while_a_person_is_asked_is_rejected() {
    let (mut rig, x) = asked();
    rig.settle(&format!("{x}/c"), &json!({ "kind": "cancelled", "message": "stop" }));
    assert_eq!(rig.wrote(), "confirmToolCall c", "an end before the confirmation would be an error");
    assert_eq!(rig.said(), "rejected c: cancelled, asks [], running");
}

#[test]
fn the_agents_own_tools_ask_too_and_are_not_run_here() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    let start = json!({ "toolName": "search", "input": {}, "requireConfirmation": true });
    rig.call(&x, "s", "startToolCall", start.clone());
    assert_eq!(rig.said(), "waiting_for_confirmation, asks [s]");
    rig.decide(&format!("{x}/s"), true, None);
    rig.call(&x, "s", "executingToolCall", json!({}));
    rig.call(&x, "s", "endToolCall", json!({ "output": 1 }));
    assert_eq!(rig.said(), "asks [], running, done ok");
    rig.call(&x, "t", "startToolCall", start);
    rig.said();
    rig.decide(&format!("{x}/t"), false, None);
    assert_eq!(rig.said(), "asks [], running");
    assert_eq!(rig.wrote(), "confirmToolCall s, confirmToolCall t");
}

#[test]
fn an_answer_from_elsewhere_closes_the_question() {
    let (mut rig, x) = asked();
    rig.call(&x, "c", "executingToolCall", json!({ "input": { "a": 1 } }));
    assert_eq!(rig.said(), "authorised c, asks [], running");
    rig.call_asks(&x, "d", "create_task");
    rig.said();
    rig.call(&x, "d", "endToolCall", json!({ "output": { "meta": "Cancelled by user" } }));
    assert_eq!(rig.said(), "rejected d: rejected elsewhere, asks [], running");
    rig.call_asks(&x, "e", "create_task");
    rig.said();
    rig.call(&x, "e", "confirmToolCall", json!({ "approved": false }));
    assert_eq!(rig.said(), "rejected e: rejected elsewhere, asks [], running");
    let late = rig.decide(&format!("{x}/e"), true, None);
    assert_eq!(rig.done[&late], Err("approval_answered"));
    assert_eq!(rig.wrote(), "");
}

#[test]
fn what_old_agents_ask_is_the_same_question() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    let kind = "uipath_cas_tool_call_confirmation";
    let interrupt = |id: &str, call: &str| {
        let value = json!({ "toolCallId": call, "toolName": "search", "inputSchema": {}, "inputValue": { "q": 1 } });
        json!({ "interrupt": { "interruptId": id, "startInterrupt": { "type": kind, "value": value } } })
    };
    rig.message(&x, "m", interrupt("i", "s"));
    assert_eq!(rig.said(), "waiting_for_confirmation, asks [s]");
    rig.decide(&format!("{x}/s"), true, Some(r#"{"q":2}"#));
    let sent = &rig.sent[0]["exchange"]["message"]["interrupt"];
    assert_eq!(*sent, json!({ "interruptId": "i", "endInterrupt": { "approved": true, "input": { "q": 2 } } }));
    rig.said();
    rig.call(&x, "t", "startToolCall", json!({ "toolName": "search", "input": { "q": 1 } }));
    rig.message(&x, "m", interrupt("j", "t"));
    rig.message(&x, "m", json!({ "interrupt": { "interruptId": "j", "endInterrupt": { "approved": true } } }));
    assert_eq!(rig.said(), "waiting_for_confirmation, asks [t], asks [], running");
    rig.message(
        &x,
        "m",
        json!({ "interrupt": { "interruptId": "k", "startInterrupt": { "type": "form", "value": 1 } } }),
    );
    assert_eq!(rig.said(), "notice unknown_event");
}
