//! Each fault of a socket, seen from the client.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::time::{Duration, Instant};

use common::{Bench, KEY, Socket, name_of, names};
use pagehand_mock_server::Config;
use pagehand_mock_server::json::Json;

const TOAST: &str = r#"[{"tool_calls": [{"name": "show_toast", "arguments": {"message": "hi"}}]}, {"finish": "ok"}]"#;

async fn bench() -> Bench {
    let bench = Bench::start().await;
    bench.script("s", TOAST).await;
    bench
}

fn position(frames: &[Json], name: &str) -> usize {
    frames.iter().position(|frame| name_of(frame) == name).unwrap()
}

fn count(frames: &[Json], name: &str) -> usize {
    frames.iter().filter(|frame| name_of(frame) == name).count()
}

#[tokio::test]
async fn drop_socket_closes_with_its_code_after_the_frame() {
    let bench = bench().await;
    bench
        .faults(r#"[{"fault": "drop_socket", "after": {"kind": "ActionEvent"}, "code": 1012, "reason": "bye"}]"#)
        .await;
    let id = bench.conversation("s").await;
    let socket = bench.legacy(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    assert_eq!(socket.ended().await, Some((1012, "bye".to_owned())));
    assert_eq!(names(&socket.frames()).last().unwrap(), "ActionEvent");
    // The fault is spent: the next socket lives on.
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    assert_eq!(bench.fired().await, [1]);
}

#[tokio::test]
async fn drop_socket_without_a_code_sends_no_close_frame() {
    let bench = bench().await;
    bench.faults(r#"[{"fault": "drop_socket", "after": {"kind": "ObservationEvent", "tool": "show_toast"}}]"#).await;
    let id = bench.conversation("s").await;
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    assert_eq!(socket.ended().await, None);
    assert_eq!(names(&socket.frames()).last().unwrap(), "ObservationEvent");
}

#[tokio::test]
async fn drop_socket_after_a_number_of_frames_counts_the_replay() {
    let bench = bench().await;
    let id = bench.conversation("s").await;
    let first = bench.session(&id).await;
    first.until("full_state", 1).await;
    bench.message(&id, "go").await;
    first.until("full_state", 2).await;
    bench.faults(r#"[{"fault": "drop_socket", "after": {"frames": 3}, "code": 1011}]"#).await;
    let second = bench.session(&id).await;
    assert_eq!(second.ended().await.unwrap().0, 1011);
    assert_eq!(names(&second.frames()), ["sync", "SystemPromptEvent", "MessageEvent"]);
}

#[tokio::test]
async fn drop_socket_by_kind_leaves_a_replay_alone_unless_told() {
    let bench = bench().await;
    let id = bench.conversation("s").await;
    let first = bench.session(&id).await;
    first.until("full_state", 1).await;
    bench.message(&id, "go").await;
    first.until("full_state", 2).await;
    bench.faults(r#"[{"fault": "drop_socket", "after": {"kind": "ActionEvent", "replay": true}, "code": 1011}]"#).await;
    let second = bench.session(&id).await;
    assert_eq!(second.ended().await.unwrap().0, 1011);
    bench.faults(r#"[{"fault": "drop_socket", "after": {"kind": "ActionEvent"}, "code": 1011}]"#).await;
    let third = bench.session(&id).await;
    third.until("full_state", 1).await;
    assert_eq!(bench.fired().await, [0]);
}

#[tokio::test]
async fn refuse_socket_refuses_so_many_handshakes() {
    let bench = bench().await;
    let id = bench.conversation("s").await;
    bench.faults(r#"[{"fault": "refuse_socket", "times": 2}]"#).await;
    let url = bench.url(&format!("/sockets/session/{id}"));
    assert_eq!(Socket::open(&url, &[]).await.err(), Some(403));
    assert_eq!(Socket::open(&url, &[]).await.err(), Some(403));
    Socket::open(&url, &[]).await.unwrap().until("full_state", 1).await;
}

#[tokio::test]
async fn a_fault_for_one_conversation_spares_the_others() {
    let bench = bench().await;
    let (spared, hit) = (bench.conversation("s").await, bench.conversation("s").await);
    bench.faults(&format!(r#"[{{"fault": "refuse_socket", "times": 0, "conversation": "{hit}"}}]"#)).await;
    assert_eq!(Socket::open(&bench.url(&format!("/sockets/events/{hit}")), &[]).await.err(), Some(403));
    bench.legacy(&spared).await.until("full_state", 1).await;
}

#[tokio::test]
async fn duplicate_sends_the_same_text_twice() {
    let bench = bench().await;
    bench.faults(r#"[{"fault": "duplicate", "match": {"kind": "ObservationEvent", "tool": "show_toast"}}]"#).await;
    let id = bench.conversation("s").await;
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    let frames = socket.until("full_state", 2).await;
    let at = position(&frames, "ObservationEvent");
    assert_eq!(socket.raw()[at], socket.raw()[at + 1]);
    assert_eq!(count(&frames, "ObservationEvent"), 3);
    let log = bench.events(&id).await;
    assert_eq!(count(&log, "ObservationEvent"), 2);
}

#[tokio::test]
async fn reorder_sends_the_frame_after_the_next() {
    let bench = bench().await;
    bench.faults(r#"[{"fault": "reorder", "match": {"kind": "ActionEvent", "tool": "show_toast"}}]"#).await;
    let id = bench.conversation("s").await;
    let socket = bench.legacy(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    let frames = socket.until("full_state", 2).await;
    assert_eq!(position(&frames, "ActionEvent"), position(&frames, "ObservationEvent") + 1);
}

#[tokio::test]
async fn delay_holds_the_frame_back() {
    let bench = bench().await;
    bench.faults(r#"[{"fault": "delay", "match": {"kind": "ObservationEvent"}, "ms": 150}]"#).await;
    let id = bench.conversation("s").await;
    let socket = bench.legacy(&id).await;
    socket.until("full_state", 1).await;
    let started = Instant::now();
    bench.message(&id, "go").await;
    socket.until("ObservationEvent", 1).await;
    assert!(started.elapsed() >= Duration::from_millis(150));
}

#[tokio::test]
async fn swallow_keeps_the_frame_from_the_socket_but_not_from_the_log() {
    let bench = bench().await;
    bench.faults(r#"[{"fault": "swallow", "match": {"kind": "ObservationEvent", "tool": "show_toast"}}]"#).await;
    let id = bench.conversation("s").await;
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    let frames = socket.until("full_state", 2).await;
    assert_eq!(count(&frames, "ObservationEvent"), 1);
    assert_eq!(count(&bench.events(&id).await, "ObservationEvent"), 2);
    let replayed = bench.session(&id).await.until("full_state", 1).await;
    assert_eq!(count(&replayed, "ObservationEvent"), 2);
}

#[tokio::test]
async fn first_frame_delay_lets_the_client_wait() {
    let bench = bench().await;
    let id = bench.conversation("s").await;
    bench.faults(r#"[{"fault": "first_frame_delay", "ms": 150}]"#).await;
    let started = Instant::now();
    let socket = bench.session(&id).await;
    let frames = socket.until("full_state", 1).await;
    assert!(started.elapsed() >= Duration::from_millis(150));
    assert_eq!(name_of(&frames[0]), "sync");
}

#[tokio::test]
async fn live_before_replay_repeats_and_disorders() {
    let bench = Bench::start().await;
    bench.script("held", r#"[{"hold": "go on", "finish": "ok"}]"#).await;
    let id = bench.conversation("held").await;
    let first = bench.legacy(&id).await;
    first.until("full_state", 1).await;
    bench.message(&id, "go").await;
    first.until("running", 1).await;
    bench.faults(r#"[{"fault": "live_before_replay", "frames": 2, "ms": 5000}]"#).await;
    let second = bench.socket(&format!("/sockets/events/{id}?resend_mode=all")).await;
    second.until("full_state", 1).await;
    bench.post("/mock/release/go on", Json::Null).await;
    let frames = second.until("full_state", 2).await;
    let order = names(&frames);
    assert_eq!(order[..4], ["full_state", "stats", "ActionEvent", "SystemPromptEvent"]);
    assert_eq!(count(&frames, "ActionEvent"), 2, "{order:?}");
}

#[tokio::test]
async fn publish_before_persist_hides_the_event_from_rest_for_a_while() {
    let bench = bench().await;
    let hidden =
        r#"[{"fault": "publish_before_persist", "match": {"kind": "ActionEvent", "tool": "show_toast"}, "ms": 1500}]"#;
    bench.faults(hidden).await;
    let id = bench.conversation("s").await;
    let socket = bench.legacy(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    let frames = socket.until("ActionEvent", 1).await;
    let action = frames[position(&frames, "ActionEvent")].text("id").unwrap().to_owned();
    let path = format!("/api/conversations/{id}/events/{action}");
    assert_eq!(bench.call("GET", &path, None).await.status, 404);
    let deadline = Instant::now() + Duration::from_secs(5);
    while bench.call("GET", &path, None).await.status == 404 {
        assert!(Instant::now() < deadline, "never persisted");
    }
}

#[tokio::test]
async fn reject_key_closes_with_4001() {
    let bench = Bench::keyed().await;
    let id = bench.conversation("s").await;
    bench.faults(r#"[{"fault": "reject_key", "times": 2}]"#).await;
    assert_eq!(bench.legacy(&id).await.ended().await.unwrap().0, 4001);
    assert_eq!(bench.call("GET", &format!("/api/conversations/{id}"), None).await.status, 401);
    bench.legacy(&id).await.until("full_state", 1).await;
}

#[tokio::test]
async fn a_silent_socket_is_closed_with_4001_in_time() {
    let auth_timeout = Duration::from_millis(50);
    let config = Config { key: Some(KEY.to_owned()), auth_timeout, ..Config::default() };
    let bench = Bench::with(config).await;
    let id = bench.conversation("s").await;
    for kind in ["events", "session"] {
        let socket = Socket::open(&bench.url(&format!("/sockets/{kind}/{id}")), &[]).await.unwrap();
        assert_eq!(socket.ended().await, Some((4001, "Authentication failed".to_owned())));
    }
}
