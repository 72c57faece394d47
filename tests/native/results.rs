//! Outcomes that leave as a message, where the app asked for it.

use pagehand::call::Settled;
use pagehand::conversation::Command;
use pagehand::net::Answer;
use serde_json::{Value, json};

use crate::stage::{Stage, ack, action, full_state, status, tool};

const ANY: &str = r#"{"type":"object"}"#;

fn talking() -> Stage {
    let mut stage = Stage::ready_with_results(vec![tool("t", ANY)]);
    stage.durable(0, &status("s", "running"));
    stage
}

fn said(stage: &mut Stage) -> Option<Vec<String>> {
    let (_, request) = stage.take("/events")?;
    let body: Value = serde_json::from_str(&request.body.unwrap()).unwrap();
    assert_eq!(body["run"], true);
    Some(body["content"][0]["text"].as_str().unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn outcomes_leave_together_when_the_agent_rests() {
    let mut stage = talking();
    stage.returns = Some(Settled::Returned("[1]".into()));
    for (seq, id) in [(1, "a"), (3, "b")] {
        stage.durable(seq, &action(id, "t", "{}"));
        stage.durable(seq + 1, &ack(id));
    }
    stage.durable(5, &action("c", "unknown", "{}"));
    stage.durable(6, &ack("c"));
    assert!(stage.take("/events").is_none(), "a message during a run may be lost");
    let idle = stage.command(Command::Idle);
    stage.durable(7, &full_state("f", "finished"));
    let lines = said(&mut stage).unwrap();
    assert_eq!(
        lines[..3],
        ["[client tool results]", r#"t a: {"kind":"ok","result":[1]}"#, r#"t b: {"kind":"ok","result":[1]}"#]
    );
    assert!(lines[3].starts_with(r#"unknown c: {"kind":"missing_handler""#));
    assert!(!stage.settled.contains_key(&idle), "the turn goes on with the results");
}

#[test]
fn outcomes_that_were_saved_without_running_are_not_sent_again() {
    let mut stage = talking();
    stage.durable(1, &action("a", "t", "{}"));
    stage.durable(2, &ack("a"));
    stage.durable(3, &full_state("f", "finished"));
    stage.answer("/events", 429, r#"{"detail":"Conversation run limit reached. Retry the request later."}"#);
    stage.wait_for("a run", |stage| stage.requests.iter().any(|(_, request)| request.url.contains("/run")));
    stage.reply("/run", Answer::Unreachable);
    assert!(said(&mut stage).is_none());
}

#[test]
fn a_slow_handler_is_waited_for() {
    let mut stage = talking();
    stage.returns = None;
    stage.durable(1, &action("a", "t", "{}"));
    stage.durable(2, &ack("a"));
    stage.durable(3, &full_state("f", "finished"));
    assert!(stage.take("/events").is_none());
    stage.settle_run(Settled::Returned("1".into()));
    assert_eq!(said(&mut stage).unwrap().len(), 2);
}

#[test]
fn nothing_leaves_unless_it_was_asked_for() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.durable(1, &action("a", "t", "{}"));
    stage.durable(2, &ack("a"));
    stage.durable(3, &full_state("f", "finished"));
    assert!(stage.take("/events").is_none());
}

#[test]
fn nothing_leaves_after_a_run_that_failed_or_was_paused() {
    for word in ["error", "paused", "stuck"] {
        let mut stage = talking();
        stage.durable(1, &action("a", "t", "{}"));
        stage.durable(2, &ack("a"));
        let idle = stage.command(Command::Idle);
        stage.durable(3, &full_state("f", word));
        assert!(stage.take("/events").is_none(), "{word}");
        assert_eq!(stage.settled[&idle], Ok(json!({ "status": word })));
    }
}

#[test]
fn case_16_a_message_that_did_not_arrive_leaves_again_once() {
    let mut stage = talking();
    stage.durable(1, &action("a", "t", "{}"));
    stage.durable(2, &ack("a"));
    stage.durable(3, &full_state("f", "finished"));
    stage.reply("/events", Answer::Http { status: 500, body: "{}".into() });
    assert_eq!(said(&mut stage).unwrap().len(), 2);
    stage.durable(4, &full_state("g", "finished"));
    assert!(stage.take("/events").is_none());
}

#[test]
fn of_two_pages_one_tells_the_agent() {
    let mut one = talking();
    let mut two = talking().on_page("two", &one);
    // Neither has the handler: both have the outcome.
    for page in [&mut one, &mut two] {
        page.durable(1, &action("a", "unknown", "{}"));
        page.durable(2, &ack("a"));
        page.durable(3, &full_state("f", "finished"));
    }
    assert_eq!((said(&mut one).is_some(), said(&mut two).is_some()), (true, false));
}

#[test]
fn case_16_outcomes_that_a_page_took_with_it_leave_from_the_next_one_once() {
    let mut one = talking();
    one.durable(1, &action("a", "t", "{}"));
    one.durable(2, &ack("a"));
    assert_eq!(one.outcome("a")["kind"], "ok");
    let ghost = Stage::new(vec![]).on_page("ghost", &one);
    one.dies();
    for expected in [true, false] {
        let mut next = Stage::joins_with_results(vec![tool("t", ANY)]).on_page("next", &ghost);
        next.command(Command::Open);
        next.open("1.58.2", 200, "[]");
        next.frame(r#"{"type":"sync"}"#);
        next.joined("[]");
        next.frame(&format!(r#"{{"type":"transient","event":{}}}"#, full_state("f", "finished")));
        let lines = said(&mut next);
        assert_eq!(
            lines.as_ref().map(|lines| lines[1].as_str()),
            expected.then_some(r#"t a: {"kind":"ok","result":null}"#)
        );
        assert!(next.runs.is_empty());
    }
}
