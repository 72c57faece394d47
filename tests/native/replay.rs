//! The recorded sockets of the real server, replayed: as they were, doubled, backwards and shuffled.

use std::collections::{BTreeMap, BTreeSet};

use pagehand::conversation::Command;
use serde_json::Value;

use crate::recording::{Recorded, sockets};
use crate::stage::{Stage, tool};

/// What the recorded frames say about calls of client tools.
#[derive(Default)]
struct Truth {
    tools: BTreeSet<String>,
    actions: BTreeMap<String, Value>,
    acknowledged: BTreeSet<String>,
}

/// Whether an app may declare the name to this kind of server.
fn is_declared(name: &str) -> bool {
    pagehand::tool::ToolName::declared(name).is_some() && !name.contains(' ')
}

fn event(frame: &str) -> Option<Value> {
    let frame: Value = serde_json::from_str(frame).unwrap();
    if frame.get("kind").is_some_and(Value::is_string) && frame.get("event").is_none() && frame.get("type").is_none() {
        return Some(frame);
    }
    frame.get("event").cloned()
}

fn truth(recorded: &Recorded) -> Truth {
    let mut truth = Truth::default();
    for event in recorded.frames.iter().filter_map(|frame| event(frame)) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if event["kind"] == "ActionEvent"
            && let Some(tool) = text(&event["action"]["kind"]).strip_prefix("ClientAction_")
        {
            truth.tools.insert(tool.to_owned());
            truth.actions.insert(text(&event["id"]), event.clone());
        }
        if event["observation"]["kind"] == "ClientToolObservation" && event["observation"]["is_error"] == false {
            truth.acknowledged.insert(text(&event["action_id"]));
        }
    }
    truth
}

/// Plays frames to a new conversation whose handlers return at once, and gives the calls that ran.
fn play(recorded: &Recorded, frames: &[String], truth: &Truth) -> (Vec<String>, Stage) {
    let declared = |name: &&String| is_declared(name);
    let reserved = ["finish", "think"];
    let tools = truth.tools.iter().filter(declared).filter(|name| !reserved.contains(&name.as_str()));
    let mut stage = Stage::new(tools.map(|name| tool(name, r#"{"type":"object"}"#)).collect());
    stage.command(Command::Open);
    stage.open(if recorded.session { "1.58.2" } else { "1.43.1" }, 201, "[]");
    for frame in frames {
        stage.frame(frame);
        // The first frame of a legacy socket asks for the log: here everything comes over the socket.
        if stage.requests.iter().any(|(_, request)| request.url.contains("/events/search")) {
            stage.answer("/events/search", 200, r#"{"items":[],"next_page_id":null}"#);
        }
    }
    (stage.runs.iter().map(|run| run.call.clone()).collect(), stage)
}

fn play_whole(recorded: &Recorded, frames: &[String], truth: &Truth) -> (BTreeSet<String>, Stage) {
    let (runs, stage) = play(recorded, frames, truth);
    let once: BTreeSet<String> = runs.iter().cloned().collect();
    assert_eq!(once.len(), runs.len(), "{}: a call ran twice", recorded.name);
    (once, stage)
}

fn runnable(truth: &Truth) -> BTreeSet<String> {
    let has_handler = |id: &&String| {
        truth.actions.get(*id).is_some_and(|action| {
            let kind = action["action"]["kind"].as_str().unwrap_or_default();
            is_declared(kind.trim_start_matches("ClientAction_"))
        })
    };
    truth.acknowledged.iter().filter(has_handler).cloned().collect()
}

#[test]
fn every_recorded_socket_runs_exactly_the_acknowledged_calls() {
    let (mut sockets_played, mut calls) = (0, 0);
    for recorded in sockets() {
        let truth = truth(&recorded);
        let (ran, stage) = play_whole(&recorded, &recorded.frames, &truth);
        assert_eq!(ran, runnable(&truth), "{}", recorded.name);
        for odd in ["malformed_frame", "unknown_frame", "unknown_event"] {
            assert!(!stage.notices().contains(&odd), "{}: {odd}", recorded.name);
        }
        sockets_played += 1;
        calls += ran.len();
    }
    assert!(sockets_played > 100 && calls > 100, "{sockets_played} sockets, {calls} calls");
}

#[test]
fn doubled_reversed_and_shuffled_frames_run_the_same_calls() {
    let mut random = fastrand::Rng::with_seed(42);
    for recorded in sockets() {
        let truth = truth(&recorded);
        let expected = runnable(&truth);
        let doubled: Vec<_> = recorded.frames.iter().flat_map(|frame| [frame.clone(), frame.clone()]).collect();
        // A whole state ends what came before it: it has no meaning out of its place.
        let movable = recorded.frames.iter().filter(|frame| !frame.contains("full_state"));
        let movable: Vec<_> = movable.cloned().collect();
        let reversed: Vec<_> = movable.iter().rev().cloned().collect();
        let mut orders = vec![("doubled", doubled), ("reversed", reversed)];
        for _ in 0..8 {
            let mut shuffled = movable.clone();
            random.shuffle(&mut shuffled);
            orders.push(("shuffled", shuffled));
        }
        for (how, frames) in orders {
            let (ran, _) = play_whole(&recorded, &frames, &truth);
            assert_eq!(ran, expected, "{} {how}", recorded.name);
        }
    }
}
