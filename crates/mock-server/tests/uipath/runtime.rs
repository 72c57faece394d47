//! UiPath's own runtime as the agent. `cargo xtask test --only native` installs it and says where it is.

use std::path::PathBuf;
use std::time::Duration;

use pagehand_mock_server::json::{Json, parse};
use pagehand_mock_server::{UipathConfig, object};

use crate::bench::{Client, Service, find};
use crate::recording::comparable;

const PATIENCE: Duration = Duration::from_secs(30);

fn told(name: &str) -> PathBuf {
    let value = std::env::var_os(name);
    value.unwrap_or_else(|| panic!("{name} is not set: run these tests with `cargo xtask test --only native`")).into()
}

async fn service() -> Service {
    Service::with(UipathConfig {
        python: Some(told("PAGEHAND_UIPATH_PYTHON")),
        peer: Some(told("PAGEHAND_UIPATH_PEER")),
        time_limit: Duration::from_secs(20),
        ..UipathConfig::default()
    })
    .await
}

fn script(name: &str) -> Json {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/servers/uipath/scripts");
    parse(&std::fs::read_to_string(PathBuf::from(folder).join(format!("{name}.json"))).unwrap()).unwrap()
}

/// An answer: to which call, of which kind, and its body.
type Given = (&'static str, &'static str, &'static str);

/// Answers every call as it comes, until the exchange ends; gives all that the client received.
async fn act(client: &Client, answers: &[Given]) -> Vec<Json> {
    let mut given = vec![false; answers.len()];
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        let envelopes = client.envelopes();
        let ended = |name: &str| envelopes.iter().any(|envelope| find(envelope, name).is_some());
        if ended("endExchange") || ended("exchangeError") {
            return envelopes;
        }
        for (done, (call, kind, body)) in given.iter_mut().zip(answers) {
            let after = if *kind == "confirmToolCall" { "startToolCall" } else { "executingToolCall" };
            let mark = format!("\"toolCallId\":\"{call}\"");
            let due = envelopes.iter().find(|known| known.to_string().contains(&mark) && find(known, after).is_some());
            if let (false, Some(envelope)) = (*done, due) {
                client.answer(envelope, kind, body).await;
                *done = true;
            }
        }
        assert!(std::time::Instant::now() < deadline, "the exchange does not end: {envelopes:#?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What the client receives and what the agent was resumed with, if this one plays.
async fn played(who: &str, name: &str, answers: &[Given]) -> (Vec<Json>, Vec<Json>) {
    let service = service().await;
    let mut body = script(name);
    body.set("runtime", who);
    let id = service.conversation(&body.to_string()).await;
    let client = service.session(&id).await;
    client.ask(&id, "EXCH", "go").await;
    let envelopes = act(&client, answers).await;
    let resumed = service.reports(&id, "resumed").await;
    if who == "fast" {
        assert_eq!(service.reported(&id, "exit", 1).await.count("code"), Some(0), "{name}");
    }
    // Conversations have ids of their own.
    let without_id = envelopes.iter().map(|envelope| parse(&envelope.to_string().replace(&id, "C")).unwrap());
    (comparable(&without_id.collect::<Vec<_>>()), resumed)
}

const READ: Given = ("call-read", "endToolCall", r#"{"output": {"tasks": [{"id": "t1"}]}}"#);

#[tokio::test]
async fn the_scripted_agent_and_uipaths_runtime_play_every_script_alike() {
    let done = |id: &'static str| (id, "endToolCall", r#"{"output": {"id": "new-1"}, "isError": false}"#);
    let approved = r#"{"approved": true, "input": {"title": "Edited"}}"#;
    let cases: [(&str, Vec<Given>); 12] = [
        ("plain", vec![]),
        ("client-tool", vec![READ]),
        ("client-tool", vec![("call-read", "endToolCall", r#"{"isError": true, "output": {"error": "no board"}}"#)]),
        ("client-tool", vec![("call-read", "endToolCall", r#"{"cancelled": true}"#)]),
        ("confirm", vec![("call-create", "confirmToolCall", approved), done("call-create")]),
        ("confirm", vec![("call-create", "confirmToolCall", r#"{"approved": false}"#)]),
        ("confirm", vec![("call-create", "confirmToolCall", r#"{"approved": true}"#), done("call-create")]),
        ("parallel", vec![done("call-b"), done("call-a"), ("call-c", "confirmToolCall", approved), done("call-c")]),
        ("blocked", vec![]),
        ("server-tool", vec![("call-mail", "confirmToolCall", r#"{"approved": true}"#)]),
        ("failure", vec![]),
        ("everything-else", vec![]),
    ];
    // A few at a time: a runtime takes two seconds, and most of them it only waits.
    for some in cases.chunks(3) {
        futures_util::future::join_all(some.iter().map(|(name, answers)| alike(name, answers))).await;
    }
}

async fn alike(name: &str, answers: &[Given]) {
    let (theirs, their_values) = played("fast", name, answers).await;
    let (ours, our_values) = played("scripted", name, answers).await;
    let error = |envelopes: &[Json]| envelopes.iter().find_map(|known| find(known, "exchangeError"));
    if let (Some(their_error), Some(our_error)) = (error(&theirs), error(&ours)) {
        // The message is UiPath's own.
        assert_eq!(their_error.text("errorId"), our_error.text("errorId"));
        assert_eq!(theirs.len(), ours.len());
        return;
    }
    for (their, our) in theirs.iter().zip(&ours) {
        assert!(their.same_value(our), "{name} {answers:?}:\n{their}\n{our}");
    }
    assert_eq!(theirs.len(), ours.len(), "{name}");
    assert_eq!(their_values.len(), our_values.len(), "{name}");
    for (their, our) in their_values.iter().zip(&our_values) {
        assert!(their.same_value(our), "{name}:\n{their}\n{our}");
    }
}

#[tokio::test]
async fn an_answer_with_a_wrong_type_is_lost_on_uipaths_runtime_as_on_ours() {
    for who in ["fast", "scripted"] {
        let service = service().await;
        let mut body = script("client-tool");
        body.set("runtime", who);
        let id = service.conversation(&body.to_string()).await;
        let client = service.session(&id).await;
        client.ask(&id, "X1", "go").await;
        let call = client.event_within("executingToolCall", 1, PATIENCE).await;
        client.answer(&call, "endToolCall", r#"{"output": 1, "timestamp": 5}"#).await;
        client.answer(&call, "endToolCall", r#"{"output": 2}"#).await;
        client.event_within("endExchange", 1, PATIENCE).await;
        let resumed = service.reports(&id, "resumed").await;
        assert_eq!(resumed.len(), 1, "{who}");
        assert!(resumed[0].to_string().contains("\"output\":2"), "{who}: {}", resumed[0]);
    }
}

#[tokio::test]
async fn uipaths_runtime_comes_back_by_itself_and_gets_what_was_queued() {
    let service = service().await;
    let mut body = script("client-tool");
    body.set("runtime", "fast");
    let id = service.conversation(&body.to_string()).await;
    let client = service.session(&id).await;
    client.ask(&id, "X1", "go").await;
    let call = client.event_within("executingToolCall", 1, PATIENCE).await;
    let cut = r#"{"action": "cut", "leg": "runtime"}"#;
    assert_eq!(service.control("POST", &format!("/conversations/{id}/sockets"), cut).await.count("sockets"), Some(1));
    while service.state(&id).await.get("sockets").unwrap().present("runtime").is_some() {
        tokio::task::yield_now().await;
    }
    client.answer(&call, "endToolCall", r#"{"output": {"tasks": []}}"#).await;
    client.event_within("endExchange", 1, PATIENCE).await;
    service.reported(&id, "resumed", 1).await;
    assert_eq!(service.reported(&id, "exit", 1).await.count("code"), Some(0));
}

#[tokio::test]
async fn an_exchange_that_the_client_ends_ends_uipaths_runtime() {
    let service = service().await;
    let mut body = script("client-tool");
    body.set("runtime", "fast");
    let id = service.conversation(&body.to_string()).await;
    let client = service.session(&id).await;
    client.ask(&id, "X1", "go").await;
    client.event_within("executingToolCall", 1, PATIENCE).await;
    client.exchange(&id, "X1", object! { "endExchange" => object! {} }).await;
    assert!(service.reported(&id, "exit", 1).await.get("code").unwrap().is_null());
    assert!(client.envelopes().iter().all(|envelope| find(envelope, "exchangeError").is_none()));
}

#[tokio::test]
async fn a_runtime_that_gives_up_is_an_error_for_the_client() {
    let service = Service::with(UipathConfig {
        python: Some(told("PAGEHAND_UIPATH_PYTHON")),
        peer: Some(told("PAGEHAND_UIPATH_PEER")),
        time_limit: Duration::from_millis(1500),
        ..UipathConfig::default()
    })
    .await;
    let mut body = script("client-tool");
    body.set("runtime", "fast");
    let id = service.conversation(&body.to_string()).await;
    let client = service.session(&id).await;
    client.ask(&id, "X1", "go").await;
    client.event_within("exchangeError", 1, PATIENCE).await;
    assert_eq!(service.reported(&id, "exit", 1).await.count("code"), Some(3));
}

#[tokio::test]
async fn a_runtime_that_is_not_installed_is_an_error_for_the_client() {
    let service = Service::start().await;
    for who in ["fast", "full"] {
        let id = service.conversation(&format!(r#"{{"runtime": "{who}", "steps": []}}"#)).await;
        let client = service.session(&id).await;
        client.ask(&id, "X1", "go").await;
        let error = find(&client.event("exchangeError", 1).await, "exchangeError").unwrap();
        assert!(error.to_string().contains("without --uipath-python"), "{error}");
    }
}
