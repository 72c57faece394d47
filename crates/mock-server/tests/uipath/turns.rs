//! Whole exchanges with the agent of our own.

use pagehand_mock_server::json::parse;
use pagehand_mock_server::object;

use crate::bench::{Service, find, story};

#[tokio::test]
async fn a_plain_turn_goes_from_the_users_message_to_the_end_of_the_exchange() {
    let service = Service::start().await;
    let id = service.conversation(r#"{"steps": [{"text": ["Hello ", "{asked}", "."]}]}"#).await;
    let client = service.session(&id).await;
    client.ask(&id, "X1", "you").await;
    client.event("endExchange", 1).await;
    assert_eq!(
        story(&client.envelopes()),
        [
            "sessionStarted",
            "startMessage+startContentPart",
            "chunk",
            "chunk",
            "chunk",
            "endContentPart",
            "endMessage",
            "endExchange"
        ]
    );
    assert_eq!(client.text(), "Hello you.");
    let raw = client.socket.raw();
    assert!(
        raw[0].starts_with("0{\"sid\":\"") && raw[0].contains("\"upgrades\":[],\"pingInterval\":25000,"),
        "{}",
        raw[0]
    );
    assert!(raw[1].starts_with("40{\"sid\":\""), "{}", raw[1]);
    assert_eq!(raw[2], format!("42[\"ConversationEvent\",{{\"conversationId\":\"{id}\",\"sessionStarted\":{{}}}}]"));
}

#[tokio::test]
async fn an_answer_reaches_the_agent_and_the_next_message_quotes_it() {
    let service = Service::start().await;
    let script = r#"{"steps": [
        {"text": "Let me check.", "calls": [{"id": "c1", "name": "read_board_tasks", "input": {"boardId": "b1"}}]},
        {"text": "Seen tool results: {results}"}]}"#;
    let id = service.conversation(script).await;
    let client = service.session(&id).await;
    client.ask(&id, "X1", "read").await;
    let executing = client.event("executingToolCall", 1).await;
    let start = find(&client.event("startToolCall", 1).await, "startToolCall").unwrap();
    assert_eq!(start.flag("isClientSideTool"), Some(true));
    assert!(start.get("requireConfirmation").is_none() && start.get("inputSchema").is_none());
    client
        .answer(&executing, "endToolCall", r#"{"output": {"tasks": ["t1"], "n": 12345678901234567890123, "f": 7.0}}"#)
        .await;
    client.event("endExchange", 1).await;
    // The numbers went from the socket to the agent and back as they were written.
    assert!(
        client.text().ends_with(r#"{"tasks": ["t1"], "n": 12345678901234567890123, "f": 7.0}"#),
        "{}",
        client.text()
    );
    let resumed = service.reported(&id, "resumed", 1).await;
    let expected = r#"{"c1": {"timestamp": null, "output": {"tasks": ["t1"], "n": 12345678901234567890123, "f": 7.0},
                       "is_error": null, "cancelled": null, "metadata": null, "tool_call_id": "c1"}}"#;
    assert_eq!(resumed.get("values"), Some(&parse(expected).unwrap()));
    let state = service.state(&id).await;
    assert_eq!(state.get("answers").unwrap().as_array().unwrap().len(), 1);
    assert_eq!(find(&client.envelopes()[4], "endToolCall"), None);
    assert_eq!(state.get("run"), Some(&object! {}.get("run").cloned().unwrap_or_default()));
}
