//! The life of a call, over the session socket.

use pagehand::call::Settled;
use pagehand::conversation::{Command, Topic};
use pagehand::net::Answer;
use pagehand::protocol::openhands::Opening;
use serde_json::json;

use crate::stage::{ID, Stage, ack, action, full_state, page_of, tool, tool_with};

const ANY: &str = r#"{"type":"object"}"#;
const LEVEL: &str = r##"{"type":"object","properties":{"level":{"enum":["info","warn"]},"n":{"type":"integer","minimum":1},
    "deep":{"$ref":"#/$defs/deep"}},"required":["level"],"$defs":{"deep":{"type":"object","required":["x"]}}}"##;

#[test]
fn a_handler_runs_on_the_acknowledgement_and_not_before() {
    let mut stage = Stage::ready(vec![tool("t", LEVEL)]);
    stage.durable(0, &action("a", "t", r#"{"level":"info"}"#));
    assert_eq!(stage.runs, []);
    stage.durable(1, &ack("a"));
    assert_eq!(stage.runs.len(), 1);
    assert_eq!(stage.runs[0].arguments, json!({"level": "info"}));
    assert_eq!(stage.states("a"), "announced authorised validating claiming running settled");
    assert_eq!(stage.outcome("a"), json!({"kind": "ok", "result": null}));
}

#[test]
fn repeated_frames_run_nothing_twice() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    for _ in 0..3 {
        stage.durable(0, &action("a", "t", "{}"));
        stage.durable(1, &ack("a"));
    }
    assert_eq!(stage.runs.len(), 1);
    assert_eq!(stage.notices(), ["duplicate_event"; 4]);
}

#[test]
fn two_calls_with_one_tool_call_id_run_once_each() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    for (seq, id) in ["a", "b"].iter().enumerate() {
        let event = action(id, "t", "{}").replace(&format!("tc_{id}"), "same");
        stage.durable(i64::try_from(seq).unwrap(), &event);
    }
    stage.durable(2, &ack("b"));
    stage.durable(3, &ack("a"));
    let order: Vec<_> = stage.runs.iter().map(|run| run.call.as_str()).collect();
    assert_eq!(order, ["b", "a"]);
}

#[test]
fn an_acknowledgement_before_its_action_waits_for_it() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.durable(1, &ack("a"));
    assert_eq!(stage.runs, []);
    stage.durable(0, &action("a", "t", "{}"));
    assert_eq!(stage.runs.len(), 1);
    stage.answer("/events/a", 200, &action("a", "t", "{}"));
    assert_eq!(stage.runs.len(), 1);
}

/// More calls than are kept in mind.
const MANY: i64 = 5_000;

fn resent(stage: &mut Stage, frame: impl Fn(&mut Stage, i64, &str)) {
    for n in 0..MANY {
        frame(stage, 2 * n, &action(&format!("c{n}"), "t", "{}"));
        frame(stage, 2 * n + 1, &ack(&format!("c{n}")));
    }
}

