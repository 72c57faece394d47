//! What was missed in a gap, and what was in doubt after it.

use pagehand::net::Answer;
use pagehand::protocol::Command;
use serde_json::{Value, json};

use super::rig::{Rig, ok, record, record_with, tools};

/// A conversation with a call that runs: it, and the exchange.
pub(super) fn running() -> (Rig, String) {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call_runs(&x, "c", "read_board_tasks");
    rig.said();
    (rig, x)
}

pub(super) fn call(more: &Value) -> Value {
    let mut call = json!({ "toolCallId": "c", "name": "read_board_tasks", "input": { "a": 1 } });
    for (name, value) in more.as_object().unwrap() {
        call[name] = value.clone();
    }
    call
}

pub(super) fn calls_of(x: &str, more: &Value) -> String {
    record(x, &json!([call(more)]))
}

#[test]
fn an_outcome_of_a_time_without_a_connection_leaves_once_it_is_back() {
    let (mut rig, x) = running();
    rig.lose(1006);
    let answer = rig.settle(&format!("{x}/c"), &ok());
    rig.say("queued");
    assert_eq!(rig.wrote(), "");
    rig.come_back();
    assert_eq!(rig.wrote(), "startSession", "first it is read what was missed");
    rig.newest(&calls_of(&x, &json!({})));
    assert!(rig.wrote().starts_with("endToolCall c, startExchange"), "answers first");
    rig.message(&x, "m", json!({ "endMessage": {} }));
    assert!(rig.done[&answer].is_ok());
}

#[test]
fn an_answer_in_doubt_is_sent_again_only_if_it_is_not_there() {
    for (there, again) in [(json!({ "result": { "output": {} } }), ""), (json!({}), "endToolCall c")] {
        let (mut rig, x) = running();
        let answer = rig.settle(&format!("{x}/c"), &ok());
        let first = rig.packets.last().unwrap().clone();
        rig.reconnect();
        rig.sent.clear();
        rig.newest(&calls_of(&x, &there));
        assert_eq!(rig.wrote(), again, "{there}");
        assert_eq!(rig.done.contains_key(&answer), again.is_empty());
        if !again.is_empty() {
            assert_eq!(*rig.packets.last().unwrap(), first, "the same bytes");
        }
    }
}

#[test]
fn an_answer_in_doubt_is_sent_again_where_nothing_can_be_read() {
    let (mut rig, x) = running();
    rig.settle(&format!("{x}/c"), &ok());
    rig.reconnect();
    rig.sent.clear();
    rig.said();
    for _ in 0..2 {
        rig.reply("exchangeSort", Answer::Unreachable);
        assert_eq!(rig.wrote(), "");
        rig.wait_for("another attempt", |rig| !rig.requests.is_empty());
    }
    rig.reply("exchangeSort", Answer::TimedOut);
    assert_eq!(rig.wrote(), "endToolCall c", "a second one would count for nothing");
    assert_eq!(rig.said(), "notice missed, up again");
}

#[test]
fn an_answer_that_a_page_of_before_may_have_sent_is_looked_for() {
    for (status, body, sent, done) in [
        (200, calls_of("x", &json!({ "result": { "output": 1 } })), "", true),
        (200, calls_of("x", &json!({})), "endToolCall c", false),
        (404, String::new(), "endToolCall c", false),
        (500, String::new(), "endToolCall c", false),
    ] {
        let mut rig = Rig::joined(&tools(), "");
        rig.sent.clear();
        let answer = rig.settle_doubtful("x/c", &ok());
        rig.answer("/exchange/x", status, &body);
        if sent.is_empty() || status != 200 {
            assert_eq!(rig.wrote(), sent, "{status}");
        } else {
            assert_eq!(rig.sent[0]["exchange"]["message"]["messageId"], "m", "it was read where the call is");
        }
        assert_eq!(rig.done.contains_key(&answer), done, "{status}");
    }
    let mut rig = Rig::joined(&tools(), "");
    let nameless = rig.settle("nameless", &ok());
    assert_eq!(rig.done[&nameless], Err("unknown_call"));
}

