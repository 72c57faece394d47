//! Joining a conversation that was there before: what is under way is found, what follows is ours.

use pagehand::conversation::{Command, Input, Topic, Wire};
use pagehand::net::{Answer, Millis};
use pagehand::protocol::openhands::Opening;
use serde_json::json;

use crate::stage::{ID, Stage, ack, action, full_state, page_of, status, tool, tool_with};

const ANY: &str = r#"{"type":"object"}"#;

/// A page that joins from a place that an earlier one left, or from none.
fn joining(version: &str, doing: &str, place: Option<&str>) -> Stage {
    let mut stage = Stage::with(Opening::Attach { id: ID.into() }, vec![tool("t", ANY)]);
    if let Some(place) = place {
        stage.remember(stage.now, place);
    }
    stage.command(Command::Open);
    stage.answer("/server_info", 200, &format!(r#"{{"version":"{version}"}}"#));
    let info = format!(r#"{{"id":"{ID}","execution_status":"{doing}","client_tools":[]}}"#);
    stage.answer("/api/conversations", 200, &info);
    stage.connect();
    stage
}

fn subscribed(stage: &mut Stage, version: &str, through: i64) {
    match version {
        "1.58.2" => stage.frame(&format!(r#"{{"type":"sync","through_seq":{through}}}"#)),
        _ => stage.frame(&full_state("subscribed", "running")),
    }
}

fn ran(stage: &Stage) -> String {
    stage.runs.iter().map(|run| run.call.clone()).collect::<Vec<_>>().join(" ")
}

fn ids(stage: &Stage) -> String {
    let ids = stage.topic(Topic::Event).into_iter().map(|event| event["id"].as_str().unwrap().to_owned());
    ids.collect::<Vec<_>>().join(" ")
}

#[test]
fn attaching_to_ten_thousand_events_reads_one_page_of_them() {
    let mut stage = joining("1.58.2", "idle", None);
    let newest: Vec<_> = (0..100).map(|n| status(&format!("e{n}"), "idle")).collect();
    subscribed(&mut stage, "1.58.2", 9_999);
    let (_, request) = stage.requests.first().cloned().unwrap();
    assert!(request.url.ends_with("/events/search?limit=100&sort_order=TIMESTAMP_DESC"), "{}", request.url);
    stage.answer("/events/search", 200, &page_of(&newest, Some("older")));
    assert!(stage.settled[&1].is_ok());
    assert_eq!((stage.requests.len(), stage.sockets.len()), (0, 1));
    assert_eq!(ids(&stage), "", "history is not delivered");
}

#[test]
fn a_call_under_way_is_found_and_runs_when_it_is_let_through() {
    for version in ["1.58.2", "1.43.1"] {
        let mut stage = joining(version, "running", None);
        subscribed(&mut stage, version, 2);
        let done = [ack("done"), action("done", "t", "{}")];
        let log = [action("open", "t", r#"{"n":1}"#), done[0].clone(), done[1].clone(), status("s", "running")];
        stage.answer("/events/search", 200, &page_of(&log, None));
        assert_eq!(stage.states("open"), "announced", "{version}");
        assert_eq!(ran(&stage), "");
        let acknowledged = ack("open");
        match version {
            "1.58.2" => stage.durable(3, &acknowledged),
            _ => stage.frame(&acknowledged),
        }
        assert_eq!(ran(&stage), "open", "{version}");
    }
}

#[test]
fn a_slow_socket_that_brings_what_was_read_before_changes_nothing() {
    let mut stage = joining("1.43.1", "running", None);
    subscribed(&mut stage, "1.43.1", 0);
    let log = [status("end", "finished"), ack("a"), action("a", "t", "{}"), status("begin", "running")];
    stage.answer("/events/search", 200, &page_of(&log, None));
    let told = stage.topic(Topic::Status).len();
    for late in log.iter().rev() {
        stage.frame(late);
    }
    assert_eq!(
        (ids(&stage), ran(&stage), stage.topic(Topic::Status).len()),
        ("subscribed".into(), String::new(), told)
    );
    stage.frame(&status("new", "running"));
    assert_eq!(ids(&stage), "subscribed new");
}

#[test]
fn what_was_announced_before_a_page_joined_does_not_run_on_the_announcement() {
    let tools = vec![tool_with("t", ANY, r#""hasHandler":true,"runOn":"announcement""#)];
    let mut stage = Stage::with(Opening::Attach { id: ID.into() }, tools);
    stage.command(Command::Open);
    stage.open("1.58.2", 200, "[]");
    subscribed(&mut stage, "1.58.2", 1);
    stage.answer("/events/search", 200, &page_of(&[action("left", "t", "{}"), status("s", "running")], None));
    assert_eq!((stage.states("left").as_str(), ran(&stage).as_str()), ("announced", ""));
    stage.durable(2, &action("new", "t", "{}"));
    assert_eq!(ran(&stage), "new");
    stage.durable(3, &ack("left"));
    assert_eq!(ran(&stage), "new left");
}

#[test]
fn calls_that_wait_for_approval_are_found_and_can_be_answered() {
    for version in ["1.58.2", "1.43.1"] {
        let mut stage = joining(version, "waiting_for_confirmation", None);
        match version {
            "1.58.2" => subscribed(&mut stage, version, 2),
            _ => stage.frame(&full_state("subscribed", "waiting_for_confirmation")),
        }
        let log = [status("w", "waiting_for_confirmation"), action("a", "t", "{}"), status("r", "running")];
        stage.answer("/events/search", 200, &page_of(&log, None));
        let told = stage.topic(Topic::Approval);
        assert_eq!((told.len(), &told[0]["state"], &told[0]["id"]), (1, &json!("open"), &json!("a")), "{version}");
        let yes =
            Command::Answer { approval: "a".into(), accept: true, reason: String::new(), arguments: None, say: None };
        stage.command(yes);
        assert!(stage.take("/respond_to_confirmation").is_some(), "{version}");
    }
}

#[test]
fn what_waits_is_looked_for_back_to_the_beginning_of_its_turn() {
    let mut stage = joining("1.58.2", "waiting_for_confirmation", None);
    subscribed(&mut stage, "1.58.2", 300);
    let other = |n: usize| format!(r#"{{"id":"o{n}","kind":"HookExecutionEvent"}}"#);
    stage.answer("/events/search", 200, &page_of(&[other(0)], Some("p2")));
    assert_eq!(stage.topic(Topic::Approval).len(), 0);
    let said = r#"{"id":"m","source":"user","llm_message":{"role":"user","content":[]},"kind":"MessageEvent"}"#;
    let log = [action("a", "t", "{}"), said.to_owned()];
    stage.answer("TIMESTAMP_DESC&page_id=p2", 200, &page_of(&log, Some("p3")));
    assert_eq!(stage.topic(Topic::Approval)[0]["calls"][0]["callId"], "a");
    assert_eq!(stage.requests.len(), 0);
    let mut stage = joining("1.58.2", "waiting_for_confirmation", None);
    subscribed(&mut stage, "1.58.2", 900);
    for page in 1..=5 {
        assert!(!stage.settled.contains_key(&1), "{page}");
        stage.answer("/events/search", 200, &page_of(&[other(page)], Some("more")));
    }
    assert!(stage.settled[&1].is_ok(), "five pages at most");
}

#[test]
fn live_events_wait_for_the_log_and_come_once_and_in_order() {
    for version in ["1.58.2", "1.43.1"] {
        let mut stage = joining(version, "running", None);
        subscribed(&mut stage, version, 0);
        let live = |stage: &mut Stage, seq: i64, event: &str| match version {
            "1.58.2" => stage.durable(seq, event),
            _ => stage.frame(event),
        };
        live(&mut stage, 1, &action("a", "t", "{}"));
        live(&mut stage, 2, &ack("a"));
        assert_eq!(ran(&stage), "");
        // The page was read so late that it has the events that came, and one more whose frame is still on its way.
        let log = [action("b", "t", "{}"), ack("a"), action("a", "t", "{}"), status("old", "running")];
        stage.answer("/events/search", 200, &page_of(&log, None));
        assert_eq!(ran(&stage), "a", "{version}");
        live(&mut stage, 3, &action("b", "t", "{}"));
        live(&mut stage, 4, &ack("b"));
        assert_eq!(ran(&stage), "a b");
        let order = if version == "1.58.2" { "a ack_a b ack_b" } else { "subscribed a ack_a b ack_b" };
        assert_eq!(ids(&stage), order);
        assert_eq!(stage.notices(), Vec::<&str>::new());
    }
}

#[test]
fn from_a_place_the_session_socket_replays_what_is_ours() {
    let mut stage = joining("1.58.2", "finished", Some("1/a"));
    assert!(stage.sockets[0].1.ends_with("?after_seq=1"));
    stage.frame(r#"{"type":"sync","from_seq":1,"through_seq":3}"#);
    stage.durable(2, &ack("a"));
    assert_eq!(ran(&stage), "", "what is under way is not known yet");
    assert_eq!(stage.place().as_deref(), Some("1/a"));
    let log = [status("s", "finished"), ack("a"), action("a", "t", "{}"), status("r", "running")];
    stage.answer("/events/search", 200, &page_of(&log, None));
    assert!(!stage.settled.contains_key(&1), "the replay is not over");
    stage.durable(3, &status("s", "finished"));
    assert!(stage.settled[&1].is_ok());
    assert_eq!(ran(&stage), "a", "announced to the page before, let through while there was none");
    assert_eq!(stage.states("a"), "announced authorised claiming running settled");
    assert_eq!(stage.notices(), Vec::<&str>::new());
}

#[test]
fn from_a_place_the_legacy_socket_reads_on_in_the_log() {
    let mut stage = joining("1.43.1", "running", Some("/a"));
    stage.frame(&full_state("subscribed", "running"));
    let log = [ack("b"), action("b", "t", "{}"), ack("a"), action("a", "t", "{}")];
    stage.answer("/events/search", 200, &page_of(&log, Some("older")));
    assert_eq!(ran(&stage), "a b");
    assert_eq!(ids(&stage), "ack_a b ack_b subscribed");
    assert_eq!(stage.requests.len(), 0, "the place was on the page");
    let mut stage = joining("1.43.1", "running", Some("/a"));
    stage.frame(&full_state("subscribed", "running"));
    stage.answer("/events/search", 200, &page_of(&[ack("b")], Some("older")));
    let log = [action("a", "t", "{}"), ack("a"), action("b", "t", "{}"), ack("b")];
    stage.answer("/events/search?limit=100&page_id=a", 200, &page_of(&log, None));
    assert_eq!(ran(&stage), "b");
    stage.answer("/events/a", 200, &action("a", "t", "{}"));
    assert_eq!(ran(&stage), "b a", "it was announced further back than was read");
}

#[test]
fn a_place_of_one_kind_of_socket_serves_the_other() {
    let mut stage = joining("1.43.1", "running", Some("41/a"));
    stage.frame(&full_state("subscribed", "running"));
    stage.answer("/events/search", 200, &page_of(&[ack("a"), action("a", "t", "{}")], None));
    assert_eq!(ran(&stage), "a");
    let mut stage = joining("1.58.2", "running", Some("/a"));
    assert!(!stage.sockets[0].1.contains("after_seq"));
    stage.frame(r#"{"type":"sync","through_seq":1}"#);
    stage.answer("/events/search", 200, &page_of(&[ack("a"), action("a", "t", "{}")], None));
    assert_eq!(ran(&stage), "a");
    stage.lose_socket(1006);
    stage.reconnect();
    assert!(stage.sockets[1].1.ends_with("?after_seq=1"));
}

#[test]
fn a_place_that_means_nothing_is_none() {
    for place in ["", "nonsense", "7/", "x/y"] {
        let mut stage = joining("1.58.2", "running", Some(place));
        assert!(!stage.sockets[0].1.contains("after_seq"), "{place}");
        stage.frame(r#"{"type":"sync","through_seq":1}"#);
        stage.answer("/events/search", 200, &page_of(&[ack("a"), action("a", "t", "{}")], None));
        assert_eq!(ran(&stage), "", "{place}: it is history");
        assert!(stage.settled[&1].is_ok());
    }
}

#[test]
fn a_place_in_a_log_that_is_another_now_is_told_and_its_events_are_history() {
    let mut stage = joining("1.58.2", "idle", Some("9/gone"));
    stage.frame(r#"{"type":"sync","from_seq":9,"through_seq":1}"#);
    stage.answer("/events/search", 200, &page_of(&[ack("a"), action("a", "t", "{}")], None));
    assert_eq!((ran(&stage).as_str(), stage.notices()), ("", vec!["log_rewound"]));
    stage.durable(2, &action("b", "t", "{}"));
    stage.durable(3, &ack("b"));
    assert_eq!(ran(&stage), "b");
}

#[test]
fn the_place_never_runs_ahead_of_what_was_delivered() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    let place = |stage: &mut Stage| {
        stage.now = Millis(stage.now.0 + 1_000);
        stage.input(Input::Tick);
        stage.place()
    };
    assert_eq!(place(&mut stage).as_deref(), Some("-1/"));
    stage.durable(0, &status("s0", "running"));
    assert_eq!(place(&mut stage).as_deref(), Some("0/s0"));
    let socket = stage.socket();
    let closed = Wire::Closed { socket, code: 1013, reason: "frame_too_large".into() };
    stage.input(Input::Wire(closed));
    stage.reconnect();
    stage.frame(r#"{"type":"sync","through_seq":1}"#);
    stage.durable(2, &status("s2", "running"));
    assert_eq!(place(&mut stage).as_deref(), Some("0/s0"), "it waits for the log");
    stage.answer("/events/search", 200, &page_of(&[status("s0", "running"), status("s1", "running")], None));
    assert_eq!(place(&mut stage).as_deref(), Some("2/s2"));
}

#[test]
fn a_page_that_cannot_be_read_joins_again() {
    let mut stage = joining("1.58.2", "running", None);
    stage.frame(r#"{"type":"sync","through_seq":1}"#);
    stage.durable(2, &ack("lost"));
    stage.reply("/events/search", Answer::Unreachable);
    stage.reconnect();
    assert!(!stage.sockets[1].1.contains("after_seq"), "nothing is ours yet");
    stage.frame(r#"{"type":"sync","through_seq":2}"#);
    stage.answer("/events/search", 200, &page_of(&[action("a", "t", "{}")], None));
    stage.durable(3, &ack("a"));
    assert_eq!(ran(&stage), "a");
}

#[test]
fn the_conversation_has_one_name_however_its_id_is_written() {
    for id in [ID.replace('-', ""), ID.to_uppercase()] {
        let mut stage = Stage::with(Opening::Attach { id }, vec![]);
        stage.remember(stage.now, "3/a");
        stage.command(Command::Open);
        stage.open("1.58.2", 200, "[]");
        assert!(stage.sockets[0].1.ends_with(&format!("/{ID}?after_seq=3")));
    }
}
