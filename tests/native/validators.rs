//! Tools with validators of the app's own.

use pagehand::call::{CallId, EngineError, Settled};
use pagehand::conversation::Command;
use pagehand::net::Millis;
use pagehand::tool::{HandlerId, Part, Tool};
use serde_json::{Value, json};

use crate::stage::{Stage, ack, action, tool, tool_with};

const STRICT: &str = r#"{"type":"object","minProperties":1}"#;
const OWN: &str = r#""hasHandler":true,"inputValidated":true,"outputValidated":true,"outputSchema":{"type":"number"}"#;

fn own() -> Tool {
    tool_with("t", STRICT, OWN)
}

fn call(stage: &mut Stage, id: &str) {
    for event in [action(id, "t", "{}"), ack(id)] {
        stage.frame(&format!(r#"{{"type":"durable","event":{event}}}"#));
    }
}

#[test]
fn they_judge_in_the_engines_place_those_of_the_declaration_that_a_call_was_let_through_with() {
    let mut stage = Stage::ready(vec![own()]);
    stage.engine_is_there = false;
    stage.returns = None;
    call(&mut stage, "a");
    stage.command(Command::Declare(own()));
    call(&mut stage, "b");
    for _ in 0..2 {
        stage.settle_run(Settled::Returned(r#""text""#.into()));
    }
    assert_eq!([stage.outcome("a"), stage.outcome("b")], [(); 2].map(|()| json!({ "kind": "ok", "result": "text" })));
    let asked = |part, handler, value: &str| (part, Some(HandlerId(handler)), value.to_owned());
    let mut judged = stage.judged;
    judged.sort_by_key(|(_, handler, _)| *handler);
    let of = |handler| [asked(Part::Input, handler, "{}"), asked(Part::Output, handler, r#""text""#)];
    assert_eq!(judged, [of(0), of(1)].concat());
}

#[test]
fn what_has_no_validator_is_the_engines() {
    let only_output = OWN.replace(r#""inputValidated":true,"#, "");
    let mut stage = Stage::ready(vec![tool_with("t", STRICT, &only_output)]);
    call(&mut stage, "a");
    assert_eq!(stage.outcome("a")["kind"], "invalid_arguments");
    assert_eq!(stage.judged, []);
}

#[test]
fn one_that_throws_ends_the_call() {
    let mut stage = Stage::ready(vec![own()]);
    stage.thrown = Some(EngineError::Validator("no idea".into()));
    call(&mut stage, "a");
    let expected = json!({ "kind": "failed", "code": "validator_threw", "name": "", "message": "no idea" });
    assert_eq!(stage.outcome("a"), expected);
    assert_eq!(stage.runs, []);
}

/// The call's end when nobody answers, and the milliseconds that it took.
fn unanswered(stage: &mut Stage, id: &str) -> (Value, u64) {
    let begun = stage.now;
    while stage.outcome(id).is_null() {
        assert!(stage.wait(), "it waits for ever");
    }
    (stage.outcome(id), stage.now.0 - begun.0)
}

fn timed_out(what: &str) -> (Value, u64) {
    let message = format!("{what} not checked within 5000 ms");
    (json!({ "kind": "failed", "code": "check_timed_out", "name": "", "message": message }), 5_000)
}

fn hasty() -> Tool {
    tool_with("t", STRICT, &[OWN, r#","timeout":5000"#].concat())
}

#[test]
fn a_check_of_arguments_may_take_as_long_as_the_handler_and_holds_up_nobody_for_longer() {
    let mut stage = Stage::ready(vec![hasty(), tool("other", r#"{"type":"object"}"#)]);
    stage.engine_is_slow = true;
    call(&mut stage, "a");
    for event in [action("b", "other", "{}"), ack("b")] {
        stage.frame(&format!(r#"{{"type":"durable","event":{event}}}"#));
    }
    assert_eq!(stage.states("b"), "announced authorised", "it waits for its turn");
    assert_eq!(unanswered(&mut stage, "a"), timed_out("the arguments were"));
    assert_eq!(stage.outcome("b")["kind"], "ok");
    stage.engine_answers();
    assert_eq!(stage.states("a").matches("settled").count(), 1, "the answer comes too late");
    assert_eq!(stage.runs.len(), 1, "the first never ran");
}

#[test]
fn a_check_that_is_answered_in_time_leaves_the_handler_its_whole_time() {
    let mut stage = Stage::ready(vec![hasty()]);
    (stage.engine_is_slow, stage.returns) = (true, None);
    call(&mut stage, "a");
    stage.now = Millis(stage.now.0 + 4_000);
    stage.engine_answers();
    assert_eq!(unanswered(&mut stage, "a"), (json!({ "kind": "timed_out", "timeout": 5_000 }), 5_000));
}

#[test]
fn a_check_of_a_result_may_take_as_long_as_the_handler_too() {
    let mut stage = Stage::ready(vec![hasty()]);
    stage.returns = None;
    call(&mut stage, "a");
    stage.now = Millis(stage.now.0 + 4_000);
    stage.engine_is_slow = true;
    stage.settle_run(Settled::Returned("1".into()));
    assert_eq!(unanswered(&mut stage, "a"), timed_out("the result was"));
    stage.engine_answers();
    assert_eq!(stage.states("a").matches("settled").count(), 1);
}

#[test]
fn a_call_that_is_cancelled_while_it_is_checked_has_one_end() {
    let mut stage = Stage::ready(vec![hasty()]);
    stage.engine_is_slow = true;
    call(&mut stage, "a");
    stage.command(Command::Cancel { call: CallId::new("a"), reason: "enough".into() });
    assert_eq!(stage.outcome("a")["kind"], "cancelled");
    stage.engine_answers();
    stage.now = Millis(stage.now.0 + 10_000);
    stage.wait();
    assert_eq!(stage.states("a"), "announced authorised validating settled");
}
