//! Calls that wait for a person: one question, one answer.

use pagehand::call::LedgerInput;
use pagehand::conversation::{Command, Content, Input, Topic};
use pagehand::net::Answer;
use pagehand::protocol::openhands::Opening;
use serde_json::json;

use crate::stage::{ID, Stage, ack, action, page_of, status, tool};

const ANY: &str = r#"{"type":"object"}"#;

/// A conversation in which two calls wait, one of them of the server's own tool.
fn asking() -> Stage {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    ask(&mut stage);
    stage
}

fn ask(stage: &mut Stage) {
    stage.durable(0, &status("s0", "running"));
    stage.durable(1, &action("a", "t", r#"{"n":1}"#));
    stage.durable(
        2,
        r#"{"id":"b","kind":"ActionEvent","tool_name":"terminal","tool_call_id":"tc_b","summary":"lists files","security_risk":"LOW","action":{"command":"ls","kind":"TerminalAction"}}"#,
    );
    stage.durable(3, &status("s1", "waiting_for_confirmation"));
}

fn answer(accept: bool) -> Command {
    Command::Answer { approval: "b".into(), accept, reason: "not now".into(), arguments: None, say: None }
}

fn approvals(stage: &Stage) -> Vec<String> {
    stage.topic(Topic::Approval).iter().map(|told| told["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_question_names_every_call_that_waits_also_those_of_the_server() {
    let stage = asking();
    let told = stage.topic(Topic::Approval);
    assert_eq!(
        *told[0],
        json!({ "state": "open", "id": "b", "calls": [
            { "callId": "a", "tool": "t", "arguments": { "n": 1 }, "client": true, "editable": false },
            { "callId": "b", "tool": "terminal", "arguments": { "command": "ls" }, "summary": "lists files", "risk": "LOW", "client": false, "editable": false },
        ] })
    );
    assert_eq!(stage.states("a"), "announced waiting");
}

#[test]
fn an_invalid_call_of_the_batch_is_not_asked_about() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.durable(1, &action("a", "t", "{}"));
    stage.durable(2, r#"{"id":"x","kind":"ActionEvent","tool_name":"t","tool_call_id":"tc_x"}"#);
    stage.durable(3, r#"{"id":"y","kind":"AgentErrorEvent","tool_name":"t","tool_call_id":"tc_x","error":"bad"}"#);
    stage.durable(4, &status("s1", "waiting_for_confirmation"));
    assert_eq!(stage.topic(Topic::Approval)[0]["calls"].as_array().unwrap().len(), 1);
}

#[test]
fn a_call_that_was_let_through_before_it_was_seen_is_not_asked_about() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.durable(1, &ack("a"));
    stage.durable(2, &action("b", "t", "{}"));
    stage.answer("/events/a", 200, &action("a", "t", "{}"));
    stage.durable(3, &status("s1", "waiting_for_confirmation"));
    let told = stage.topic(Topic::Approval);
    let names: Vec<_> = told[0]["calls"].as_array().unwrap().iter().map(|call| &call["callId"]).collect();
    assert_eq!((&told[0]["id"], names), (&json!("b"), vec![&json!("b")]));
}

#[test]
fn case_19_a_yes_leaves_once_and_the_call_runs_when_the_server_lets_it_through() {
    let mut stage = asking();
    let yes = stage.command(answer(true));
    let (_, request) = stage.take("/respond_to_confirmation").unwrap();
    assert_eq!(request.body.unwrap(), r#"{"accept":true,"reason":"not now"}"#);
    assert!(stage.runs.is_empty(), "a yes is not the server's word");
    let idle = stage.command(Command::Idle);
    stage.durable(4, &status("s2", "running"));
    assert_eq!(approvals(&stage), ["open", "closed"]);
    stage.durable(5, &ack("a"));
    assert_eq!(stage.runs.len(), 1);
    stage.durable(6, &crate::stage::full_state("f", "finished"));
    assert_eq!(stage.settled[&idle], Ok(json!({ "status": "finished" })));
    assert!(!stage.settled.contains_key(&yes), "the server has not answered");
}

#[test]
fn case_18_a_no_ends_the_call_as_rejected() {
    let mut stage = asking();
    let no = stage.command(answer(false));
    stage.answer("/respond_to_confirmation", 200, r#"{"success":true}"#);
    assert_eq!(stage.settled[&no], Ok(json!(null)));
    stage.durable(4, &status("s2", "idle"));
    stage.durable(
        5,
        r#"{"id":"r","kind":"UserRejectObservation","tool_name":"t","tool_call_id":"tc_a","action_id":"a","rejection_reason":"not now"}"#,
    );
    assert_eq!(stage.outcome("a"), json!({ "kind": "rejected", "message": "not now" }));
    stage.durable(6, &ack("a"));
    assert!(stage.runs.is_empty());
}

#[test]
fn what_follows_a_no_is_said_when_the_no_has_arrived() {
    let mut stage = asking();
    let say = Some(Content::text("do something else").unwrap());
    let no = stage.command(Command::Answer {
        approval: "b".into(),
        accept: false,
        reason: String::new(),
        arguments: None,
        say,
    });
    stage.answer("/respond_to_confirmation", 200, r#"{"success":true}"#);
    assert!(!stage.settled.contains_key(&no));
    let (_, request) = stage.take("/events").unwrap();
    assert!(request.body.unwrap().contains("do something else"));
}

#[test]
fn a_second_answer_is_told_that_there_was_one() {
    let mut stage = asking();
    stage.command(answer(true));
    let twice = stage.command(answer(true));
    assert_eq!(stage.error(twice), "approval_answered");
    stage.answer("/respond_to_confirmation", 200, r#"{"success":true}"#);
    let late = stage.command(answer(false));
    assert_eq!(stage.error(late), "approval_answered");
    assert!(stage.take("/respond_to_confirmation").is_none());
}

#[test]
fn case_17_an_answer_to_another_question_is_refused() {
    let mut stage = asking();
    let other =
        Command::Answer { approval: "zzz".into(), accept: true, reason: String::new(), arguments: None, say: None };
    let other = stage.command(other);
    assert_eq!(stage.error(other), "approval_answered");
    let mut quiet = Stage::ready(vec![]);
    let nothing = quiet.command(answer(true));
    assert_eq!(quiet.error(nothing), "approval_answered");
}

#[test]
fn of_two_pages_one_answers() {
    let mut one = asking();
    let mut two = another(&one, "two");
    let won = one.command(answer(true));
    let lost = two.command(answer(false));
    assert_eq!(two.error(lost), "approval_answered");
    assert!(two.take("/respond_to_confirmation").is_none());
    one.answer("/respond_to_confirmation", 200, "{}");
    assert!(one.settled[&won].is_ok());
}

/// Another page of the same browser, in which the same calls wait.
fn another(of: &Stage, name: &str) -> Stage {
    let mut page = Stage::with(Opening::Attach { id: ID.into() }, vec![tool("t", ANY)]).on_page(name, of);
    page.command(Command::Open);
    page.open("1.58.2", 200, "[]");
    page.frame(r#"{"type":"sync","through_seq":-1}"#);
    page.joined("[]");
    ask(&mut page);
    page
}

/// The server's log shows what waits: the same question, newest event first, or what has become of it.
fn looks(stage: &mut Stage, later: &[String]) {
    let log =
        [later, &[status("s1", "waiting_for_confirmation"), action("b", "t", "{}"), action("a", "t", "{}")]].concat();
    assert!(stage.take("/respond_to_confirmation").is_none(), "it looks first");
    stage.answer("TIMESTAMP_DESC", 200, &page_of(&log, None));
}

fn unheard(stage: &mut Stage) {
    let lost = stage.command(answer(true));
    stage.reply("/respond_to_confirmation", Answer::Unreachable);
    assert_eq!(stage.error(lost), "unreachable");
}

#[test]
fn a_page_that_died_with_the_answer_leaves_it_to_one_other_which_looks_first() {
    let mut one = asking();
    let (mut two, mut three) = (another(&one, "two"), another(&one, "three"));
    one.command(answer(true));
    one.dies();
    two.command(answer(true));
    let late = three.command(answer(true));
    assert_eq!(three.error(late), "approval_answered");
    looks(&mut two, &[]);
    assert!(two.take("/respond_to_confirmation").is_some());
}

#[test]
fn an_answer_of_which_nothing_was_heard_is_not_given_again_when_the_server_waits_no_longer() {
    let mut stage = asking();
    unheard(&mut stage);
    let again = stage.command(answer(true));
    looks(&mut stage, &[status("s2", "running")]);
    assert_eq!(stage.error(again), "approval_answered");
    assert!(stage.take("/respond_to_confirmation").is_none());
}

#[test]
fn an_answer_of_which_nothing_was_heard_is_not_given_to_a_later_question() {
    let mut stage = asking();
    unheard(&mut stage);
    let again = stage.command(answer(true));
    let later = [status("s3", "waiting_for_confirmation"), action("c", "t", "{}"), status("s2", "running")];
    looks(&mut stage, &later);
    assert_eq!(stage.error(again), "approval_answered");
    assert!(stage.take("/respond_to_confirmation").is_none());
}

#[test]
fn an_answer_of_which_nothing_was_heard_can_be_given_in_another_page() {
    let mut one = asking();
    let mut two = another(&one, "two");
    let lost = one.command(answer(true));
    let early = two.command(answer(true));
    assert_eq!(two.error(early), "approval_answered", "it is on its way");
    one.reply("/respond_to_confirmation", Answer::Unreachable);
    assert_eq!(one.error(lost), "unreachable");
    let yes = two.command(answer(true));
    let twice = one.command(answer(true));
    assert_eq!(one.error(twice), "approval_answered", "now the other has it");
    looks(&mut two, &[]);
    two.answer("/respond_to_confirmation", 200, "{}");
    assert_eq!(two.settled[&yes], Ok(json!(null)));
    let late = one.command(answer(true));
    assert_eq!(one.error(late), "approval_answered");
}

#[test]
fn a_look_that_fails_leaves_the_question_to_all_pages_and_the_doubt() {
    let mut one = asking();
    let mut two = another(&one, "two");
    unheard(&mut one);
    let again = one.command(answer(true));
    one.reply("TIMESTAMP_DESC", Answer::Unreachable);
    assert_eq!(one.error(again), "unreachable");
    two.command(answer(true));
    looks(&mut two, &[]);
    assert!(two.take("/respond_to_confirmation").is_some());
}

#[test]
fn a_question_that_was_closed_while_its_answer_was_claimed_can_be_answered_when_it_is_asked_again() {
    let mut stage = asking();
    stage.ledger_is_slow = true;
    let early = stage.command(answer(true));
    // A log that is heard late may close a question that a page has found in its end.
    stage.durable(4, &status("s2", "running"));
    assert_eq!(stage.error(early), "approval_answered");
    stage.ledger_answers();
    stage.ledger_is_slow = false;
    stage.durable(5, &status("s3", "waiting_for_confirmation"));
    stage.command(answer(true));
    assert!(stage.take("/respond_to_confirmation").is_some());
}

#[test]
fn a_refused_answer_can_be_given_in_another_page_without_a_look() {
    let mut one = asking();
    let mut two = another(&one, "two");
    one.command(answer(true));
    one.answer("/respond_to_confirmation", 429, r#"{"detail":"Conversation run limit reached."}"#);
    two.command(answer(true));
    assert!(two.take("/respond_to_confirmation").is_some());
}

#[test]
fn a_message_that_approves_and_may_not_have_run_leaves_the_question_to_be_answered() {
    let mut stage = asking();
    let said = stage.command(Command::Send { content: Content::text("go on").unwrap(), run: true, approve: true });
    // A 429, perhaps: the message is in the log, and the server still waits.
    stage.reply("/events", Answer::Unreachable);
    stage.durable(4, &crate::stage::said("m", "go on"));
    assert_eq!(stage.settled[&said], Ok(json!(null)));
    assert_eq!(approvals(&stage), ["open"]);
    assert!(stage.take("TIMESTAMP_DESC").is_some(), "it was looked for, too");
    let yes = stage.command(answer(true));
    looks(&mut stage, &[crate::stage::said("m", "go on")]);
    stage.answer("/respond_to_confirmation", 200, "{}");
    assert_eq!(stage.settled[&yes], Ok(json!(null)));
}

#[test]
fn a_message_that_approves_and_finds_no_room_is_not_made_to_run_later() {
    let mut stage = asking();
    let said = stage.command(Command::Send { content: Content::text("go on").unwrap(), run: true, approve: true });
    stage.answer("/events", 429, r#"{"detail":"Conversation run limit reached."}"#);
    assert_eq!(stage.error(said), "capacity");
    stage.command(answer(true));
    assert!(stage.take("/respond_to_confirmation").is_some());
}

#[test]
fn a_run_that_found_no_room_is_not_asked_for_again_when_calls_wait() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    let run = stage.command(Command::Run { approve: false });
    stage.answer("/run", 429, r#"{"detail":"Conversation run limit reached."}"#);
    assert!(!stage.settled.contains_key(&run), "it is asked for again");
    ask(&mut stage);
    assert_eq!(stage.error(run), "capacity");
    for _ in 0..20 {
        stage.wait();
    }
    assert!(stage.take("/run").is_none(), "that would be a yes");
}

#[test]
fn an_answer_of_which_nothing_was_heard_counts_when_the_log_shows_it() {
    let mut stage = asking();
    let yes = stage.command(answer(true));
    stage.durable(4, &status("s2", "running"));
    stage.reply("/respond_to_confirmation", Answer::Unreachable);
    assert_eq!(stage.settled[&yes], Ok(json!(null)));
}

#[test]
fn a_refused_answer_can_be_given_again() {
    let mut stage = asking();
    let refused = stage.command(answer(true));
    stage.answer("/respond_to_confirmation", 429, r#"{"detail":"Conversation run limit reached."}"#);
    assert_eq!(stage.error(refused), "capacity");
    stage.command(answer(true));
    assert!(stage.take("/respond_to_confirmation").is_some());
}

#[test]
fn conformance_17_running_is_refused_while_calls_wait() {
    let mut stage = asking();
    let said = stage.send("hello");
    let run = stage.command(Command::Run { approve: false });
    assert_eq!((stage.error(said), stage.error(run)), ("approval_pending", "approval_pending"));
    assert!(stage.requests.is_empty());
    let quiet = Command::Send { content: Content::text("for later").unwrap(), run: false, approve: false };
    stage.command(quiet);
    assert!(stage.take("/events").is_some());
}

#[test]
fn running_approves_when_it_may_and_counts_as_the_answer() {
    let mut stage = asking();
    stage.command(Command::Send { content: Content::text("go on").unwrap(), run: true, approve: true });
    assert!(stage.take("/events").is_some());
    let second = stage.command(answer(true));
    assert_eq!(stage.error(second), "approval_answered");
}

#[test]
fn case_22_a_question_outlives_the_connection_and_can_be_answered_after_it() {
    let mut stage = asking();
    stage.lose_socket(1006);
    stage.command(answer(true));
    assert!(stage.take("/respond_to_confirmation").is_some());
    assert_eq!(approvals(&stage), ["open"]);
}

#[test]
fn an_answer_that_waits_for_the_ledger_ends_with_the_conversation() {
    let mut stage = asking();
    stage.ledger_is_slow = true;
    let yes = stage.command(answer(true));
    stage.command(Command::Close);
    assert_eq!(stage.error(yes), "closed");
    assert_eq!(approvals(&stage), ["open", "closed"]);
}

#[test]
fn a_question_is_closed_when_it_was_answered_elsewhere() {
    let mut stage = asking();
    stage.durable(4, &status("s2", "running"));
    assert_eq!(approvals(&stage), ["open", "closed"]);
    let late = stage.command(answer(true));
    assert_eq!(stage.error(late), "approval_answered");
}

#[test]
fn a_new_question_replaces_the_old_one() {
    let mut stage = asking();
    stage.durable(4, &status("s2", "running"));
    stage.durable(5, &ack("a"));
    stage.durable(6, r#"{"id":"o","kind":"ObservationEvent","tool_name":"terminal","tool_call_id":"tc_b","action_id":"b","observation":{"kind":"TerminalObservation"}}"#);
    stage.durable(7, &action("c", "t", "{}"));
    stage.durable(8, &status("s3", "waiting_for_confirmation"));
    let told = stage.topic(Topic::Approval);
    let newest = told.last().unwrap();
    assert_eq!((&newest["id"], newest["calls"].as_array().unwrap().len()), (&json!("c"), 1));
    let old = stage.command(answer(true));
    assert_eq!(stage.error(old), "approval_answered");
}

#[test]
fn the_late_end_of_an_answer_does_not_touch_the_next_question() {
    let mut stage = asking();
    let first = stage.command(answer(true));
    stage.durable(4, &status("s2", "running"));
    stage.durable(5, &ack("a"));
    stage.durable(6, &action("c", "t", "{}"));
    stage.durable(7, &status("s3", "waiting_for_confirmation"));
    stage.answer("/respond_to_confirmation", 200, r#"{"success":true}"#);
    assert_eq!(stage.settled[&first], Ok(json!(null)));
    let answer =
        Command::Answer { approval: "c".into(), accept: true, reason: String::new(), arguments: None, say: None };
    let second = stage.command(answer);
    stage.answer("/respond_to_confirmation", 200, r#"{"success":true}"#);
    assert_eq!(stage.settled[&second], Ok(json!(null)));
}

#[test]
fn storage_that_fails_is_told_and_the_answer_still_leaves() {
    let mut stage = asking();
    stage.input(Input::Ledger(LedgerInput::Unavailable { reason: "the browser is out of space".into() }));
    assert_eq!(stage.notices(), ["storage_unavailable"]);
    stage.command(answer(true));
    assert!(stage.take("/respond_to_confirmation").is_some());
}
