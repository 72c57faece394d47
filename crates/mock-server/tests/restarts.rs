//! Restarts, as clients see them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::time::{Duration, Instant};

use common::{Bench, KEY, Socket, create_body, name_of, names};
use pagehand_mock_server::json::Json;
use pagehand_mock_server::object;

const HELD: &str = r#"[{"hold": "llm", "tool_calls": [{"name": "show_toast", "arguments": {"message": "lost"}}]},
                       {"finish": "ok"}]"#;

async fn restart(bench: &Bench, order: Json) {
    let answer = bench.post("/mock/restart", order).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

/// A conversation whose LLM is thinking.
async fn thinking(bench: &Bench) -> (String, Socket) {
    bench.script("s", HELD).await;
    let id = bench.conversation("s").await;
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    bench.asked("s", 1).await;
    (id, socket)
}

#[tokio::test]
async fn after_sigterm_sockets_closed_with_1012_and_a_run_comes_back_paused() {
    let bench = Bench::keyed().await;
    let (id, socket) = thinking(&bench).await;
    restart(&bench, object! { "signal" => "term" }).await;
    assert_eq!(socket.ended().await, Some((1012, String::new())));
    assert_eq!(bench.status(&id).await, "paused");
    // The call that was in flight has no effect, not even once it is answered.
    bench.release("llm").await;
    bench.let_others_run().await;
    assert!(!names(&bench.events(&id).await).contains(&"ActionEvent".to_owned()));
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    bench.call("POST", &format!("/api/conversations/{id}/run"), None).await;
    socket.until("finished", 1).await;
}

#[tokio::test]
async fn after_sigkill_sockets_just_ended_and_a_run_comes_back_in_error() {
    let bench = Bench::keyed().await;
    let (id, socket) = thinking(&bench).await;
    restart(&bench, object! { "signal" => "kill" }).await;
    assert_eq!(socket.ended().await, None);
    assert_eq!(bench.status(&id).await, "error");
    assert!(!names(&bench.events(&id).await).contains(&"ConversationErrorEvent".to_owned()));
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    bench.call("POST", &format!("/api/conversations/{id}/run"), None).await;
    socket.until("finished", 1).await;
}

#[tokio::test]
async fn a_tool_that_was_at_work_at_a_sigkill_is_answered_with_an_error() {
    let bench = Bench::keyed().await;
    let call = r#"{"name": "show_toast", "arguments": {"message": "m"}}"#;
    bench.script("s", &format!(r#"[{{"tool_hold": "x", "tool_calls": [{call}, {call}]}}, {{"finish": "ok"}}]"#)).await;
    let id = bench.conversation("s").await;
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    socket.until("ActionEvent", 2).await;
    restart(&bench, object! { "signal" => "kill" }).await;
    let log = bench.events(&id).await;
    let errors: Vec<_> = log.iter().filter(|event| name_of(event) == "AgentErrorEvent").collect();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].text("error").unwrap().starts_with("A restart occurred while this tool was in progress"));
}

#[tokio::test]
async fn settings_log_tools_and_a_waiting_confirmation_persist() {
    let bench = Bench::keyed().await;
    bench.script("s", &HELD.replace(r#""hold": "llm", "#, "")).await;
    let id = bench.conversation_with("s", r#"{"confirmation_policy": {"kind": "AlwaysConfirm"}}"#).await;
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    socket.until("full_state", 2).await;
    let (info, log) = (bench.get(&format!("/api/conversations/{id}")).await, bench.events(&id).await);
    restart(&bench, object! { "signal" => "kill" }).await;
    assert_eq!(bench.get(&format!("/api/conversations/{id}")).await, info);
    assert_eq!(bench.events(&id).await, log);
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    let path = format!("/api/conversations/{id}/events/respond_to_confirmation");
    bench.post(&path, object! { "accept" => true }).await;
    socket.until("finished", 1).await;
}

#[tokio::test]
async fn a_new_key_makes_the_old_one_wrong() {
    let mut bench = Bench::keyed().await;
    let id = bench.conversation("s").await;
    restart(&bench, object! { "signal" => "term", "key" => "another" }).await;
    assert_eq!(bench.call("GET", &format!("/api/conversations/{id}"), None).await.status, 401);
    assert_eq!(bench.session(&id).await.ended().await.unwrap().0, 4001);
    assert_eq!(bench.key.replace("another".to_owned()).as_deref(), Some(KEY));
    bench.session(&id).await.until("full_state", 1).await;
    assert_eq!(bench.call("GET", &format!("/api/conversations/{id}"), None).await.status, 200);
}

#[tokio::test]
async fn without_a_session_key_the_llm_loses_its_own() {
    for (keyed, status) in [(true, "finished"), (false, "error")] {
        let bench = if keyed { Bench::keyed().await } else { Bench::start().await };
        bench.script("s", r#"[{"finish": "ok"}]"#).await;
        let id = bench.conversation("s").await;
        restart(&bench, object! { "signal" => "term" }).await;
        let socket = bench.session(&id).await;
        socket.until("full_state", 1).await;
        bench.message(&id, "go").await;
        socket.until("full_state", 2).await;
        assert_eq!(bench.status(&id).await, status);
    }
}

#[tokio::test]
async fn requests_that_hang_end_with_the_process_and_have_no_effect() {
    let bench = Bench::keyed().await;
    bench
        .script("s", r#"[{"tool_hold": "x", "tool_calls": [{"name": "show_toast", "arguments": {"message": "m"}}]}]"#)
        .await;
    let id = bench.conversation("s").await;
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    socket.until("ActionEvent", 1).await;
    let events = format!("/api/conversations/{id}/events");
    let hanging = bench.later("POST", &events, Some(common::message("lost", true))).await;
    restart(&bench, object! { "signal" => "kill" }).await;
    assert!(hanging.await.unwrap().is_err());
    let log = bench.events(&id).await;
    assert_eq!(log.iter().filter(|event| name_of(event) == "MessageEvent").count(), 1);
}

#[tokio::test]
async fn nobody_is_let_in_while_the_server_is_down() {
    let bench = Bench::start().await;
    restart(&bench, object! { "signal" => "kill", "down_ms" => 1500u64 }).await;
    let started = Instant::now();
    assert!(bench.send("GET", "/server_info", &[], None).await.is_err());
    while bench.send("GET", "/server_info", &[], None).await.is_err() {
        assert!(started.elapsed() < Duration::from_secs(5), "never back");
    }
}

#[tokio::test]
async fn whoever_loads_first_poisons_a_conversation_with_another_schema_of_its_tool() {
    let bench = Bench::keyed().await;
    let older = bench.conversation("s").await;
    restart(&bench, object! { "signal" => "term" }).await;
    // The older conversation is not loaded yet: its tool's name is free.
    let tools = r#"{"client_tools": [{"name": "show_toast", "description": "d",
                    "parameters": {"type": "object", "properties": {"other": {"type": "string"}}}}]}"#;
    let newer = bench.post("/api/conversations", create_body("s", tools)).await;
    assert_eq!(newer.status, 201);
    assert_eq!(bench.call("GET", &format!("/api/conversations/{older}"), None).await.status, 200);
    assert_eq!(bench.call("GET", &format!("/api/conversations/{older}/events/search"), None).await.status, 500);
    assert_eq!(bench.call("DELETE", &format!("/api/conversations/{older}"), None).await.status, 500);
    // After another restart it may be the other one's turn.
    restart(&bench, object! { "signal" => "term" }).await;
    assert_eq!(bench.call("GET", &format!("/api/conversations/{older}/events/search"), None).await.status, 200);
    let newer = newer.json().text("id").unwrap().to_owned();
    assert_eq!(bench.call("GET", &format!("/api/conversations/{newer}/events/search"), None).await.status, 500);
}

#[tokio::test]
async fn orders_that_make_no_sense_are_refused() {
    let bench = Bench::start().await;
    for order in [object! {}, object! { "signal" => "hup" }, object! { "signal" => "term", "kez" => "x" }] {
        assert_eq!(bench.post("/mock/restart", order).await.status, 400);
    }
}
