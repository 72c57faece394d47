//! Sockets that say nothing, networks that come and go, pages that sleep.

use pagehand::conversation::{Command, Input, Topic, Wire};
use pagehand::net::{Answer, Millis};
use pagehand::protocol::Surroundings;
use serde_json::json;

use crate::stage::{ID, Stage, full_state, page_of, status};

fn connection(stage: &Stage) -> String {
    let states = stage.topic(Topic::Connection).into_iter().map(|event| event["state"].as_str().unwrap().to_owned());
    states.collect::<Vec<_>>().join(" ")
}

fn surroundings(stage: &mut Stage, what: Surroundings) {
    stage.input(Input::Wire(Wire::Surroundings(what)));
}

fn asked(stage: &Stage, url: &str) -> bool {
    stage.requests.iter().any(|(_, request)| request.url.contains(url))
}

/// The question for the newest event.
const NEWEST: &str = "/events/search?limit=1&sort_order=TIMESTAMP_DESC";

/// A conversation whose socket stands and has been silent until the server is asked.
fn silent() -> (Stage, Millis) {
    let mut stage = Stage::ready(vec![]);
    stage.durable(0, &status("s0", "idle"));
    let began = stage.now;
    stage.wait_for("a question", |stage| asked(stage, NEWEST));
    assert!((30_000..31_000).contains(&(stage.now.0 - began.0)), "{}", stage.now.0 - began.0);
    (stage, began)
}

