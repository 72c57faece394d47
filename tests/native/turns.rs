//! Speaking, and knowing when the agent's turn is over.

use pagehand::conversation::{Command, Topic, Topics};
use pagehand::net::Answer;
use serde_json::json;

use crate::stage::{ID, Stage, ack, action, full_state, status, tool};

const ANY: &str = r#"{"type":"object"}"#;

fn transient(stage: &mut Stage, event: &str) {
    stage.frame(&format!(r#"{{"type":"transient","event":{event}}}"#));
}

#[test]
fn idle_resolves_at_once_when_nothing_runs() {
    let mut stage = Stage::ready(vec![]);
    let idle = stage.command(Command::Idle);
    assert_eq!(stage.settled[&idle], Ok(json!({"status": "idle"})));
}

#[test]
fn a_turn_ends_with_the_full_state_after_the_run_was_seen() {
    let mut stage = Stage::ready(vec![]);
    let send = stage.send("hi");
    let idle = stage.command(Command::Idle);
    transient(&mut stage, &full_state("subscribed", "idle"));
    assert!(!stage.settled.contains_key(&idle), "the state told on subscription ended the turn");
    let (_, request) = stage.take("/events").unwrap();
    assert_eq!(request.body.as_deref(), Some(r#"{"role":"user","content":[{"type":"text","text":"hi"}],"run":true}"#));
    stage.durable(0, &status("s1", "running"));
    stage.durable(1, &status("s2", "finished"));
    assert!(!stage.settled.contains_key(&idle), "a stop hook could still set it going again");
    stage.durable(2, &status("s3", "running"));
    stage.durable(3, &status("s4", "finished"));
    transient(&mut stage, &full_state("end", "finished"));
    assert_eq!(stage.settled[&idle], Ok(json!({"status": "finished"})));
    assert!(!stage.settled.contains_key(&send), "the answer to the message has not come");
}

#[test]
fn idle_waits_for_the_slowest_call() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.returns = None;
    stage.send("hi");
    let idle = stage.command(Command::Idle);
    stage.durable(0, &status("s1", "running"));
    stage.durable(1, &action("a", "t", "{}"));
    stage.durable(2, &ack("a"));
    transient(&mut stage, &full_state("end", "finished"));
    assert!(!stage.settled.contains_key(&idle));
    stage.settle_run(pagehand::call::Settled::Returned("1".into()));
    assert!(stage.settled[&idle].is_ok());
}

#[test]
fn a_failed_run_says_why() {
    let mut stage = Stage::ready(vec![]);
    stage.send("hi");
    let idle = stage.command(Command::Idle);
    stage.durable(0, &status("s1", "running"));
    stage.durable(1, &status("s2", "error"));
    stage.durable(2, r#"{"id":"e","kind":"ConversationErrorEvent","code":"MaxIterationsReached","detail":"500"}"#);
    transient(&mut stage, &full_state("end", "error"));
    let failure = json!({"code": "MaxIterationsReached", "detail": "500"});
    assert_eq!(stage.settled[&idle], Ok(json!({"status": "error", "error": failure})));
    assert_eq!(stage.topic(Topic::Error)[0]["code"], "conversation_failed");
}

#[test]
fn a_refused_message_begins_no_turn() {
    let mut stage = Stage::ready(vec![]);
    let send = stage.send("hi");
    stage.answer("/events", 422, r#"{"detail":"no"}"#);
    assert_eq!(stage.error(send), "request_refused");
    let idle = stage.command(Command::Idle);
    assert!(stage.settled[&idle].is_ok());
}

#[test]
fn a_message_whose_answer_was_lost_is_not_sent_again() {
    let mut stage = Stage::ready(vec![]);
    let send = stage.send("hi");
    stage.reply("/events", Answer::TimedOut);
    stage.answer("/events/search", 200, r#"{"items":[],"next_page_id":null}"#);
    assert_eq!(stage.error(send), "request_timeout");
    assert!(stage.take("/events").is_none());
}

#[test]
fn run_takes_running_already_for_success() {
    let mut stage = Stage::ready(vec![]);
    let run = stage.command(Command::Run { approve: false });
    stage.answer("/run", 409, r#"{"detail":"Conversation already running. Wait for completion or pause first."}"#);
    assert!(stage.settled[&run].is_ok());
}

#[test]
fn a_message_that_was_not_taken_is_not_taken_for_sent() {
    let mut stage = Stage::ready(vec![]);
    let send = stage.send("hi");
    stage.answer("/events", 409, r#"{"detail":"Conversation already running. Wait for completion or pause first."}"#);
    assert_eq!(stage.error(send), "already_running");
}

#[test]
fn a_silent_turn_is_asked_about_and_ends_when_half_a_minute_confirms_it() {
    let mut stage = Stage::ready(vec![]);
    stage.send("hi");
    stage.answer("/events", 200, r#"{"success":true}"#);
    let idle = stage.command(Command::Idle);
    let began = stage.now;
    let poll = format!("/api/conversations/{ID}?");
    let info = format!(r#"{{"id":"{ID}","execution_status":"finished"}}"#);
    while !stage.settled.contains_key(&idle) {
        stage.wait_for("a poll", |stage| stage.requests.iter().any(|(_, request)| request.url.contains(&poll)));
        stage.answer(&poll, 200, &info);
    }
    assert_eq!(stage.settled[&idle], Ok(json!({"status": "finished"})));
    let waited = stage.now.0 - began.0;
    assert!((30_000..60_000).contains(&waited), "{waited} ms");
}

#[test]
fn history_is_a_page_and_where_the_next_begins() {
    let mut stage = Stage::ready(vec![]);
    let page = stage.history();
    stage.answer("/events/search?limit=5", 200, r#"{"items":[{"id":"a","kind":"PauseEvent"}],"next_page_id":"b"}"#);
    assert_eq!(stage.settled[&page], Ok(json!({"events": [{"id": "a", "kind": "PauseEvent"}], "next": "b"})));
    assert_eq!(stage.topic(Topic::Event).len(), 0, "history is read, not delivered");
}

#[test]
fn messages_thoughts_and_the_finishing_words_are_messages() {
    let mut stage = Stage::ready(vec![]);
    let message = |id: &str, role: &str| {
        format!(
            r#"{{"id":"{id}","source":"user","llm_message":{{"role":"{role}","content":[{{"type":"text","text":"one"}},{{"type":"image","image_urls":[]}},{{"type":"text","text":"two"}}]}},"kind":"MessageEvent"}}"#
        )
    };
    stage.durable(0, &message("m", "user"));
    stage.durable(
        1,
        r#"{"id":"f","source":"agent","thought":[{"type":"text","text":"hm"}],"action":{"message":"Done.","kind":"FinishAction"},"tool_name":"finish","tool_call_id":"c","kind":"ActionEvent"}"#,
    );
    let texts: Vec<_> = stage.topic(Topic::Message).iter().map(|message| message["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["one\ntwo", "hm", "Done."]);
}

#[test]
fn deltas_of_both_kinds_are_told_with_their_item() {
    let mut stage = Stage::ready(vec![]);
    stage.frame(r#"{"type":"item_started","item_id":"i","attempt":1}"#);
    stage.frame(r#"{"type":"delta","item_id":"i","attempt":1,"order":0,"kind":"text","content":"hel"}"#);
    stage.frame(r#"{"type":"delta","item_id":"i","attempt":1,"order":1,"kind":"reasoning","content":"lo"}"#);
    stage.frame(r#"{"type":"item_aborted","item_id":"i","attempt":1,"reason":"cancelled"}"#);
    let deltas = stage.topic(Topic::Delta);
    assert_eq!(deltas[0], &json!({"item": "i", "kind": "text", "content": "hel"}));
    assert_eq!(deltas[1]["kind"], "reasoning");
    assert_eq!(stage.notices(), ["stream_aborted"]);
}

#[test]
fn what_nobody_listens_to_is_dealt_with_and_not_told() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.events.clear();
    stage.tell_only(Topics::from_bits(1 << Topic::Call as u32));
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(1, &ack("a"));
    stage.durable(1, &ack("a"));
    assert_eq!(stage.runs.len(), 1);
    assert!(!stage.events.is_empty() && stage.events.iter().all(|(topic, _)| *topic == Topic::Call));
    stage.tell_only(Topics::ALL);
    stage.durable(1, &ack("a"));
    stage.durable(2, &status("s", "running"));
    let topics: Vec<_> = stage.events.iter().map(|(topic, _)| *topic).filter(|topic| *topic != Topic::Call).collect();
    assert_eq!(topics, [Topic::Notice, Topic::Event, Topic::Status]);
}
