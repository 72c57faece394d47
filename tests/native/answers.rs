//! A server that waits for the outcome of each call: each gets one, from one page.

use pagehand::call::{CallId, Settled};
use pagehand::conversation::{Command, Topic};
use pagehand::error::Error;
use pagehand::protocol::{Meaning, Status};
use serde_json::json;

use crate::puppet::Strings;
use crate::stage::{Stage, tool, tool_with};

const ANY: &str = r#"{"type":"object"}"#;
const TITLE: &str = r#"{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}"#;

fn alone() -> (Strings, Stage) {
    let strings = Strings::default();
    let stage = strings.stage(vec![tool("t", ANY)], "page", None);
    (strings, stage)
}

#[test]
fn the_outcome_of_a_run_leaves_once() {
    let (strings, mut stage) = alone();
    strings.calls(&mut stage, "a", "t");
    stage.settle_run(Settled::Returned(r#"{"n":1}"#.into()));
    assert_eq!(strings.take(), [r#"answer a {"kind":"ok","result":{"n":1}} doubtful=false"#]);
    strings.authorises(&mut stage, "a");
    assert_eq!((strings.take(), stage.runs.len()), (vec![], 1));
}

#[test]
fn case_9_a_call_without_a_handler_is_answered_at_once() {
    let (strings, mut stage) = alone();
    strings.calls(&mut stage, "a", "unknown");
    let [answer] = strings.take().try_into().unwrap();
    assert!(
        answer.starts_with(r#"answer a {"kind":"missing_handler","tool":"unknown","registered":["t"]}"#),
        "{answer}"
    );
}

#[test]
fn a_page_without_the_handler_leaves_the_call_to_the_one_that_runs_it() {
    let (strings, mut stage) = alone();
    let others = Strings::default();
    let mut other = others.stage(vec![], "other", Some(&stage));
    strings.calls(&mut stage, "a", "t");
    others.calls(&mut other, "a", "t");
    assert_eq!(other.states("a"), "announced authorised claiming elsewhere");
    assert!(others.take().is_empty());
    stage.settle_run(Settled::Returned("1".into()));
    other.look_at_watched();
    assert_eq!(other.outcome("a")["kind"], "ok");
    assert_eq!((strings.take().len(), others.take().len()), (1, 0));
}

#[test]
fn how_a_call_ended_that_another_page_has_is_for_that_page_to_say() {
    let (strings, mut stage) = alone();
    let others = Strings::default();
    let mut other = others.stage(vec![tool("t", ANY)], "other", Some(&stage));
    strings.calls(&mut stage, "a", "t");
    others.calls(&mut other, "a", "t");
    stage.settle_run(Settled::Returned("1".into()));
    // The agent has the answer and goes on before this page has looked.
    let ended = Meaning::Ended { call: CallId::new("a"), tool: "t".into(), reason: "its exchange is over".into() };
    others.means(&mut other, ended);
    assert_eq!(other.states("a"), "announced authorised claiming elsewhere");
    other.look_at_watched();
    assert_eq!(other.outcome("a")["kind"], "ok");
}

#[test]
fn case_4_of_the_pages_that_are_left_one_answers_for_the_one_that_died() {
    let (strings, mut stage) = alone();
    let (second, third) = (Strings::default(), Strings::default());
    let mut pages = [
        second.stage(vec![tool("t", ANY)], "second", Some(&stage)),
        third.stage(vec![tool("t", ANY)], "third", Some(&stage)),
    ];
    strings.calls(&mut stage, "a", "t");
    for (strings, page) in [&second, &third].into_iter().zip(&mut pages) {
        strings.calls(page, "a", "t");
    }
    stage.dies();
    for page in &mut pages {
        page.look_at_watched();
        assert_eq!(page.outcome("a")["kind"], "interrupted");
    }
    let answers = [second.take(), third.take()].concat();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers[0].contains("interrupted") && answers[0].ends_with("doubtful=true"), "it is looked up first");
}

#[test]
fn case_16_an_answer_that_a_page_took_with_it_is_given_by_the_next_and_said_to_be_doubtful() {
    let (strings, mut stage) = alone();
    strings.calls(&mut stage, "a", "t");
    stage.settle_run(Settled::Returned("1".into()));
    assert_eq!(strings.take().len(), 1, "sent, and not known to have arrived");
    let ghost = Strings::default().stage(vec![], "ghost", Some(&stage));
    stage.dies();
    let next = Strings::default();
    let mut page = next.stage(vec![tool("t", ANY)], "next", Some(&ghost));
    assert_eq!(next.wanted.borrow()[0].1, r#"answer a {"kind":"ok","result":1} doubtful=true"#);
    next.done(&mut page, Ok("null"));
    let after = Strings::default();
    after.stage(vec![tool("t", ANY)], "after", Some(&page));
    assert!(after.take().is_empty());
}

#[test]
fn case_21_a_call_that_ran_when_its_page_was_reloaded_is_answered_as_interrupted() {
    let (strings, mut stage) = alone();
    strings.calls(&mut stage, "a", "t");
    let witness = Strings::default().stage(vec![], "witness", Some(&stage));
    stage.dies();
    let next = Strings::default();
    let mut page = next.stage(vec![tool("t", ANY)], "next", Some(&witness));
    let [answer] = next.take().try_into().unwrap();
    assert!(answer.contains(r#""kind":"interrupted""#), "{answer}");
    next.calls(&mut page, "a", "t");
    assert!(page.runs.is_empty());
}

#[test]
fn what_the_server_ends_aborts_the_handler_and_is_not_answered() {
    let (strings, mut stage) = alone();
    strings.calls(&mut stage, "a", "t");
    let ended = Meaning::Ended { call: CallId::new("a"), tool: "t".into(), reason: "blocked by a guardrail".into() };
    strings.means(&mut stage, ended);
    assert_eq!(
        (stage.aborted.len(), stage.outcome("a")),
        (1, json!({ "kind": "cancelled", "message": "blocked by a guardrail" }))
    );
    stage.settle_run(Settled::Returned("1".into()));
    assert!(strings.take().is_empty());
    assert_eq!(stage.notices(), ["late_signal"]);
}

#[test]
fn a_call_of_which_nobody_knows_how_far_it_came_is_answered_and_not_run() {
    let (strings, mut stage) = alone();
    strings.means(
        &mut stage,
        Meaning::Orphaned { call: CallId::new("a"), tool: "t".into(), reason: "nothing is known of it" },
    );
    let [answer] = strings.take().try_into().unwrap();
    assert!(answer.contains("interrupted"), "{answer}");
    strings.calls(&mut stage, "a", "t");
    assert!(stage.runs.is_empty());
}

#[test]
fn the_end_of_a_turn_is_the_end_of_its_calls() {
    let (strings, mut stage) = alone();
    strings.calls(&mut stage, "a", "t");
    strings.announces(&mut stage, "b", "t", "{}");
    strings.means(&mut stage, Meaning::TurnOver(Status::Error));
    assert_eq!((stage.aborted.len(), stage.states("b").as_str()), (1, "announced withdrawn"));
    assert!(strings.take().is_empty());
}

#[test]
fn case_20_of_several_questions_each_gets_its_own_answer() {
    let (strings, mut stage) = alone();
    for call in ["a", "b"] {
        strings.announces(&mut stage, call, "t", "{}");
    }
    strings.asks(&mut stage, &[("a", "{}"), ("b", "{}")]);
    assert_eq!(stage.topic(Topic::Approval).len(), 2);
    let no = answer("b", false);
    let operation = stage.command(no);
    assert_eq!(strings.wanted.borrow().last().unwrap().1, r#"decide b false "not now" "#);
    strings.done(&mut stage, Ok("null"));
    assert_eq!(stage.settled[&operation], Ok(json!(null)));
    strings.asks(&mut stage, &[("a", "{}")]);
    assert_eq!(stage.topic(Topic::Approval).last().unwrap()["id"], "b", "closed");
    stage.command(answer("a", true));
    assert_eq!(strings.wanted.borrow().last().unwrap().1, r#"decide a true "not now" "#);
}

#[test]
fn arguments_that_a_person_changed_are_checked_before_they_leave() {
    let strings = Strings::default();
    let mut stage = strings.stage(vec![tool("t", TITLE)], "page", None);
    strings.announces(&mut stage, "a", "t", r#"{"title":"x"}"#);
    strings.asks(&mut stage, &[("a", r#"{"title":"x"}"#)]);
    let edit = |arguments: &str| Command::Answer {
        approval: "a".into(),
        accept: true,
        reason: String::new(),
        arguments: Some(serde_json::from_str(arguments).unwrap()),
        say: None,
    };
    for (arguments, code) in [("{}", "invalid_edit"), ("[]", "invalid_argument")] {
        let refused = stage.command(edit(arguments));
        assert_eq!(stage.error(refused), code);
        assert!(strings.take().is_empty());
    }
    stage.command(edit(r#"{"title":"y"}"#));
    assert_eq!(strings.take(), [r#"decide a true "" {"title":"y"}"#]);
    let arguments = Some(serde_json::from_str(r#"{"title":"y"}"#).unwrap());
    strings.means(&mut stage, Meaning::Authorised { call: CallId::new("a"), arguments });
    let told = stage.topic(Topic::Call).into_iter().find(|step| step["state"] == "authorised").unwrap();
    assert_eq!(told["edits"], json!([{ "path": "/title", "from": "x", "to": "y" }]));
    assert_eq!(stage.runs[0].arguments, json!({ "title": "y" }));
}

#[test]
fn to_cancel_a_call_that_waits_is_to_say_no() {
    let (strings, mut stage) = alone();
    strings.announces(&mut stage, "a", "t", "{}");
    strings.asks(&mut stage, &[("a", "{}")]);
    stage.cancel("a");
    assert_eq!(strings.take(), [r#"decide a false "no longer needed" "#]);
}

#[test]
fn case_13_stopping_answers_every_call_first() {
    let (strings, mut stage) = alone();
    stage.send("go");
    strings.done(&mut stage, Ok("null"));
    strings.take();
    strings.calls(&mut stage, "a", "t");
    strings.announces(&mut stage, "b", "t", "{}");
    strings.asks(&mut stage, &[("b", "{}")]);
    stage.command(Command::Stop { reason: "enough".into() });
    assert_eq!(
        strings.take(),
        [r#"decide b false "enough" "#, r#"answer a {"kind":"cancelled","message":"enough"} doubtful=false"#, "Stop"]
    );
}

#[test]
fn a_message_waits_for_the_end_of_the_turn() {
    let (strings, mut stage) = alone();
    stage.send("one");
    strings.done(&mut stage, Ok("null"));
    strings.means(&mut stage, Meaning::Status(Status::Running));
    stage.send("two");
    assert_eq!(strings.take().len(), 1);
    strings.means(&mut stage, Meaning::TurnOver(Status::Finished));
    assert!(strings.take()[0].contains("two"));
}

#[test]
fn closing_answers_what_runs_before_the_connection_goes() {
    let (strings, mut stage) = alone();
    strings.calls(&mut stage, "a", "t");
    stage.command(Command::Close);
    let [answer, close] = strings.take().try_into().unwrap();
    assert!(answer.contains(r#""kind":"cancelled""#), "{answer}");
    assert_eq!(close, "close");
    let next = Strings::default();
    stage.living.borrow_mut().remove("page");
    next.stage(vec![tool("t", ANY)], "next", Some(&stage));
    let [answer] = next.take().try_into().unwrap();
    assert!(
        answer.contains("cancelled") && answer.ends_with("doubtful=true"),
        "whether it arrived is looked up: {answer}"
    );
}

#[test]
fn an_answer_that_cannot_leave_is_told_and_kept() {
    let (strings, mut stage) = alone();
    strings.calls(&mut stage, "a", "t");
    stage.settle_run(Settled::Returned("1".into()));
    strings.done(&mut stage, Err(Error::Unreachable));
    assert_eq!(stage.topic(Topic::Error)[0]["code"], "unreachable");
}

#[test]
fn a_result_that_does_not_fit_is_answered_as_such() {
    let strings = Strings::default();
    let output = r#""hasHandler":true,"outputSchema":{"type":"object","required":["id"]}"#;
    let mut stage = strings.stage(vec![tool_with("t", ANY, output)], "page", None);
    strings.calls(&mut stage, "a", "t");
    stage.settle_run(Settled::Returned("{}".into()));
    let [answer] = strings.take().try_into().unwrap();
    assert!(answer.starts_with(r#"answer a {"kind":"invalid_output""#), "{answer}");
}

#[test]
fn what_was_declared_without_a_schema_is_checked_against_the_one_that_came() {
    use pagehand::protocol::Schemas;
    let (strings, mut stage) = alone();
    let schemas = Schemas { input: Some(serde_json::from_str(TITLE).unwrap()), output: None };
    let announced = Meaning::Announced {
        call: CallId::new("a"),
        tool: "t".into(),
        arguments: serde_json::from_str("{}").unwrap(),
        schemas,
    };
    strings.means(&mut stage, announced);
    strings.authorises(&mut stage, "a");
    assert_eq!(stage.outcome("a")["kind"], "invalid_arguments");
}

fn answer(approval: &str, accept: bool) -> Command {
    Command::Answer { approval: approval.into(), accept, reason: "not now".into(), arguments: None, say: None }
}
