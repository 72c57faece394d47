//! Tools with validators of the app's own.

use pagehand::call::{EngineError, Settled};
use pagehand::conversation::Command;
use pagehand::tool::{HandlerId, Part, Tool};
use serde_json::json;

use crate::stage::{Stage, ack, action, tool_with};

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
