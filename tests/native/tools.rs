//! Tools that come, change and go while calls run, names with a version, and what is too much.

use pagehand::call::{Limits, Settled};
use pagehand::conversation::{Command, Settings as Resumption, Topic};
use pagehand::error::Error;
use pagehand::protocol::openhands::Opening;
use pagehand::tool::{HandlerId, Tool, ToolName};
use serde_json::{Value, json};

use crate::stage::{ID, Stage, ack, action, full_state, resumption, status, tool, tool_with};

const ANY: &str = r#"{"type":"object"}"#;
const LEVEL: &str = r#"{"type":"object","properties":{"level":{"enum":["info","warn"]}}}"#;
const VERSIONED: &str = r#""hasHandler":true,"versioned":true"#;

/// Announces a call and lets it through.
fn call(stage: &mut Stage, id: &str, tool: &str, seq: i64) {
    call_with(stage, id, tool, "{}", seq);
}

fn call_with(stage: &mut Stage, id: &str, tool: &str, arguments: &str, seq: i64) {
    stage.durable(seq, &action(id, tool, arguments));
    stage.durable(seq + 1, &ack(id));
}

fn undeclare(stage: &mut Stage, name: &str) -> u32 {
    stage.command(Command::Undeclare(ToolName::received(name)))
}

fn limited(set: impl FnOnce(&mut Limits), tools: Vec<Tool>) -> Stage {
    let mut limits = Limits::default();
    set(&mut limits);
    Stage::ready_within(limits, tools)
}

/// The reason of a call's last step.
fn reason(stage: &Stage, call: &str) -> String {
    let steps = stage.topic(Topic::Call);
    let last = steps.into_iter().rfind(|step| step["callId"] == call).unwrap();
    last["reason"].as_str().unwrap().to_owned()
}

