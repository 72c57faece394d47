//! What the faults do to frames, sockets and requests.

use std::time::{Duration, Instant};

use pagehand_mock_server::{UipathConfig, object};

use crate::bench::{Client, Service, TOKEN, find, story};

/// A conversation whose agent says one word, with a session.
async fn scene(faults: &str) -> (Service, String, Client) {
    let service = Service::start().await;
    let id = service.conversation(r#"[{"text": "word"}]"#).await;
    let client = service.session(&id).await;
    service.faults(faults).await;
    (service, id, client)
}

const TURN: [&str; 5] = ["startMessage+startContentPart", "chunk", "endContentPart", "endMessage", "endExchange"];

#[tokio::test]
async fn a_frame_is_swallowed_doubled_or_late() {
    let (service, id, client) = scene(r#"[{"fault": "swallow", "match": {"kind": "chunk"}}]"#).await;
    client.ask(&id, "X1", "go").await;
    client.event("endExchange", 1).await;
    assert_eq!(story(&client.envelopes())[1..], [TURN[0], TURN[2], TURN[3], TURN[4]]);
    service.faults(r#"[{"fault": "duplicate", "match": {"kind": "chunk"}}, {"fault": "reorder", "match": {"kind": "endMessage"}}]"#).await;
    let before = client.envelopes().len();
    client.ask(&id, "X2", "go").await;
    client.event("endMessage", 2).await;
    assert_eq!(story(&client.envelopes())[before..], [TURN[0], TURN[1], TURN[1], TURN[2], TURN[4], TURN[3]]);
    assert_eq!(service.fired().await, [1, 1]);
}

#[tokio::test]
async fn a_late_frame_holds_up_those_behind_it_but_not_what_the_client_says() {
    let (service, id, client) = scene(r#"[{"fault": "delay", "match": {"kind": "chunk"}, "ms": 300}]"#).await;
    client.ask(&id, "X1", "go").await;
    client.event("startMessage", 1).await;
    let start = Instant::now();
    client.ask(&id, "X2", "more").await;
    service.reported(&id, "ended", 2).await;
    assert!(start.elapsed() < Duration::from_millis(250), "the client was not heard");
    client.event("endExchange", 2).await;
    assert!(start.elapsed() > Duration::from_millis(200));
}

#[tokio::test]
async fn a_client_s_frame_is_lost_or_doubled_before_the_service_hears_it() {
    let service = Service::start().await;
    let id = service.conversation(r#"{"steps": [{"calls": [{"id": "c1", "name": "read"}]}], "loop": true}"#).await;
    let client = service.session(&id).await;
    service
        .faults(
            r#"[{"fault": "swallow", "match": {"kind": "endToolCall", "tool": "read", "from": "peer"}},
                       {"fault": "duplicate", "match": {"call": "c1", "kind": "endToolCall", "from": "peer"}}]"#,
        )
        .await;
    client.ask(&id, "X1", "go").await;
    let call = client.event("executingToolCall", 1).await;
    client.answer(&call, "endToolCall", r#"{"output": "lost"}"#).await;
    client.answer(&call, "endToolCall", r#"{"output": "twice"}"#).await;
    client.event("endExchange", 1).await;
    let answers = service.state(&id).await.get("answers").unwrap().to_string();
    assert_eq!((answers.matches("lost").count(), answers.matches("twice").count()), (0, 2));
}

#[tokio::test]
async fn a_socket_ends_after_a_frame_by_a_code_or_without_one() {
    let (_service, id, client) =
        scene(r#"[{"fault": "drop_socket", "after": {"kind": "chunk"}, "code": 1011, "reason": "bye"}]"#).await;
    client.ask(&id, "X1", "go").await;
    assert_eq!(client.socket.ended().await, Some((1011, "bye".to_owned())));
    assert_eq!(story(&client.envelopes())[1..], TURN[..2]);
    let (_service, id, client) =
        scene(r#"[{"fault": "drop_socket", "after": {"kind": "endMessage", "from": "peer"}}]"#).await;
    client.ask(&id, "X1", "go").await;
    assert_eq!(client.socket.ended().await, None);
    let service = Service::start().await;
    service.faults(r#"[{"fault": "drop_socket", "after": {"frames": 2}}, {"fault": "drop_socket", "after": {"frames": 0}, "code": 1013}]"#).await;
    let client = Client::open(&service).await;
    assert_eq!(client.socket.ended().await, Some((1013, String::new())));
    let client = Client::open(&service).await;
    client.connect(TOKEN).await;
    assert_eq!(client.socket.ended().await, None);
    assert_eq!(client.socket.raw().len(), 2);
}

#[tokio::test]
async fn an_answer_that_cut_the_connection_has_reached_the_agent() {
    let service = Service::start().await;
    let id = service.conversation(r#"[{"calls": [{"id": "c1", "name": "read"}]}]"#).await;
    let client = service.session(&id).await;
    service.faults(r#"[{"fault": "drop_socket", "after": {"kind": "endToolCall", "from": "peer"}}]"#).await;
    client.ask(&id, "X1", "go").await;
    let call = client.event("executingToolCall", 1).await;
    client.answer(&call, "endToolCall", r#"{"output": {}}"#).await;
    assert_eq!(client.socket.ended().await, None);
    service.reported(&id, "resumed", 1).await;
}

#[tokio::test]
async fn a_half_open_socket_says_nothing_and_stays() {
    let service = Service::with(UipathConfig {
        ping_interval: Duration::from_millis(50),
        ping_timeout: Duration::from_millis(50),
        ..UipathConfig::default()
    })
    .await;
    let id = service.conversation(r#"[{"text": "word"}]"#).await;
    let client = service.session(&id).await;
    service.faults(r#"[{"fault": "half_open", "match": {"kind": "chunk"}}]"#).await;
    client.ask(&id, "X1", "go").await;
    service.until_fired(1).await;
    let frames = client.socket.raw().len();
    // The server gives it up, and still the client learns nothing.
    while !service.state(&id).await.get("sockets").unwrap().get("clients").unwrap().as_array().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(client.socket.raw().len(), frames);
    assert!(!client.socket.has_ended());
}

#[tokio::test]
async fn a_socket_that_answers_no_ping_is_closed_and_one_that_does_is_kept() {
    let config = || UipathConfig {
        ping_interval: Duration::from_millis(60),
        ping_timeout: Duration::from_millis(200),
        ..UipathConfig::default()
    };
    let service = Service::with(config()).await;
    let client = service.client().await;
    assert!(client.socket.raw()[0].contains(r#""pingInterval":60,"pingTimeout":200"#));
    for count in 1..=5 {
        client.until("2", count).await;
        client.send_raw("3").await;
    }
    assert!(client.socket.ended().await.is_none_or(|(code, _)| code == 1005));
    assert_eq!(client.socket.raw().iter().filter(|frame| *frame == "2").count(), 6);
}

#[tokio::test]
async fn the_first_ping_comes_after_an_interval() {
    let service =
        Service::with(UipathConfig { ping_interval: Duration::from_millis(150), ..UipathConfig::default() }).await;
    let start = Instant::now();
    let client = service.client().await;
    client.until("2", 1).await;
    assert!(start.elapsed() >= Duration::from_millis(100), "{:?}", start.elapsed());
}

#[tokio::test]
async fn pings_may_stop_though_the_socket_lives() {
    let service = Service::with(UipathConfig {
        ping_interval: Duration::from_millis(30),
        ping_timeout: Duration::from_millis(30),
        ..UipathConfig::default()
    })
    .await;
    service.faults(r#"[{"fault": "no_pings"}]"#).await;
    let id = service.conversation(r#"[{"text": "word"}]"#).await;
    let client = service.client().await;
    service.until_fired(1).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    client.start_session(&id).await;
    assert!(client.socket.raw().iter().all(|frame| frame != "2"));
}

#[tokio::test]
async fn a_connect_is_refused_with_a_code_or_without_data() {
    let service = Service::start().await;
    service
        .faults(r#"[{"fault": "refuse_connect", "code": 403, "message": "Forbidden"}, {"fault": "refuse_connect"}]"#)
        .await;
    for expected in [r#"44{"message":"Forbidden","data":{"code":403}}"#, r#"44{"message":"Unauthorized"}"#] {
        let client = Client::open(&service).await;
        client.connect(TOKEN).await;
        client.socket.until_raw(expected).await;
        assert!(!client.socket.has_ended());
    }
    service.faults(r#"[{"fault": "refuse_socket", "times": 2}, {"fault": "reject_key"}]"#).await;
    let url = service.url("/socket.io/?EIO=4&transport=websocket");
    for _ in 0..2 {
        assert_eq!(crate::common::Socket::open(&url, &[]).await.err(), Some(403));
    }
    let client = Client::open(&service).await;
    client.connect(TOKEN).await;
    client.socket.until_raw(r#"44{"message":"Unauthorized","data":{"code":401}}"#).await;
}

#[tokio::test]
async fn the_namespace_is_disconnected_and_the_connection_stays() {
    let (service, id, client) = scene(r#"[{"fault": "disconnect", "after": {"kind": "startMessage"}}]"#).await;
    client.ask(&id, "X1", "go").await;
    client.until("41", 1).await;
    service.reported(&id, "ended", 1).await;
    let clients = service.state(&id).await.get("sockets").unwrap().get("clients").unwrap().to_string();
    assert_eq!(clients, "[]");
    assert!(!client.socket.has_ended());
    assert_eq!(client.socket.raw().last().map(String::as_str), Some("41"));
    client.connect(TOKEN).await;
    client.until("40", 2).await;
}

#[tokio::test]
async fn events_come_in_unusual_dress() {
    let (service, id, client) = scene(
        r#"[{"fault": "extra_argument", "match": {"kind": "startMessage"}}, {"fault": "ask_ack", "match": {"kind": "chunk"}},
            {"fault": "foreign_event", "match": {"kind": "endContentPart"}}, {"fault": "binary_event", "match": {"kind": "endMessage"}},
            {"fault": "huge", "match": {"kind": "endExchange"}, "bytes": 2000000}]"#,
    )
    .await;
    client.ask(&id, "X1", "go").await;
    client.event("endExchange", 1).await;
    let raw = client.socket.raw();
    let raw = &raw[3..];
    assert!(raw[0].starts_with("42[") && raw[0].ends_with(",\"some-sid\"]"), "{}", raw[0]);
    assert!(raw[1].starts_with("420[\"ConversationEvent\",{"), "{}", raw[1]);
    assert_eq!(raw[2], r#"42["OtherEvent",{"x":1}]"#);
    assert_eq!(raw[4], r#"451-["ConversationEvent",{"_placeholder":true,"num":0}]"#);
    assert_eq!(raw[6].len(), 2_000_000 + raw[6].find("\"padding\"").unwrap() + "\"padding\":\"\"}]".len());
    assert_eq!(service.fired().await, [1; 5]);
    // The answer to what the engine never asked does no harm.
    client.send_raw("430[]").await;
    client.start_session(&id).await;
    service.faults(r#"[{"fault": "malformed", "match": {"kind": "sessionStarted"}, "raw": "42[\"Conv"}]"#).await;
    client.emit(&object! { "conversationId" => &id, "startSession" => object! {} }).await;
    client.socket.until_raw("42[\"Conv").await;
}

#[tokio::test]
async fn a_message_over_the_limit_closes_the_socket() {
    let service = Service::start().await;
    service.control("PUT", "/levers", r#"{"max_payload": 500}"#).await;
    let id = service.conversation("[]").await;
    let client = service.session(&id).await;
    assert!(client.socket.raw()[0].contains("\"maxPayload\":500}"), "{}", client.socket.raw()[0]);
    client.ask(&id, "X1", &"x".repeat(600)).await;
    assert_eq!(client.socket.ended().await, Some((1009, String::new())));
    assert_eq!(find(&client.envelopes()[0], "sessionStarted"), Some(object! {}));
}

#[tokio::test]
async fn a_fault_is_about_one_conversation_or_one_leg() {
    let (service, id, client) = scene("[]").await;
    let other = service.conversation(r#"{"runtime": "elsewhere"}"#).await;
    service
        .faults(&format!(
            r#"[{{"fault": "swallow", "match": {{"kind": "chunk"}}, "conversation": "{other}", "times": 0}},
            {{"fault": "drop_socket", "leg": "runtime", "after": {{"kind": "endToolCall"}}}}]"#
        ))
        .await;
    client.ask(&id, "X1", "go").await;
    client.event("endExchange", 1).await;
    assert_eq!(story(&client.envelopes())[1..], TURN);
    client.start_session(&other).await;
    client.ask(&other, "X1", "go").await;
    let runtime = Client::runtime(&service, &other).await;
    let call = object! { "toolCallId" => "c1", "endToolCall" => object! {} };
    client.exchange(&other, "X1", object! { "message" => object! { "messageId" => "m", "toolCall" => call } }).await;
    assert_eq!(runtime.socket.ended().await, None);
    runtime.event("endToolCall", 1).await;
    assert_eq!(service.fired().await, [0, 1]);
}

#[tokio::test]
async fn open_sockets_obey_at_once() {
    let service = Service::start().await;
    let id = service.conversation("[]").await;
    let path = format!("/conversations/{id}/sockets");
    let (inside, outside) = (service.session(&id).await, service.client().await);
    assert_eq!(service.control("POST", &path, r#"{"action": "raw", "raw": "6"}"#).await.count("sockets"), Some(1));
    inside.socket.until_raw("6").await;
    service.control("POST", &path, r#"{"action": "disconnect"}"#).await;
    inside.socket.until_raw("41").await;
    let inside = service.session(&id).await;
    service.control("POST", &path, r#"{"action": "close", "code": 1001}"#).await;
    assert_eq!(inside.socket.ended().await, Some((1001, String::new())));
    assert!(!outside.socket.has_ended());
    let all = service.control("POST", "/sockets", r#"{"action": "half_open"}"#).await;
    assert!(all.count("sockets").is_some_and(|count| count >= 1));
    let frames = outside.socket.raw().len();
    outside.emit(&object! { "conversationId" => &id, "startSession" => object! {} }).await;
    // A later socket is served, the half-open one is not.
    service.session(&id).await;
    assert_eq!(outside.socket.raw().len(), frames);
}

#[tokio::test]
async fn requests_fail_and_hang_as_those_of_openhands_do() {
    let service = Service::start().await;
    service
        .faults(
            r#"[{"fault": "http", "method": "GET", "path": "/agent", "status": 503, "times": 2},
                       {"fault": "hang_up", "method": "POST", "path": "/conversation", "handled": true},
                       {"fault": "http_delay", "path": "/user/settings", "ms": 100}]"#,
        )
        .await;
    for form in ["message", "error", "problem"] {
        service.control("PUT", "/levers", &format!(r#"{{"error_form": "{form}"}}"#)).await;
        let answer = service.rest("GET", "/agent", None).await;
        if form == "problem" {
            assert_eq!(answer.status, 200);
        } else {
            assert_eq!((answer.status, answer.json().text(form)), (503, Some("Service Unavailable")));
            assert_eq!(answer.headers.get("access-control-allow-origin").unwrap(), "*");
        }
    }
    let bearer = format!("Bearer {TOKEN}");
    let body = object! { "agentReleaseId" => 7u64, "folderId" => 11u64 }.to_string();
    let path = format!("{}/conversation", crate::bench::API);
    assert!(service.send("POST", &path, &[("authorization", &bearer)], Some(body)).await.is_err());
    assert_eq!(service.control("GET", "/conversations", "").await.as_array().unwrap().len(), 1);
    let start = Instant::now();
    assert_eq!(service.rest("GET", "/user/settings", None).await.status, 200);
    assert!(start.elapsed() >= Duration::from_millis(100));
}