#[test]
fn a_yes_in_doubt_is_sent_again_only_if_the_question_is_seen_to_be_open() {
    for (there, again) in [
        (json!({ "requireConfirmation": true }), "confirmToolCall c"),
        (json!({ "requireConfirmation": true, "confirmation": { "approved": true } }), ""),
        (json!({ "requireConfirmation": true, "result": { "output": {} } }), ""),
    ] {
        let mut rig = Rig::ready(&tools());
        let x = rig.begin("hi");
        rig.call_asks(&x, "c", "create_task");
        let yes = rig.decide(&format!("{x}/c"), true, Some(r#"{"edited":1}"#));
        let first = rig.packets.last().unwrap().clone();
        rig.reconnect();
        rig.sent.clear();
        rig.newest(&calls_of(&x, &there));
        assert_eq!(rig.wrote(), again, "{there}");
        assert_eq!(rig.done.contains_key(&yes), again.is_empty());
        if !again.is_empty() {
            assert_eq!(*rig.packets.last().unwrap(), first);
        }
    }
}

#[test]
fn a_yes_in_doubt_waits_until_the_question_can_be_read() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call_asks(&x, "c", "create_task");
    let yes = rig.decide(&format!("{x}/c"), true, None);
    rig.reconnect();
    rig.sent.clear();
    rig.answer("exchangeSort", 403, "");
    for _ in 0..3 {
        rig.wait_for("a look", |rig| !rig.requests.is_empty());
        rig.answer(&format!("/exchange/{x}"), 500, "");
        assert_eq!(rig.wrote(), "", "a second one would be taken for a result");
    }
    rig.wait_for("a look", |rig| !rig.requests.is_empty());
    rig.answer(&format!("/exchange/{x}"), 200, &calls_of(&x, &json!({ "requireConfirmation": true })));
    assert_eq!(rig.wrote(), "confirmToolCall c");
    rig.call(&x, "c", "executingToolCall", json!({ "input": { "a": 1 } }));
    assert!(rig.done[&yes].is_ok());
}

#[test]
fn a_message_in_doubt_is_there_or_said_again_or_begun_anew() {
    let user = |parts: Value| json!([{ "messageId": "U", "role": "user", "contentParts": parts }]);
    let whole = json!([{ "contentPartId": "p", "mimeType": "text/plain", "data": { "inline": "hello" } }]);
    for (messages, again) in [
        (Some(user(whole)), "endMessage"),
        (None, "startExchange, startMessage, startContentPart, chunk, endContentPart, endMessage"),
        (
            Some(user(json!([]))),
            "endExchange, startExchange, startMessage, startContentPart, chunk, endContentPart, endMessage",
        ),
        (
            Some(json!([])),
            "endExchange, startExchange, startMessage, startContentPart, chunk, endContentPart, endMessage",
        ),
    ] {
        let mut rig = Rig::ready(&tools());
        rig.say("hello");
        let exchange = rig.sent[0]["exchange"]["exchangeId"].as_str().unwrap().to_owned();
        let message = rig.sent[1]["exchange"]["message"]["messageId"].clone();
        let sent = rig.sent.clone();
        rig.reconnect();
        rig.sent.clear();
        rig.said();
        rig.newest("");
        match messages {
            Some(mut messages) => {
                if let Some(user) = messages.get_mut(0) {
                    user["messageId"] = message;
                }
                let body = record_with(&exchange, &messages);
                rig.answer(&format!("/exchange/{exchange}"), 200, &body);
            }
            None => rig.answer(&format!("/exchange/{exchange}"), 404, ""),
        }
        let new = rig.sent.last().map(|sent| sent["exchange"]["exchangeId"].clone());
        if again.starts_with("start") {
            assert_eq!(rig.sent, sent, "with the same ids");
        }
        assert_eq!(rig.wrote(), again);
        assert_eq!(rig.said(), "up again", "the house has it once");
        if again.starts_with("endExchange") {
            let new = new.unwrap();
            assert_ne!(new, exchange.as_str());
            rig.agent_says(new.as_str().unwrap(), "a", "hi");
            rig.end_exchange(new.as_str().unwrap());
            assert_eq!(rig.said(), "~hi, assistant: hi, over finished");
        }
    }
}

#[test]
fn a_message_in_doubt_of_which_something_comes_has_arrived() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hello");
    rig.exchange(&x, json!({ "metaEvent": {} }));
    rig.reconnect();
    rig.sent.clear();
    rig.newest("");
    rig.answer(&format!("/exchange/{x}"), 200, &record_with(&x, &json!([])));
    assert_eq!(rig.wrote(), "");
}

