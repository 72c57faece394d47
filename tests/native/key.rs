//! The key that the app is asked for.

use pagehand::conversation::{Command, Input, Topic, Wire};
use pagehand::protocol::Surroundings;
use pagehand::protocol::openhands::{Opening, SessionKey};

use crate::stage::{ID, Stage, page_of};

fn asking() -> Stage {
    let opening = Opening::Create { id: ID.into(), request: r#"{"agent":{},"workspace":"/"}"#.into() };
    let mut stage = Stage::with_key(SessionKey::Asked, opening, vec![]);
    stage.command(Command::Open);
    stage
}

fn give(stage: &mut Stage, key: &str) {
    stage.input(Input::Wire(Wire::Key(Ok(key.into()))));
}

fn refuse(stage: &mut Stage) {
    stage.input(Input::Wire(Wire::Key(Err("signed out".into()))));
}

/// The key that the oldest request to this URL carries.
fn key_of(stage: &Stage, url: &str) -> Option<String> {
    let (_, request) = stage.requests.iter().find(|(_, request)| request.url.contains(url)).unwrap();
    request.headers.iter().find(|(name, _)| *name == "X-Session-API-Key").map(|(_, key)| key.clone())
}

fn ready() -> Stage {
    let mut stage = asking();
    give(&mut stage, "canary-1");
    stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
    stage.answer("/api/conversations", 201, &format!(r#"{{"id":"{ID}"}}"#));
    give(&mut stage, "canary-2");
    stage.connect();
    stage.frame(r#"{"type":"sync","from_seq":-1}"#);
    stage
}

#[test]
fn nothing_is_sent_before_the_app_has_given_a_key() {
    let mut stage = asking();
    assert_eq!((stage.keys_asked, stage.requests.len()), (1, 0));
    give(&mut stage, "canary-1");
    assert_eq!(key_of(&stage, "/server_info").as_deref(), Some("canary-1"));
}

#[test]
fn every_connection_has_a_key_of_its_own() {
    let mut stage = ready();
    assert_eq!(stage.keys_asked, 2);
    assert_eq!(stage.sent.last().unwrap().1, r#"{"type":"auth","session_api_key":"canary-2"}"#);
    stage.lose_socket(1006);
    stage.wait_for("a question", |stage| stage.keys_asked == 3);
    assert_eq!(stage.sockets.len(), 1, "not without a key");
    give(&mut stage, "canary-3");
    stage.connect();
    assert_eq!(stage.sent.last().unwrap().1, r#"{"type":"auth","session_api_key":"canary-3"}"#);
    let told = format!("{:?} {:?} {:?}", stage.events, stage.settled, stage.sockets);
    assert!(!told.contains("canary"), "{told}");
}

#[test]
fn an_app_without_a_key_cannot_open_a_conversation() {
    let mut stage = asking();
    refuse(&mut stage);
    assert_eq!(stage.error(1), "unauthorized");
    assert!(stage.requests.is_empty() && !stage.wait());
}

#[test]
fn an_app_without_a_key_for_the_next_connection_is_asked_again() {
    let mut stage = ready();
    stage.lose_socket(1006);
    for asked in 3..8 {
        stage.wait_for("a question", |stage| stage.keys_asked == asked);
        refuse(&mut stage);
        let told = stage.topic(Topic::Connection).last().unwrap().to_owned();
        assert_eq!(told["state"], "lost");
        assert!(told["reason"].as_str().unwrap().ends_with("signed out"));
    }
    stage.wait_for("a question", |stage| stage.keys_asked == 8);
    give(&mut stage, "canary-8");
    assert_eq!(stage.sockets.len(), 2);
}

#[test]
fn a_key_that_comes_when_the_network_is_gone_opens_nothing_before_it_is_back() {
    let mut stage = ready();
    stage.lose_socket(1006);
    stage.wait_for("a question", |stage| stage.keys_asked == 3);
    stage.input(Input::Wire(Wire::Surroundings(Surroundings::Offline)));
    give(&mut stage, "canary-3");
    assert_eq!(stage.sockets.len(), 1);
    stage.input(Input::Wire(Wire::Surroundings(Surroundings::Online)));
    give(&mut stage, "canary-4");
    assert_eq!(stage.sockets.len(), 2);
}

#[test]
fn a_request_whose_key_was_refused_goes_again_once_with_a_new_one() {
    let mut stage = ready();
    let history = stage.history();
    stage.answer("/events/search", 401, r#"{"detail":"Unauthorized"}"#);
    assert_eq!(stage.keys_asked, 3);
    give(&mut stage, "canary-3");
    assert_eq!(key_of(&stage, "/events/search").as_deref(), Some("canary-3"));
    stage.answer("/events/search", 200, &page_of(&[], None));
    assert!(stage.settled[&history].is_ok());
    let send = stage.send("hi");
    stage.answer("/events", 401, r#"{"detail":"Unauthorized"}"#);
    give(&mut stage, "canary-4");
    stage.answer("/events", 401, r#"{"detail":"Unauthorized"}"#);
    assert_eq!((stage.error(send), stage.keys_asked), ("unauthorized", 4));
    let send = stage.send("hi");
    stage.answer("/events", 401, r#"{"detail":"Unauthorized"}"#);
    refuse(&mut stage);
    assert_eq!(stage.error(send), "unauthorized");
}

#[test]
fn a_fixed_key_that_was_refused_is_not_tried_again() {
    let mut stage = Stage::ready(vec![]);
    let history = stage.history();
    stage.answer("/events/search", 401, r#"{"detail":"Unauthorized"}"#);
    assert_eq!((stage.error(history), stage.keys_asked, stage.requests.len()), ("unauthorized", 0, 0));
}
