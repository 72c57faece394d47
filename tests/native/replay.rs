//! The recorded sockets of the real server, replayed: as they were, doubled, backwards and shuffled, and as a bad connection might
//! bring them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use pagehand::conversation::Command;
use proptest::prelude::*;
use proptest::sample::Index;
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

/// What may happen to frames on their way. Places are those in the list as it is by then.
#[derive(Debug, Clone)]
pub enum Mishap {
    /// A frame comes again at another place.
    Again(Index, Index),
    /// Two frames change places.
    Swapped(Index, Index),
    /// The connection breaks at a place, and what came from another place on comes again.
    Cut(Index, Index),
}

pub fn mishaps() -> impl Strategy<Value = Vec<Mishap>> {
    let places = || (any::<Index>(), any::<Index>());
    let mishap = prop_oneof![
        places().prop_map(|(from, to)| Mishap::Again(from, to)),
        places().prop_map(|(one, other)| Mishap::Swapped(one, other)),
        places().prop_map(|(at, from)| Mishap::Cut(at, from)),
    ];
    prop::collection::vec(mishap, 1..16)
}

/// A list with its mishaps. `None`: here the connection breaks.
pub fn happened<T: Clone>(list: &[T], mishaps: &[Mishap]) -> Vec<Option<T>> {
    let mut list: Vec<Option<T>> = list.iter().cloned().map(Some).collect();
    for mishap in mishaps {
        match mishap {
            Mishap::Again(from, to) => {
                let again = from.get(&list).clone();
                list.insert(to.index(list.len()), again);
            }
            Mishap::Swapped(one, other) => {
                let (one, other) = (one.index(list.len()), other.index(list.len()));
                list.swap(one, other);
            }
            Mishap::Cut(at, from) => {
                let at = at.index(list.len());
                let again = list[from.index(at + 1)..at].to_vec();
                list.splice(at..at, std::iter::once(None).chain(again));
            }
        }
    }
    list
}

/// The same as [`play`] on a session socket that breaks.
fn play_with_cuts(frames: &[Option<String>], last: i64, truth: &Truth) -> Stage {
    let declared = truth.tools.iter().filter(|name| is_declared(name) && !["finish", "think"].contains(&name.as_str()));
    let mut stage = Stage::new(declared.map(|name| tool(name, r#"{"type":"object"}"#)).collect());
    stage.command(Command::Open);
    stage.open("1.58.2", 201, "[]");
    stage.frame(&format!(r#"{{"type":"sync","from_seq":-1,"through_seq":{last}}}"#));
    for frame in frames {
        if let Some(frame) = frame {
            stage.frame(frame);
        } else {
            stage.lose_socket(1006);
            stage.reconnect();
            let (_, url) = stage.sockets.last().unwrap();
            let from = url.split_once("after_seq=").map_or("-1", |(_, seq)| seq);
            let sync = format!(r#"{{"type":"sync","from_seq":{from},"through_seq":{last}}}"#);
            stage.frame(&sync);
        }
    }
    stage
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_connection_does_to_a_recorded_conversation_each_authorised_call_runs_once(
        which in any::<Index>(), mishaps in mishaps(),
    ) {
        static SOCKETS: LazyLock<Vec<Recorded>> =
            LazyLock::new(|| sockets().into_iter().filter(|recorded| recorded.session).collect());
        let recorded = which.get(&SOCKETS);
        let truth = truth(recorded);
        // A whole state ends what came before it: it has no meaning out of its place.
        let movable = |frame: &&String| !frame.contains("full_state") && !frame.contains(r#""type":"sync""#);
        let frames: Vec<_> = recorded.frames.iter().filter(movable).cloned().collect();
        prop_assume!(!frames.is_empty());
        let seq = |frame: &String| serde_json::from_str::<Value>(frame).ok()?["seq"].as_i64();
        let last = frames.iter().filter_map(seq).max().unwrap_or(-1);
        let stage = play_with_cuts(&happened(&frames, &mishaps), last, &truth);
        let mut runs: Vec<_> = stage.runs.iter().map(|run| run.call.clone()).collect();
        runs.sort();
        prop_assert_eq!(runs, runnable(&truth).into_iter().collect::<Vec<_>>(), "{}", &recorded.name);
    }
}
