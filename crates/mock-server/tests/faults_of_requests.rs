//! Each fault of a request, seen from the client.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::time::{Duration, Instant};

use common::{Bench, message};

const ORIGIN: (&str, &str) = ("origin", "http://localhost:5173");

#[tokio::test]
async fn http_500_has_no_cors_headers_and_the_body_of_an_unhandled_exception() {
    let bench = Bench::start().await;
    bench.faults(r#"[{"fault": "http", "method": "GET", "path": "/api/tools", "status": 500}]"#).await;
    let answer = bench.send("GET", "/api/tools/", &[ORIGIN], None).await.unwrap();
    assert_eq!(answer.status, 500);
    assert!(answer.headers.get("access-control-allow-origin").is_none());
    assert!(answer.headers.get("vary").is_none());
    assert_eq!(answer.json().text("detail"), Some("Internal Server Error"));
    let answer = bench.send("GET", "/api/tools/", &[ORIGIN], None).await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(bench.fired().await, [1]);
}

#[tokio::test]
async fn other_statuses_have_cors_headers_and_a_detail() {
    let bench = Bench::start().await;
    bench
        .faults(
            r#"[{"fault": "http", "path": "/api/tools", "status": 503},
                {"fault": "http", "path": "/api/tools", "status": 429, "body": {"detail": "busy"}}]"#,
        )
        .await;
    let answer = bench.send("GET", "/api/tools/", &[ORIGIN], None).await.unwrap();
    assert_eq!((answer.status, answer.text.as_str()), (503, r#"{"detail":"Service Unavailable"}"#));
    assert_eq!(answer.headers["access-control-allow-origin"], ORIGIN.1);
    let answer = bench.send("GET", "/api/tools/", &[ORIGIN], None).await.unwrap();
    assert_eq!((answer.status, answer.text.as_str()), (429, r#"{"detail":"busy"}"#));
}

#[tokio::test]
async fn a_fault_for_a_method_spares_others_and_preflights() {
    let bench = Bench::start().await;
    bench.faults(r#"[{"fault": "http", "method": "POST", "path": "/api", "status": 503, "times": 0}]"#).await;
    assert_eq!(bench.call("GET", "/api/tools/", None).await.status, 200);
    let asks = [ORIGIN, ("access-control-request-method", "POST")];
    assert_eq!(bench.send("OPTIONS", "/api/conversations", &asks, None).await.unwrap().status, 200);
    assert_eq!(bench.post("/api/conversations", message("x", true)).await.status, 503);
}

#[tokio::test]
async fn http_delay_lets_the_client_wait() {
    let bench = Bench::start().await;
    bench.faults(r#"[{"fault": "http_delay", "path": "/server_info", "ms": 150}]"#).await;
    let started = Instant::now();
    assert_eq!(bench.call("GET", "/server_info", None).await.status, 200);
    assert!(started.elapsed() >= Duration::from_millis(150));
}

#[tokio::test]
async fn hang_up_gives_no_answer_and_no_effect() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    bench.faults(r#"[{"fault": "hang_up", "method": "POST", "path": "/events"}]"#).await;
    let path = format!("/api/conversations/{id}/events");
    assert!(bench.send("POST", &path, &[], Some(message("lost", false).to_string())).await.is_err());
    assert!(bench.events(&id).await.is_empty());
}

#[tokio::test]
async fn hang_up_when_handled_loses_only_the_answer() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    bench.faults(r#"[{"fault": "hang_up", "method": "POST", "path": "/events", "handled": true}]"#).await;
    let path = format!("/api/conversations/{id}/events");
    assert!(bench.send("POST", &path, &[], Some(message("kept", false).to_string())).await.is_err());
    assert_eq!(bench.events(&id).await.len(), 3);
}

#[tokio::test]
async fn reject_key_answers_401_with_cors_headers() {
    let bench = Bench::keyed().await;
    bench.faults(r#"[{"fault": "reject_key"}]"#).await;
    let key = ("x-session-api-key", common::KEY);
    let answer = bench.send("GET", "/api/tools/", &[key, ORIGIN], None).await.unwrap();
    assert_eq!((answer.status, answer.text.as_str()), (401, r#"{"detail":"Unauthorized"}"#));
    assert_eq!(answer.headers["access-control-allow-origin"], ORIGIN.1);
    assert_eq!(bench.call("GET", "/api/tools/", None).await.status, 200);
}

#[tokio::test]
async fn unreadable_faults_are_refused() {
    let bench = Bench::start().await;
    for faults in [
        r#"{"fault": "swallow"}"#,
        r#"[{"fault": "swallow", "mach": {}}]"#,
        r#"[{"fault": "nope"}]"#,
        r#"[{"fault": "delay"}]"#,
    ] {
        assert_eq!(bench.send("PUT", "/mock/faults", &[], Some(faults.to_owned())).await.unwrap().status, 400);
    }
}

#[tokio::test]
async fn run_limit_refuses_runs_but_keeps_messages() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    let path = format!("/api/conversations/{id}");
    bench.faults(&format!(r#"[{{"fault": "run_limit", "conversation": "{id}", "times": 2}}]"#)).await;
    let refused = bench.post(&format!("{path}/events"), message("kept", true)).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.text, r#"{"detail":"Conversation run limit reached. Retry the request later."}"#);
    assert_eq!(bench.events(&id).await.len(), 3);
    assert_eq!(bench.call("POST", &format!("{path}/run"), None).await.status, 429);
    let socket = bench.session(&id).await;
    assert_eq!(bench.call("POST", &format!("{path}/run"), None).await.status, 200);
    socket.until("finished", 1).await;
}
