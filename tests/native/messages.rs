//! Messages whose answer never came, and servers at their limit.

use pagehand::conversation::Command;
use pagehand::net::Answer;
use pagehand::protocol::Deed;
use serde_json::json;

use crate::stage::{Stage, page_of, said, status};

const LIMIT: &str = r#"{"detail":"Conversation run limit reached. Retry the request later."}"#;

/// A message whose answer was lost.
fn doubtful() -> (Stage, u32) {
    let mut stage = Stage::ready(vec![]);
    stage.durable(0, &status("s0", "idle"));
    let send = stage.send("hi");
    stage.reply("/events", Answer::Unreachable);
    assert!(!stage.settled.contains_key(&send));
    (stage, send)
}

fn is_asked(stage: &Stage, url: &str) -> bool {
    stage.requests.iter().any(|(_, request)| request.url.contains(url))
}

#[test]
fn case_32_a_message_without_an_answer_that_is_in_the_log_was_sent() {
    let (mut stage, send) = doubtful();
    stage.answer("TIMESTAMP_DESC", 200, &page_of(&[said("m", "hi"), status("s0", "idle")], Some("older")));
    assert_eq!(stage.settled[&send], Ok(json!(null)));
    assert!(stage.take("/events").is_none(), "nothing is sent again");
}

#[test]
fn case_32_a_message_without_an_answer_that_is_not_in_the_log_fails_as_it_failed() {
    let (mut stage, send) = doubtful();
    let log = [said("m", "hello"), status("s0", "idle"), said("before", "hi")];
    stage.answer("TIMESTAMP_DESC", 200, &page_of(&log, Some("older")));
    assert_eq!(stage.error(send), "unreachable");
    assert!(stage.take("/events").is_none(), "nothing is sent again");
}

#[test]
fn a_log_that_cannot_be_read_leaves_the_message_unconfirmed() {
    let (mut stage, send) = doubtful();
    for attempt in 0..6 {
        assert!(!stage.settled.contains_key(&send), "attempt {attempt}");
        stage.wait_for("an attempt", |stage| is_asked(stage, "limit=100&sort_order=TIMESTAMP_DESC"));
        stage.reply("limit=100&sort_order=TIMESTAMP_DESC", Answer::Unreachable);
    }
    assert_eq!(stage.error(send), "unconfirmed");
}

#[test]
fn a_message_that_the_socket_brings_was_sent_whatever_became_of_its_answer() {
    let (mut stage, send) = doubtful();
    stage.durable(1, &said("m", "hi"));
    assert_eq!(stage.settled[&send], Ok(json!(null)));
    let mut stage = Stage::ready(vec![]);
    let send = stage.send("hi");
    stage.durable(1, &said("m", "hi"));
    assert!(!stage.settled.contains_key(&send), "the answer may still come");
    stage.reply("/events", Answer::TimedOut);
    assert_eq!(stage.settled[&send], Ok(json!(null)));
    assert!(!is_asked(&stage, "/events"));
}

#[test]
fn of_two_equal_messages_in_doubt_each_needs_an_event() {
    let mut stage = Stage::ready(vec![]);
    let sent = [stage.send("hi"), stage.send("hi")];
    stage.reply("/events", Answer::Unreachable);
    stage.reply("/events", Answer::Unreachable);
    for _ in 0..2 {
        stage.answer("TIMESTAMP_DESC", 200, &page_of(&[said("m", "hi")], None));
    }
    assert_eq!(stage.settled[&sent[0]], Ok(json!(null)));
    assert_eq!(stage.error(sent[1]), "unreachable");
}

#[test]
fn a_message_that_a_server_at_its_limit_saved_is_run_later_and_not_sent_again() {
    let mut stage = Stage::ready(vec![]);
    let send = stage.send("hi");
    stage.answer("/events", 429, LIMIT);
    for _ in 0..3 {
        assert!(!stage.settled.contains_key(&send));
        stage.wait_for("a run", |stage| is_asked(stage, "/run"));
        assert!(stage.take("/events").is_none());
        stage.answer("/run", 429, LIMIT);
    }
    stage.wait_for("a run", |stage| is_asked(stage, "/run"));
    stage.answer("/run", 409, r#"{"detail":"Conversation already running. Wait for completion or pause first."}"#);
    assert_eq!(stage.settled[&send], Ok(json!(null)));
}

#[test]
fn a_message_that_was_saved_ends_as_such_whatever_becomes_of_its_run() {
    let mut stage = Stage::ready(vec![]);
    let send = stage.send("hi");
    stage.answer("/events", 429, LIMIT);
    stage.wait_for("a run", |stage| is_asked(stage, "/run"));
    stage.reply("/run", Answer::Unreachable);
    assert_eq!(stage.error(send), "capacity", "unreachable would say that it is not in the log");
}

#[test]
fn a_server_that_stays_at_its_limit_is_asked_six_times_more() {
    let mut stage = Stage::ready(vec![]);
    let operations = [stage.send("hi"), stage.command(Command::Run { approve: false })];
    stage.answer("/events", 429, LIMIT);
    let mut runs = 0;
    while !operations.iter().all(|operation| stage.settled.contains_key(operation)) {
        stage.wait_for("a run", |stage| is_asked(stage, "/run"));
        stage.answer("/run", 429, LIMIT);
        runs += 1;
    }
    assert_eq!(runs, 6 + 7);
    assert_eq!(operations.map(|operation| stage.error(operation)), ["capacity"; 2]);
}

#[test]
fn what_a_server_alone_can_do_is_done_with_its_answer() {
    let deed = |name: &str, given: &str| Deed::read(name, given).unwrap();
    let done = |deed: Deed, url: &str, body: &str| {
        let mut stage = Stage::ready(vec![]);
        let operation = stage.command(Command::Do(deed));
        stage.answer(url, 200, body);
        stage.settled[&operation].clone()
    };
    let success = r#"{"success":true}"#;
    assert_eq!(done(deed("pause", "null"), "/pause", success), Ok(json!(null)));
    assert_eq!(done(deed("navigate", "null"), "/navigate", r#"{"id":"x"}"#), Ok(json!(null)));
    assert_eq!(done(deed("ask", "\"why?\""), "/ask_agent", r#"{"response":"so"}"#), Ok(json!("so")));
    let fork = deed("fork", "{}");
    assert_eq!(done(fork, "/fork", r#"{"id":"f","tags":{}}"#), Ok(json!({"id": "f", "tags": {}})));
    let list = deed("list", "{}");
    let page = r#"{"items":[{"id":"a"}],"next_page_id":"b"}"#;
    let told = json!({"conversations": [{"id": "a"}], "next": "b"});
    assert_eq!(done(list, "/api/conversations/search", page), Ok(told));
}
