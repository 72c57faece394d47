//! Arguments that an LLM may write, and what the real server made of them: all of `c-invalid-args` and `j-schemas`.
//!
//! | left out | why |
//! |---|---|
//! | j_lone_surrogate | Rust strings cannot hold one |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{Bench, recording};
use pagehand_mock_server::json::{Json, parse};
use pagehand_mock_server::object;

const LEFT_OUT: [&str; 1] = ["j_lone_surrogate"];

/// The parts of an action and of its error that depend on the arguments.
fn essence(events: &[Json]) -> Vec<Json> {
    let actions = events.iter().filter(|event| {
        matches!(event.text("kind"), Some("ActionEvent" | "AgentErrorEvent"))
            && event.text("tool_name") != Some("finish")
    });
    actions
        .map(|event| {
            object! {
                "kind" => event.text("kind"),
                "tool_name" => event.text("tool_name"),
                "action" => event.get("action").cloned(),
                "arguments" => event.get("tool_call").and_then(|call| call.text("arguments")),
                "summary" => event.text("summary"),
                "error" => event.text("error"),
            }
        })
        .collect()
}

struct Recorded {
    name: String,
    script: Option<Json>,
    tools: Option<Json>,
    events: Vec<Json>,
    /// `GET events/{id}` of the action.
    single: Option<Json>,
}

fn cases(file: &str) -> Vec<Recorded> {
    let mut cases: Vec<Recorded> = Vec::new();
    for line in recording(file) {
        let name = line.text("case").unwrap();
        if cases.last().is_none_or(|last| last.name != name) {
            // Later cases of a file leave out a request that is like the first.
            let tools = cases.first().and_then(|first| first.tools.clone());
            let name = name.to_owned();
            cases.push(Recorded { name, script: None, tools, events: Vec::new(), single: None });
        }
        let case = cases.last_mut().unwrap();
        if let Some(script) = line.get("script") {
            case.script = Some(script.clone());
        }
        let body = line.text("body").and_then(|body| parse(body).ok()).unwrap_or_default();
        if let (Some(tools), Some("request")) = (body.get("client_tools"), line.text("dir")) {
            case.tools = Some(tools.clone());
        }
        if body.text("kind") == Some("ActionEvent") {
            case.single = Some(body);
        }
        if let (Some(raw), Some("recv")) = (line.text("raw"), line.text("dir")) {
            case.events.extend(parse(raw).ok());
        }
    }
    cases
}

async fn play(bench: &Bench, case: &Recorded) {
    let Some(script) = &case.script else { return };
    bench.script(&case.name, &script.to_string()).await;
    let more = object! { "client_tools" => case.tools.clone() };
    let id = bench.conversation_with(&case.name, &more.to_string()).await;
    let socket = bench.legacy(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    let frames = socket.until("full_state", 2).await;
    let (recorded, mock) = (essence(&case.events), essence(&frames));
    assert_eq!(recorded, mock, "{}", case.name);
    if let Some(single) = &case.single {
        let action = frames.iter().find(|event| event.text("kind") == Some("ActionEvent")).unwrap();
        let path = format!("/api/conversations/{id}/events/{}", action.text("id").unwrap());
        let got = bench.get(&path).await;
        let keys = |event: &Json| event.as_object().unwrap().keys().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(keys(single), keys(&got), "{}", case.name);
        assert_eq!(single.get("action"), got.get("action"), "{}", case.name);
    }
    socket.close().await;
}

async fn play_all(file: &str, at_least: usize) {
    let bench = Bench::start().await;
    let cases = cases(file);
    assert!(cases.len() >= at_least, "{} cases", cases.len());
    for case in cases.iter().filter(|case| !LEFT_OUT.contains(&case.name.as_str())) {
        play(&bench, case).await;
    }
}

#[tokio::test]
async fn argument_sets_are_coerced_repaired_or_rejected_as_recorded() {
    play_all("c-invalid-args", 20).await;
}

#[tokio::test]
async fn schema_shapes_give_the_actions_and_errors_of_the_recording() {
    play_all("j-schemas", 55).await;
}