#[test]
fn a_call_that_comes_again_after_thousands_of_others_is_known_by_its_number() {
    let mut stage = Stage::ready(vec![tool("t", r#"{"type":"object"}"#)]);
    resent(&mut stage, Stage::durable);
    assert_eq!(stage.runs.len(), 5_000);
    stage.events.clear();
    resent(&mut stage, Stage::durable);
    assert_eq!(stage.runs.len(), 5_000);
    assert!(stage.topic(Topic::Call).is_empty() && stage.topic(Topic::Event).is_empty());
    assert_eq!(stage.notices(), vec!["duplicate_event"; 10_000]);
    stage.durable(2 * MANY, &action("new", "t", "{}"));
    stage.durable(2 * MANY + 1, &ack("new"));
    assert_eq!(stage.runs.len(), 5_001);
}

#[test]
fn without_numbers_a_call_that_comes_again_after_thousands_of_others_is_known_by_the_ledger() {
    let mut stage = Stage::new(vec![tool("t", r#"{"type":"object"}"#)]);
    stage.command(Command::Open);
    stage.open("1.43.1", 201, "[]");
    stage.frame(&full_state("subscribed", "running"));
    stage.answer("/events/search", 200, &page_of(&[], None));
    resent(&mut stage, |stage, _, event| stage.frame(event));
    assert_eq!(stage.runs.len(), 5_000);
    stage.events.clear();
    resent(&mut stage, |stage, _, event| stage.frame(event));
    assert_eq!(stage.runs.len(), 5_000);
    assert_eq!(stage.outcome("c0"), json!({ "kind": "ok", "result": null }));
    assert!(!stage.states("c0").contains("running"), "{}", stage.states("c0"));
}

#[test]
fn of_thousands_of_calls_that_are_never_let_through_the_oldest_are_given_up() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    for n in 0..1_500 {
        stage.durable(n, &action(&format!("c{n}"), "t", "{}"));
    }
    assert_eq!(stage.states("c475"), "announced withdrawn");
    assert_eq!(stage.states("c476"), "announced");
    stage.durable(1_500, &ack("c0"));
    stage.durable(1_501, &ack("c476"));
    assert_eq!(stage.runs.iter().map(|run| run.call.as_str()).collect::<Vec<_>>(), ["c476"]);
    assert_eq!(stage.notices(), ["late_signal"]);
}

#[test]
fn an_action_that_never_came_is_fetched() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.durable(1, &ack("a"));
    let with_nulls = action("a", "t", r#"{"path":"x","line":null}"#);
    stage.answer("/events/a", 200, &with_nulls);
    assert_eq!(stage.runs[0].arguments, json!({"path": "x"}));
    assert_eq!(stage.states("a"), "authorised claiming running settled");
}

#[test]
fn an_action_that_cannot_be_fetched_is_asked_for_again_and_then_told() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.durable(1, &ack("a"));
    for _ in 0..3 {
        stage.reply("/events/a", Answer::Unreachable);
        stage.wait();
    }
    assert_eq!(stage.outcome("a")["code"], "call_unavailable");
    assert_eq!(stage.runs, []);
}

#[test]
fn a_rejected_call_never_runs() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.durable(0, &action("a", "t", "{}"));
    let reject = r#"{"id":"r","kind":"UserRejectObservation","tool_name":"t","tool_call_id":"tc_a","action_id":"a","rejection_reason":"nope","rejection_source":"user"}"#;
    stage.durable(1, reject);
    stage.durable(2, &ack("a"));
    assert_eq!(stage.runs, []);
    assert_eq!(stage.outcome("a"), json!({"kind": "rejected", "message": "nope"}));
    assert_eq!(stage.notices(), ["late_signal"]);
}

#[test]
fn an_agent_error_withdraws_the_newest_unanswered_call_of_its_id() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    let same = |id: &str| action(id, "t", "{}").replace(&format!("tc_{id}"), "same");
    stage.durable(0, &same("a"));
    stage.durable(1, &ack("a"));
    stage.durable(2, &same("b"));
    let error = r#"{"id":"e","kind":"AgentErrorEvent","tool_name":"t","tool_call_id":"same","error":"interrupted"}"#;
    stage.durable(3, error);
    assert_eq!(stage.states("b"), "announced withdrawn");
    assert_eq!(stage.runs.len(), 1);
}

#[test]
fn a_call_that_the_server_refused_is_told() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.durable(0, r#"{"id":"x","kind":"ActionEvent","tool_name":"t","tool_call_id":"c"}"#);
    stage.durable(
        1,
        r#"{"id":"e","kind":"AgentErrorEvent","tool_name":"t","tool_call_id":"c","error":"Field required"}"#,
    );
    assert_eq!(stage.notices(), ["call_refused"]);
    assert_eq!(stage.topic(Topic::Notice)[0]["message"], "t: Field required");
}

#[test]
fn an_event_without_an_action_is_no_call() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    for action in ["null", "{}", "[]", "7"] {
        stage.frame(&format!(
            r#"{{"type":"durable","event":{{"id":"x{action}","kind":"ActionEvent","tool_name":"t","tool_call_id":"c","action":{action}}}}}"#
        ).replace("\"x[]", "\"xl").replace("\"x{}", "\"xo"));
    }
    stage.frame(r#"{"type":"durable","event":{"id":"y","kind":"ActionEvent","tool_name":"t","tool_call_id":"c"}}"#);
    assert_eq!(stage.topic(Topic::Call), Vec::<&serde_json::Value>::new());
    assert_eq!(stage.topic(Topic::Event).len(), 5);
}

#[test]
fn a_call_without_a_handler_names_the_tool_and_those_that_are_there() {
    let deaf = tool_with("deaf", ANY, r#""hasHandler":false"#);
    let mut stage = Stage::ready(vec![tool("one", ANY), tool("two", ANY), deaf]);
    for (seq, name) in ["gone", "deaf"].iter().enumerate() {
        stage.durable(i64::try_from(seq).unwrap(), &action(name, name, "{}"));
        stage.frame(&format!(r#"{{"type":"durable","event":{}}}"#, ack(name)));
        let expected = json!({"kind": "missing_handler", "tool": name, "registered": ["one", "two"]});
        assert_eq!(stage.outcome(name), expected);
    }
}

#[test]
fn arguments_that_the_server_lets_through_are_checked_against_the_whole_schema() {
    let mut stage = Stage::ready(vec![tool("t", LEVEL)]);
    for (id, arguments, path, keyword) in [
        ("enum", r#"{"level":"zzz"}"#, "/level", "enum"),
        ("bound", r#"{"level":"info","n":0}"#, "/n", "minimum"),
        ("nested", r#"{"level":"info","deep":{}}"#, "/deep", "required"),
    ] {
        stage.frame(&format!(r#"{{"type":"durable","event":{}}}"#, action(id, "t", arguments)));
        stage.frame(&format!(r#"{{"type":"durable","event":{}}}"#, ack(id)));
        let outcome = stage.outcome(id);
        assert_eq!(outcome["kind"], "invalid_arguments");
        assert_eq!((&outcome["issues"][0]["path"], &outcome["issues"][0]["keyword"]), (&json!(path), &json!(keyword)));
    }
    assert_eq!(stage.outcome("enum")["issues"][0]["expected"], json!(["info", "warn"]));
    assert_eq!(stage.runs, []);
}

#[test]
fn handlers_start_in_the_order_the_server_let_the_calls_through() {
    let mut stage = Stage::ready(vec![tool("checked", LEVEL), tool("free", ANY)]);
    stage.engine_is_slow = true;
    let calls = [("a", "checked", r#"{"level":"info"}"#), ("b", "checked", r#"{"level":"zzz"}"#), ("c", "free", "{}")];
    for (seq, (id, name, arguments)) in (0..).step_by(2).zip(calls) {
        stage.durable(seq, &action(id, name, arguments));
        stage.durable(seq + 1, &ack(id));
    }
    assert_eq!(stage.runs, [], "the first is still being checked");
    stage.engine_answers();
    assert_eq!((stage.outcome("b")["kind"].as_str(), stage.runs.len()), (Some("invalid_arguments"), 0));
    stage.engine_answers();
    let order: Vec<_> = stage.runs.iter().map(|run| run.call.as_str()).collect();
    assert_eq!(order, ["a", "c"]);
}

#[test]
fn a_schema_that_is_wrong_is_told_at_once_and_fails_only_its_own_calls() {
    let broken = tool("broken", r#"{"type":"object","properties":{"a":{"type":"strin"}}}"#);
    let mut stage = Stage::ready(vec![broken, tool("t", ANY)]);
    let errors = stage.topic(Topic::Error);
    assert_eq!((&errors[0]["code"], &errors[0]["details"]["rule"]), (&json!("invalid_tool"), &json!("schema")));
    for (seq, name) in [(0, "broken"), (2, "t")] {
        stage.durable(seq, &action(name, name, "{}"));
        stage.durable(seq + 1, &ack(name));
    }
    assert_eq!(stage.outcome("broken")["code"], "invalid_schema");
    assert_eq!(stage.outcome("t")["kind"], "ok");
}

#[test]
fn without_the_engine_nothing_runs_unchecked() {
    let mut stage = Stage::ready(vec![tool("t", LEVEL)]);
    stage.engine_is_there = false;
    stage.durable(0, &action("a", "t", r#"{"level":"info"}"#));
    stage.durable(1, &ack("a"));
    assert_eq!(stage.outcome("a")["code"], "schema_engine_unavailable");
    assert_eq!(stage.runs, []);
}

#[test]
fn each_way_a_handler_ends_has_its_outcome() {
    for (settled, kind, code) in [
        (Settled::Returned(r#"{"a":1}"#.into()), "ok", ""),
        (Settled::Returned("not json".into()), "failed", "result_not_serializable"),
        (Settled::NotSerializable { message: "cyclic".into() }, "failed", "result_not_serializable"),
        (Settled::Threw { name: "TypeError".into(), message: "boom".into() }, "failed", "handler_threw"),
    ] {
        let mut stage = Stage::ready(vec![tool("t", ANY)]);
        stage.returns = Some(settled);
        stage.durable(0, &action("a", "t", "{}"));
        stage.durable(1, &ack("a"));
        let outcome = stage.outcome("a");
        assert_eq!((outcome["kind"].as_str().unwrap(), outcome["code"].as_str().unwrap_or("")), (kind, code));
    }
}

#[test]
fn a_result_that_does_not_fit_the_output_schema_is_told() {
    let output = r#""hasHandler":true,"outputSchema":{"type":"object","required":["tasks"]}"#;
    let mut stage = Stage::ready(vec![tool_with("t", ANY, output)]);
    stage.returns = Some(Settled::Returned("{}".into()));
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(1, &ack("a"));
    assert_eq!(stage.outcome("a")["kind"], "invalid_output");
    assert_eq!(stage.outcome("a")["issues"][0]["keyword"], "required");
}

#[test]
fn a_handler_that_takes_too_long_is_told_to_stop_and_what_it_returns_later_does_not_count() {
    let mut stage = Stage::ready(vec![tool_with("t", ANY, r#""hasHandler":true,"timeout":500"#)]);
    stage.returns = None;
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(1, &ack("a"));
    assert!(stage.wait());
    assert_eq!(stage.outcome("a"), json!({"kind": "timed_out", "timeout": 500}));
    assert_eq!(stage.aborted, stage.open_runs);
    stage.settle_run(Settled::Returned("1".into()));
    assert_eq!(stage.notices(), ["late_signal"]);
    assert_eq!(stage.outcome("a")["kind"], "timed_out");
}

#[test]
fn a_cancelled_call_has_its_outcome_at_once() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.returns = None;
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(1, &ack("a"));
    let cancel = stage.cancel("a");
    assert!(stage.settled[&cancel].is_ok());
    assert_eq!(stage.outcome("a"), json!({"kind": "cancelled", "message": "no longer needed"}));
    assert_eq!(stage.aborted, stage.open_runs);
    for unknown in ["a", "never"] {
        let again = stage.cancel(unknown);
        assert_eq!(stage.error(again), "unknown_call");
    }
}

#[test]
fn closing_cancels_what_runs_and_refuses_what_follows() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.returns = None;
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(1, &ack("a"));
    let (send, idle) = (stage.send("hi"), stage.command(Command::Idle));
    let close = stage.command(Command::Close);
    assert_eq!(stage.outcome("a")["kind"], "cancelled");
    assert!(stage.settled[&close].is_ok());
    assert_eq!((stage.error(send), stage.error(idle)), ("closed", "closed"));
    let (after, again) = (stage.send("more"), stage.command(Command::Close));
    assert_eq!(stage.error(after), "closed");
    assert!(stage.settled[&again].is_ok());
    assert_eq!(stage.closed, [stage.socket()]);
    assert!(!stage.wait(), "a closed conversation wants to be woken");
}

#[test]
fn a_tool_may_run_on_the_announcement_where_nothing_comes_in_between() {
    let early = r#""hasHandler":true,"runOn":"announcement""#;
    let mut stage = Stage::ready(vec![tool_with("t", ANY, early)]);
    stage.durable(0, &action("a", "t", "{}"));
    assert_eq!(stage.runs.len(), 1);
    stage.durable(1, &ack("a"));
    assert_eq!(stage.runs.len(), 1);
}

#[test]
fn once_a_policy_asks_first_the_announcement_is_not_enough_any_more() {
    let early = r#""hasHandler":true,"runOn":"announcement""#;
    let mut stage = Stage::ready(vec![tool_with("t", ANY, early)]);
    let policy = r#"{"id":"p","kind":"ConversationStateUpdateEvent","key":"confirmation_policy","value":{"kind":"AlwaysConfirm"}}"#;
    stage.durable(0, policy);
    stage.durable(1, &action("a", "t", "{}"));
    assert_eq!(stage.runs, []);
    let late = stage.command(Command::Declare(tool_with("u", ANY, early)));
    assert_eq!(stage.error(late), "announcement_refused");
    stage.durable(2, &ack("a"));
    assert_eq!(stage.runs.len(), 1);
}

#[test]
fn a_handler_may_be_declared_while_the_conversation_goes_on() {
    let mut stage = Stage::ready(vec![]);
    let declare = stage.command(Command::Declare(tool("t", LEVEL)));
    assert!(stage.settled[&declare].is_ok());
    stage.durable(0, &action("a", "t", r#"{"level":"warn"}"#));
    stage.durable(1, &ack("a"));
    assert_eq!(stage.runs.len(), 1);
    let conflict = stage.command(Command::Declare(tool("t", ANY)));
    assert_eq!(stage.error(conflict), "tool_conflict");
}

#[test]
fn two_conversations_of_one_page_run_a_call_once() {
    // The stage's ledger stands for the page's: a second conversation object on the same server and id asks it too.
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(1, &ack("a"));
    let twin = Stage::with(Opening::Attach { id: ID.into() }, vec![tool("t", ANY)]);
    let mut twin = twin.on_page("page", &stage);
    twin.command(Command::Open);
    twin.open("1.58.2", 200, "[]");
    twin.frame(r#"{"type":"sync","through_seq":-1}"#);
    twin.durable(0, &action("a", "t", "{}"));
    twin.durable(1, &ack("a"));
    assert_eq!((stage.runs.len(), twin.runs.len()), (1, 0));
    assert_eq!(twin.states("a"), "announced authorised claiming settled");
}