#[test]
fn a_socket_that_does_not_open_is_replaced() {
    let mut stage = Stage::new(vec![]);
    stage.command(Command::Open);
    stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
    stage.answer("/api/conversations", 201, &format!(r#"{{"id":"{ID}"}}"#));
    let began = stage.now;
    stage.wait_for("a second socket", |stage| stage.sockets.len() == 2);
    assert!((30_000..32_000).contains(&(stage.now.0 - began.0)));
    assert_eq!(stage.closed, [stage.sockets[0].0]);
    stage.connect();
    stage.frame(r#"{"type":"sync","from_seq":-1}"#);
    assert!(stage.settled[&1].is_ok());
}

#[test]
fn a_server_that_lets_a_socket_wait_for_minutes_is_waited_for() {
    let mut stage = Stage::new(vec![]);
    stage.command(Command::Open);
    stage.open("1.43.1", 201, "[]");
    let began = stage.now;
    stage.wait_for("a word", |stage| connection(stage).ends_with("waiting"));
    assert!((5_000..6_000).contains(&(stage.now.0 - began.0)));
    for _ in 0..9 {
        stage.wait_for("a question", |stage| asked(stage, &format!("{ID}?")));
        stage.answer(&format!("{ID}?"), 200, &format!(r#"{{"id":"{ID}","execution_status":"running"}}"#));
    }
    assert!(stage.now.0 - began.0 >= 270_000);
    stage.frame(&full_state("subscribed", "idle"));
    stage.answer("/events/search", 200, &page_of(&[], None));
    assert!(stage.settled[&1].is_ok());
    assert_eq!(stage.sockets.len(), 1);
    assert_eq!(connection(&stage), "connecting connected waiting ready");
}

#[test]
fn a_silent_socket_whose_server_is_gone_is_replaced() {
    let mut stage = Stage::new(vec![]);
    stage.command(Command::Open);
    stage.open("1.58.2", 201, "[]");
    stage.wait_for("a question", |stage| asked(stage, &format!("{ID}?")));
    stage.reply(&format!("{ID}?"), Answer::TimedOut);
    assert_eq!(stage.closed.len(), 1);
    stage.reconnect();
    assert_eq!(stage.sockets.len(), 2);
}

#[test]
fn a_silent_socket_that_has_everything_stays() {
    let (mut stage, _) = silent();
    for _ in 0..20 {
        stage.wait_for("a question", |stage| asked(stage, NEWEST));
        stage.answer(NEWEST, 200, &page_of(&[status("s0", "idle")], Some("older")));
    }
    assert_eq!(stage.sockets.len(), 1);
    assert_eq!(connection(&stage), "connecting connected ready");
}

#[test]
fn case_31_a_half_open_socket_is_replaced_once_and_its_late_close_starts_nothing() {
    let (mut stage, _) = silent();
    let old = stage.socket();
    stage.answer(NEWEST, 200, &page_of(&[status("s1", "running")], Some("s0")));
    let asked_at = stage.now;
    stage.reconnect();
    assert!((10_000..12_000).contains(&(stage.now.0 - asked_at.0)));
    assert_eq!(stage.closed, [old]);
    stage.frame(r#"{"type":"sync","from_seq":0,"through_seq":1}"#);
    stage.durable(1, &status("s1", "running"));
    stage.input(Input::Wire(Wire::Closed { socket: old, code: 1006, reason: String::new() }));
    stage.wait_for("another question", |stage| asked(stage, NEWEST));
    assert_eq!(stage.sockets.len(), 2);
    assert_eq!(connection(&stage), "connecting connected ready lost connecting connected ready");
}

#[test]
fn case_31_a_frame_that_was_only_late_saves_the_socket() {
    let (mut stage, _) = silent();
    stage.answer(NEWEST, 200, &page_of(&[status("s1", "running")], Some("s0")));
    stage.durable(1, &status("s1", "running"));
    stage.wait_for("another question", |stage| asked(stage, NEWEST));
    assert_eq!(stage.sockets.len(), 1);
}

#[test]
fn a_question_that_gets_no_answer_condemns_the_socket() {
    for answer in [Answer::Unreachable, Answer::TimedOut] {
        let (mut stage, _) = silent();
        stage.reply(NEWEST, answer);
        assert_eq!(stage.closed.len(), 1);
        stage.reconnect();
    }
}

#[test]
fn a_conversation_that_was_deleted_under_a_socket_is_found_to_be_gone() {
    let (mut stage, _) = silent();
    stage.answer(NEWEST, 404, r#"{"detail":"Not Found"}"#);
    assert_eq!(stage.topic(Topic::Error)[0]["code"], "not_found");
    assert_eq!(stage.closed.len(), 1);
}

#[test]
fn what_the_server_takes_its_time_for_is_told_once_and_never_sent_again() {
    let mut stage = Stage::ready(vec![]);
    let said = stage.send("hi");
    stage.command(Command::Do(pagehand::protocol::Deed::read("pause", "null").unwrap()));
    let began = stage.now;
    stage.wait_for("a word", |stage| connection(stage).ends_with("waiting"));
    assert!((4_900..6_000).contains(&(stage.now.0 - began.0)));
    for _ in 0..8 {
        stage.wait();
    }
    let posts = stage.requests.iter().filter(|(_, request)| request.method.as_str() == "POST").count();
    assert_eq!(posts, 2);
    stage.answer("/events", 200, r#"{"success":true}"#);
    assert_eq!(connection(&stage), "connecting connected ready waiting", "the other one still waits");
    stage.answer("/pause", 200, r#"{"success":true}"#);
    assert_eq!(connection(&stage), "connecting connected ready waiting ready");
    assert_eq!(stage.settled[&said], Ok(json!(null)));
}

#[test]
fn without_a_network_nothing_is_tried_and_with_it_at_once() {
    let mut stage = Stage::ready(vec![]);
    surroundings(&mut stage, Surroundings::Offline);
    stage.lose_socket(1006);
    for _ in 0..20 {
        stage.wait();
    }
    assert_eq!(stage.sockets.len(), 1);
    let now = stage.now;
    surroundings(&mut stage, Surroundings::Online);
    assert_eq!((stage.sockets.len(), stage.now.0 - now.0), (2, 1));
}

#[test]
fn a_network_that_is_back_cuts_a_long_wait_short() {
    let mut stage = Stage::ready(vec![]);
    for _ in 0..8 {
        stage.lose_socket(1006);
        let sockets = stage.sockets.len();
        stage.wait_for("a new socket", |stage| stage.sockets.len() > sockets);
    }
    for what in [Surroundings::Online, Surroundings::Shown] {
        stage.lose_socket(1006);
        let sockets = stage.sockets.len();
        surroundings(&mut stage, what);
        assert_eq!(stage.sockets.len(), sockets + 1);
        stage.lose_socket(1006);
        let retry = stage.topic(Topic::Connection).last().unwrap()["retryIn"].as_u64().unwrap();
        assert!(retry <= 1_000, "the backoff begins anew: {retry}");
        stage.wait_for("a new socket", |stage| stage.sockets.len() > sockets + 1);
    }
}

#[test]
fn a_page_that_is_looked_at_again_checks_its_socket_at_once() {
    for what in [Surroundings::Shown, Surroundings::Online] {
        let mut stage = Stage::ready(vec![]);
        stage.durable(0, &status("s0", "idle"));
        surroundings(&mut stage, what);
        stage.reply(NEWEST, Answer::Unreachable);
        assert_eq!(stage.closed.len(), 1);
        assert_eq!(stage.sockets.len(), 1, "the attempt is planned, not made");
        stage.reconnect();
    }
}

#[test]
fn a_page_that_is_put_aside_lets_its_socket_go_and_catches_up_when_it_is_back() {
    let mut stage = Stage::ready(vec![]);
    stage.durable(0, &status("s0", "running"));
    let socket = stage.socket();
    surroundings(&mut stage, Surroundings::Leaving);
    assert_eq!(stage.closed, [socket]);
    let lost = stage.topic(Topic::Connection).last().unwrap().to_owned();
    assert_eq!((&lost["state"], &lost["retryIn"]), (&json!("lost"), &json!(0)));
    stage.send("by REST");
    stage.answer("/events", 200, r#"{"success":true}"#);
    surroundings(&mut stage, Surroundings::Shown);
    surroundings(&mut stage, Surroundings::Online);
    assert_eq!(stage.sockets.len(), 1, "it is still aside");
    surroundings(&mut stage, Surroundings::Back);
    assert_eq!(stage.sockets.len(), 2);
    assert!(stage.sockets[1].1.ends_with("?after_seq=0"));
    stage.connect();
    stage.frame(r#"{"type":"sync","from_seq":0,"through_seq":1}"#);
    stage.durable(1, &status("s1", "finished"));
    assert_eq!(connection(&stage), "connecting connected ready lost connecting connected ready");
}

#[test]
fn a_page_that_leaves_before_it_is_connected_connects_when_it_is_back() {
    let mut stage = Stage::new(vec![]);
    stage.command(Command::Open);
    surroundings(&mut stage, Surroundings::Leaving);
    stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
    stage.answer("/api/conversations", 201, &format!(r#"{{"id":"{ID}"}}"#));
    assert_eq!(stage.sockets.len(), 0);
    surroundings(&mut stage, Surroundings::Back);
    assert_eq!(stage.sockets.len(), 1);
}

/// The next socket opens and dies without a frame.
fn die(stage: &mut Stage) {
    stage.reconnect();
    stage.lose_socket(1006);
}

#[test]
fn a_conversation_that_the_server_cannot_load_any_more_is_told_as_such() {
    let mut stage = Stage::ready(vec![]);
    stage.lose_socket(1012);
    die(&mut stage);
    die(&mut stage);
    assert!(!asked(&stage, "/server_info"));
    for round in 1..=2 {
        die(&mut stage);
        stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
        stage.answer(&format!("{ID}?"), 200, &format!(r#"{{"id":"{ID}"}}"#));
        assert_eq!(stage.topic(Topic::Error).len(), 0, "round {round}");
        stage.reply("/events/search?limit=1", Answer::Unreachable);
    }
    assert_eq!(stage.topic(Topic::Error)[0]["code"], "conversation_unavailable");
    assert!(!stage.wait());
}

#[test]
fn a_dead_network_is_not_taken_for_a_broken_conversation() {
    let mut stage = Stage::ready(vec![]);
    stage.lose_socket(1012);
    let mut probes = 0;
    for _ in 0..12 {
        die(&mut stage);
        if asked(&stage, "/server_info") {
            stage.reply("/server_info", Answer::Unreachable);
            probes += 1;
        }
    }
    assert_eq!((probes, stage.topic(Topic::Error).len()), (10, 0));
    stage.reconnect();
    stage.frame(r#"{"type":"sync","from_seq":-1}"#);
    assert!(connection(&stage).ends_with("connected ready"));
}
