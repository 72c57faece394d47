//! Tools that come, change and go while an agent of UiPath's is at work.

use pagehand::call::{Limits, Settled};
use pagehand::conversation::{Command, Settings as Resumption, Topic};
use pagehand::tool::{HandlerId, Tool, ToolName};
use serde_json::{Value, json};

use super::house::{about_calls, begin, create, down, end, of_call, opened, sent, server, up, with};
use crate::stage::{Stage, resumption, tool, tool_with};

const TITLE: &str = r#"{"type":"object","properties":{"title":{"type":"string"}}}"#;
const NUMBER: &str = r#"{"type":"object","properties":{"title":{"type":"number"}}}"#;
const ANY: &str = r#"{"type":"object"}"#;

fn ready(tools: Vec<Tool>) -> Stage {
    opened(with(create(), tools, resumption()))
}

/// The agent wants a call and lets it through.
fn call(stage: &mut Stage, x: &str, id: &str, tool: &str, input: &Value) {
    let start = json!({ "toolName": tool, "input": input, "isClientSideTool": true });
    server(stage, &of_call(x, id, "startToolCall", start));
    server(stage, &of_call(x, id, "executingToolCall", json!({ "input": input })));
}

/// The tools that the next message declares.
fn next_declares(stage: &mut Stage) -> (String, Value) {
    sent(stage);
    stage.send("hi");
    let first = sent(stage)[0]["exchange"].clone();
    (first["exchangeId"].as_str().unwrap().to_owned(), first["startExchange"]["clientSideTools"].clone())
}

fn outcome(stage: &Stage, x: &str, id: &str) -> Value {
    stage.outcome(&format!("{x}/{id}"))
}

