//! When a turn is over.

use pagehand::conversation::Command;
use serde_json::json;

use super::{legacy, ran, ready};
use crate::stage::{ack, action, full_state, status};

#[test]
fn conformance_18_a_run_is_over_with_the_full_state_whatever_a_stop_hook_does_before() {
    let mut stage = ready();
    stage.send("hi");
    let idle = stage.command(Command::Idle);
    for (seq, word) in ["running", "finished", "running", "finished"].into_iter().enumerate() {
        stage.durable(i64::try_from(seq).unwrap(), &status(&format!("s{seq}"), word));
        assert!(!stage.settled.contains_key(&idle));
    }
    stage.frame(&format!(r#"{{"type":"transient","event":{}}}"#, full_state("f", "finished")));
    assert_eq!(stage.settled[&idle], Ok(json!({"status": "finished"})));
}

#[test]
fn conformance_20_a_message_during_a_run_of_an_older_server_waits_for_the_full_state() {
    let mut stage = legacy();
    stage.send("one");
    stage.answer("/events", 200, r#"{"success":true}"#);
    stage.frame(&status("s", "running"));
    let second = stage.send("two");
    assert!(stage.take("/events").is_none(), "the server would lose it");
    stage.frame(&full_state("f", "finished"));
    stage.answer("/events", 200, r#"{"success":true}"#);
    assert_eq!(stage.settled[&second], Ok(json!(null)));
    let mut newer = ready();
    newer.send("one");
    newer.durable(0, &status("s", "running"));
    newer.send("two");
    assert_eq!(newer.requests.len(), 2, "a newer server keeps it");
}

#[test]
fn conformance_25_an_agent_that_repeats_itself_is_stuck() {
    let mut stage = ready();
    stage.send("hi");
    let idle = stage.command(Command::Idle);
    stage.durable(0, &status("s", "running"));
    for call in 0..4 {
        stage.durable(call * 2 + 1, &action(&format!("a{call}"), "t", "{}"));
        stage.durable(call * 2 + 2, &ack(&format!("a{call}")));
    }
    stage.durable(9, &status("stuck", "stuck"));
    stage.frame(&format!(r#"{{"type":"transient","event":{}}}"#, full_state("f", "stuck")));
    assert_eq!(ran(&stage).len(), 4);
    assert_eq!(stage.settled[&idle], Ok(json!({"status": "stuck"})));
}