/// The tools of the create request, by their names.
fn declared_to_the_server(stage: &Stage) -> Vec<String> {
    let (_, request) = stage.requests.iter().find(|(_, request)| request.body.is_some()).unwrap();
    let body: Value = serde_json::from_str(request.body.as_ref().unwrap()).unwrap();
    let tools = body["client_tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn opening(tools: Vec<Tool>) -> Stage {
    let mut stage = Stage::new(tools);
    stage.command(Command::Open);
    stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
    stage
}

#[test]
fn case_35_the_next_call_gets_the_new_handler_and_one_in_flight_keeps_the_old_one() {
    let mut stage = Stage::ready(vec![tool("t", LEVEL)]);
    stage.returns = None;
    stage.engine_is_slow = true;
    call(&mut stage, "checked", "t", 0);
    // The old handler's time holds for its call, too.
    let anew = stage.command(Command::Declare(tool_with("t", LEVEL, r#""hasHandler":true,"timeout":5"#)));
    assert_eq!(stage.declared, [(anew, HandlerId(1))]);
    call(&mut stage, "next", "t", 2);
    stage.engine_is_slow = false;
    for _ in 0..2 {
        stage.engine_answers();
    }
    let started: Vec<_> = stage.runs.iter().map(|run| (run.call.as_str(), run.handler)).collect();
    assert_eq!(started, [("checked", HandlerId(0)), ("next", HandlerId(1))]);
    assert_eq!(stage.forgotten, [], "the call may still need it");
    stage.settle_run(Settled::Returned("1".into()));
    assert_eq!(stage.forgotten, [HandlerId(0)]);
    assert!(stage.wait());
    assert_eq!(stage.outcome("checked")["kind"], "ok");
    while stage.outcome("next").is_null() {
        assert!(stage.wait());
    }
    assert_eq!(stage.outcome("next"), json!({ "kind": "timed_out", "timeout": 5 }));
}

#[test]
fn a_refused_declaration_has_no_handler_and_offers_a_name() {
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    let refused = stage.command(Command::Declare(tool("t", LEVEL)));
    let error = stage.settled[&refused].clone().unwrap_err();
    let details: Value = serde_json::from_str(&pagehand::json::text(&error)).unwrap();
    let suggestion = details["suggestion"].as_str().unwrap();
    assert_eq!((error.code(), &details["place"]), ("tool_conflict", &json!("here")));
    assert_eq!(suggestion, tool_with("t", LEVEL, VERSIONED).wire.as_str());
    assert!(error.to_string().contains(suggestion), "{error}");
    assert!(stage.declared.is_empty() && stage.forgotten.is_empty());
    call(&mut stage, "a", "t", 0);
    assert_eq!(stage.runs[0].handler, HandlerId(0));
}

#[test]
fn the_servers_conflict_offers_a_name_too() {
    let mut stage = opening(vec![tool("t", LEVEL)]);
    let detail = r#"{"detail":"Client tool 't' is already registered with a different parameters schema"}"#;
    stage.answer("/api/conversations", 422, detail);
    let details = &stage.topic(Topic::Error)[0]["details"];
    let name = tool_with("t", LEVEL, VERSIONED).wire.to_string();
    assert_eq!(*details, json!({ "tool": "t", "place": "server", "suggestion": name }));
}

#[test]
fn a_tool_that_is_taken_back_has_no_handler_for_later_calls_and_the_running_one_goes_on() {
    let mut stage = Stage::ready(vec![tool("t", ANY), tool("u", ANY)]);
    stage.returns = None;
    call(&mut stage, "before", "t", 0);
    let gone = undeclare(&mut stage, "t");
    assert_eq!(stage.settled[&gone], Ok(Value::Null));
    assert_eq!(stage.topic(Topic::Tools).last().unwrap()["unknownToServer"], json!(["u"]));
    call(&mut stage, "after", "t", 2);
    assert_eq!(stage.outcome("after"), json!({ "kind": "missing_handler", "tool": "t", "registered": ["u"] }));
    assert_eq!(stage.forgotten, []);
    stage.settle_run(Settled::Returned("1".into()));
    assert_eq!(stage.outcome("before"), json!({ "kind": "ok", "result": 1 }));
    assert_eq!(stage.forgotten, [HandlerId(0)]);
    for name in ["t", "never"] {
        let unknown = undeclare(&mut stage, name);
        assert_eq!(stage.settled[&unknown], Err(Error::UnknownTool { tool: name.into() }));
    }
    // What is declared again may have another schema: nothing here knows the old one.
    stage.command(Command::Declare(tool("t", LEVEL)));
    call(&mut stage, "again", "t", 4);
    assert_eq!(stage.runs.last().unwrap().handler, HandlerId(2));
}

#[test]
fn a_name_with_a_version_is_the_servers_and_the_plain_one_the_apps() {
    let versioned = tool_with("t", LEVEL, VERSIONED);
    let wire = versioned.wire.to_string();
    let mut stage = opening(vec![versioned, tool("u", ANY)]);
    assert_eq!(declared_to_the_server(&stage), [wire.clone(), "u".into()]);
    let known = format!(r#"[{{"name":"{wire}","parameters":{LEVEL}}},{{"name":"t_000000","parameters":{ANY}}}]"#);
    let info = format!(r#"{{"id":"{ID}","execution_status":"idle","client_tools":{known}}}"#);
    stage.answer("/api/conversations", 201, &info);
    stage.connect();
    stage.frame(r#"{"type":"sync","from_seq":-1}"#);
    let drift =
        json!({ "ready": ["t"], "missingHandlers": ["t_000000"], "unknownToServer": ["u"], "differentSchema": [] });
    assert_eq!(*stage.topic(Topic::Tools)[0], drift);
    call_with(&mut stage, "a", &wire, r#"{"level":"info"}"#, 0);
    assert_eq!((stage.runs[0].tool.as_str(), stage.topic(Topic::Call)[0]["tool"].as_str()), ("t", Some("t")));
    // The server knows this one with another schema, and has never heard of that.
    for (id, name, seq) in [("old", "t_000000", 2), ("older", "t_ffffff", 4), ("plain", "t", 6)] {
        call(&mut stage, id, name, seq);
        assert_eq!(stage.outcome(id)["kind"], "missing_handler");
        assert!(reason(&stage, id).contains("another version"), "{}", reason(&stage, id));
    }
    call(&mut stage, "other", "v_000000", 8);
    assert_eq!(reason(&stage, "other"), "no handler has this name");
    let other_schema = stage.command(Command::Declare(tool_with("t", ANY, VERSIONED)));
    assert_eq!(stage.error(other_schema), "tool_conflict");
}

#[test]
fn a_conversation_that_was_made_before_tools_had_versions_goes_on_where_the_schema_is_the_same() {
    for (schema, kind) in [(LEVEL, "ok"), (ANY, "missing_handler")] {
        let mut stage = Stage::with(Opening::Attach { id: ID.into() }, vec![tool_with("t", LEVEL, VERSIONED)]);
        stage.command(Command::Open);
        stage.open("1.58.2", 200, &format!(r#"[{{"name":"t","parameters":{schema}}}]"#));
        stage.frame(r#"{"type":"sync"}"#);
        stage.joined("[]");
        call(&mut stage, "a", "t", 0);
        assert_eq!(stage.outcome("a")["kind"], kind);
    }
}

#[test]
fn the_agent_is_told_results_under_the_name_that_it_knows() {
    let versioned = tool_with("t", ANY, VERSIONED);
    let wire = versioned.wire.to_string();
    let mut stage = Stage::ready_with_results(vec![versioned]);
    stage.durable(0, &status("s", "running"));
    call(&mut stage, "a", &wire, 1);
    stage.durable(3, &full_state("f", "finished"));
    let (_, message) = stage.take("/events").unwrap();
    assert!(message.body.unwrap().contains(&format!("{wire} a: ")));
}

#[test]
fn case_29_after_a_restart_of_the_server_the_declared_set_is_the_same() {
    let known = format!(r#"[{{"name":"t","parameters":{ANY}}},{{"name":"gone","parameters":{ANY}}}]"#);
    let mut stage = Stage::new(vec![tool("t", ANY), tool("mine", ANY)]);
    stage.command(Command::Open);
    stage.open("1.58.2", 200, &known);
    stage.frame(r#"{"type":"sync"}"#);
    stage.joined("[]");
    let before = stage.topic(Topic::Tools)[0].clone();
    stage.lose_socket(1012);
    stage.reconnect();
    stage.frame(r#"{"type":"sync"}"#);
    for (id, name, kind, seq) in [("a", "t", "ok", 0), ("b", "gone", "missing_handler", 2)] {
        call(&mut stage, id, name, seq);
        assert_eq!(stage.outcome(id)["kind"], kind);
    }
    stage.command(Command::Declare(tool("t", ANY)));
    assert_eq!(**stage.topic(Topic::Tools).last().unwrap(), before);
}

#[test]
fn case_30_each_way_of_opening_has_the_same_tools() {
    let known = ["a", "b"].map(|name| format!(r#"{{"name":"{name}","parameters":{LEVEL}}}"#)).join(",");
    let tools = || vec![tool("a", LEVEL), tool("b", LEVEL)];
    let mut told = Vec::new();
    for opening in [
        Opening::Create { id: ID.into(), request: r#"{"workspace":"/"}"#.into() },
        Opening::Attach { id: ID.into() },
        Opening::Feed { id: ID.into() },
    ] {
        let feeds = matches!(opening, Opening::Feed { .. });
        let mut stage = Stage::with(opening, tools());
        let open = stage.command(Command::Open);
        stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
        let info = format!(r#"{{"id":"{ID}","execution_status":"idle","client_tools":[{known}]}}"#);
        stage.answer("/api/conversations", 200, &info);
        if !feeds {
            stage.connect();
            stage.frame(r#"{"type":"sync"}"#);
            stage.joined("[]");
        }
        told.push(stage.settled[&open].as_ref().unwrap()["tools"].clone());
        told.push(stage.topic(Topic::Tools)[0].clone());
    }
    let all = json!({ "ready": ["a", "b"], "missingHandlers": [], "unknownToServer": [], "differentSchema": [] });
    assert!(told.iter().all(|tools| *tools == all), "{told:?}");
}

#[test]
fn case_34_results_of_every_size_have_their_outcome() {
    let text = |length: usize| format!("{:?}", "x".repeat(length - 2));
    let mut stage = Stage::ready(vec![tool("t", ANY)]);
    for (id, length, seq) in [("small", 15_000, 0), ("large", 1_000_000, 2), ("most", 4 << 20, 4)] {
        stage.returns = Some(Settled::Returned(text(length)));
        call(&mut stage, id, "t", seq);
        assert_eq!(stage.outcome(id)["result"].as_str().map(str::len), Some(length - 2), "{id}");
    }
    for (settled, id, seq) in
        [(Settled::Returned(text((4 << 20) + 1)), "over", 6), (Settled::Replaced(text((4 << 20) + 1)), "replaced", 8)]
    {
        stage.returns = Some(settled);
        call(&mut stage, id, "t", seq);
        let outcome = stage.outcome(id);
        assert_eq!((&outcome["kind"], &outcome["code"]), (&json!("failed"), &json!("result_too_large")));
        assert_eq!(outcome["message"], "the result has 4194305 bytes, and the limit is 4194304");
    }
}

#[test]
fn arguments_beyond_a_limit_never_reach_a_handler() {
    let mut stage = limited(|limits| (limits.argument_bytes, limits.argument_depth) = (40, 3), vec![tool("t", ANY)]);
    call_with(&mut stage, "fits", "t", r#"{"a":[[1]]}"#, 0);
    call_with(&mut stage, "deep", "t", r#"{"a":[[[1]]]}"#, 2);
    call_with(&mut stage, "long", "t", &format!(r#"{{"a":"{}"}}"#, "x".repeat(40)), 4);
    assert_eq!(stage.runs.len(), 1);
    for (id, words) in [("deep", "4 levels, and the limit is 3"), ("long", "48 bytes, and the limit is 40")] {
        let outcome = stage.outcome(id);
        assert_eq!(outcome["code"], "arguments_too_large");
        assert!(outcome["message"].as_str().unwrap().ends_with(words), "{outcome}");
    }
}

#[test]
fn a_call_too_many_fails_and_the_next_finds_room_again() {
    let mut stage = limited(|limits| limits.pending_calls = 2, vec![tool("t", ANY)]);
    stage.returns = None;
    for (id, seq) in [("a", 0), ("b", 2), ("c", 4)] {
        call(&mut stage, id, "t", seq);
    }
    assert_eq!((stage.runs.len(), &stage.outcome("c")["code"]), (2, &json!("too_many_calls")));
    stage.settle_run(Settled::Returned("1".into()));
    call(&mut stage, "d", "t", 6);
    assert_eq!(stage.runs.len(), 3);
}

#[test]
fn a_frame_too_large_is_told_and_dropped() {
    let mut stage = limited(|limits| limits.frame_bytes = 400, vec![tool("t", ANY)]);
    call_with(&mut stage, "large", "t", &format!(r#"{{"a":"{}"}}"#, "x".repeat(400)), 0);
    assert_eq!(stage.notices(), ["frame_too_large"]);
    call(&mut stage, "small", "t", 2);
    assert_eq!(stage.outcome("small")["kind"], "ok");
}

#[test]
fn who_asks_for_too_much_at_once_is_told_and_may_ask_again() {
    let mut stage = limited(|limits| limits.pending_requests = 3, vec![]);
    let asked: Vec<_> = (0..4).map(|_| stage.history()).collect();
    assert_eq!(stage.settled[&asked[3]], Err(Error::LimitExceeded { limit: "pendingRequests", most: 3 }));
    let full = stage.send("hi");
    assert_eq!(stage.error(full), "limit_exceeded");
    // What is open is never kept from its end.
    stage.answer("/events/search", 200, r#"{"items":[],"next_page_id":null}"#);
    let page = stage.history();
    assert!(stage.settled[&asked[0]].is_ok() && !stage.settled.contains_key(&page));
    let close = stage.command(Command::Close);
    assert!(stage.settled[&close].is_ok());
}

#[test]
fn the_names_of_limits_are_those_of_the_types() {
    let types = include_str!("../../src/wasm/types.d.ts");
    let body = types.split("export interface Limits {").nth(1).unwrap().split("\n}").next().unwrap();
    let mut limits = Limits::default();
    for (name, usual) in limits.by_name() {
        let after = body.split(&format!("  {name}?: number;")).collect::<Vec<_>>();
        assert_eq!(after.len(), 2, "{name}");
        assert!(after[0].trim_end().ends_with("*/"), "{name}");
        assert!(after[0].rsplit("/**").next().unwrap().contains(&format!("Default {usual}.")), "{name}: {usual}");
    }
    assert_eq!(resumption().limits.argument_depth, 100);
    let _: Resumption = resumption();
}

#[test]
fn case_26_what_does_not_fit_is_never_made_to_fit() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"},"list":{"type":"array"},"flag":{"type":"boolean"},
        "to":{"oneOf":[{"const":"all"},{"type":"object","required":["id"],"properties":{"id":{"type":"integer"}}}]}}}"#;
    let mut stage = Stage::ready(vec![tool("t", schema)]);
    for (seq, (arguments, path)) in (0..).step_by(2).zip([
        (r#"{"n":"7"}"#, "/n"),
        (r#"{"n":"7.5"}"#, "/n"),
        (r#"{"n":""}"#, "/n"),
        (r#"{"list":"[1,2]"}"#, "/list"),
        (r#"{"flag":"true"}"#, "/flag"),
        (r#"{"flag":0}"#, "/flag"),
        (r#"{"to":{"id":"7"}}"#, "/to"),
        (r#"{"to":"{\"id\":7}"}"#, "/to"),
    ]) {
        let id = format!("c{seq}");
        call_with(&mut stage, &id, "t", arguments, seq);
        assert_eq!(stage.outcome(&id)["issues"][0]["path"], path, "{arguments}");
    }
    assert!(stage.runs.is_empty());
    let right = r#"{"n":12345678901234567890,"list":["1",2.50],"flag":true,"to":{"id":7}}"#;
    call_with(&mut stage, "right", "t", right, 100);
    assert_eq!(stage.runs[0].arguments, serde_json::from_str::<Value>(right).unwrap());
    let told =
        stage.topic(Topic::Call).into_iter().find(|step| step["callId"] == "right").unwrap()["arguments"].clone();
    assert_eq!(told, stage.runs[0].arguments);
}

#[test]
fn case_27_schemas_of_every_draft_compile_and_tuples_follow_theirs() {
    let tuple = r#""properties":{"at":{"type":"array","items":[{"type":"number"}],"additionalItems":false}}"#;
    let prefix = r#""properties":{"at":{"type":"array","prefixItems":[{"type":"number"}],"items":false}}"#;
    let schema = |draft: &str, rest: &str| format!(r#"{{{draft}"type":"object",{rest}}}"#);
    let tools = vec![
        tool("draft7", &schema(r#""$schema":"http://json-schema.org/draft-07/schema#","#, tuple)),
        tool("draft2020", &schema(r#""$schema":"https://json-schema.org/draft/2020-12/schema","#, prefix)),
        tool("none", &schema("", prefix)),
    ];
    let mut stage = Stage::ready(tools);
    for (seq, name) in (0..).step_by(4).zip(["draft7", "draft2020", "none"]) {
        call_with(&mut stage, &format!("{name}+"), name, r#"{"at":[1]}"#, seq);
        call_with(&mut stage, &format!("{name}-"), name, r#"{"at":[1,2]}"#, seq + 2);
        let kinds = ["+", "-"].map(|which| stage.outcome(&format!("{name}{which}"))["kind"].clone());
        assert_eq!(kinds, ["ok", "invalid_arguments"], "{name}");
    }
    assert!(stage.topic(Topic::Error).is_empty());
}

#[test]
fn case_28_unknown_keywords_are_let_be_and_a_broken_one_is_its_tools_alone() {
    let unknown =
        r#"{"type":"object","x-order":[2,1],"properties":{"a":{"type":"string","format":"x-colour","x-ui":{}}}}"#;
    let broken = r#"{"type":"object","properties":{"a":{"minLength":"three"}}}"#;
    let mut stage = Stage::ready(vec![tool("fine", unknown), tool("broken", broken), tool("too", broken)]);
    let told: Vec<_> = stage.topic(Topic::Error).into_iter().map(|error| error["details"]["tool"].clone()).collect();
    assert_eq!(told, ["broken", "too"]);
    call_with(&mut stage, "a", "fine", r#"{"a":"b"}"#, 0);
    call_with(&mut stage, "b", "broken", r#"{"a":"b"}"#, 2);
    assert_eq!((&stage.outcome("a")["kind"], &stage.outcome("b")["code"]), (&json!("ok"), &json!("invalid_schema")));
}