#[test]
fn a_call_whose_go_signal_was_missed_is_answered_after_a_grace() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call(
        &x,
        "c",
        "startToolCall",
        json!({ "toolName": "read_board_tasks", "input": {}, "isClientSideTool": true }),
    );
    rig.reconnect();
    rig.newest(&calls_of(&x, &json!({})));
    rig.said();
    rig.pass(4_999);
    assert_eq!(rig.said(), "");
    rig.pass(1);
    assert_eq!(rig.said(), "orphaned c");
}

#[test]
fn a_go_signal_within_the_grace_counts() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call(
        &x,
        "c",
        "startToolCall",
        json!({ "toolName": "read_board_tasks", "input": {}, "isClientSideTool": true }),
    );
    rig.reconnect();
    rig.newest(&calls_of(&x, &json!({})));
    rig.said();
    rig.call(&x, "c", "executingToolCall", json!({}));
    rig.pass(10_000);
    assert_eq!(rig.said(), "authorised c");
}

#[test]
fn a_call_that_came_in_the_gap_is_never_run() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.reconnect();
    rig.newest(&calls_of(&x, &json!({})));
    rig.said();
    rig.call(&x, "c", "executingToolCall", json!({}));
    rig.pass(5_000);
    assert_eq!(rig.said(), "notice unknown_call, orphaned c");
}

#[test]
fn a_question_is_not_asked_when_its_go_signal_came_while_it_was_read() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.reconnect();
    rig.said();
    rig.call(&x, "c", "executingToolCall", json!({}));
    rig.newest(&calls_of(&x, &json!({ "requireConfirmation": true })));
    assert_eq!(rig.said(), "notice unknown_call, up again");
    rig.pass(5_000);
    assert_eq!(rig.said(), "orphaned c");
}

#[test]
fn a_call_that_the_service_tells_again_is_a_call_like_any_other() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.reconnect();
    rig.newest(&calls_of(&x, &json!({})));
    rig.said();
    rig.call_runs(&x, "c", "read_board_tasks");
    rig.pass(10_000);
    assert_eq!(rig.said(), r#"announced c read_board_tasks {"a":1}, authorised c"#);
}

#[test]
fn a_call_that_ended_in_the_gap_is_ended() {
    let (mut rig, x) = running();
    rig.reconnect();
    rig.said();
    rig.newest(&calls_of(&x, &json!({ "result": { "output": "blocked", "isError": true } })));
    assert_eq!(rig.said(), "server ended c, up again");
}

#[test]
fn a_handler_that_runs_over_a_gap_is_left_alone() {
    let (mut rig, x) = running();
    rig.reconnect();
    rig.newest(&calls_of(&x, &json!({})));
    rig.said();
    rig.pass(60_000);
    assert_eq!(rig.said(), "");
    rig.sent.clear();
    rig.settle(&format!("{x}/c"), &ok());
    assert_eq!(rig.wrote(), "endToolCall c");
}

