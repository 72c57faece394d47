//! Whole exchanges with the agent of our own.

use pagehand_mock_server::json::parse;
use pagehand_mock_server::object;

use crate::bench::{Client, Service, find, story};

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

/// A conversation in which the agent was asked something, and its client.
async fn asked(script: &str, text: &str) -> (Service, String, Client) {
    let service = Service::start().await;
    let id = service.conversation(script).await;
    let client = service.session(&id).await;
    client.ask(&id, "X1", text).await;
    (service, id, client)
}

#[tokio::test]
async fn a_rejected_call_is_ended_by_the_agent() {
    let script =
        r#"{"steps": [{"calls": [{"id": "c1", "name": "create_task", "confirm": true}]}, {"text": "{results}"}]}"#;
    let (service, id, client) = asked(script, "go").await;
    let start = client.event("startToolCall", 1).await;
    assert!(find(&start, "startToolCall").unwrap().get("inputSchema").is_some());
    service.reported(&id, "waiting", 1).await;
    client.answer(&start, "confirmToolCall", r#"{"approved": false}"#).await;
    let end = find(&client.event("endToolCall", 1).await, "endToolCall").unwrap();
    assert_eq!(end.get("output"), Some(&object! { "meta" => "Cancelled by user" }));
    assert_eq!(end.flag("isError"), Some(false));
    client.event("endExchange", 1).await;
    assert_eq!(client.text(), r#"{"meta": "Cancelled by user"}"#);
    assert!(client.envelopes().iter().all(|envelope| find(envelope, "executingToolCall").is_none()));
}

#[tokio::test]
async fn an_approved_call_executes_only_when_the_calls_before_it_are_answered() {
    let script =
        r#"{"steps": [{"calls": [{"id": "a", "name": "read"}, {"id": "b", "name": "create", "confirm": true}]}]}"#;
    let (service, id, client) = asked(script, "go").await;
    let confirmed = client.event("startToolCall", 2).await;
    let first = client.event("executingToolCall", 1).await;
    client.answer(&confirmed, "confirmToolCall", r#"{"approved": true}"#).await;
    while service.state(&id).await.get("answers").unwrap().as_array().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(story(&client.envelopes()).iter().filter(|names| *names == "executingToolCall").count(), 1);
    client.answer(&first, "endToolCall", r#"{"output": {}}"#).await;
    let second = client.event("executingToolCall", 2).await;
    client.answer(&second, "endToolCall", r#"{"output": {}}"#).await;
    client.event("endExchange", 1).await;
}

#[tokio::test]
async fn an_answer_that_comes_before_its_call_counts_and_the_last_of_several() {
    let script =
        r#"{"steps": [{"hold": "early-answer", "calls": [{"id": "c1", "name": "read"}]}, {"text": "{output:c1}"}]}"#;
    let (service, id, client) = asked(script, "go").await;
    for output in ["1", "2"] {
        let call = object! { "toolCallId" => "c1", "endToolCall" => object! { "output" => output } };
        client
            .exchange(&id, "X1", object! { "message" => object! { "messageId" => "made up", "toolCall" => call } })
            .await;
    }
    while service.state(&id).await.get("answers").unwrap().as_array().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    service.release("early-answer").await;
    client.event("endExchange", 1).await;
    assert_eq!(client.text(), r#""2""#);
}

#[tokio::test]
async fn an_answer_with_a_member_of_a_wrong_type_is_lost_and_the_agent_waits_on() {
    let (service, id, client) = asked(r#"{"steps": [{"calls": [{"name": "read"}]}]}"#, "go").await;
    let call = client.event("executingToolCall", 1).await;
    client.answer(&call, "endToolCall", r#"{"output": {}, "timestamp": 5}"#).await;
    client.answer(&call, "endToolCall", r#"{"output": {}, "metaData": "text"}"#).await;
    client.answer(&call, "endToolCall", r#"{"output": 3}"#).await;
    client.event("endExchange", 1).await;
    let resumed = service.reports(&id, "resumed").await;
    assert_eq!(resumed.len(), 1);
    assert!(resumed[0].to_string().contains("\"output\":3"));
}

#[tokio::test]
async fn an_edit_that_is_no_object_ends_the_exchange_with_an_error() {
    let (_service, _, client) = asked(r#"{"steps": [{"calls": [{"name": "create", "confirm": true}]}]}"#, "go").await;
    let call = client.event("startToolCall", 1).await;
    client.answer(&call, "confirmToolCall", r#"{"approved": true, "input": "text"}"#).await;
    let error = find(&client.event("exchangeError", 1).await, "exchangeError").unwrap();
    assert_eq!(error.text("errorId"), Some("AGENT_RUNTIME_ERROR"));
}

#[tokio::test]
async fn the_client_ends_an_exchange_and_hears_no_more_of_it() {
    let script =
        r#"{"exchanges": [[{"calls": [{"id": "c1", "name": "read"}]}, {"text": "too late"}], [{"text": "next"}]]}"#;
    let (service, id, client) = asked(script, "go").await;
    let call = client.event("executingToolCall", 1).await;
    client.exchange(&id, "X1", object! { "endExchange" => object! {} }).await;
    client.answer(&call, "endToolCall", r#"{"output": {}}"#).await;
    service.reported(&id, "ended", 1).await;
    client.ask(&id, "X2", "go on").await;
    client.event("endExchange", 1).await;
    assert_eq!(client.text(), "next");
    let ended: Vec<_> =
        service.reports(&id, "ended").await.iter().map(|end| end.text("status").unwrap().to_owned()).collect();
    assert_eq!(ended, ["stopped", "successful"]);
}

#[tokio::test]
async fn the_next_exchange_waits_for_the_agent_of_the_one_before() {
    let script = r#"{"exchanges": [[{"hold": "first-exchange", "text": "one"}], [{"text": "two"}]]}"#;
    let (service, id, client) = asked(script, "go").await;
    client.ask(&id, "X2", "go on").await;
    while service.state(&id).await.count("waiting") != Some(1) {
        tokio::task::yield_now().await;
    }
    service.release("first-exchange").await;
    client.event("endExchange", 2).await;
    assert_eq!(client.text(), "onetwo");
}

#[tokio::test]
async fn an_agent_that_ends_without_a_word_is_reported_as_an_error() {
    let (_service, id, client) = asked(r#"{"steps": [{"text": "I will"}, {"crash": true}]}"#, "go").await;
    let error = client.event("exchangeError", 1).await;
    let expected = object! {
        "errorId" => "AGENT_RUNTIME_ERROR",
        "startError" => object! { "message" => "An unexpected error has occurred." },
    };
    assert_eq!(find(&error, "exchangeError"), Some(expected));
    assert_eq!(error.text("conversationId"), Some(id.as_str()));
}

#[tokio::test]
async fn a_script_says_anything_at_any_level() {
    let script = r#"{"steps": [
        {"session": {"labelUpdated": {"label": "New", "autogenerated": true}}},
        {"session": {"conversationError": {"errorId": "E1", "startError": {"message": "m"}}, "metaEvent": {"a": 1}}},
        {"session": {"conversationError": {"errorId": "E1", "endError": {}}}},
        {"meta": {"b": 2}},
        {"exchange": {"exchangeError": {"errorId": "E2", "startError": {"message": "m", "details": {"x": 1}}}}},
        {"event": {"messageId": "M", "startMessage": {"role": "assistant"}, "messageError": {"errorId": "E3", "startError": {"message": "m"}},
                   "toolCall": {"toolCallId": "never-started", "executingToolCall": {"input": {}}}, "endMessage": {}}},
        {"leave_open": true}]}"#;
    let (service, id, client) = asked(script, "go").await;
    service.reported(&id, "ended", 1).await;
    client.event("endMessage", 1).await;
    assert_eq!(
        story(&client.envelopes())[1..],
        [
            "labelUpdated",
            "conversationError+metaEvent",
            "conversationError",
            "metaEvent",
            "exchangeError",
            "startMessage+messageError+executingToolCall+endMessage"
        ]
    );
    // The label is one of the conversation, too.
    let facts = service.rest("GET", &format!("/conversation/{id}"), None).await.json();
    assert_eq!(facts.text("label"), Some("New"));
}

#[tokio::test]
async fn a_script_plays_odd_calls() {
    let script = r#"{"steps": [{"calls": [
        {"id": "a", "name": "twice", "then": [{"executingToolCall": {"input": {"n": 2}}}]},
        {"id": "b", "name": "foreign", "then": [{"waitMs": 5, "endToolCall": {"output": "no", "isError": true}}]},
        {"id": "c", "name": "unseen", "announce": false},
        {"id": "d", "name": "silent", "execute": false, "then": [{"toolCallError": {"errorId": "E", "startError": {"message": "m"}}}]},
        {"id": "e", "name": "blocked", "blockedAfterMs": 5, "result": {"output": "by a guardrail", "isError": true}},
        {"id": "f", "name": "server", "clientSide": false, "result": {"output": {"hits": 0}}},
        {"id": "g", "name": "hidden", "hideFlags": true, "confirm": true},
        {"id": "h", "name": "asked", "interrupt": true, "inputSchema": {"type": "object"}}
    ]}]}"#;
    let (service, id, client) = asked(script, "go").await;
    service.reported(&id, "waiting", 1).await;
    let of = |id: &str| -> Vec<String> {
        let envelopes = client.envelopes();
        let about = envelopes.iter().filter(|envelope| {
            let text = envelope.to_string();
            text.contains(&format!("\"toolCallId\":\"{id}\"")) || text.contains(&format!("\"interrupt-{id}\""))
        });
        about.flat_map(|envelope| story(std::slice::from_ref(envelope))).collect()
    };
    client.event("endToolCall", 3).await;
    assert_eq!(of("a"), ["startToolCall", "executingToolCall", "executingToolCall"]);
    assert_eq!(of("b"), ["startToolCall", "executingToolCall", "endToolCall"]);
    assert_eq!(of("c"), ["executingToolCall"]);
    assert_eq!(of("d"), ["startToolCall", "toolCallError"]);
    assert_eq!(of("e"), ["startToolCall", "executingToolCall", "endToolCall"]);
    assert_eq!(of("f"), ["startToolCall", "executingToolCall", "endToolCall"]);
    assert_eq!(of("g"), ["startToolCall", "executingToolCall"]);
    assert_eq!(of("h"), ["startToolCall", "startInterrupt"]);
    let hidden = find(&client.event("startToolCall", 6).await, "startToolCall").unwrap();
    let members: Vec<_> = hidden.as_object().unwrap().keys().collect();
    assert_eq!(members, ["toolName", "timestamp", "input"]);
    let waiting = service.reported(&id, "waiting", 1).await;
    assert_eq!(
        waiting.get("calls"),
        Some(&parse(r#"{"a":"end","c":"end","d":"end","g":"confirm","h":"confirm"}"#).unwrap())
    );
    for id_of_call in ["a", "c", "d"] {
        let call = object! { "toolCallId" => id_of_call, "endToolCall" => object! { "output" => object! {} } };
        client.exchange(&id, "X1", object! { "message" => object! { "messageId" => "m", "toolCall" => call } }).await;
    }
    let call = object! { "toolCallId" => "g", "confirmToolCall" => object! { "approved" => false } };
    client.exchange(&id, "X1", object! { "message" => object! { "messageId" => "m", "toolCall" => call } }).await;
    let answer = object! { "interruptId" => "interrupt-h", "endInterrupt" => object! { "approved" => true } };
    client.exchange(&id, "X1", object! { "message" => object! { "messageId" => "m", "interrupt" => answer } }).await;
    let executing = client.event("executingToolCall", 8).await;
    client.answer(&executing, "endToolCall", r#"{"output": {}}"#).await;
    client.event("endExchange", 1).await;
}

#[tokio::test]
async fn a_text_may_come_in_pieces_with_citations_which_the_history_counts() {
    let script = r#"{"steps": [{"text": "abcde", "chunk_chars": 2}, {"text": ["The ", {"data": "é", "citation": {"citationId": "q",
        "startCitation": {}}}, {"data": "late", "citation": {"citationId": "q", "endCitation": {"sources": [{"title": "Q3", "number": 1,
        "url": "https://example.test"}]}}}, "."]}]}"#;
    let (service, id, client) = asked(script, "go").await;
    client.event("endExchange", 1).await;
    assert_eq!(story(&client.envelopes())[1..5], ["startMessage+startContentPart", "chunk", "chunk", "chunk"]);
    let page = service.rest("GET", &format!("/conversation/{id}/exchange"), None).await.json();
    let messages =
        page.get("data").unwrap().as_array().unwrap()[0].get("messages").unwrap().as_array().unwrap().to_vec();
    let part = &messages[2].get("contentParts").unwrap().as_array().unwrap()[0];
    assert_eq!(part.get("data"), Some(&object! { "inline" => "The élate." }));
    let citation = &part.get("citations").unwrap().as_array().unwrap()[0];
    assert_eq!((citation.count("offset"), citation.count("length")), (Some(4), Some(5)));
    assert_eq!(citation.get("sources").unwrap().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_asked_chooses_the_steps() {
    let script = r#"{"steps": [{"text": "else "}, {"asked": "Board", "text": "board "}, {"repeat": 2, "text": "{i} "}, {"asked": "task", "text": "task "}]}"#;
    let (_service, id, client) = asked(script, "what is on the board?").await;
    client.event("endExchange", 1).await;
    client.ask(&id, "X2", "add a task").await;
    client.event("endExchange", 2).await;
    client.ask(&id, "X3", "hello").await;
    client.event("endExchange", 3).await;
    assert_eq!(client.text(), "board 0 1 task else ");
}

#[tokio::test]
async fn the_script_is_the_one_of_the_label_the_agent_or_the_default() {
    let service = Service::start().await;
    for name in ["default", "7", "demo", "special"] {
        service.control("PUT", &format!("/scripts/{name}"), &format!(r#"[{{"text": "{name} "}}]"#)).await;
    }
    service.control("DELETE", "/scripts/7", "").await;
    let mut said = String::new();
    for more in [r#""label": "x""#, r#""label": "demo""#, r#""agentInput": {"inline": {"script": "special"}}"#] {
        let body = parse(&format!(r#"{{"agentReleaseId": 7, "folderId": 11, {more}}}"#)).unwrap();
        let id =
            service.rest("POST", "/conversation", Some(body)).await.json().text("conversationId").unwrap().to_owned();
        let client = service.session(&id).await;
        client.ask(&id, "X1", "go").await;
        client.event("endExchange", 1).await;
        said += &client.text();
    }
    assert_eq!(said, "default demo special ");
}

#[tokio::test]
async fn a_misspelt_script_is_refused() {
    let service = Service::start().await;
    for (body, complaint) in [
        (r#"[{"txt": "a"}]"#, "unknown member 'txt'"),
        (r#"[{"calls": [{"name": "a", "inputs": {}}]}]"#, "unknown member 'inputs'"),
        (r#"[{"calls": [{"input": {}}]}]"#, "needs a name"),
        (r#"{"runtime": "fast", "steps": [{"hold": "h"}]}"#, "has no 'hold'"),
        (r#"{"runtime": "slow"}"#, "no runtime 'slow'"),
        ("{}", "needs 'steps'"),
    ] {
        let answer = service.send("PUT", "/mock/uipath/scripts/bad", &[], Some(body.to_owned())).await.unwrap();
        assert_eq!(answer.status, 400);
        assert!(answer.text.contains(complaint), "{}", answer.text);
    }
}