/// What the agent is told about a call.
fn told(stage: &mut Stage) -> String {
    about_calls(&sent(stage), "endToolCall")[0]["output"]["error"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn case_35_the_next_call_of_a_turn_gets_the_new_handler() {
    let mut stage = ready(vec![tool("create task", TITLE)]);
    stage.returns = None;
    let x = begin(&mut stage);
    call(&mut stage, &x, "a", "create_task", &json!({}));
    stage.command(Command::Declare(tool("create task", TITLE)));
    call(&mut stage, &x, "b", "create_task", &json!({}));
    assert_eq!(stage.runs.iter().map(|run| run.handler).collect::<Vec<_>>(), [HandlerId(0), HandlerId(1)]);
}

#[test]
fn another_schema_counts_from_the_next_turn_on() {
    let mut stage = ready(vec![tool("create task", TITLE)]);
    let x = begin(&mut stage);
    let changed = stage.command(Command::Declare(tool("create task", NUMBER)));
    assert!(stage.settled[&changed].is_ok());
    call(&mut stage, &x, "old", "create_task", &json!({ "title": "t" }));
    assert_eq!((stage.runs[0].handler, &outcome(&stage, &x, "old")["kind"]), (HandlerId(0), &json!("ok")));
    server(&mut stage, &end(&x));
    assert_eq!(stage.forgotten, [HandlerId(0)]);
    let (y, tools) = next_declares(&mut stage);
    assert_eq!(tools[0]["inputSchema"], serde_json::from_str::<Value>(NUMBER).unwrap());
    call(&mut stage, &y, "unfit", "create_task", &json!({ "title": "t" }));
    call(&mut stage, &y, "fit", "create_task", &json!({ "title": 7 }));
    assert_eq!(outcome(&stage, &y, "unfit")["kind"], "invalid_arguments");
    assert_eq!(stage.runs[1].handler, HandlerId(1));
    server(&mut stage, &end(&y));
    // Between turns at once.
    stage.command(Command::Declare(tool("create task", ANY)));
    let (_, tools) = next_declares(&mut stage);
    assert_eq!(tools[0]["inputSchema"], json!({ "type": "object" }));
}

#[test]
fn a_tool_that_is_taken_back_is_not_declared_any_more_and_its_calls_are_answered() {
    let mut stage = ready(vec![tool("create task", TITLE), tool("read", ANY)]);
    stage.returns = None;
    let x = begin(&mut stage);
    call(&mut stage, &x, "before", "create_task", &json!({}));
    stage.command(Command::Undeclare(ToolName::received("create task")));
    call(&mut stage, &x, "after", "create_task", &json!({}));
    assert_eq!(outcome(&stage, &x, "after")["kind"], "missing_handler");
    assert!(told(&mut stage).contains("No handler is registered for client-side tool 'create task'"));
    stage.settle_run(Settled::Returned(r#"{"id":1}"#.into()));
    assert_eq!(about_calls(&sent(&mut stage), "endToolCall"), [json!({ "output": { "id": 1 } })]);
    server(&mut stage, &end(&x));
    let (_, tools) = next_declares(&mut stage);
    assert_eq!(tools, json!([{ "name": "read", "inputSchema": { "type": "object" } }]));
    let unknown = stage.command(Command::Undeclare(ToolName::received("create task")));
    assert_eq!(stage.error(unknown), "unknown_tool");
}

#[test]
fn case_10_a_declared_tool_without_a_handler_is_answered_at_once() {
    let mut stage = ready(vec![tool_with("mute", ANY, r#""hasHandler":false"#)]);
    let (x, tools) = next_declares(&mut stage);
    assert_eq!(tools, json!([]), "it is not offered");
    call(&mut stage, &x, "a", "mute", &json!({}));
    assert!(told(&mut stage).contains("'mute'"));
}

#[test]
fn case_25_no_arguments_are_an_empty_object_and_the_repair_is_told() {
    for (id, input) in [("a", json!("")), ("b", json!(" \n")), ("c", Value::Null)] {
        let mut stage = ready(vec![tool("read", ANY), tool("shaped", TITLE)]);
        let x = begin(&mut stage);
        for name in ["read", "shaped"] {
            call(&mut stage, &x, &format!("{id}{name}"), name, &input);
            assert_eq!(stage.runs.pop().unwrap().arguments, json!({}), "{input}");
        }
        let edits = stage.topic(Topic::Call).into_iter().filter_map(|step| step.get("edits"));
        let repair = json!([{ "path": "", "from": input, "to": {} }]);
        assert_eq!(edits.filter(|edits| **edits == repair).count(), if input.is_null() { 0 } else { 2 }, "{input}");
    }
    let mut stage = ready(vec![tool("read", ANY), tool("asks", r#"{"type":"object","required":["title"]}"#)]);
    let x = begin(&mut stage);
    call(&mut stage, &x, "missing", "asks", &json!(""));
    assert_eq!(outcome(&stage, &x, "missing")["issues"][0]["keyword"], "required");
    for (id, other) in [("list", json!([1])), ("text", json!("{\"title\":\"t\"}")), ("number", json!(7))] {
        call(&mut stage, &x, id, "read", &other);
        assert_eq!(outcome(&stage, &x, id)["issues"][0]["expected"], "object", "{other}");
    }
    assert!(stage.runs.is_empty());
}

#[test]
fn case_30_every_turn_declares_the_same_tools_also_after_a_reconnection() {
    let mut stage = ready(vec![tool("create task", TITLE), tool("read", ANY)]);
    let (x, first) = next_declares(&mut stage);
    server(&mut stage, &end(&x));
    down(&mut stage);
    up(&mut stage);
    if stage.requests.iter().any(|(_, request)| request.url.contains("exchangeSort")) {
        stage.answer("exchangeSort", 200, r#"{"data":[]}"#);
    }
    let (_, second) = next_declares(&mut stage);
    assert_eq!(first, second);
    assert_eq!(first.as_array().unwrap().len(), 2);
    assert!(stage.topic(Topic::Tools).iter().all(|told| told["ready"] == json!(["create task", "read"])));
}

#[test]
fn a_version_is_not_for_servers_that_bind_no_names() {
    let mut stage = ready(vec![tool_with("read", TITLE, r#""hasHandler":true,"versioned":true"#)]);
    let (x, tools) = next_declares(&mut stage);
    assert_eq!(tools[0]["name"], "read");
    call(&mut stage, &x, "a", "read", &json!({}));
    assert_eq!(stage.runs[0].tool, "read");
}

#[test]
fn what_is_too_large_is_told_to_the_agent_in_words() {
    let limits = Limits { argument_bytes: 30, result_bytes: 30, pending_calls: 1, ..Limits::default() };
    let mut stage = opened(with(create(), vec![tool("read", ANY)], Resumption { limits, ..resumption() }));
    let x = begin(&mut stage);
    call(&mut stage, &x, "large", "read", &json!({ "a": "x".repeat(30) }));
    assert_eq!(
        told(&mut stage),
        "The tool failed: arguments_too_large: the arguments have 38 bytes, and the limit is 30"
    );
    stage.returns = Some(Settled::Returned(format!("{:?}", "x".repeat(30))));
    call(&mut stage, &x, "result", "read", &json!({}));
    assert_eq!(told(&mut stage), "The tool failed: result_too_large: the result has 32 bytes, and the limit is 30");
    stage.returns = None;
    call(&mut stage, &x, "one", "read", &json!({}));
    call(&mut stage, &x, "two", "read", &json!({}));
    assert_eq!(told(&mut stage), "The tool failed: too_many_calls: there are 2 calls on their way, and the limit is 1");
}
