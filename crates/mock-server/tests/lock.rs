//! A tool of the server holds the conversation's lock.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::time::{Duration, Instant};

use common::{Bench, Socket, message, name_of, names};
use pagehand_mock_server::json::parse;
use pagehand_mock_server::{Config, object};

const STEPS: &str = r#"[
    {"tool_hold": "tool", "tool_calls": [{"name": "terminal", "arguments": {"command": "sleep"}},
                                         {"name": "show_toast", "arguments": {"message": "a"}}]},
    {"finish": "f"}, {"finish": "g"}]"#;
const TERMINAL: &str = r#"{"agent": {"llm": {"model": "openai/s", "api_key": "x"}, "tools": [{"name": "terminal"}]}}"#;

/// A conversation whose terminal is at work, and its socket.
async fn at_work(version: &str) -> (Bench, String, Socket) {
    let bench = Bench::with(Config { version: version.to_owned(), ..Config::default() }).await;
    bench.script("s", STEPS).await;
    let id = bench.conversation_with("s", TERMINAL).await;
    let socket = bench.legacy(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    socket.until("ActionEvent", 2).await;
    (bench, id, socket)
}

#[tokio::test]
async fn acknowledgements_of_a_batch_wait_for_its_slowest_tool() {
    let (bench, _, socket) = at_work("1.58.2").await;
    bench.let_others_run().await;
    assert!(!names(&socket.frames()).contains(&"ObservationEvent".to_owned()));
    bench.release("tool").await;
    let frames = socket.until("ObservationEvent", 2).await;
    let acks: Vec<_> = frames.iter().filter(|frame| name_of(frame) == "ObservationEvent").collect();
    assert_eq!(acks[0].text("tool_name"), Some("terminal"));
    assert_eq!(acks[1].get("observation").unwrap().text("kind"), Some("ClientToolObservation"));
}

#[tokio::test]
async fn sockets_open_but_say_nothing_while_the_lock_is_held() {
    let (bench, id, _) = at_work("1.58.2").await;
    let (legacy, session) = (bench.legacy(&id).await, bench.session(&id).await);
    bench.let_others_run().await;
    assert!(legacy.raw().is_empty() && session.raw().is_empty());
    bench.release("tool").await;
    assert_eq!(name_of(&legacy.until("full_state", 1).await[0]), "full_state");
    assert_eq!(name_of(&session.until("sync", 1).await[0]), "sync");
}

#[tokio::test]
async fn messages_pauses_and_policies_hang_until_the_tool_ends() {
    let (bench, id, socket) = at_work("1.58.2").await;
    let path = format!("/api/conversations/{id}");
    let policy = parse(r#"{"policy": {"kind": "AlwaysConfirm"}}"#).unwrap();
    let posts = [
        bench.later("POST", &format!("{path}/events"), Some(message("more", true))).await,
        bench.later("POST", &format!("{path}/confirmation_policy"), Some(policy)).await,
        bench.later("POST", &format!("{path}/pause"), None).await,
    ];
    bench.let_others_run().await;
    assert!(posts.iter().all(|post| !post.is_finished()));
    assert_eq!(bench.call("GET", &path, None).await.status, 200);
    assert!(!names(&bench.events(&id).await).contains(&"confirmation_policy".to_owned()));
    bench.release("tool").await;
    for post in posts {
        assert_eq!(post.await.unwrap().unwrap().status, 200);
    }
    socket.until("MessageEvent", 2).await;
    let log = names(&socket.until("confirmation_policy", 1).await);
    let at = |name: &str| log.iter().rposition(|found| found == name).unwrap();
    let first_ack = log.iter().position(|found| found == "ObservationEvent").unwrap();
    assert!(first_ack < at("MessageEvent") && first_ack < at("confirmation_policy"), "{log:?}");
}

#[tokio::test]
async fn a_message_on_a_socket_waits_as_well() {
    let (bench, id, socket) = at_work("1.58.2").await;
    socket.send(r#"{"role": "user", "content": "by socket"}"#).await;
    bench.let_others_run().await;
    assert_eq!(names(&bench.events(&id).await).iter().filter(|name| *name == "MessageEvent").count(), 1);
    bench.release("tool").await;
    socket.until("MessageEvent", 2).await;
}

#[tokio::test]
async fn a_run_is_refused_at_once_by_new_servers_and_late_by_old_ones() {
    let (bench, id, _) = at_work("1.58.2").await;
    let path = format!("/api/conversations/{id}/run");
    assert_eq!(bench.call("POST", &path, None).await.status, 409);

    let (bench, id, _) = at_work("1.43.1").await;
    let run = bench.later("POST", &format!("/api/conversations/{id}/run"), None).await;
    bench.let_others_run().await;
    assert!(!run.is_finished());
    bench.release("tool").await;
    assert!([200, 409].contains(&run.await.unwrap().unwrap().status));
}

#[tokio::test]
async fn an_interrupt_goes_through_and_drops_every_call_of_the_batch() {
    let (bench, id, socket) = at_work("1.58.2").await;
    let path = format!("/api/conversations/{id}/interrupt");
    assert_eq!(bench.call("POST", &path, None).await.status, 200);
    let frames = socket.until("full_state", 3).await;
    let order = names(&frames);
    let at = order.iter().position(|name| name == "AgentErrorEvent").unwrap();
    assert_eq!(order[at..at + 4], ["AgentErrorEvent", "AgentErrorEvent", "paused", "InterruptEvent"]);
    assert!(!order.contains(&"ObservationEvent".to_owned()));
    // The lock is free again.
    assert_eq!(bench.post(&format!("/api/conversations/{id}/events"), message("go on", false)).await.status, 200);
    // What was dropped stays so.
    bench.call("POST", &format!("/api/conversations/{id}/run"), None).await;
    let frames = socket.until("full_state", 4).await;
    let acks: Vec<_> = frames.iter().filter(|frame| name_of(frame) == "ObservationEvent").collect();
    assert_eq!(acks.len(), 1);
    assert_eq!(acks[0].text("tool_name"), Some("finish"));
}

#[tokio::test]
async fn a_tool_may_take_a_time_instead() {
    let bench = Bench::start().await;
    let steps = STEPS.replace(r#""tool_hold": "tool""#, r#""tool_ms": 120"#);
    bench.script("s", &steps).await;
    let id = bench.conversation_with("s", TERMINAL).await;
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    let started = Instant::now();
    bench.message(&id, "go").await;
    socket.until("ObservationEvent", 2).await;
    assert!(started.elapsed() >= Duration::from_millis(120));
}

#[tokio::test]
async fn after_a_confirmation_the_tools_take_their_time_too() {
    let bench = Bench::start().await;
    bench.script("s", STEPS).await;
    let mut more = parse(TERMINAL).unwrap();
    more.set("confirmation_policy", object! { "kind" => "AlwaysConfirm" });
    let id = bench.conversation_with("s", &more.to_string()).await;
    let socket = bench.legacy(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    socket.until("waiting_for_confirmation", 1).await;
    let accept = format!("/api/conversations/{id}/events/respond_to_confirmation");
    bench.post(&accept, object! { "accept" => true }).await;
    socket.until("running", 2).await;
    bench.let_others_run().await;
    assert!(!names(&socket.frames()).contains(&"ObservationEvent".to_owned()));
    bench.release("tool").await;
    socket.until("ObservationEvent", 2).await;
}