#[test]
fn a_question_that_was_answered_in_the_gap_is_closed_and_its_call_runs_or_not() {
    for (approved, told) in
        [(true, "asks [], running, up again"), (false, "rejected c: rejected elsewhere, asks [], running, up again")]
    {
        let mut rig = Rig::ready(&tools());
        let x = rig.begin("hi");
        rig.call_asks(&x, "c", "create_task");
        rig.reconnect();
        rig.said();
        let there = json!({ "requireConfirmation": true, "confirmation": { "approved": approved } });
        rig.newest(&calls_of(&x, &there));
        assert_eq!(rig.said(), told);
        rig.pass(5_000);
        assert_eq!(rig.said(), if approved { "orphaned c" } else { "" });
    }
}

#[test]
fn a_confirmed_call_waits_for_its_go_signal_behind_earlier_calls() {
    let (mut rig, x) = running();
    rig.call_asks(&x, "d", "create_task");
    rig.decide(&format!("{x}/d"), true, None);
    rig.reconnect();
    let mut second = call(&json!({ "requireConfirmation": true, "confirmation": { "approved": true } }));
    second["toolCallId"] = json!("d");
    rig.newest(&record(&x, &json!([call(&json!({})), second])));
    rig.said();
    rig.pass(60_000);
    assert_eq!(rig.said(), "", "the first is not answered yet");
    rig.settle(&format!("{x}/c"), &ok());
    rig.pass(4_999);
    assert_eq!(rig.said(), "", "its time begins anew");
    rig.pass(10_000);
    assert_eq!(rig.said(), "done ok, orphaned d");
}

#[test]
fn messages_that_came_in_the_gap_are_told_once() {
    let mut rig = Rig::ready(&[]);
    let x = rig.begin("hi");
    rig.agent_says(&x, "a", "one");
    rig.message(&x, "b", json!({ "startMessage": { "role": "assistant" } }));
    rig.reconnect();
    rig.said();
    let said = |id: &str, text: &str| {
        let data = json!([{ "contentPartId": "p", "mimeType": "text/markdown", "data": { "inline": text } }]);
        json!({ "messageId": id, "role": "assistant", "contentParts": data })
    };
    rig.newest(&record_with(&x, &json!([said("a", "one"), said("b", "two"), said("c", "three"), said("d", "fo")])));
    assert_eq!(rig.said(), "assistant: two, assistant: three, up again", "the last may still grow");
    let chunk = json!({ "contentPart": { "contentPartId": "p", "chunk": { "data": "ur" } } });
    rig.message(&x, "d", chunk);
    rig.message(&x, "d", json!({ "endMessage": {} }));
    rig.end_exchange(&x);
    assert_eq!(rig.said(), "~ur, over finished", "its words are being read");
    rig.answer(&format!("/exchange/{x}"), 200, &record_with(&x, &json!([said("d", "four")])));
    assert_eq!(rig.said(), "assistant: four");
}

#[test]
fn the_last_message_that_was_read_is_whole_when_something_else_comes() {
    let mut rig = Rig::ready(&[]);
    let x = rig.begin("hi");
    rig.exchange(&x, json!({ "metaEvent": {} }));
    rig.reconnect();
    let part = json!([{ "contentPartId": "p", "mimeType": "text/plain", "data": { "inline": "whole" } }]);
    rig.newest(&record_with(&x, &json!([{ "messageId": "a", "role": "assistant", "contentParts": part }])));
    rig.said();
    rig.end_exchange(&x);
    assert_eq!(rig.said(), "assistant: whole, over finished");
}

#[test]
fn words_that_cannot_be_read_are_those_that_were_heard() {
    let mut rig = Rig::ready(&[]);
    let x = rig.begin("hi");
    rig.message(&x, "a", json!({ "contentPart": { "contentPartId": "p", "chunk": { "data": "tail" } } }));
    rig.message(&x, "a", json!({ "endMessage": {} }));
    rig.reply(&format!("/exchange/{x}"), Answer::TimedOut);
    assert_eq!(rig.said(), "~tail, assistant: tail");
}

