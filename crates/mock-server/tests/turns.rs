//! What becomes of calls, messages and pauses at odd moments, on servers new and old.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{Bench, Socket, message, name_of, names};
use pagehand_mock_server::json::{Json, parse};
use pagehand_mock_server::{Config, object};

const CALL: &str = r#"{"tool_calls": [{"name": "show_toast", "arguments": {"message": "hi"}}]}"#;

async fn version(version: &str) -> Bench {
    Bench::with(Config { version: version.to_owned(), ..Config::default() }).await
}

async fn open(bench: &Bench, steps: &str, more: &str) -> (String, Socket) {
    bench.script("s", steps).await;
    let id = bench.conversation_with("s", more).await;
    let socket = bench.legacy(&id).await;
    socket.until("full_state", 1).await;
    (id, socket)
}

fn found(frames: &[Json], name: &str) -> Vec<Json> {
    frames.iter().filter(|frame| name_of(frame) == name).cloned().collect()
}

async fn post(bench: &Bench, id: &str, what: &str) -> u16 {
    bench.call("POST", &format!("/api/conversations/{id}/{what}"), None).await.status
}

async fn respond(bench: &Bench, id: &str, accept: bool) {
    let path = format!("/api/conversations/{id}/events/respond_to_confirmation");
    let answer = object! { "accept" => accept, "reason" => "nope" };
    assert_eq!(bench.post(&path, answer).await.status, 200);
}

