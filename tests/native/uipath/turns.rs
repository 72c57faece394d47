//! Messages and turns.

use pagehand::protocol::Command;
use serde_json::json;

use super::rig::{Rig, ok, raw, tool, tool_with, tools};

#[test]
fn a_message_is_an_exchange_of_its_own_that_declares_the_tools() {
    let mut tools = tools();
    tools.push(tool_with("mute", r#""hasHandler":false"#));
    let mut rig = Rig::ready(&tools);
    rig.say("hello");
    assert_eq!(rig.said(), "user: hello, running, done ok");
    let exchange = &rig.sent[0]["exchange"];
    let names: Vec<_> = exchange["startExchange"]["clientSideTools"].as_array().unwrap().iter().collect();
    assert_eq!(
        (names.len(), &names[0]["name"], &names[1]["name"]),
        (2, &json!("read_board_tasks"), &json!("create_task"))
    );
    let part = &rig.sent[2]["exchange"]["message"]["contentPart"];
    assert_eq!(part["startContentPart"], json!({ "mimeType": "text/plain" }));
    let message = &rig.sent[1]["exchange"]["message"];
    assert_eq!(message["startMessage"], json!({ "role": "user" }));
    for id in [&exchange["exchangeId"], &message["messageId"], &part["contentPartId"]] {
        let id = id.as_str().unwrap();
        assert!(id.len() == 36 && id == id.to_uppercase() && id.as_bytes()[14] == b'4', "{id}");
    }
    assert_eq!(rig.wrote(), "startExchange, startMessage, startContentPart, chunk, endContentPart, endMessage");
}

#[test]
fn parts_keep_their_kinds_and_attachments_have_no_chunk() {
    let mut rig = Rig::ready(&[]);
    rig.say_parts(&json!([
        { "type": "text", "text": "", "mimeType": "text/markdown" },
        { "type": "attachment", "uri": "urn:x", "mimeType": "application/pdf", "name": "a.pdf", "byteCount": 12 },
    ]));
    let parts: Vec<_> = rig.sent.iter().map(|sent| &sent["exchange"]["message"]["contentPart"]).collect();
    assert_eq!(parts[2]["startContentPart"]["mimeType"], "text/markdown");
    assert_eq!(
        parts[5]["startContentPart"],
        json!({ "mimeType": "application/pdf", "name": "a.pdf", "externalValue": { "uri": "urn:x", "byteCount": 12 } })
    );
    assert_eq!(
        rig.wrote(),
        "startExchange, startMessage, startContentPart, chunk, endContentPart, startContentPart, endContentPart, endMessage"
    );
}

#[test]
fn what_the_service_has_no_place_for_is_refused() {
    let mut rig = Rig::ready(&[]);
    for content in [r#"[{"type":"image","image_urls":[]}]"#, r#"[{"type":"attachment","uri":"urn:x"}]"#, "[5]"] {
        let id = rig.command(Command::Say { content: raw(content), run: true });
        assert_eq!(rig.done[&id], Err("invalid_argument"), "{content}");
    }
    let quiet = rig.command(Command::Say { content: raw(r#"[{"type":"text","text":"x"}]"#), run: false });
    let run = rig.command(Command::Run);
    let large = rig.say(&"x".repeat(5_000));
    for id in [quiet, run, large] {
        assert_eq!(rig.done[&id], Err("invalid_argument"));
    }
    assert_eq!(rig.wrote(), "");
}

#[test]
fn siblings_in_one_envelope_all_count_and_a_start_before_an_end() {
    let mut rig = Rig::ready(&[]);
    rig.exchange(
        "x",
        json!({
            "endExchange": {}, "startExchange": {},
            "message": {
                "messageId": "m", "endMessage": {}, "startMessage": { "role": "assistant" },
                "contentPart": {
                    "contentPartId": "p", "endContentPart": {}, "chunk": { "data": "all" },
                    "startContentPart": { "mimeType": "text/markdown" },
                },
            },
        }),
    );
    assert_eq!(rig.said(), "running, assistant: all, over finished, ~all");
}

#[test]
fn an_exchange_that_somebody_else_began_is_a_turn_with_all_its_messages() {
    let mut rig = Rig::ready(&[]);
    rig.exchange("x", json!({ "startExchange": {} }));
    rig.message(
        "x",
        "u",
        json!({
            "startMessage": { "role": "user" }, "endMessage": {},
            "contentPart": { "contentPartId": "p", "startContentPart": { "mimeType": "text/plain" }, "chunk": { "data": "hi" } },
        }),
    );
    rig.agent_says("x", "a", "hello");
    rig.end_exchange("x");
    assert_eq!(rig.said(), "running, user: hi, ~hello, assistant: hello, over finished");
}

#[test]
fn our_own_message_that_comes_back_is_not_told_twice() {
    let mut rig = Rig::ready(&[]);
    rig.say("hi");
    rig.said();
    for envelope in rig.sent.clone() {
        rig.server(&envelope);
    }
    assert_eq!(rig.said(), "notice duplicate_event");
}

#[test]
fn an_exchange_error_ends_the_turn_and_nothing_follows() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call_runs(&x, "c", "read_board_tasks");
    rig.said();
    rig.exchange(&x, json!({ "exchangeError": { "errorId": "E", "startError": { "message": "m" } } }));
    assert_eq!(rig.said(), "failed E, server ended c, over error, condition exchange E");
    rig.exchange(&x, json!({ "exchangeError": { "errorId": "E", "endError": {} } }));
    rig.end_exchange(&x);
    assert_eq!(rig.said(), "condition exchange E over");
    let x = rig.begin("again");
    rig.end_exchange(&x);
    assert_eq!(rig.said(), "over finished");
}

#[test]
fn conditions_begin_and_end_at_every_level() {
    let mut rig = Rig::ready(&[]);
    let x = rig.begin("hi");
    let start = json!({ "errorId": "E", "startError": { "message": "m", "details": { "d": 1 } } });
    let end = json!({ "errorId": "E", "endError": {} });
    for error in [&start, &end] {
        rig.server(&json!({ "conversationError": error }));
        rig.server(&json!({ "asyncInputStream": { "streamId": "s", "asyncInputStreamError": error } }));
        rig.message(&x, "a", json!({ "messageError": error }));
        rig.message(&x, "a", json!({ "contentPart": { "contentPartId": "p", "contentPartError": error } }));
        let citation = json!({ "citationId": "k", "citationError": error });
        rig.message(&x, "a", json!({ "contentPart": { "contentPartId": "p", "chunk": { "citation": citation } } }));
        rig.call(&x, "c", "toolCallError", error.clone());
    }
    assert_eq!(
        rig.said(),
        "condition conversation E, condition input_stream E, condition message E, condition content_part E, \
         condition citation E, condition tool_call E, condition conversation E over, condition input_stream E over, \
         condition message E over, condition content_part E over, condition citation E over, condition tool_call E over"
    );
}

#[test]
fn while_the_conversation_has_an_error_messages_wait_and_answers_go() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call_runs(&x, "c", "read_board_tasks");
    rig.server(&json!({ "conversationError": { "errorId": "E", "startError": { "message": "m" } } }));
    rig.say("more");
    rig.settle(&format!("{x}/c"), &ok());
    assert_eq!(rig.wrote(), "endToolCall c");
    rig.server(&json!({ "conversationError": { "errorId": "E", "endError": {} } }));
    assert!(rig.wrote().starts_with("startExchange, startMessage"));
}

#[test]
fn labels_and_events_of_the_apps_own_are_passed_on_and_new_members_told() {
    let mut rig = Rig::ready(&[]);
    rig.server(&json!({ "labelUpdated": { "label": "New", "autogenerated": true } }));
    rig.server(&json!({ "metaEvent": { "a": 1.5 } }));
    rig.server(&json!({ "hologram": {} }));
    rig.server(&json!({ "asyncToolCall": { "toolCallId": "t", "startToolCall": { "toolName": "x" } } }));
    assert_eq!(rig.said(), "label New true, notice unknown_event, notice unknown_event");
    assert_eq!(rig.events.len(), 5, "every event is delivered as it came");
    assert_eq!(rig.events[2]["metaEvent"], json!({ "a": 1.5 }));
}

#[test]
fn stopping_ends_the_exchange_at_once_and_what_comes_of_it_later_changes_nothing() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call_runs(&x, "c", "read_board_tasks");
    rig.settle(&format!("{x}/c"), &json!({ "kind": "cancelled", "message": "stop" }));
    rig.said();
    rig.command(Command::Stop);
    assert_eq!(rig.said(), "over paused, done ok");
    assert_eq!(rig.wrote(), "endToolCall c, endExchange");
    rig.agent_says(&x, "late", "text");
    rig.end_exchange(&x);
    assert_eq!(rig.said(), "done ok", "the agent has the answer");
    rig.command(Command::Stop);
    assert_eq!(rig.said(), "done ok", "there is nothing to stop");
    assert_eq!(rig.wrote(), "");
}

#[test]
fn a_call_that_comes_after_a_stop_is_answered_so_that_nobody_waits() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.command(Command::Stop);
    rig.said();
    rig.sent.clear();
    rig.call_runs(&x, "c", "read_board_tasks");
    rig.call_asks(&x, "d", "create_task");
    assert_eq!(rig.wrote(), "endToolCall c, confirmToolCall d");
    assert_eq!(rig.said(), "notice late_signal, notice late_signal, notice late_signal");
}

#[test]
fn a_no_to_a_call_that_came_after_a_stop_stays_here_once_somebody_has_said_yes() {
    for (go, sent) in [(true, "endExchange"), (false, "endExchange, confirmToolCall d")] {
        let mut rig = Rig::ready(&tools());
        let x = rig.begin("hi");
        rig.command(Command::Stop);
        rig.reconnect();
        rig.sent.clear();
        rig.call_asks(&x, "d", "create_task");
        if go {
            rig.call(&x, "d", "executingToolCall", json!({ "input": { "a": 1 } }));
        }
        assert_eq!(rig.wrote(), "", "first it is read what was missed");
        rig.newest("");
        assert_eq!(rig.wrote(), sent);
    }
}

#[test]
fn a_stop_while_the_connection_is_down_leaves_after_the_answers() {
    let mut rig = Rig::ready(&tools());
    let x = rig.begin("hi");
    rig.call_runs(&x, "c", "read_board_tasks");
    rig.lose(1006);
    rig.said();
    rig.settle(&format!("{x}/c"), &json!({ "kind": "cancelled", "message": "stop" }));
    rig.command(Command::Stop);
    assert_eq!(rig.said(), "over paused");
    rig.come_back();
    rig.newest("");
    assert_eq!(rig.wrote(), "startSession, endToolCall c, endExchange");
}

#[test]
fn tools_that_are_declared_later_are_in_the_next_exchange() {
    let mut rig = Rig::ready(&[]);
    let late = tool("late tool");
    pagehand::protocol::Protocol::declare(&mut rig.protocol, &late, &[]).unwrap();
    rig.say("hi");
    assert_eq!(rig.sent[0]["exchange"]["startExchange"]["clientSideTools"][0]["name"], "late_tool");
}

#[test]
fn a_message_that_streams_is_told_with_its_citations() {
    let mut rig = Rig::ready(&[]);
    let x = rig.begin("hi");
    let part = |chunk| json!({ "contentPart": { "contentPartId": "p", "chunk": chunk } });
    rig.message(&x, "a", json!({ "startMessage": { "role": "assistant" } }));
    rig.message(
        &x,
        "a",
        json!({ "contentPart": { "contentPartId": "p", "startContentPart": { "mimeType": "text/plain" } } }),
    );
    rig.message(&x, "a", part(json!({ "data": "see " })));
    let source = json!({ "title": "T", "number": 1, "url": "https://e.x" });
    let citation = json!({ "citationId": "k", "startCitation": {}, "endCitation": { "sources": [source] } });
    rig.message(&x, "a", part(json!({ "data": "this", "citation": citation })));
    rig.message(&x, "a", json!({ "endMessage": {} }));
    assert_eq!(rig.said(), "~see , ~this, assistant: see this");
}

#[test]
fn a_message_that_ends_again_is_neither_told_nor_read_again() {
    let mut rig = Rig::ready(&[]);
    let x = rig.begin("hi");
    rig.agent_says(&x, "a", "hello");
    rig.message(&x, "a", json!({ "endMessage": {} }));
    rig.agent_says(&x, "a", "hello");
    assert_eq!(rig.said(), "~hello, assistant: hello, notice duplicate_event");
    assert!(rig.requests.is_empty());
}
