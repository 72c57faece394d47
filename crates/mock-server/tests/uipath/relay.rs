//! The service between a client and a runtime, both played from the recordings: what it passes on, and how.

use pagehand_mock_server::object;

use crate::bench::{Client, Service, find};
use crate::recording::{EXCHANGES, Frame, events, lines};

/// How often a socket has received this text.
fn times(client: &Client, raw: &str) -> usize {
    client.socket.raw().iter().filter(|frame| *frame == raw).count()
}

/// Sends a frame from one side and waits until it arrives at the other.
async fn pass(from: &Client, to: &Client, sent: &str, arrives: &str) {
    let before = times(to, arrives);
    from.send_raw(sent).await;
    to.until(arrives, before + 1).await;
}

async fn replay(file: &str, scenario: &str) {
    let service = Service::start().await;
    let id = service.conversation(r#"{"runtime": "elsewhere"}"#).await;
    let all = lines(file, scenario);
    let recorded = events(&all, "client", &id);
    let client = if recorded.iter().any(|frame| find(&frame.envelope, "startSession").is_some()) {
        service.client().await
    } else {
        service.session(&id).await
    };
    let runtime = Client::runtime(&service, &id).await;
    let mut stopped = false;
    for frame in &recorded {
        if !frame.from_peer {
            if frame.is_of_service() {
                client.until(&frame.raw, 1).await;
            } else {
                pass(&runtime, &client, &frame.raw, &frame.raw).await;
            }
        } else if frame.is_answer() && !stopped {
            let with_argument = format!("{},\"", frame.raw.strip_suffix(']').unwrap());
            let before = runtime.socket.raw().iter().filter(|seen| seen.starts_with(&with_argument)).count();
            client.send_raw(&frame.raw).await;
            let passed = runtime.until(&with_argument, before + 1).await;
            assert!(passed.ends_with("\"]") && passed.len() > with_argument.len() + 2, "{passed}");
        } else {
            stopped |= find(&frame.envelope, "endExchange").is_some();
            client.send_raw(&frame.raw).await;
        }
    }
    let of_server = |frame: &&Frame| !frame.from_peer;
    let expected: Vec<String> = recorded.iter().filter(of_server).map(|frame| frame.raw.clone()).collect();
    let all_received = client.socket.raw();
    let received: Vec<String> = all_received.into_iter().filter(|frame| frame.starts_with("42")).collect();
    let skipped = usize::from(expected.first() != received.first());
    assert_eq!(received[skipped..], expected[..], "{file} {scenario}");
    // The runtime got the answers, in the order and with the members of the recording.
    let answers: Vec<_> =
        recorded.iter().filter(|frame| frame.is_answer()).map(|frame| frame.envelope.clone()).collect();
    assert_eq!(runtime.envelopes(), answers, "{file} {scenario}");
    let on_runtime = all.iter().any(|line| line.text("leg") == Some("runtime"));
    if on_runtime {
        let leg = events(&all, "runtime", &id);
        let heard: Vec<_> = leg.iter().filter(|frame| !frame.from_peer).map(|frame| frame.envelope.clone()).collect();
        assert_eq!(runtime.envelopes(), heard, "{file} {scenario}");
    }
}

#[tokio::test]
async fn what_either_side_says_reaches_the_other_as_in_every_recording() {
    for (file, scenario) in EXCHANGES {
        replay(file, scenario).await;
    }
}

#[tokio::test]
async fn a_call_that_is_not_answered_stays_open_as_recorded() {
    for (file, scenario) in [
        ("not-declared", "not-declared"),
        ("not-declared", "declared-empty"),
        ("odd-answers", "toolCallError-instead-of-end"),
        ("guardrail-hides-flags", "guardrail-passes-strict-client"),
        ("abandoned-call", "abandon"),
    ] {
        replay(file, scenario).await;
    }
}

#[tokio::test]
async fn the_declared_tools_are_kept_and_left_out_is_not_empty() {
    let service = Service::start().await;
    let id = service.conversation(r#"{"steps": [{"text": "{tools}"}], "loop": true}"#).await;
    let client = service.session(&id).await;
    let declared = r#"[{"name": "a", "inputSchema": {"type": "object"}}, {"name": "b"}]"#;
    for (exchange, start) in [
        ("X1", "{}".to_owned()),
        ("X2", r#"{"clientSideTools": []}"#.to_owned()),
        ("X3", format!(r#"{{"clientSideTools": {declared}}}"#)),
    ] {
        client.ask_with(&id, exchange, "go", pagehand_mock_server::json::parse(&start).unwrap()).await;
    }
    client.event("endExchange", 3).await;
    assert_eq!(client.text(), format!("left out[]{declared}"));
    let state = service.state(&id).await;
    let exchanges = state.get("exchanges").unwrap().as_array().unwrap();
    let tools: Vec<Option<String>> =
        exchanges.iter().map(|exchange| exchange.get("clientSideTools").map(ToString::to_string)).collect();
    assert_eq!((tools[0].as_deref(), tools[1].as_deref()), (None, Some("[]")));
    assert!(tools[2].as_deref().is_some_and(|tools| tools.contains("inputSchema")));
}

#[tokio::test]
async fn answers_wait_for_a_runtime_that_is_away_and_the_newest_socket_gets_them() {
    let service = Service::start().await;
    let id = service.conversation(r#"{"runtime": "elsewhere"}"#).await;
    let client = service.session(&id).await;
    client.ask(&id, "X1", "go").await;
    let first = Client::runtime(&service, &id).await;
    let call = |id: &str, member: &str| {
        let call = object! { "toolCallId" => id, member => object! { "output" => id } };
        object! { "message" => object! { "messageId" => "A1", "toolCall" => call } }
    };
    client.exchange(&id, "X1", call("c1", "endToolCall")).await;
    first.event("endToolCall", 1).await;
    first.socket.close().await;
    while service.state(&id).await.get("sockets").unwrap().present("runtime").is_some() {
        tokio::task::yield_now().await;
    }
    client.exchange(&id, "X1", call("c2", "endToolCall")).await;
    client.exchange(&id, "X1", call("c3", "endToolCall")).await;
    while service.state(&id).await.count("queued") != Some(2) {
        tokio::task::yield_now().await;
    }
    let second = Client::runtime(&service, &id).await;
    second.event("endToolCall", 2).await;
    let ids: Vec<_> = second.envelopes().iter().map(|envelope| find(envelope, "endToolCall").unwrap()).collect();
    assert_eq!(ids, [object! { "output" => "c2" }, object! { "output" => "c3" }]);
    assert_eq!(service.state(&id).await.count("queued"), Some(0));
    // A third one takes the place of the second, which is still open.
    let third = Client::runtime(&service, &id).await;
    client.exchange(&id, "X1", call("c4", "endToolCall")).await;
    third.event("endToolCall", 1).await;
    assert_eq!((first.envelopes().len(), second.envelopes().len(), third.envelopes().len()), (1, 2, 1));
}

#[tokio::test]
async fn nothing_but_answers_goes_to_the_runtime() {
    let service = Service::start().await;
    let id = service.conversation(r#"{"runtime": "elsewhere"}"#).await;
    let client = service.session(&id).await;
    let runtime = Client::runtime(&service, &id).await;
    client.ask(&id, "X1", "go").await;
    let body = |name: &str| object! { "toolCallId" => "c1", name => object! { "errorId" => "E" } };
    let message = |name: &str| object! { "message" => object! { "messageId" => "A1", "toolCall" => body(name) } };
    client.exchange(&id, "X1", message("toolCallError")).await;
    client.exchange(&id, "X1", message("metaEvent")).await;
    client.exchange(&id, "X1", message("confirmToolCall")).await;
    runtime.event("confirmToolCall", 1).await;
    assert_eq!(runtime.envelopes().len(), 1);
}

#[tokio::test]
async fn a_runtime_of_an_unknown_conversation_is_refused() {
    let service = Service::start().await;
    let url = service.url("/socket.io/?conversationId=nobody&transport=websocket&EIO=4");
    let socket = crate::common::Socket::open(&url, &[("x-uipath-conversationid", "nobody")]).await.unwrap();
    socket.send("40{}").await;
    socket.until_raw(r#"44{"message":"Unauthorized","data":{"code":401}}"#).await;
}
