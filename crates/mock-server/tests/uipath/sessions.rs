//! Sessions, several tabs, gaps, tokens.

use pagehand_mock_server::object;

use crate::bench::{Client, Service, TOKEN, find, story};

#[tokio::test]
async fn a_session_is_opened_and_ended() {
    let service = Service::start().await;
    let id = service.conversation("[]").await;
    let client = service.session(&id).await;
    client.start_session(&id).await;
    client.emit(&object! { "conversationId" => &id, "endSession" => object! {} }).await;
    client.until(&format!("42[\"ConversationEvent\",{{\"conversationId\":\"{id}\",\"endSession\":{{}}}}]"), 1).await;
    let clients = service.state(&id).await.get("sockets").unwrap().get("clients").unwrap().clone();
    assert_eq!(clients.as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn a_session_of_an_unknown_conversation_is_an_error() {
    let service = Service::start().await;
    let client = service.client().await;
    client.emit(&object! { "conversationId" => "nowhere", "startSession" => object! {} }).await;
    let error = client.event("conversationError", 1).await;
    assert_eq!(error.text("conversationId"), Some("nowhere"));
    assert_eq!(find(&error, "conversationError").unwrap().text("errorId"), Some("SESSION_START_PROCESSING_FAILED"));
}

#[tokio::test]
async fn what_is_said_before_the_session_has_started_is_lost() {
    let service = Service::start().await;
    service.control("PUT", "/levers", r#"{"session_delay_ms": 100}"#).await;
    let id = service.conversation(r#"[{"text": "heard"}]"#).await;
    let client = service.client().await;
    client.emit(&object! { "conversationId" => &id, "startSession" => object! {} }).await;
    client.ask(&id, "X1", "too early").await;
    client.event("sessionStarted", 1).await;
    client.ask(&id, "X2", "in time").await;
    client.event("endExchange", 1).await;
    let state = service.state(&id).await;
    assert_eq!(state.get("exchanges").unwrap().as_array().unwrap().len(), 1);
    let dropped = state.get("dropped").unwrap().as_array().unwrap().to_vec();
    assert_eq!((dropped.len(), dropped[0].text("reason")), (6, Some("no session")));
    assert_eq!(dropped[0].get("kinds").unwrap().to_string(), r#"["startExchange"]"#);
}

#[tokio::test]
async fn a_lenient_service_hears_clients_without_a_session() {
    let service = Service::start().await;
    service
        .control("PUT", "/levers", r#"{"lenient_sessions": true, "capabilities": {"serviceMessageClient": true}}"#)
        .await;
    let id = service.conversation(r#"[{"text": "heard"}]"#).await;
    let client = service.client().await;
    client.ask(&id, "X1", "hello").await;
    service.reported(&id, "ended", 1).await;
    assert!(client.envelopes().is_empty());
    client.start_session(&id).await;
    let started = find(&client.event("sessionStarted", 1).await, "sessionStarted").unwrap();
    assert_eq!(started.to_string(), r#"{"capabilities":{"serviceMessageClient":true}}"#);
}

#[tokio::test]
async fn every_tab_hears_the_agent_and_none_the_other_tab() {
    let service = Service::start().await;
    let id = service.conversation(r#"[{"calls": [{"id": "c1", "name": "read"}]}]"#).await;
    let (first, second, stranger) = (service.session(&id).await, service.session(&id).await, service.client().await);
    first.ask(&id, "X1", "go").await;
    let call = second.event("executingToolCall", 1).await;
    second.answer(&call, "endToolCall", r#"{"output": {}}"#).await;
    first.event("endExchange", 1).await;
    second.event("endExchange", 1).await;
    assert_eq!(story(&first.envelopes()), story(&second.envelopes()));
    assert!(stranger.envelopes().is_empty());
    assert!(story(&first.envelopes()).iter().all(|names| names != "endToolCall"));
    let answers = service.state(&id).await.get("answers").unwrap().as_array().unwrap().to_vec();
    assert_eq!(
        (answers.len(), answers[0].text("kind"), answers[0].text("toolCallId")),
        (1, Some("endToolCall"), Some("c1"))
    );
}

#[tokio::test]
async fn an_echo_tells_the_other_tabs_what_a_client_said() {
    let service = Service::start().await;
    service.control("PUT", "/levers", r#"{"echo_to_others": true}"#).await;
    let id = service.conversation(r#"[{"calls": [{"id": "c1", "name": "read"}]}]"#).await;
    let (first, second) = (service.session(&id).await, service.session(&id).await);
    first.ask(&id, "X1", "go").await;
    let call = first.event("executingToolCall", 1).await;
    first.answer(&call, "endToolCall", r#"{"output": {}}"#).await;
    second.event("endExchange", 1).await;
    let heard = story(&second.envelopes());
    assert_eq!(heard[1..3], ["startExchange", "startMessage"]);
    assert!(heard.iter().any(|names| names == "endToolCall"));
    first.event("endExchange", 1).await;
    assert!(story(&first.envelopes()).iter().all(|names| names != "endToolCall"));
}

/// A client that is away while the agent speaks; what it hears after its return.
async fn gap(levers: &str) -> (Vec<String>, usize) {
    let service = Service::start().await;
    service.control("PUT", "/levers", levers).await;
    let id = service.conversation(r#"[{"text": "before"}, {"hold": "gap", "text": "meanwhile"}]"#).await;
    let client = service.session(&id).await;
    client.ask(&id, "X1", "go").await;
    client.event("endMessage", 1).await;
    service.control("POST", &format!("/conversations/{id}/sockets"), r#"{"action": "cut"}"#).await;
    assert_eq!(client.socket.ended().await, None);
    while !service.state(&id).await.get("sockets").unwrap().get("clients").unwrap().as_array().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    service.release("gap").await;
    service.reported(&id, "ended", 1).await;
    let back = service.session(&id).await;
    // What is sent after the session has started comes after all that was kept for it.
    service.control("POST", &format!("/conversations/{id}/emit"), r#"{"metaEvent": {}}"#).await;
    back.event("metaEvent", 1).await;
    let page = service.rest("GET", &format!("/conversation/{id}/exchange"), None).await.json();
    let messages = page.get("data").unwrap().as_array().unwrap()[0].get("messages").unwrap().as_array().unwrap().len();
    (story(&back.envelopes()), messages)
}

#[tokio::test]
async fn what_a_client_missed_is_in_the_history_alone() {
    assert_eq!(gap("{}").await, (vec!["sessionStarted".to_owned(), "metaEvent".to_owned()], 3));
}

#[tokio::test]
async fn what_a_client_missed_may_be_replayed() {
    let (heard, messages) = gap(r#"{"replay_missed": true}"#).await;
    assert_eq!(
        heard,
        [
            "sessionStarted",
            "startMessage+startContentPart",
            "chunk",
            "endContentPart",
            "endMessage",
            "endExchange",
            "metaEvent"
        ]
    );
    assert_eq!(messages, 3);
}

#[tokio::test]
async fn a_token_that_is_not_accepted_opens_nothing() {
    let service = Service::start().await;
    service.control("PUT", "/tokens", r#"{"tokens": ["token-1", "app-2"]}"#).await;
    for token in ["wrong", "", "app-2"] {
        let client = Client::open(&service).await;
        client.connect(token).await;
        client.until(r#"44{"message":"Unauthorized","data":{"code":401}}"#, 1).await;
    }
    let client = Client::open(&service).await;
    client.send_raw("40").await;
    client.until("44", 1).await;
    for token in ["wrong", "app-2"] {
        assert_eq!(service.rest_with(token, "GET", "/agent", None).await.status, 401);
    }
    let none = service.send("GET", &format!("{}/agent", crate::bench::API), &[], None).await.unwrap();
    assert_eq!(none.status, 401);
    service.client().await;
}

#[tokio::test]
async fn a_token_expires_while_its_socket_is_open() {
    let service = Service::start().await;
    let id = service.conversation("[]").await;
    let client = service.session(&id).await;
    let told = service.control("PUT", "/tokens", r#"{"tokens": ["token-2"]}"#).await;
    assert_eq!(told.count("expired"), Some(1));
    // The socket lives on, a new one would not.
    client.start_session(&id).await;
    assert_eq!(service.rest("GET", "/agent", None).await.status, 401);
    let next = Client::open(&service).await;
    next.connect(TOKEN).await;
    next.until("44", 1).await;
    service.control("PUT", "/tokens", r#"{"tokens": ["token-2"], "disconnect": true}"#).await;
    client.until("41", 1).await;
    assert_eq!(service.rest_with("token-2", "GET", "/agent", None).await.status, 200);
}

#[tokio::test]
async fn a_token_of_an_app_says_for_whom_it_acts() {
    let service = Service::start().await;
    let call = async |user: &str| {
        let headers = [("authorization", "Bearer app-1"), ("x-uipath-external-user-id", user)];
        service.send("GET", &format!("{}/agent", crate::bench::API), &headers, None).await.unwrap().status
    };
    assert_eq!(service.rest_with("app-1", "GET", "/agent", None).await.status, 401);
    assert_eq!((call("ann.b_c-1").await, call("ann b").await, call(&"x".repeat(256)).await), (200, 400, 400));
    let url = service.url("/socket.io/?EIO=4&transport=websocket&x-uipath-external-user-id=ann");
    let socket = crate::common::Socket::open(&url, &[]).await.unwrap();
    let client = Client { socket };
    client.connect("app-1").await;
    client.until("40", 1).await;
}

#[tokio::test]
async fn the_cloud_path_leads_to_the_same_service_and_polling_nowhere() {
    let service = Service::start().await;
    let url = service.url("/autopilotforeveryone_/websocket_/socket.io/?EIO=4&transport=websocket");
    let client = Client { socket: crate::common::Socket::open(&url, &[]).await.unwrap() };
    client.connect(TOKEN).await;
    client.until("40", 1).await;
    for query in ["EIO=4&transport=polling", "EIO=3&transport=websocket", ""] {
        let answer = service.send("GET", &format!("/socket.io/?{query}"), &[], None).await.unwrap();
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.text.starts_with(r#"{"code":"#), "{}", answer.text);
    }
}

#[tokio::test]
async fn the_service_asks_a_client_to_leave() {
    let service = Service::start().await;
    let id = service.conversation("[]").await;
    let client = service.session(&id).await;
    service.control("POST", &format!("/conversations/{id}/emit"), r#"{"sessionEnding": {"timeToLiveMS": 500}}"#).await;
    client
        .until(
            &format!(r#"42["ConversationEvent",{{"conversationId":"{id}","sessionEnding":{{"timeToLiveMS":500}}}}]"#),
            1,
        )
        .await;
}

#[tokio::test]
async fn a_restart_forgets_sockets_and_keeps_what_was_said() {
    let service = Service::start().await;
    let id = service.conversation(r#"[{"text": "hello"}]"#).await;
    let client = service.session(&id).await;
    client.ask(&id, "X1", "go").await;
    client.event("endExchange", 1).await;
    assert_eq!(service.post("/mock/restart", object! { "signal" => "kill" }).await.status, 200);
    assert_eq!(client.socket.ended().await, None);
    let state = service.state(&id).await;
    assert_eq!(state.get("sockets").unwrap().to_string(), r#"{"clients":[],"runtime":null}"#);
    assert_eq!(state.get("exchanges").unwrap().as_array().unwrap().len(), 1);
    service.session(&id).await;
}
