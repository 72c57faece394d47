//! Scripts, record, own events, static files, versions, the program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{Bench, KEY, Socket, message, name_of, names};
use pagehand_mock_server::json::{Json, parse};
use pagehand_mock_server::{Config, object};

async fn finish_text(bench: &Bench, model: &str) -> String {
    let id = bench.conversation(model).await;
    run_to_end(bench, &id).await;
    let answer = bench.get(&format!("/api/conversations/{id}/agent_final_response")).await;
    answer.text("response").unwrap().to_owned()
}

async fn run_to_end(bench: &Bench, id: &str) {
    let socket = bench.legacy(id).await;
    socket.until("full_state", 1).await;
    bench.message(id, "go").await;
    socket.until("full_state", 2).await;
    socket.close().await;
}

#[tokio::test]
async fn models_pick_scripts_and_fall_back() {
    let bench = Bench::start().await;
    assert_eq!(finish_text(&bench, "unknown").await, "no script");
    bench.script("default", r#"[{"finish": "by default"}]"#).await;
    assert_eq!(finish_text(&bench, "unknown").await, "by default");
    assert_eq!(finish_text(&bench, "unknown").await, "script exhausted");
    bench.script("own", r#"{"steps": [{"text": "own text"}]}"#).await;
    assert_eq!(finish_text(&bench, "own").await, "own text");
}

#[tokio::test]
async fn repeated_steps_are_numbered_and_loops_start_again() {
    let bench = Bench::start().await;
    bench.script("s", r#"{"loop": true, "steps": [{"repeat": 2, "finish": "number {i}"}]}"#).await;
    for expected in ["number 0", "number 1", "number 0"] {
        assert_eq!(finish_text(&bench, "s").await, expected);
    }
}

#[tokio::test]
async fn a_question_finds_its_answers_in_every_conversation() {
    let bench = Bench::start().await;
    let go =
        r#"{"text": "called", "tool_calls": [{"name": "show_toast", "arguments": {"message": "m"}}], "asked": "GO"}"#;
    let steps = format!(r#"[{{"finish": "something else"}}, {go}, {{"finish": "gone"}}]"#);
    bench.script("s", &steps).await;
    for _ in 0..2 {
        assert_eq!(finish_text(&bench, "s").await, "gone");
    }
}

#[tokio::test]
async fn a_script_tells_what_the_llm_was_given() {
    let bench = Bench::start().await;
    let steps = r#"[{"text": "look", "tool_calls": [{"name": "show_toast", "arguments": {"message": "m"}}]}, {"finish": "ok"}]"#;
    bench.script("s", steps).await;
    let id = bench.conversation("s").await;
    run_to_end(&bench, &id).await;
    let script = bench.get("/mock/scripts/s").await;
    assert_eq!((script.count("position"), script.count("left")), (Some(2), Some(0)));
    let last = script.get("requests").unwrap().as_array().unwrap()[1].clone();
    let messages = last.get("messages").unwrap().as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message.text("role").unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool"]);
    assert_eq!(messages[1].text("content"), Some("go"));
    assert_eq!(messages[3].text("content"), Some("Tool call dispatched to client."));
    assert_eq!(bench.call("DELETE", "/mock/scripts/s", None).await.status, 200);
    assert_eq!(bench.call("GET", "/mock/scripts/s", None).await.status, 404);
}

#[tokio::test]
async fn a_raw_step_is_the_message_itself() {
    let bench = Bench::start().await;
    let steps = r#"[{"raw": {"content": null, "tool_calls": [{"id": "mine", "function": {"name": "finish", "arguments": "{\"message\": \"raw\"}"}}]}}]"#;
    bench.script("s", steps).await;
    let id = bench.conversation("s").await;
    run_to_end(&bench, &id).await;
    let events = bench.events(&id).await;
    let action = events.iter().find(|event| event.text("kind") == Some("ActionEvent")).unwrap();
    assert_eq!(action.text("tool_call_id"), Some("mine"));
}

#[tokio::test]
async fn control_routes_need_no_key_and_allow_any_origin() {
    let bench = Bench::keyed().await;
    let origin = [("origin", "https://example.test")];
    let answer = bench.send("GET", "/mock/record", &origin, None).await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["access-control-allow-origin"], "*");
    let asks = [origin[0], ("access-control-request-method", "PUT")];
    let answer = bench.send("OPTIONS", "/mock/scripts/x", &asks, None).await.unwrap();
    assert_eq!(answer.status, 204);
    assert_eq!(answer.headers["access-control-allow-origin"], "*");
}

#[tokio::test]
async fn the_record_has_requests_responses_frames_and_closes() {
    let bench = Bench::keyed().await;
    let id = bench.conversation("s").await;
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    socket.close().await;
    let wrong = Socket::open(&bench.url(&format!("/sockets/events/{id}?session_api_key=w")), &[]).await;
    assert!(wrong.is_err());
    let bye = Socket::open(&bench.url(&format!("/sockets/events/{id}")), &[]).await.unwrap();
    bye.send("nonsense").await;
    bye.ended().await;
    let record = bench.get("/mock/record").await;
    let lines = record.as_array().unwrap();
    let count = |ch: &str, dir: &str| {
        lines.iter().filter(|line| line.text("ch") == Some(ch) && line.text("dir") == Some(dir)).count()
    };
    assert_eq!((count("rest", "request"), count("rest", "response")), (1, 1));
    assert_eq!((count("ws", "open"), count("ws", "handshake-error")), (3, 1));
    assert_eq!((count("ws", "send"), count("ws", "recv")), (2, 2));
    let close = lines.iter().find(|line| line.count("code") == Some(4001)).unwrap();
    assert_eq!(close.text("reason"), Some("Authentication failed"));
    let sent = lines.iter().find(|line| line.text("dir") == Some("send")).unwrap();
    assert_eq!(parse(sent.text("raw").unwrap()).unwrap().text("session_api_key"), Some(KEY));
    assert_eq!(sent.as_object().unwrap().keys().next(), Some("t"));
    bench.call("DELETE", "/mock/record", None).await;
    assert_eq!(bench.get("/mock/record").await, Json::Array(Vec::new()));
}

#[tokio::test]
async fn foreign_events_go_out_as_they_are() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    let (legacy, session) = (bench.legacy(&id).await, bench.session(&id).await);
    legacy.until("full_state", 1).await;
    session.until("full_state", 1).await;
    let odd = r#"{"kind":"NewKind","id":"odd-1","n":1e400,"nothing":null}"#;
    bench.post(&format!("/mock/emit/{id}"), parse(r#"{"kind":"NewKind","id":"odd-1","nothing":null}"#).unwrap()).await;
    legacy.until_raw(r#"{"kind":"NewKind","id":"odd-1","nothing":null}"#).await;
    session.until_raw(r#"{"type":"durable","seq":0,"event":{"kind":"NewKind","id":"odd-1","nothing":null}}"#).await;
    assert_eq!(bench.events(&id).await.len(), 1);
    let passing = object! { "kind" => "Passing" };
    bench.post(&format!("/mock/emit/{id}?persist=false"), passing).await;
    session.until_raw(r#"{"type":"transient","event":{"kind":"Passing"}}"#).await;
    assert_eq!(bench.events(&id).await.len(), 1);
    bench.post(&format!("/mock/frame/{id}"), object! { "raw" => odd }).await;
    legacy.until_raw(odd).await;
    bench.post(&format!("/mock/frame/{id}"), object! { "raw" => "not json" }).await;
    session.until_raw("not json").await;
}

#[tokio::test]
async fn static_files_have_types_a_policy_and_are_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.html"), "<!doctype html>").unwrap();
    std::fs::write(folder.path().join("code.wasm"), "x").unwrap();
    std::fs::write(folder.path().join("code.js"), "x").unwrap();
    let config = Config {
        static_dir: Some(folder.path().to_owned()),
        csp: Some("script-src 'self'".to_owned()),
        ..Config::default()
    };
    let bench = Bench::with(config).await;
    let page = bench.call("GET", "/", None).await;
    assert_eq!(page.text, "<!doctype html>");
    assert_eq!(page.headers["content-security-policy"], "script-src 'self'");
    assert_eq!(page.headers["cache-control"], "no-store");
    let wasm = bench.call("GET", "/code.wasm", None).await;
    assert_eq!(wasm.headers["content-type"], "application/wasm");
    assert!(wasm.headers.get("content-security-policy").is_none());
    assert_eq!(bench.call("GET", "/code.js", None).await.headers["content-type"], "text/javascript");
    assert_eq!(bench.call("GET", "/missing.js", None).await.status, 404);
    assert_eq!(bench.call("GET", "/../Cargo.toml", None).await.status, 404);
    assert_eq!(bench.call("GET", "/api/nope", None).await.text, r#"{"detail":"Not Found"}"#);
    assert_eq!(bench.call("GET", "/server_info", None).await.status, 200);
}

#[tokio::test]
async fn old_releases_have_no_session_socket_and_lose_messages_during_the_last_call() {
    let bench = Bench::with(Config { version: "1.43.1".to_owned(), ..Config::default() }).await;
    assert_eq!(bench.get("/server_info").await.text("version"), Some("1.43.1"));
    bench.script("s", r#"[{"hold": "old", "finish": "first"}, {"finish": "second"}]"#).await;
    let id = bench.conversation("s").await;
    assert_eq!(Socket::open(&bench.url(&format!("/sockets/session/{id}")), &[]).await.err(), Some(403));
    let socket = bench.legacy(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    socket.until("running", 1).await;
    bench.asked("s", 1).await;
    bench.message(&id, "too late").await;
    bench.post("/mock/release/old", Json::Null).await;
    socket.until("full_state", 2).await;
    assert_eq!(bench.get("/mock/scripts/s").await.count("left"), Some(1));
    let path = format!("/api/conversations/{id}/events");
    assert_eq!(bench.call("GET", &format!("{path}/search?limit=101"), None).await.status, 500);
    assert_eq!(bench.call("GET", &format!("{path}/nope"), None).await.status, 500);
    assert_eq!(bench.get(&format!("{path}/search?kind=ActionEvent")).await.get("items"), Some(&Json::Array(vec![])));
}

#[tokio::test]
async fn new_releases_continue_for_a_message_during_the_last_call() {
    let bench = Bench::start().await;
    bench.script("s", r#"[{"hold": "new", "finish": "first"}, {"finish": "second"}]"#).await;
    let id = bench.conversation("s").await;
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    socket.until("running", 1).await;
    bench.asked("s", 1).await;
    bench.message(&id, "in time").await;
    bench.post("/mock/release/new", Json::Null).await;
    let frames = socket.until("full_state", 2).await;
    assert_eq!(frames.iter().filter(|frame| name_of(frame) == "finished").count(), 1);
    assert_eq!(bench.get("/mock/scripts/s").await.count("left"), Some(0));
}

#[tokio::test]
async fn the_fiftieth_socket_is_one_too_many() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    let mut sockets = Vec::new();
    for _ in 0..49 {
        let socket = bench.session(&id).await;
        socket.until("full_state", 1).await;
        sockets.push(socket);
    }
    let end = bench.legacy(&id).await.ended().await;
    assert_eq!(end, Some((1013, "Too many connections for this conversation".to_owned())));
}

#[tokio::test]
async fn the_eleventh_run_is_refused_but_its_message_is_saved() {
    let bench = Bench::start().await;
    bench.script("s", r#"[{"repeat": 10, "hold": "crowd", "finish": "ok"}]"#).await;
    for _ in 0..10 {
        let id = bench.conversation("s").await;
        bench.message(&id, "go").await;
    }
    let id = bench.conversation("s").await;
    let path = format!("/api/conversations/{id}/events");
    assert_eq!(bench.post(&path, message("go", true)).await.status, 429);
    assert_eq!(bench.events(&id).await.len(), 3);
    assert_eq!(bench.post(&format!("/api/conversations/{id}/run"), Json::Null).await.status, 429);
    bench.post("/mock/release/crowd", Json::Null).await;
}

#[tokio::test]
async fn a_frame_beyond_four_mebibytes_closes_the_session_socket_only() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    let (legacy, session) = (bench.legacy(&id).await, bench.session(&id).await);
    legacy.until("full_state", 1).await;
    session.until("full_state", 1).await;
    let event = object! { "id" => "big", "kind" => "Big", "text" => "x".repeat(5 << 20) };
    bench.post(&format!("/mock/emit/{id}"), event).await;
    assert_eq!(session.ended().await, Some((1013, "frame_too_large".to_owned())));
    assert_eq!(bench.session(&id).await.ended().await.unwrap().0, 1013);
    legacy.until("Big", 1).await;
}

#[tokio::test]
async fn stopping_closes_sockets_with_1012() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    bench.running.stop().await;
    assert_eq!(socket.ended().await, Some((1012, String::new())));
}

#[tokio::test]
async fn binary_frames_and_other_roles_are_complaints() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    socket.send_binary().await;
    socket.until("error", 1).await;
    socket.send(r#"{"role": "assistant", "content": "x"}"#).await;
    let frames = socket.until("error", 2).await;
    let codes: Vec<_> = frames.iter().filter_map(|frame| frame.text("code")).collect();
    assert_eq!(codes, ["KeyError", "AssertionError"], "{:?}", names(&frames));
}

#[tokio::test]
async fn the_program_writes_its_port_and_stops_on_sigterm() {
    let folder = tempfile::tempdir().unwrap();
    let (port_file, scripts) = (folder.path().join("port"), folder.path().join("scripts.json"));
    std::fs::write(&scripts, r#"{"demo": {"steps": [{"finish": "ok"}]}}"#).unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_pagehand-mock-server"))
        .arg("--port-file")
        .arg(&port_file)
        .arg("--scripts")
        .arg(&scripts)
        .args(["--version", "1.50.0", "--key", "k"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    let port = std::fs::read_to_string(&port_file).unwrap();
    let base = format!("http://127.0.0.1:{port}");
    assert_eq!(line.trim(), format!("mock server listening on {base}"));
    let info = reqwest::get(format!("{base}/server_info")).await.unwrap().text().await.unwrap();
    assert_eq!(parse(&info).unwrap().text("version"), Some("1.50.0"));
    let script = reqwest::get(format!("{base}/mock/scripts/demo")).await.unwrap().text().await.unwrap();
    assert_eq!(parse(&script).unwrap().count("left"), Some(1));
    assert_eq!(reqwest::get(format!("{base}/api/tools/")).await.unwrap().status().as_u16(), 401);
    let killed = std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(killed.success());
    assert!(child.wait().unwrap().success());
}

#[tokio::test]
async fn unknown_conversations_are_answered_as_the_release_does() {
    let id = "00000000-0000-4000-8000-000000000000";
    for (version, pause, patch) in [("1.58.2", 404, 404), ("1.43.1", 400, 200)] {
        let bench = Bench::with(Config { version: version.to_owned(), ..Config::default() }).await;
        let path = format!("/api/conversations/{id}");
        for (method, path) in [("POST", format!("{path}/pause")), ("POST", format!("{path}/interrupt"))] {
            assert_eq!(bench.call(method, &path, None).await.status, pause, "{version}");
        }
        assert_eq!(bench.call("DELETE", &path, None).await.status, pause, "{version}");
        assert_eq!(bench.call("PATCH", &path, Some(object! { "title" => "t" })).await.status, patch, "{version}");
        assert_eq!(bench.call("POST", &format!("{path}/run"), None).await.status, 404, "{version}");
    }
}

#[tokio::test]
async fn titles_and_tags_can_be_changed() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    let path = format!("/api/conversations/{id}");
    let change = parse(r#"{"title": "A title", "tags": {"ui": "1"}}"#).unwrap();
    assert_eq!(bench.call("PATCH", &path, Some(change)).await.status, 200);
    let info = bench.get(&path).await;
    assert_eq!(info.text("title"), Some("A title"));
    assert_eq!(info.get("tags").unwrap().text("ui"), Some("1"));
    for bad in [r#"{"title": " "}"#, r#"{"title": ""}"#, r#"{"tags": {"Bad-Key": "x"}}"#] {
        assert_eq!(bench.call("PATCH", &path, parse(bad).ok()).await.status, 422, "{bad}");
    }
}

#[tokio::test]
async fn a_filled_conversation_looks_like_one_that_ran() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    let order = object! { "events" => 10_000u64 };
    let answer = bench.post(&format!("/mock/fill/{id}"), order).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let length = answer.json().count("events").unwrap();
    assert!((10_000..10_010).contains(&length), "{length}");

    let socket = bench.session(&id).await;
    let frames = socket.until("full_state", 1).await;
    let of = |kind: &str| -> Vec<&Json> {
        let events = frames.iter().filter_map(|frame| frame.get("event"));
        events.filter(|event| event.text("kind") == Some(kind)).collect()
    };
    let (actions, acks, messages) = (of("ActionEvent"), of("ObservationEvent"), of("MessageEvent"));
    assert!(actions.len() > 2_500 && messages.len() > 250, "{} {}", actions.len(), messages.len());
    assert_eq!(actions.len(), acks.len());
    for (action, ack) in actions.iter().zip(&acks) {
        assert_eq!(action.get("id"), ack.get("action_id"));
        assert_eq!(action.get("action").unwrap().text("kind"), Some("ClientAction_show_toast"));
        assert_eq!(ack.get("observation").unwrap().text("kind"), Some("ClientToolObservation"));
    }
    let size = |events: &[&Json]| events[events.len() / 2].to_string().len();
    assert!((560..760).contains(&size(&actions)), "{}", size(&actions));
    assert!((400..560).contains(&size(&acks)), "{}", size(&acks));
    assert_eq!(frames[0].count("through_seq"), Some(length - 1));

    // It can go on.
    bench.script("s", r#"[{"finish": "ok"}]"#).await;
    bench.message(&id, "go").await;
    socket.until("full_state", 2).await;
    assert_eq!(bench.get(&format!("/api/conversations/{id}")).await.text("execution_status"), Some("finished"));
}

#[tokio::test]
async fn a_conversation_without_client_tools_cannot_be_filled() {
    let bench = Bench::start().await;
    let id = bench.conversation_with("s", r#"{"client_tools": []}"#).await;
    let path = format!("/mock/fill/{id}");
    assert_eq!(bench.post(&path, object! { "events" => 10u64 }).await.status, 400);
    assert_eq!(bench.post(&path, object! {}).await.status, 400);
    let nobody = "/mock/fill/00000000-0000-4000-8000-000000000000";
    assert_eq!(bench.post(nobody, object! { "events" => 10u64 }).await.status, 404);
}
