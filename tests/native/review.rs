//! What the app has to say about a call before its handler starts.

use pagehand::call::Settled;
use pagehand::conversation::{Command, Input, Topic, Verdict};
use serde_json::json;

use crate::stage::{Stage, ack, action, status, tool_with};

const LEVEL: &str = r#"{"type":"object","properties":{"level":{"enum":["info","warn"]}}}"#;

/// A call whose tool is looked at, let through, with no verdict yet.
fn looked_at() -> Stage {
    let mut stage = Stage::ready(vec![tool_with("t", LEVEL, r#""hasHandler":true,"reviewed":true,"timeout":5000"#)]);
    stage.durable(0, &action("a", "t", r#"{"level":"info"}"#));
    stage.durable(1, &ack("a"));
    assert_eq!(stage.states("a"), "announced authorised validating claiming guarding");
    assert!(stage.runs.is_empty());
    stage
}

fn says(stage: &mut Stage, verdict: Verdict, arguments: Option<&str>) {
    let (run, ..) = stage.reviews.pop().expect("nothing is looked at");
    let arguments = arguments.map(|text| serde_json::from_str(text).unwrap());
    stage.input(Input::Reviewed { run, verdict, arguments });
}

#[test]
fn a_call_runs_once_the_app_has_looked_at_it() {
    let mut stage = looked_at();
    says(&mut stage, Verdict::Allow, None);
    assert_eq!((stage.runs.len(), stage.outcome("a")["kind"].as_str()), (1, Some("ok")));
}

#[test]
fn a_blocked_call_is_rejected_with_the_reason() {
    let mut stage = looked_at();
    says(&mut stage, Verdict::Block { reason: "not on Sundays".into() }, None);
    assert_eq!(stage.outcome("a"), json!({ "kind": "rejected", "message": "not on Sundays" }));
    assert!(stage.runs.is_empty());
}

#[test]
fn other_arguments_are_told_as_edits_and_checked() {
    let mut stage = looked_at();
    says(&mut stage, Verdict::Allow, Some(r#"{"level":"warn"}"#));
    assert_eq!(stage.runs[0].arguments, json!({ "level": "warn" }));
    let edits = stage.topic(Topic::Call).into_iter().find_map(|step| step.get("edits")).unwrap();
    assert_eq!(*edits, json!([{ "path": "/level", "from": "info", "to": "warn" }]));
    let mut stage = looked_at();
    says(&mut stage, Verdict::Allow, Some(r#"{"level":"loud"}"#));
    assert_eq!((stage.outcome("a")["kind"].as_str(), stage.runs.len()), (Some("invalid_arguments"), 0));
}

#[test]
fn a_person_is_asked_where_the_app_wants_it_however_long_that_takes() {
    let mut stage = looked_at();
    says(&mut stage, Verdict::Ask, None);
    assert_eq!(stage.topic(Topic::Approval)[0]["calls"][0]["editable"], true);
    stage.now.0 += 3_600_000;
    stage.input(Input::Tick);
    let idle = stage.command(Command::Idle);
    assert!(!stage.settled.contains_key(&idle), "the call is on its way");
    let approved = stage.command(answer(true, Some(r#"{"level":"warn"}"#)));
    assert_eq!(stage.settled[&approved], Ok(json!(null)));
    assert_eq!(stage.runs[0].arguments, json!({ "level": "warn" }));
    assert_eq!(stage.topic(Topic::Approval)[1]["state"], "closed");
}

#[test]
fn an_edit_that_does_not_fit_leaves_the_question_open() {
    let mut stage = looked_at();
    says(&mut stage, Verdict::Ask, None);
    let refused = stage.command(answer(true, Some(r#"{"level":"loud"}"#)));
    assert_eq!(stage.error(refused), "invalid_edit");
    stage.command(answer(false, None));
    assert_eq!(stage.outcome("a"), json!({ "kind": "rejected", "message": "no" }));
    let late = stage.command(answer(true, None));
    assert_eq!((stage.error(late), stage.runs.len()), ("approval_answered", 0));
}

#[test]
fn an_edit_that_nobody_checks_in_the_tools_time_leaves_the_question_open() {
    let mut stage = looked_at();
    says(&mut stage, Verdict::Ask, None);
    stage.engine_is_slow = true;
    let late = stage.command(answer(true, Some(r#"{"level":"warn"}"#)));
    let begun = stage.now;
    stage.wait_for("an end of the check", |stage| stage.settled.contains_key(&late));
    assert_eq!((stage.error(late), stage.now.0 - begun.0), ("invalid_argument", 5_000));
    stage.engine_answers();
    assert!(stage.runs.is_empty(), "the report comes too late");
    assert_eq!(stage.topic(Topic::Approval).len(), 1, "the question is open");
    let again = stage.command(answer(true, Some(r#"{"level":"warn"}"#)));
    stage.engine_answers();
    assert_eq!(stage.settled[&again], Ok(json!(null)));
    assert_eq!(stage.runs[0].arguments, json!({ "level": "warn" }));
}

#[test]
fn whom_the_server_has_asked_the_page_does_not_ask_again() {
    let mut stage = Stage::ready(vec![tool_with("t", LEVEL, r#""hasHandler":true,"reviewed":true"#)]);
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(1, &status("w", "waiting_for_confirmation"));
    stage.durable(2, &status("r", "running"));
    stage.durable(3, &ack("a"));
    says(&mut stage, Verdict::Ask, None);
    assert_eq!(stage.runs.len(), 1);
}

#[test]
fn a_guard_that_never_answers_times_out() {
    let mut stage = looked_at();
    stage.now.0 += 5_000;
    stage.input(Input::Tick);
    assert_eq!((stage.outcome("a")["kind"].as_str(), stage.aborted.len()), (Some("timed_out"), 1));
    says(&mut stage, Verdict::Allow, None);
    assert!(stage.runs.is_empty());
}

#[test]
fn a_question_is_moot_when_the_call_is_cancelled() {
    let mut stage = looked_at();
    says(&mut stage, Verdict::Ask, None);
    stage.cancel("a");
    assert_eq!(
        stage.topic(Topic::Approval)[1],
        &json!({ "state": "closed", "id": "a", "reason": "the call has ended" })
    );
    assert_eq!(stage.outcome("a")["kind"], "cancelled");
}

#[test]
fn a_result_that_a_guard_replaced_or_kept_back_is_told_so() {
    for (settled, kind, reason) in [
        (Settled::Replaced("2".into()), "ok", "a guard gave another result"),
        (Settled::Withheld { message: "secret".into() }, "failed", "a guard kept the result back"),
    ] {
        let mut stage = looked_at();
        stage.returns = Some(settled);
        says(&mut stage, Verdict::Allow, None);
        let last = stage.topic(Topic::Call).pop().unwrap().clone();
        assert_eq!((last["outcome"]["kind"].as_str(), last["reason"].as_str()), (Some(kind), Some(reason)));
    }
}

#[test]
fn of_two_pages_one_is_asked() {
    let mut one = looked_at();
    let tools = vec![tool_with("t", LEVEL, r#""hasHandler":true,"reviewed":true"#)];
    let mut two = Stage::ready(tools).on_page("two", &one);
    two.durable(0, &action("a", "t", "{}"));
    two.durable(1, &ack("a"));
    assert!(two.reviews.is_empty());
    says(&mut one, Verdict::Allow, None);
    two.look_at_watched();
    assert_eq!((one.runs.len(), two.runs.len(), two.outcome("a")["kind"].as_str()), (1, 0, Some("ok")));
}

fn answer(accept: bool, arguments: Option<&str>) -> Command {
    let arguments = arguments.map(|text| serde_json::from_str(text).unwrap());
    Command::Answer { approval: "a".into(), accept, reason: "no".into(), arguments, say: None }
}
