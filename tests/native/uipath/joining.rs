//! What a conversation that was there before us still waits for.

use serde_json::{Value, json};

use super::recovery::{call, calls_of};
use super::rig::{ID, Rig, record_with, tools};

#[test]
fn joining_offers_what_waits_for_a_person_and_runs_nothing() {
    let asks = calls_of("x", &json!({ "name": "create_task", "requireConfirmation": true, "inputSchema": {} }));
    let mut rig = Rig::joined(&tools(), &asks);
    assert_eq!(
        rig.said(),
        r#"opened old, connecting, connected, running, announced c create task {"a":1}, waiting_for_confirmation, asks [c], ready"#
    );
    rig.decide("x/c", true, None);
    rig.call("x", "c", "executingToolCall", json!({ "input": { "a": 1 } }));
    assert_eq!(rig.said(), "asks [], running, authorised c, done ok");
}

#[test]
fn joining_leaves_what_is_finished_and_what_is_not_ours() {
    let finished = calls_of("x", &json!({ "result": { "output": {} } }));
    let answered = calls_of("y", &json!({ "requireConfirmation": true, "confirmation": { "approved": false } }));
    let foreign = calls_of("x", &json!({ "name": "search" }));
    let told_foreign = calls_of("x", &json!({ "isClientSideTool": false }));
    for exchanges in [finished, answered, foreign, told_foreign] {
        let mut rig = Rig::joined(&tools(), &exchanges);
        rig.pass(60_000);
        assert_eq!(rig.said(), "opened old, connecting, connected, ready", "{exchanges}");
    }
    let older = [calls_of("new", &json!({ "result": {} })), calls_of("old", &json!({}))].join(",");
    let mut rig = Rig::joined(&tools(), &older);
    rig.pass(60_000);
    assert_eq!(rig.said(), "opened old, connecting, connected, ready", "an older exchange is history");
}

#[test]
fn joining_finds_what_the_agent_began_last_wherever_it_is_listed() {
    let at = |exchange: &str, time: &str, more: &Value| {
        let message = json!({ "messageId": "m", "role": "assistant", "createdAt": time, "toolCalls": [call(more)] });
        record_with(
            exchange,
            &json!([{ "messageId": "u", "role": "user", "createdAt": "2026-11-30T08:00:09.000Z" }, message]),
        )
    };
    let (early, late) = ("2026-11-30T08:00:01.000Z", "2026-11-30T08:00:02.000Z");
    for (first, second, told) in [(early, late, ", running, ready, orphaned c"), (late, early, ", ready")] {
        let exchanges = [at("x", first, &json!({ "result": {} })), at("y", second, &json!({}))].join(",");
        let mut rig = Rig::joined(&tools(), &exchanges);
        rig.pass(60_000);
        assert_eq!(rig.said(), format!("opened old, connecting, connected{told}"));
    }
}

#[test]
fn joining_answers_a_call_that_nobody_does() {
    let mut rig = Rig::joined(&tools(), &calls_of("x", &json!({})));
    rig.pass(5_000);
    assert_eq!(rig.said(), "opened old, connecting, connected, running, ready, orphaned c");
    rig.sent.clear();
    rig.settle("x/c", &json!({ "kind": "interrupted", "message": "m" }));
    assert_eq!(rig.wrote(), "endToolCall c");
}

#[test]
fn who_made_a_conversation_and_was_long_away_from_it_looks_what_others_did() {
    for (away, told) in [(1_999, "ready"), (2_000, "running, ready, orphaned c")] {
        let mut rig = Rig::creating(&tools());
        rig.answer("/conversation", 200, &json!({ "conversationId": ID }).to_string());
        rig.pass(away);
        rig.admit();
        rig.start();
        if rig.requests.is_empty() {
            assert_eq!(away, 1_999);
        } else {
            rig.newest(&calls_of("x", &json!({})));
        }
        rig.pass(5_000);
        assert_eq!(rig.said(), format!("opened new, connecting, connected, {told}"));
    }
}