#[tokio::test]
async fn a_call_after_finish_is_acknowledged_in_the_next_turn_before_the_llm_is_asked() {
    let bench = Bench::start().await;
    let both = r#"{"tool_calls": [{"name": "finish", "arguments": {"message": "done"}},
                                  {"name": "show_toast", "arguments": {"message": "late"}}]}"#;
    let (id, socket) = open(&bench, &format!(r#"[{both}, {{"finish": "ok"}}]"#), "{}").await;
    bench.message(&id, "go").await;
    let frames = socket.until("full_state", 2).await;
    assert_eq!((found(&frames, "ActionEvent").len(), found(&frames, "ObservationEvent").len()), (2, 1));
    bench.message(&id, "next").await;
    let frames = socket.until("full_state", 3).await;
    let order = names(&frames);
    let message = order.iter().rposition(|name| name == "MessageEvent").unwrap();
    let later: Vec<&str> = order[message..]
        .iter()
        .map(String::as_str)
        .filter(|name| ["ObservationEvent", "ActionEvent"].contains(name))
        .collect();
    assert_eq!(later, ["ObservationEvent", "ActionEvent", "ObservationEvent"]);
    let requests = bench.get("/mock/scripts/s").await;
    let second = requests.get("requests").unwrap().as_array().unwrap()[1].to_string();
    assert!(second.contains("Tool call dispatched to client."), "{second}");
}

#[tokio::test]
async fn calls_with_one_id_are_two_calls() {
    let bench = Bench::start().await;
    let call = r#"{"id": "same", "name": "show_toast", "arguments": {"message": "m"}}"#;
    let steps = format!(r#"[{{"tool_calls": [{call}, {call}]}}, {{"tool_calls": [{call}]}}, {{"finish": "ok"}}]"#);
    let (id, socket) = open(&bench, &steps, r#"{"confirmation_policy": {"kind": "AlwaysConfirm"}}"#).await;
    bench.message(&id, "go").await;
    socket.until("waiting_for_confirmation", 1).await;
    respond(&bench, &id, true).await;
    socket.until("waiting_for_confirmation", 2).await;
    respond(&bench, &id, true).await;
    let frames = socket.until("finished", 1).await;
    let acks: Vec<Json> = found(&frames, "ObservationEvent")
        .into_iter()
        .filter(|ack| ack.text("tool_call_id") == Some("same"))
        .map(|ack| ack.get("action_id").unwrap().clone())
        .collect();
    let actions: Vec<Json> =
        found(&frames, "ActionEvent").iter().map(|action| action.get("id").unwrap().clone()).collect();
    assert_eq!(acks, actions[..3]);
}

#[tokio::test]
async fn a_pause_during_the_llm_call_lets_its_call_through_afterwards() {
    let bench = Bench::start().await;
    let held = CALL.replacen('{', r#"{"hold": "llm", "#, 1);
    let (id, socket) = open(&bench, &format!(r#"[{held}, {{"finish": "ok"}}]"#), "{}").await;
    bench.message(&id, "go").await;
    bench.asked("s", 1).await;
    assert_eq!(post(&bench, &id, "pause").await, 200);
    socket.until("PauseEvent", 1).await;
    assert_eq!(post(&bench, &id, "run").await, 409);
    bench.release("llm").await;
    let order = names(&socket.until("full_state", 3).await);
    let at = |name: &str| order.iter().position(|found| found == name).unwrap();
    assert!(at("paused") < at("ActionEvent") && at("ActionEvent") < at("ObservationEvent"), "{order:?}");
    assert_eq!(bench.status(&id).await, "paused");
    assert_eq!(post(&bench, &id, "run").await, 200);
    socket.until("finished", 1).await;
}

#[tokio::test]
async fn a_pause_during_the_last_call_ends_finished() {
    let bench = Bench::start().await;
    let (id, socket) = open(&bench, r#"[{"hold": "llm", "finish": "ok"}]"#, "{}").await;
    bench.message(&id, "go").await;
    bench.asked("s", 1).await;
    post(&bench, &id, "pause").await;
    bench.release("llm").await;
    socket.until("full_state", 3).await;
    assert_eq!(bench.status(&id).await, "finished");
}

#[tokio::test]
async fn four_equal_calls_are_a_rut_unless_detection_is_off() {
    let bench = Bench::start().await;
    let steps = format!(r#"[{}, {{"finish": "ok"}}]"#, CALL.replacen('{', r#"{"repeat": 5, "#, 1));
    let (id, socket) = open(&bench, &steps, "{}").await;
    bench.message(&id, "go").await;
    let frames = socket.until("full_state", 2).await;
    assert_eq!(found(&frames, "ActionEvent").len(), 4);
    assert!(found(&frames, "ConversationErrorEvent").is_empty());
    assert_eq!(bench.status(&id).await, "stuck");
    // Only a user's message helps.
    bench.message(&id, "do something else").await;
    socket.until("finished", 1).await;

    let (id, socket) = open(&bench, &steps, r#"{"stuck_detection": false}"#).await;
    bench.message(&id, "go").await;
    let frames = socket.until("finished", 1).await;
    assert_eq!(found(&frames, "ActionEvent").len(), 6);
}

#[tokio::test]
async fn old_servers_lose_a_message_during_the_last_call_and_keep_one_before() {
    let bench = version("1.43.1").await;
    let steps = format!(r#"[{}, {{"hold": "last", "finish": "ok"}}]"#, CALL.replacen('{', r#"{"hold": "first", "#, 1));
    let (id, socket) = open(&bench, &steps, "{}").await;
    bench.message(&id, "go").await;
    bench.asked("s", 1).await;
    bench.message(&id, "in time").await;
    bench.release("first").await;
    bench.asked("s", 2).await;
    bench.message(&id, "too late").await;
    bench.release("last").await;
    let frames = socket.until("full_state", 2).await;
    assert_eq!(found(&frames, "MessageEvent").len(), 3);
    let script = bench.get("/mock/scripts/s").await;
    let requests = script.get("requests").unwrap().as_array().unwrap();
    assert_eq!(requests.len(), 2);
    assert!(requests[1].to_string().contains("in time") && !requests[1].to_string().contains("too late"));
    // A run on `finished` does nothing but say so.
    assert_eq!(post(&bench, &id, "run").await, 200);
    socket.until("full_state", 3).await;
    assert_eq!(bench.get("/mock/scripts/s").await.count("left"), Some(0));
}

#[tokio::test]
async fn an_error_is_left_by_a_run_or_a_message_that_runs() {
    let bench = Bench::start().await;
    let (id, socket) = open(&bench, r#"[{"error": 500}, {"error": 401}, {"finish": "ok"}]"#, "{}").await;
    bench.message(&id, "go").await;
    let order = names(&socket.until("full_state", 2).await);
    assert_eq!(order[order.len() - 3..], ["error", "ConversationErrorEvent", "full_state"]);
    bench.post(&format!("/api/conversations/{id}/events"), message("only said", false)).await;
    assert_eq!(bench.status(&id).await, "error");
    assert_eq!(post(&bench, &id, "run").await, 200);
    let frames = socket.until("full_state", 3).await;
    assert_eq!(found(&frames, "ConversationErrorEvent")[1].text("code"), Some("LLMAuthenticationError"));
    bench.message(&id, "again").await;
    socket.until("finished", 1).await;
}

#[tokio::test]
async fn a_message_during_the_llm_call_supersedes_pending_calls_from_1_58_on() {
    let held = CALL.replacen('{', r#"{"hold": "llm", "#, 1);
    let steps = format!(r#"[{held}, {{"finish": "ok"}}]"#);
    let confirm = r#"{"confirmation_policy": {"kind": "AlwaysConfirm"}}"#;
    for (release, superseded) in [("1.58.2", true), ("1.50.0", false)] {
        let bench = version(release).await;
        let (id, socket) = open(&bench, &steps, confirm).await;
        bench.message(&id, "go").await;
        bench.asked("s", 1).await;
        bench.message(&id, "wait, no").await;
        bench.release("llm").await;
        let frames = socket.until("full_state", 2).await;
        let rejected = found(&frames, "UserRejectObservation");
        assert_eq!(rejected.len(), usize::from(superseded), "{release}");
        let status = if superseded { "finished" } else { "waiting_for_confirmation" };
        assert_eq!(bench.status(&id).await, status, "{release}");
    }
}

#[tokio::test]
async fn risky_calls_wait_by_threshold_and_unknown_ones_as_told() {
    let cases = [
        ("HIGH", true, "HIGH", true),
        ("HIGH", true, "MEDIUM", false),
        ("MEDIUM", true, "MEDIUM", true),
        ("LOW", true, "LOW", true),
        ("HIGH", true, "UNKNOWN", true),
        ("HIGH", false, "UNKNOWN", false),
    ];
    for (threshold, confirm_unknown, risk, waits) in cases {
        let bench = Bench::start().await;
        let arguments = format!(r#"{{"message": "m", "security_risk": "{risk}"}}"#);
        let steps = format!(
            r#"[{{"tool_calls": [{{"name": "show_toast", "arguments": {{"message": "n", "security_risk": "LOW"}}}},
                                 {{"name": "show_toast", "arguments": {arguments}}}]}}, {{"finish": "ok"}}]"#
        );
        let more = format!(
            r#"{{"security_analyzer": {{"kind": "LLMSecurityAnalyzer"}}, "confirmation_policy":
                {{"kind": "ConfirmRisky", "threshold": "{threshold}", "confirm_unknown": {confirm_unknown}}}}}"#
        );
        let (id, socket) = open(&bench, &steps, &more).await;
        bench.message(&id, "go").await;
        let frames = socket.until("full_state", 2).await;
        let case = format!("{threshold} {confirm_unknown} {risk}");
        // One risky call makes the whole batch wait.
        let acks = if waits { 0 } else { 3 };
        assert_eq!(found(&frames, "ObservationEvent").len(), acks, "{case}");
        let status = if waits { "waiting_for_confirmation" } else { "finished" };
        assert_eq!(bench.status(&id).await, status, "{case}");
    }
}

#[tokio::test]
async fn an_invalid_call_has_its_error_while_the_valid_one_waits() {
    let bench = Bench::start().await;
    let steps = r#"[{"tool_calls": [{"name": "show_toast", "arguments": {}},
                                    {"name": "show_toast", "arguments": {"message": "m"}}]}, {"finish": "ok"}]"#;
    let (id, socket) = open(&bench, steps, r#"{"confirmation_policy": {"kind": "AlwaysConfirm"}}"#).await;
    bench.message(&id, "go").await;
    let frames = socket.until("waiting_for_confirmation", 1).await;
    assert_eq!(found(&frames, "AgentErrorEvent").len(), 1);
    respond(&bench, &id, true).await;
    let frames = socket.until("finished", 1).await;
    let first = &found(&frames, "ObservationEvent")[0];
    assert_eq!(first.text("action_id"), found(&frames, "ActionEvent")[1].text("id"));
}

#[tokio::test]
async fn a_rejection_leaves_the_agent_idle_and_a_late_accept_starts_a_turn() {
    let bench = Bench::start().await;
    let steps = format!(r#"[{CALL}, {{"finish": "ok"}}]"#);
    let (id, socket) = open(&bench, &steps, r#"{"confirmation_policy": {"kind": "AlwaysConfirm"}}"#).await;
    bench.message(&id, "go").await;
    socket.until("full_state", 2).await;
    respond(&bench, &id, false).await;
    let frames = socket.until("UserRejectObservation", 1).await;
    let order = names(&frames);
    assert_eq!(order[order.len() - 2..], ["idle", "UserRejectObservation"]);
    let length = bench.events(&id).await.len();
    respond(&bench, &id, false).await;
    assert_eq!(bench.events(&id).await.len(), length);
    respond(&bench, &id, true).await;
    socket.until("full_state", 3).await;
    assert_eq!(bench.status(&id).await, "finished");
    let length = bench.events(&id).await.len();
    respond(&bench, &id, true).await;
    socket.until("full_state", 4).await;
    assert_eq!(bench.events(&id).await.len(), length);
}

#[tokio::test]
async fn a_message_that_runs_approves_what_waits_and_one_that_does_not_leaves_it() {
    let bench = Bench::start().await;
    let steps = format!(r#"[{CALL}, {{"finish": "ok"}}]"#);
    let (id, socket) = open(&bench, &steps, r#"{"confirmation_policy": {"kind": "AlwaysConfirm"}}"#).await;
    bench.message(&id, "go").await;
    socket.until("full_state", 2).await;
    bench.post(&format!("/api/conversations/{id}/events"), message("only said", false)).await;
    assert_eq!(bench.status(&id).await, "waiting_for_confirmation");
    assert_eq!(post(&bench, &id, "pause").await, 200);
    assert_eq!(post(&bench, &id, "interrupt").await, 200);
    assert_eq!(bench.status(&id).await, "waiting_for_confirmation");
    bench.message(&id, "and run").await;
    let frames = socket.until("finished", 1).await;
    assert_eq!(found(&frames, "ObservationEvent").len(), 2);
    assert!(found(&frames, "PauseEvent").is_empty());
}

#[tokio::test]
async fn a_policy_changes_what_comes_but_not_what_waits() {
    let bench = Bench::start().await;
    let steps = format!(r#"[{CALL}, {CALL}, {{"finish": "ok"}}]"#);
    let (id, socket) = open(&bench, &steps, r#"{"confirmation_policy": {"kind": "AlwaysConfirm"}}"#).await;
    bench.message(&id, "go").await;
    socket.until("full_state", 2).await;
    let policy = parse(r#"{"policy": {"kind": "NeverConfirm"}}"#).unwrap();
    let path = format!("/api/conversations/{id}/confirmation_policy");
    assert_eq!(bench.post(&path, policy).await.status, 200);
    socket.until("confirmation_policy", 1).await;
    assert_eq!(bench.status(&id).await, "waiting_for_confirmation");
    post(&bench, &id, "run").await;
    let frames = socket.until("finished", 1).await;
    assert_eq!(found(&frames, "waiting_for_confirmation").len(), 1);
}
