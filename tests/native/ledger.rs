//! What outlives a page: a call that was begun is never begun again, and what was not begun is not forgotten.

use pagehand::call::{LedgerInput, Settled};
use pagehand::conversation::{Command, Input, Topic};
use pagehand::net::Millis;
use pagehand::protocol::openhands::Opening;
use serde_json::{Value, json};

use crate::stage::{ID, Stage, ack, action, full_state, status, tool};

const ANY: &str = r#"{"type":"object"}"#;

/// A page that created the conversation, and whose handlers never end by themselves.
fn first() -> Stage {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    stage.returns = None;
    stage
}

/// Another page of the same browser that joins the conversation.
fn another(of: &Stage, name: &str) -> Stage {
    let mut page = Stage::with(Opening::Attach { id: ID.into() }, vec![tool("t", ANY)]).on_page(name, of);
    page.returns = None;
    page.command(Command::Open);
    page.open("1.58.2", 200, "[]");
    let seen = page.sockets.last().unwrap().1.split("after_seq=").nth(1).map(str::to_owned);
    match seen {
        Some(seq) => page.frame(&format!(r#"{{"type":"sync","from_seq":{seq},"through_seq":{seq}}}"#)),
        None => page.frame(r#"{"type":"sync","through_seq":-1}"#),
    }
    page.joined("[]");
    page
}

fn call(stage: &mut Stage, id: &str, seq: i64) {
    stage.durable(seq, &action(id, "t", "{}"));
    stage.durable(seq + 1, &ack(id));
}

#[test]
fn case_4_of_two_pages_one_runs_and_both_learn_the_outcome() {
    let mut one = first();
    let mut two = another(&one, "two");
    call(&mut one, "a", 0);
    call(&mut two, "a", 0);
    assert_eq!((one.runs.len(), two.runs.len()), (1, 0));
    assert_eq!(two.states("a"), "announced authorised claiming elsewhere");
    let idle = two.command(Command::Idle);
    assert!(!two.settled.contains_key(&idle), "a call that runs elsewhere is under way");
    one.settle_run(Settled::Returned("7".into()));
    two.look_at_watched();
    assert_eq!(one.outcome("a"), json!({ "kind": "ok", "result": 7 }));
    assert_eq!(two.outcome("a"), one.outcome("a"));
    assert!(two.settled.contains_key(&idle));
}

#[test]
fn case_4_a_call_whose_page_died_is_interrupted_and_never_run_again() {
    let mut one = first();
    let mut two = another(&one, "two");
    call(&mut one, "a", 0);
    call(&mut two, "a", 0);
    let mut three = another(&one, "three");
    one.dies();
    two.look_at_watched();
    three.look_at_watched();
    call(&mut three, "a", 0);
    for page in [&two, &three] {
        assert_eq!(page.outcome("a")["kind"], "interrupted");
        assert!(page.runs.is_empty());
    }
}

#[test]
fn case_21_a_reload_settles_what_ran_as_interrupted() {
    let mut page = first();
    call(&mut page, "a", 0);
    assert_eq!(page.states("a").split(' ').next_back(), Some("running"));
    let ghost = Stage::new(vec![]).on_page("ghost", &page);
    page.dies();
    let mut reloaded = another(&ghost, "reloaded");
    assert_eq!(reloaded.outcome("a")["kind"], "interrupted");
    call(&mut reloaded, "a", 0);
    assert!(reloaded.runs.is_empty());
    call(&mut reloaded, "b", 2);
    assert_eq!(reloaded.runs.len(), 1, "the next call works");
}

#[test]
fn case_21_a_reload_before_the_claim_runs_the_call_once() {
    let mut page = first();
    page.ledger_is_slow = true;
    page.now = Millis(page.now.0 + 5_000);
    call(&mut page, "a", 0);
    assert_eq!(page.states("a"), "announced authorised claiming");
    let ghost = Stage::new(vec![]).on_page("ghost", &page);
    page.dies();
    let mut reloaded = another(&ghost, "reloaded");
    call(&mut reloaded, "a", 0);
    assert_eq!(reloaded.runs.len(), 1);
}

#[test]
fn case_21_a_reload_after_the_outcome_shows_it_and_runs_nothing() {
    let mut page = first();
    call(&mut page, "a", 0);
    page.settle_run(Settled::Returned("1".into()));
    let ghost = Stage::new(vec![]).on_page("ghost", &page);
    page.dies();
    let mut reloaded = another(&ghost, "reloaded");
    call(&mut reloaded, "a", 0);
    assert_eq!(reloaded.outcome("a"), json!({ "kind": "ok", "result": 1 }));
    assert!(reloaded.runs.is_empty());
}

#[test]
fn a_joining_page_sees_what_runs_elsewhere() {
    let mut one = first();
    call(&mut one, "a", 0);
    let mut two = another(&one, "two");
    assert_eq!(two.states("a"), "elsewhere");
    one.settle_run(Settled::Threw { name: "Error".into(), message: "boom".into() });
    two.look_at_watched();
    assert_eq!(two.outcome("a")["code"], "handler_threw");
}

#[test]
fn a_call_can_be_cancelled_from_another_page() {
    let mut one = first();
    call(&mut one, "a", 0);
    let mut two = another(&one, "two");
    let cancelled = two.command(Command::Cancel { call: pagehand::call::CallId::new("a"), reason: "enough".into() });
    assert!(two.settled[&cancelled].is_ok());
    let outcome = serde_json::value::RawValue::from_string(two.outcome("a").to_string()).unwrap();
    let key = pagehand::call::Key::call(&format!("http://server {ID}").into(), &pagehand::call::CallId::new("a"));
    let heard = LedgerInput::Watched { key, claim: pagehand::call::Claim::Settled(outcome) };
    one.input(Input::Ledger(heard));
    assert_eq!(one.aborted.len(), 1);
    assert_eq!(one.outcome("a"), json!({ "kind": "cancelled", "message": "enough" }));
}

#[test]
fn a_page_that_closes_leaves_the_calls_of_others_alone() {
    let mut one = first();
    call(&mut one, "a", 0);
    let mut two = another(&one, "two");
    two.command(Command::Close);
    assert_eq!(two.states("a"), "elsewhere withdrawn");
    one.settle_run(Settled::Returned("1".into()));
    assert_eq!(one.outcome("a")["kind"], "ok");
}

#[test]
fn the_place_is_not_written_while_a_call_is_unclaimed() {
    let mut page = first();
    page.ledger_is_slow = true;
    let place = |page: &Stage| page.place();
    page.now = Millis(page.now.0 + 10_000);
    page.durable(0, &action("a", "t", "{}"));
    let before = place(&page);
    page.now = Millis(page.now.0 + 10_000);
    page.durable(1, &ack("a"));
    assert_eq!(place(&page), before);
    page.ledger_answers();
    page.wait();
    assert_ne!(place(&page), before);
}

/// A page that has asked the ledger, and not yet the server.
fn knocking(of: &Stage, name: &str) -> Stage {
    let mut page = Stage::with(Opening::Attach { id: ID.into() }, vec![tool("t", ANY)]).on_page(name, of);
    page.command(Command::Open);
    page
}

/// The server lets it in when its log ends with this event.
fn let_in(page: &mut Stage, seq: i64) {
    page.open("1.58.2", 200, "[]");
    page.frame(&format!(r#"{{"type":"sync","through_seq":{seq}}}"#));
    page.joined(&format!("[{}]", status(&format!("e{seq}"), "idle")));
}

fn hears(page: &mut Stage, seq: i64) {
    page.now = Millis(page.now.0 + 2_000);
    page.durable(seq, &status(&format!("e{seq}"), "idle"));
}

#[test]
fn a_page_that_joined_later_leaves_the_place_of_a_slower_one() {
    let browser = Stage::new(vec![]);
    let (mut slow, mut fast) = (knocking(&browser, "slow"), knocking(&browser, "fast"));
    let_in(&mut slow, 3);
    let_in(&mut fast, 10);
    hears(&mut fast, 11);
    assert_eq!(fast.place(), Some("3/e3".into()), "the slow one has not been told e4 to e10");
    slow.dies();
    hears(&mut fast, 12);
    let mut later = knocking(&fast, "later");
    later.open("1.58.2", 200, "[]");
    assert!(later.sockets[0].1.ends_with("?after_seq=3"), "{}", later.sockets[0].1);
}

#[test]
fn a_page_writes_the_place_when_the_slower_one_has_come_to_where_it_joined() {
    let browser = Stage::new(vec![]);
    let (mut slow, mut fast) = (knocking(&browser, "slow"), knocking(&browser, "fast"));
    let_in(&mut slow, 3);
    let_in(&mut fast, 10);
    hears(&mut slow, 9);
    hears(&mut fast, 11);
    assert_eq!(fast.place(), Some("9/e9".into()));
    hears(&mut slow, 10);
    hears(&mut fast, 12);
    fast.wait();
    assert_eq!(fast.place(), Some("12/e12".into()));
}

#[test]
fn a_page_that_joined_is_ready_when_the_ledger_has_its_place() {
    let mut page = knocking(&Stage::new(vec![]), "page");
    page.ledger_is_slow = true;
    let_in(&mut page, 3);
    let ready = |page: &Stage| page.topic(Topic::Connection).iter().any(|told| told["state"] == "ready");
    assert!(page.settled.is_empty() && !ready(&page));
    page.lose_socket(1006);
    page.ledger_answers();
    assert!(page.settled.is_empty() && !ready(&page), "the connection is gone");
    page.reconnect();
    page.frame(r#"{"type":"sync","from_seq":3,"through_seq":3}"#);
    assert!(page.settled[&1].is_ok() && ready(&page));
}

#[test]
fn a_place_that_is_too_old_is_written_over() {
    let browser = Stage::new(vec![]);
    browser.remember(Millis(0), "1/e1");
    let mut page = knocking(&browser, "page");
    let_in(&mut page, 3);
    assert_eq!(page.place(), Some("3/e3".into()));
}

#[test]
fn a_page_that_was_away_for_too_long_takes_what_happened_for_history() {
    let page = first();
    let mut late = Stage::with(Opening::Attach { id: ID.into() }, vec![tool("t", ANY)]).on_page("late", &page);
    late.now = Millis(page.now.0 + 10_000_000);
    late.remember(page.now, "5");
    page.dies();
    late.command(Command::Open);
    late.open("1.58.2", 200, "[]");
    assert!(!late.sockets.last().unwrap().1.contains("after_seq"));
    assert_eq!(late.notices(), ["missed"]);
}

#[test]
fn conformance_22_the_same_call_in_a_fork_is_another_call() {
    let mut one = first();
    call(&mut one, "a", 0);
    let fork = "00000000-6a52-4c0c-9a38-2a3f0e4ad111";
    let mut copy = Stage::with(Opening::Attach { id: fork.into() }, vec![tool("t", ANY)]).on_page("page", &one);
    copy.command(Command::Open);
    copy.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
    copy.answer(
        "/api/conversations",
        200,
        &format!(r#"{{"id":"{fork}","execution_status":"idle","client_tools":[]}}"#),
    );
    copy.connect();
    copy.frame(r#"{"type":"sync","through_seq":-1}"#);
    copy.joined("[]");
    call(&mut copy, "a", 0);
    assert_eq!((one.runs.len(), copy.runs.len()), (1, 1));
}

#[test]
fn conformance_23_a_call_of_a_turn_that_is_over_is_told_and_not_run() {
    let mut page = first();
    page.durable(0, &action("stale", "t", "{}"));
    page.durable(1, &full_state("f", "finished"));
    page.durable(2, &ack("stale"));
    assert_eq!(page.outcome("stale")["kind"], "cancelled");
    assert!(page.runs.is_empty());
    call(&mut page, "fresh", 3);
    assert_eq!(page.runs.len(), 1);
}

#[test]
fn case_8_the_outcome_of_a_call_is_recorded_once() {
    let mut page = first();
    call(&mut page, "a", 0);
    page.settle_run(Settled::Returned("1".into()));
    page.cancel("a");
    let steps: Vec<Value> =
        page.topic(Topic::Call).into_iter().filter(|step| step["state"] == "settled").cloned().collect();
    assert_eq!(steps.len(), 1);
}
