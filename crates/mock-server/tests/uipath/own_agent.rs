//! The agent of our own beside the recordings of UiPath's: the same events, the same members, in the same order.

use pagehand_mock_server::json::{Json, parse};
use pagehand_mock_server::object;

use crate::bench::{Service, find, names};
use crate::recording::{EXCHANGES, Frame, comparable, events, lines, with_text};

/// Not of the full agent: the fast peer, which `runtime.rs` compares; and a run that only fails.
const OTHERS: [&str; 2] = ["min-runtime", "exchange-error"];

fn member<'a>(value: &'a Json, path: &[&str]) -> Option<&'a Json> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

fn call_id(envelope: &Json) -> Option<&str> {
    member(envelope, &["exchange", "message", "toolCall", "toolCallId"]).and_then(Json::as_str)
}

/// The script that has the agent say what was recorded.
fn script_of(frames: &[Frame]) -> Json {
    let said: Vec<&Frame> = frames.iter().filter(|frame| !frame.from_peer && !frame.is_of_service()).collect();
    let id = |frame: &Frame| member(&frame.envelope, &["exchange", "message", "messageId"]).cloned();
    let mut messages: Vec<Json> = Vec::new();
    for frame in &said {
        if let Some(id) = id(frame).filter(|id| !messages.contains(id)) {
            messages.push(id);
        }
    }
    let steps = messages.iter().map(|message| {
        let of_message: Vec<&&Frame> = said.iter().filter(|frame| id(frame).as_ref() == Some(message)).collect();
        let starts =
            of_message.iter().filter_map(|frame| find(&frame.envelope, "startToolCall").map(|start| (frame, start)));
        let calls: Vec<Json> =
            starts.map(|(frame, start)| call_of(call_id(&frame.envelope).unwrap(), &start, frames)).collect();
        if calls.is_empty() && messages.len() > 1 {
            return object! { "text" => vec![Json::from("Seen tool results: "), "{results}".into(), " ".into()] };
        }
        let chunks = of_message.iter().filter_map(|frame| find(&frame.envelope, "chunk"));
        let text: Vec<Json> = chunks.map(|chunk| chunk.get("data").unwrap().clone()).collect();
        object! { "text" => text, "calls" => calls }
    });
    object! { "steps" => steps.collect::<Vec<_>>() }
}

fn call_of(id: &str, start: &Json, frames: &[Frame]) -> Json {
    let hidden = start.get("isClientSideTool").is_none();
    let create = start.text("toolName") == Some("create_task");
    let mut call = object! {
        "id" => id, "name" => start.get("toolName").cloned(), "input" => start.get("input").cloned(),
        "hideFlags" => hidden, "confirm" => create,
    };
    for name in ["inputSchema", "outputSchema"] {
        if let Some(schema) = start.get(name) {
            call.set(name, schema.clone());
        }
    }
    if create && !hidden {
        call.set("requiredInput", vec![Json::from("title")]);
    }
    let about = |frame: &&Frame| call_id(&frame.envelope) == Some(id);
    let answered = frames.iter().filter(about).any(Frame::is_answer);
    let mut said = frames.iter().filter(about).filter(|frame| !frame.from_peer);
    let ended = said.find_map(|frame| find(&frame.envelope, "endToolCall"));
    if let (false, Some(ended)) = (answered, ended) {
        let result = object! { "output" => ended.get("output").cloned(), "isError" => ended.get("isError").cloned() };
        call.set("blockedAfterMs", 0u64);
        call.set("result", result);
    }
    call
}

/// The text of an error is Python's own.
fn without_error_texts(envelopes: Vec<Json>) -> Vec<Json> {
    let mut failed = false;
    let forgiving = envelopes.into_iter().map(|envelope| {
        let end = find(&envelope, "endToolCall");
        if end.is_some_and(|end| end.flag("isError") == Some(true)) {
            failed = true;
            return replace_output(&envelope);
        }
        let quotes = names(&envelope) == ["chunk"]
            && find(&envelope, "chunk").unwrap().text("data").unwrap().starts_with("Seen tool results: ");
        if failed && quotes { with_text(envelope, "an error") } else { envelope }
    });
    forgiving.collect()
}

/// The end of a call with some text, and its members in an order of its own: UiPath's models decide on it.
fn replace_output(value: &Json) -> Json {
    let Some(object) = value.as_object() else { return value.clone() };
    let members = object.iter().map(|(name, value)| {
        let value =
            if name == "output" && value.as_str().is_some() { "an error".into() } else { replace_output(value) };
        (name.to_owned(), value)
    });
    Json::Object(members.collect())
}