#[test]
fn the_end_of_a_turn_that_was_missed_is_found_by_asking() {
    let mut rig = Rig::ready(&[]);
    let x = rig.begin("hi");
    rig.exchange(&x, json!({ "metaEvent": {} }));
    rig.command(Command::Poll);
    assert_eq!(rig.said(), "done ok", "nothing was missed");
    rig.reconnect();
    let part = json!([{ "contentPartId": "p", "mimeType": "text/plain", "data": { "inline": "bye" } }]);
    let over = record_with(&x, &json!([{ "messageId": "a", "role": "assistant", "contentParts": part }]));
    rig.newest(&record_with(&x, &json!([])));
    rig.said();
    rig.command(Command::Poll);
    rig.answer(&format!("/exchange/{x}"), 200, &record_with(&x, &json!([])));
    rig.command(Command::Poll);
    rig.answer(&format!("/exchange/{x}"), 200, &over);
    assert_eq!(rig.said(), "polled running, done ok, assistant: bye, polled finished, done ok");
    rig.command(Command::Poll);
    rig.exchange(&x, json!({ "metaEvent": {} }));
    rig.answer(&format!("/exchange/{x}"), 200, &over);
    assert_eq!(rig.said(), "done ok", "it goes on");
}

#[test]
fn asking_how_a_turn_is_doing_settles_no_doubt_before_the_session_has_looked() {
    let (mut rig, x) = running();
    rig.settle(&format!("{x}/c"), &ok());
    rig.reconnect();
    rig.said();
    rig.sent.clear();
    rig.command(Command::Poll);
    assert_eq!(rig.said(), "done ok");
    assert!(rig.requests.is_empty(), "what was sent may still be on its way");
    rig.newest(&calls_of(&x, &json!({ "result": { "output": {} } })));
    assert_eq!(rig.wrote(), "");
}

#[test]
fn what_was_asked_in_an_earlier_session_settles_no_doubt_of_this_one() {
    for late in [false, true] {
        let (mut rig, x) = running();
        rig.reconnect();
        rig.newest(&calls_of(&x, &json!({})));
        rig.command(Command::Poll);
        let (poll, what) = rig.take("/exchange/").unwrap();
        rig.settle(&format!("{x}/c"), &ok());
        rig.reconnect();
        rig.said();
        rig.sent.clear();
        let there = calls_of(&x, &json!({ "result": { "output": {} } }));
        if late {
            rig.newest(&there);
        }
        rig.requests.push((poll, what));
        rig.answer(&format!("/exchange/{x}"), 200, &calls_of(&x, &json!({})));
        if !late {
            rig.newest(&there);
        }
        assert_eq!(rig.wrote(), "", "{late}");
    }
}

#[test]
fn a_turn_after_one_whose_end_was_missed_is_a_turn() {
    let mut rig = Rig::ready(&[]);
    let x = rig.begin("hi");
    rig.exchange(&x, json!({ "metaEvent": {} }));
    rig.reconnect();
    rig.newest(&record_with(&x, &json!([])));
    let y = rig.begin("again");
    rig.end_exchange(&x);
    assert_eq!(rig.said(), "");
    rig.end_exchange(&y);
    assert_eq!(rig.said(), "over finished");
}

#[test]
fn a_conversation_that_is_gone_ends() {
    let mut rig = Rig::ready(&[]);
    rig.reconnect();
    rig.said();
    rig.answer("exchangeSort", 404, r#"{"error":"gone"}"#);
    assert_eq!(rig.said(), "ended not_found, left");
}

#[test]
fn an_old_answer_about_what_was_missed_counts_for_nothing() {
    let (mut rig, x) = running();
    rig.reconnect();
    let (request, _) = rig.take("exchangeSort").unwrap();
    rig.reconnect();
    rig.said();
    rig.requests.push((request, rig.requests[0].1.clone()));
    let (_, current) = (rig.take("exchangeSort").unwrap(), ());
    let () = current;
    rig.newest(&calls_of(&x, &json!({ "result": {} })));
    assert_eq!(rig.said(), "", "that session is over");
}
