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

#[tokio::test]
async fn a_socket_can_be_closed_before_its_first_frame() {
    let bench = bench().await;
    let id = bench.conversation("s").await;
    for (code, reason) in [(1011, "subscribe_failed"), (1008, "no such runtime"), (4004, "Conversation not found")] {
        bench
            .faults(&format!(
                r#"[{{"fault": "drop_socket", "after": {{"frames": 0}}, "code": {code}, "reason": "{reason}"}}]"#
            ))
            .await;
        let socket = bench.session(&id).await;
        assert_eq!(socket.ended().await, Some((code, reason.to_owned())));
        assert!(socket.raw().is_empty());
        bench.legacy(&id).await.until("full_state", 1).await;
    }
}

#[tokio::test]
async fn a_first_frame_may_be_a_minute_late_while_others_go_on() {
    let bench = bench().await;
    let id = bench.conversation("s").await;
    bench.faults(r#"[{"fault": "first_frame_delay", "ms": 60000, "times": 2}]"#).await;
    let (late, later) = (bench.session(&id).await, bench.legacy(&id).await);
    bench.until_fired(2).await;
    let prompt = bench.session(&id).await;
    prompt.until("full_state", 1).await;
    bench.message(&id, "go").await;
    prompt.until("full_state", 2).await;
    assert!(late.raw().is_empty() && later.raw().is_empty());
    // A minute does not keep the server from stopping.
    bench.running.stop().await;
    assert_eq!(late.ended().await.unwrap().0, 1012);
    assert_eq!(later.ended().await.unwrap().0, 1012);
}

#[tokio::test]
async fn what_happens_before_a_late_first_frame_comes_after_it() {
    let bench = bench().await;
    let id = bench.conversation("s").await;
    bench.faults(r#"[{"fault": "first_frame_delay", "ms": 400}]"#).await;
    let late = bench.legacy(&id).await;
    bench.until_fired(1).await;
    bench.message(&id, "go").await;
    let frames = late.until("finished", 1).await;
    assert_eq!(name_of(&frames[0]), "full_state");
    assert_eq!(count(&frames, "ActionEvent"), 2);
}

#[tokio::test]
async fn frame_too_large_and_slow_consumer_close_session_sockets_in_place_of_a_frame() {
    let bench = bench().await;
    for reason in ["frame_too_large", "slow_consumer"] {
        bench.script("s", TOAST).await;
        let id = bench.conversation("s").await;
        let (legacy, session) = (bench.legacy(&id).await, bench.session(&id).await);
        session.until("full_state", 1).await;
        bench
            .faults(&format!(
                r#"[{{"fault": "{reason}", "match": {{"kind": "ActionEvent", "replay": true}}, "times": 0}}]"#
            ))
            .await;
        bench.message(&id, "go").await;
        assert_eq!(session.ended().await, Some((1013, reason.to_owned())));
        assert_eq!(count(&session.frames(), "ActionEvent"), 0);
        legacy.until("finished", 1).await;
        // Every socket that comes to this event fails the same way; one that starts behind it does not.
        assert_eq!(bench.session(&id).await.ended().await, Some((1013, reason.to_owned())));
        let past = bench.socket(&format!("/sockets/session/{id}?after_seq=1000")).await;
        past.until("full_state", 1).await;
        bench.faults("[]").await;
    }
}

#[tokio::test]
async fn a_half_open_socket_stays_open_and_hears_nothing_more() {
    let bench = bench().await;
    let id = bench.conversation("s").await;
    let first = bench.session(&id).await;
    first.until("full_state", 1).await;
    bench.faults(r#"[{"fault": "half_open", "match": {"kind": "ActionEvent"}}]"#).await;
    bench.message(&id, "go").await;
    bench.until_fired(1).await;
    let second = bench.session(&id).await;
    second.until("finished", 1).await;
    assert_eq!(count(&bench.events(&id).await, "ObservationEvent"), 2);
    first.until("MessageEvent", 1).await;
    assert_eq!(count(&first.frames(), "ActionEvent"), 0);
    // What it says is lost, and nobody objects.
    first.send("not even JSON").await;
    bench.message(&id, "more").await;
    second.until("finished", 2).await;
    assert_eq!(count(&first.frames(), "MessageEvent"), 1);
    assert_eq!(count(&first.frames(), "error"), 0);
    bench.running.stop().await;
    assert_eq!(first.ended().await, None);
    assert_eq!(second.ended().await.unwrap().0, 1012);
}

#[tokio::test]
async fn a_poisoned_conversation_answers_only_for_itself_and_drops_its_sockets() {
    let bench = bench().await;
    let id = bench.conversation("s").await;
    let fault = format!(r#"[{{"fault": "poisoned", "conversation": "{id}", "times": 0, "ms": 50}}]"#);
    bench.faults(&fault).await;
    let path = format!("/api/conversations/{id}");
    assert_eq!(bench.call("GET", &path, None).await.status, 200);
    let requests = [
        ("GET", "/events/search"),
        ("GET", "/events/count"),
        ("POST", "/run"),
        ("POST", "/fork"),
        ("POST", "/pause"),
        ("DELETE", ""),
    ];
    for (method, below) in requests {
        let origin = [("origin", "http://localhost:5173")];
        let answer = bench.send(method, &format!("{path}{below}"), &origin, None).await.unwrap();
        assert_eq!(answer.status, 500, "{method} {below}");
        assert!(answer.headers.get("access-control-allow-origin").is_none());
    }
    let message = common::message("x", true);
    assert_eq!(bench.post(&format!("{path}/events"), message).await.status, 500);
    let title = pagehand_mock_server::object! { "title" => "t" };
    assert_eq!(bench.call("PATCH", &path, Some(title)).await.status, 500);
    for kind in ["events", "session"] {
        let socket = bench.socket(&format!("/sockets/{kind}/{id}")).await;
        assert_eq!(socket.ended().await, None);
        assert!(socket.raw().is_empty());
    }
    bench.let_others_run().await;
}

#[tokio::test]
async fn seq_gap_leaves_a_number_out_for_good() {
    let bench = bench().await;
    let id = bench.conversation("s").await;
    let live = bench.session(&id).await;
    live.until("full_state", 1).await;
    bench.faults(r#"[{"fault": "seq_gap", "match": {"kind": "ActionEvent"}}]"#).await;
    bench.message(&id, "go").await;
    let seqs = |frames: &[Json]| frames.iter().filter_map(|frame| frame.count("seq")).collect::<Vec<_>>();
    let frames = live.until("finished", 1).await;
    let action = frames[position(&frames, "ActionEvent")].count("seq").unwrap();
    let before = frames[position(&frames, "ActionEvent") - 1].count("seq").unwrap();
    assert_eq!(action, before + 2);
    let replay = bench.session(&id).await.until("full_state", 1).await;
    assert_eq!(seqs(&replay), seqs(&frames));
    assert_eq!(replay[0].count("through_seq"), seqs(&frames).last().copied());
    let rest = bench.socket(&format!("/sockets/session/{id}?after_seq={}", action - 1)).await;
    assert_eq!(rest.until("full_state", 1).await[1].count("seq"), Some(action));
}

#[tokio::test]
async fn a_rewound_log_ends_before_the_cursor_of_a_client() {
    let bench = bench().await;
    let id = bench.conversation("s").await;
    let live = bench.session(&id).await;
    live.until("full_state", 1).await;
    bench.message(&id, "go").await;
    live.until("full_state", 2).await;
    let last = live.frames().iter().filter_map(|frame| frame.count("seq")).max().unwrap();
    let two = pagehand_mock_server::object! { "events" => 2u64 };
    assert_eq!(bench.post(&format!("/mock/rewind/{id}"), two).await.json().count("events"), Some(2));
    let again = bench.socket(&format!("/sockets/session/{id}?after_seq={last}")).await;
    let frames = again.until("full_state", 1).await;
    assert_eq!((frames[0].count("from_seq"), frames[0].count("through_seq")), (Some(last), Some(1)));
    assert_eq!(names(&bench.events(&id).await), ["SystemPromptEvent", "MessageEvent"]);
    // The log goes on from there.
    bench.message(&id, "on").await;
    let frames = again.until("MessageEvent", 1).await;
    let message = &frames[position(&frames, "MessageEvent")];
    assert_eq!(message.count("seq"), Some(3));
    let parent = bench.events(&id).await[1].text("id").unwrap().to_owned();
    assert_eq!(message.get("event").unwrap().text("parent_id"), Some(parent.as_str()));
}