async fn compare(file: &str, scenario: &str) {
    let service = Service::start().await;
    let id = service.conversation(r#"{"steps": []}"#).await;
    let recorded = events(&lines(file, scenario), "client", &id);
    // Of two answers the last counts only if the agent has not taken the first one.
    let twice = scenario == "duplicate-end";
    let mut script = script_of(&recorded).to_string();
    if twice {
        script = script.replacen("\"hideFlags\"", "\"then\":[{\"hold\":\"two-answers\"}],\"hideFlags\"", 1);
    }
    service.control("PUT", &format!("/conversations/{id}/script"), &script).await;
    let client = service.session(&id).await;
    let mut awaited = Vec::new();
    for frame in recorded.iter().filter(|frame| find(&frame.envelope, "startSession").is_none()) {
        if frame.from_peer {
            client.send_raw(&frame.raw).await;
            continue;
        }
        while twice && find(&frame.envelope, "endMessage").is_some() && awaited.iter().all(|name| name != "endMessage")
        {
            if service.state(&id).await.get("answers").unwrap().as_array().unwrap().len() == 2 {
                service.release("two-answers").await;
                break;
            }
        }
        if frame.is_of_service() {
            continue;
        }
        for name in names(&frame.envelope).into_iter().filter(|name| name != "chunk") {
            awaited.push(name.clone());
            client.event(&name, awaited.iter().filter(|known| **known == name).count()).await;
        }
    }
    let of_agent = |envelope: &Json| envelope.get("exchange").is_some();
    let received: Vec<Json> = client.envelopes().into_iter().filter(of_agent).collect();
    let of_server = recorded.iter().filter(|frame| !frame.from_peer).map(|frame| frame.envelope.clone());
    let expected: Vec<Json> = of_server.filter(of_agent).collect();
    let plain = |envelopes: &[Json]| without_error_texts(comparable(envelopes));
    let (received, expected) = (plain(&received), plain(&expected));
    for (at, (received, expected)) in received.iter().zip(&expected).enumerate() {
        assert!(received.same_value(expected), "{file} {scenario} {at}:\n{received}\n{expected}");
    }
    assert_eq!(received.len(), expected.len(), "{file} {scenario}");
}

#[tokio::test]
async fn the_scripted_agent_says_what_uipaths_agent_said() {
    for (file, scenario) in EXCHANGES.into_iter().filter(|(file, _)| !OTHERS.contains(file)) {
        compare(file, scenario).await;
    }
}

#[tokio::test]
async fn a_failing_agent_says_what_uipaths_said() {
    let service = Service::start().await;
    let id = service.conversation(r#"{"steps": [{"fail": {"code": "AGENT.FAILED"}}]}"#).await;
    let recorded = events(&lines("exchange-error", "model-failure"), "client", &id);
    let client = service.session(&id).await;
    for frame in recorded.iter().filter(|frame| frame.from_peer) {
        client.send_raw(&frame.raw).await;
    }
    let expected = recorded.iter().find(|frame| !frame.from_peer).unwrap();
    assert_eq!(client.event("exchangeError", 1).await, expected.envelope);
    service.reported(&id, "ended", 1).await;
    assert!(client.envelopes().iter().all(|envelope| find(envelope, "endExchange").is_none()));
}

#[tokio::test]
async fn the_scripted_agent_says_what_uipaths_fast_peer_said() {
    let service = Service::start().await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/servers/uipath/scripts/parallel.json");
    let id = service.conversation(&std::fs::read_to_string(script).unwrap()).await;
    let recorded = events(&lines("min-runtime", "min-runtime-parallel"), "client", &id);
    let client = service.session(&id).await;
    for frame in recorded.iter().filter(|frame| frame.from_peer).skip(1) {
        if frame.is_answer() {
            let kind =
                if find(&frame.envelope, "confirmToolCall").is_some() { "startToolCall" } else { "executingToolCall" };
            let call = call_id(&frame.envelope).unwrap().to_owned();
            loop {
                let envelopes = client.envelopes();
                if envelopes.iter().any(|known| call_id(known) == Some(&call) && find(known, kind).is_some()) {
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
        }
        client.send_raw(&frame.raw).await;
    }
    client.event("endExchange", 1).await;
    let expected: Vec<Json> =
        recorded.iter().filter(|frame| !frame.from_peer).map(|frame| frame.envelope.clone()).collect();
    // To the last byte, the texts with what came back included: only times differ.
    assert_eq!(comparable(&client.envelopes()), comparable(&expected));
    assert_eq!(parse(&client.text()).unwrap().get("call-c").unwrap().as_array().unwrap().len(), 2);
}
