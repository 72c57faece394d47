//! Hooks, whose outcome the mock reads from their commands.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{Bench, Socket, name_of, names};
use pagehand_mock_server::json::Json;

const TOAST: &str = r#"[{"tool_calls": [{"name": "show_toast", "arguments": {"message": "hi"}}]},
                        {"finish": "ok"}, {"finish": "really"}]"#;

async fn run(hooks: &str) -> (Bench, String, Socket) {
    let bench = Bench::start().await;
    bench.script("s", TOAST).await;
    let id = bench.conversation_with("s", &format!(r#"{{"hook_config": {hooks}}}"#)).await;
    let socket = bench.legacy(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    socket.until("full_state", 2).await;
    (bench, id, socket)
}

fn found(frames: &[Json], name: &str) -> Vec<Json> {
    frames.iter().filter(|frame| name_of(frame) == name).cloned().collect()
}

#[tokio::test]
async fn a_blocked_call_is_rejected_and_the_run_goes_on() {
    let hooks =
        r#"{"pre_tool_use": [{"matcher": "show_toast", "hooks": [{"command": "echo not today >&2; exit 2"}]}]}"#;
    let (_, _, socket) = run(hooks).await;
    let frames = socket.frames();
    let rejection = &found(&frames, "UserRejectObservation")[0];
    assert_eq!(rejection.text("rejection_source"), Some("hook"));
    assert_eq!(rejection.text("rejection_reason"), Some("not today"));
    let order = names(&frames);
    let at = |name: &str| order.iter().position(|found| found == name).unwrap();
    assert!(at("HookExecutionEvent") < at("ActionEvent") && at("ActionEvent") < at("UserRejectObservation"));
    assert_eq!(found(&frames, "ObservationEvent").len(), 1);
    assert_eq!(order[order.len() - 2..], ["finished", "full_state"]);
}

#[tokio::test]
async fn a_blocked_call_that_waited_for_confirmation_is_rejected_after_it() {
    let bench = Bench::start().await;
    bench.script("s", TOAST).await;
    let more = r#"{"confirmation_policy": {"kind": "AlwaysConfirm"},
        "hook_config": {"pre_tool_use": [{"hooks": [{"command": "echo no >&2; exit 2"}]}]}}"#;
    let id = bench.conversation_with("s", more).await;
    let socket = bench.legacy(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    let frames = socket.until("waiting_for_confirmation", 1).await;
    assert!(found(&frames, "UserRejectObservation").is_empty());
    let info = bench.get(&format!("/api/conversations/{id}")).await;
    assert_eq!(info.get("blocked_actions").unwrap().as_object().unwrap().len(), 1);
    bench.call("POST", &format!("/api/conversations/{id}/run"), None).await;
    socket.until("UserRejectObservation", 1).await;
}

#[tokio::test]
async fn a_hook_of_another_tool_is_not_asked() {
    let hooks = r#"{"pre_tool_use": [{"matcher": "finish|think", "hooks": [{"command": "true"}]}]}"#;
    let (_, _, socket) = run(hooks).await;
    let asked = found(&socket.frames(), "HookExecutionEvent");
    assert_eq!(asked.iter().map(|event| event.text("tool_name").unwrap()).collect::<Vec<_>>(), ["finish"]);
}

#[tokio::test]
async fn a_stop_hook_turns_finished_into_running_with_one_full_state_at_the_end() {
    let once = "test -e once && exit 0; touch once; echo not yet >&2; exit 2";
    let (_, _, socket) = run(&format!(r#"{{"stop": [{{"hooks": [{{"command": "{once}"}}]}}]}}"#)).await;
    let frames = socket.frames();
    let steps = ["running", "finished", "HookExecutionEvent", "MessageEvent", "full_state"];
    let order: Vec<String> = names(&frames).into_iter().filter(|name| steps.contains(&name.as_str())).collect();
    let expected = [
        "full_state",
        "MessageEvent",
        "running",
        "finished",
        "HookExecutionEvent",
        "MessageEvent",
        "running",
        "finished",
        "HookExecutionEvent",
        "full_state",
    ];
    assert_eq!(order, expected);
    let feedback = &found(&frames, "MessageEvent")[1];
    assert_eq!(feedback.text("source"), Some("environment"));
}
