//! An app that hears the conversation over a connection of its own has the same guarantees.

use pagehand::conversation::{Command, Input, Topic, Wire};
use pagehand::protocol::openhands::Opening;

use crate::stage::{ID, Stage, ack, action, status, tool};

const ANY: &str = r#"{"type":"object"}"#;

fn fed() -> Stage {
    let mut stage = Stage::with(Opening::Feed { id: ID.into() }, vec![tool("t", ANY)]);
    let open = stage.command(Command::Open);
    stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
    let tools = r#"[{"name":"t","description":"d","parameters":{"type":"object"}}]"#;
    let info = format!(r#"{{"id":"{ID}","execution_status":"idle","client_tools":{tools}}}"#);
    stage.answer(ID, 200, &info);
    assert_eq!(stage.settled[&open].as_ref().unwrap()["tools"]["ready"][0], "t");
    assert!(stage.sockets.is_empty(), "the connection is the app's");
    stage
}

fn hear(stage: &mut Stage, text: &str) {
    stage.input(Input::Wire(Wire::Fed { text: text.into(), past: false }));
}

fn durable(seq: i64, event: &str) -> String {
    format!(r#"{{"type":"durable","seq":{seq},"event":{event}}}"#)
}

#[test]
fn bare_events_run_a_call_once_when_it_is_let_through() {
    let mut stage = fed();
    hear(&mut stage, &action("a", "t", r#"{"n":1}"#));
    assert!(stage.runs.is_empty());
    for _ in 0..2 {
        hear(&mut stage, &ack("a"));
        hear(&mut stage, &action("a", "t", r#"{"n":1}"#));
    }
    assert_eq!(stage.runs.len(), 1);
    assert_eq!(stage.runs[0].arguments["n"], 1);
}

#[test]
fn session_frames_are_understood_and_what_they_replay_first_runs_nothing() {
    let mut stage = fed();
    hear(&mut stage, r#"{"type":"sync","from_seq":-1,"through_seq":2}"#);
    hear(&mut stage, &durable(0, &action("old", "t", "{}")));
    hear(&mut stage, &durable(1, &ack("old")));
    hear(&mut stage, &durable(2, &action("pending", "t", "{}")));
    assert!(stage.topic(Topic::Call).is_empty());
    hear(&mut stage, &durable(3, &ack("pending")));
    assert_eq!(stage.states("pending"), "announced authorised claiming running settled");
    assert_eq!(stage.runs.len(), 1);
    // The app's socket comes back: what it missed is live.
    hear(&mut stage, r#"{"type":"sync","from_seq":3,"through_seq":5}"#);
    hear(&mut stage, &durable(4, &action("b", "t", "{}")));
    hear(&mut stage, &durable(5, &ack("b")));
    assert_eq!(stage.runs.len(), 2);
}

#[test]
fn what_the_app_calls_past_runs_nothing() {
    let mut stage = fed();
    for text in [action("old", "t", "{}"), ack("old")] {
        stage.input(Input::Wire(Wire::Fed { text, past: true }));
    }
    hear(&mut stage, &status("s", "running"));
    assert!(stage.runs.is_empty());
    assert_eq!(stage.states("old"), "");
}

#[test]
fn an_acknowledgement_of_an_unseen_call_fetches_it() {
    let mut stage = fed();
    hear(&mut stage, &ack("unseen"));
    stage.answer("/events/unseen", 200, &action("unseen", "t", "{}"));
    assert_eq!(stage.runs.len(), 1);
}

#[test]
fn what_is_no_frame_is_told() {
    let mut stage = fed();
    hear(&mut stage, "nonsense");
    hear(&mut stage, r#"{"type":"hologram"}"#);
    assert_eq!(stage.notices(), ["malformed_frame", "unknown_frame"]);
}

#[test]
fn a_question_can_be_answered() {
    let mut stage = fed();
    hear(&mut stage, &action("a", "t", "{}"));
    hear(&mut stage, &status("w", "waiting_for_confirmation"));
    stage.command(Command::Answer {
        approval: "a".into(),
        accept: true,
        reason: String::new(),
        arguments: None,
        say: None,
    });
    assert!(stage.take("/respond_to_confirmation").is_some());
}
