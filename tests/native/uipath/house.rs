//! The house on a UiPath conversation: who runs what, and what the agent is told.

use pagehand::call::{CallId, Claim, Key, Settled};
use pagehand::conversation::{Command, Input, Settings as Resumption, Topic, Wire};
use pagehand::protocol::uipath::{Opening, UiPath};
use pagehand::protocol::{Carried, Carry, SessionKey};
use pagehand::tool::Tool;
use serde_json::{Value, json};

use super::rig::{ID, record, settings};
use crate::stage::{Stage, resumption, tool, tool_with};

const SCHEMA: &str = r#"{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}"#;

fn tools() -> Vec<Tool> {
    vec![tool("create task", SCHEMA)]
}

fn stage(opening: Opening) -> Stage {
    with(opening, tools(), resumption())
}

pub(super) fn with(opening: Opening, tools: Vec<Tool>, resumption: Resumption) -> Stage {
    let protocol = UiPath::new(settings(SessionKey::Fixed("canary".into())), opening).unwrap();
    let mut stage = Stage::over(Box::new(protocol), tools, resumption);
    stage.returns = Some(Settled::Returned(r#"{"id":1}"#.into()));
    stage
}

pub(super) fn opened(mut stage: Stage) -> Stage {
    stage.command(Command::Open);
    stage.answer("/conversation", 200, &format!(r#"{{"conversationId":"{ID}"}}"#));
    up(&mut stage);
    stage
}

fn created() -> Stage {
    opened(stage(create()))
}

pub(super) fn create() -> Opening {
    Opening::Create { request: r#"{"agentReleaseId":7,"folderId":11}"#.into() }
}

fn joining() -> Stage {
    stage(Opening::Attach { id: ID.into() })
}

pub(super) fn up(stage: &mut Stage) {
    stage.input(Input::Wire(Wire::Carried(Carried::Up { limit: 100_000 })));
    server(stage, &json!({ "sessionStarted": {} }));
}

pub(super) fn down(stage: &mut Stage) {
    let down = Carried::Down { reason: "gone".into(), close_code: 1006, retry_in: 1 };
    stage.input(Input::Wire(Wire::Carried(down)));
}

pub(super) fn server(stage: &mut Stage, envelope: &Value) {
    stage.input(Input::Wire(Wire::Carried(Carried::Text(envelope.to_string()))));
}

/// What was sent since the last question.
pub(super) fn sent(stage: &mut Stage) -> Vec<Value> {
    let all = std::mem::take(&mut stage.carried).into_iter();
    let texts = all.filter_map(|carry| match carry {
        Carry::Send(text) => Some(serde_json::from_str(&text).unwrap()),
        Carry::Join { .. } | Carry::Renew | Carry::Leave => None,
    });
    texts.collect()
}

/// The values of a member of what was sent about calls.
pub(super) fn about_calls(sent: &[Value], member: &str) -> Vec<Value> {
    let calls = sent.iter().map(|envelope| &envelope["exchange"]["message"]["toolCall"]);
    calls.filter_map(|call| call.get(member)).cloned().collect()
}

pub(super) fn begin(stage: &mut Stage) -> String {
    sent(stage);
    stage.send("hi");
    sent(stage)[0]["exchange"]["exchangeId"].as_str().unwrap().to_owned()
}

pub(super) fn of_call(x: &str, call: &str, member: &str, value: Value) -> Value {
    let mut call = json!({ "toolCallId": call });
    call[member] = value;
    json!({ "exchange": { "exchangeId": x, "message": { "messageId": "m", "toolCall": call } } })
}

fn start(x: &str, input: &Value, confirm: bool) -> Value {
    let mut start = json!({ "toolName": "create_task", "input": input, "isClientSideTool": true });
    if confirm {
        start["requireConfirmation"] = json!(true);
    }
    of_call(x, "c", "startToolCall", start)
}

pub(super) fn go(x: &str, input: &Value) -> Value {
    of_call(x, "c", "executingToolCall", json!({ "input": input }))
}

fn end_message(x: &str) -> Value {
    json!({ "exchange": { "exchangeId": x, "message": { "messageId": "m", "endMessage": {} } } })
}

pub(super) fn end(x: &str) -> Value {
    json!({ "exchange": { "exchangeId": x, "endExchange": {} } })
}

#[test]
fn a_call_runs_once_and_the_agent_gets_its_result() {
    let mut stage = created();
    let x = begin(&mut stage);
    server(&mut stage, &start(&x, &json!({ "title": "t" }), false));
    assert!(stage.runs.is_empty());
    server(&mut stage, &go(&x, &json!({ "title": "t" })));
    server(&mut stage, &go(&x, &json!({ "title": "t" })));
    assert_eq!(stage.runs.len(), 1);
    assert_eq!(stage.runs[0].tool, "create task");
    assert_eq!(about_calls(&sent(&mut stage), "endToolCall"), [json!({ "output": { "id": 1 } })]);
    let idle = stage.command(Command::Idle);
    server(&mut stage, &end_message(&x));
    server(&mut stage, &end(&x));
    assert_eq!(stage.settled[&idle].as_ref().unwrap()["status"], "finished");
}

#[test]
fn what_ran_is_known_by_the_name_that_the_server_gave_the_conversation() {
    let mut stage = created();
    let x = begin(&mut stage);
    server(&mut stage, &start(&x, &json!({ "title": "t" }), false));
    server(&mut stage, &go(&x, &json!({ "title": "t" })));
    let conversation = format!("http://localhost:9/org/tenant {ID}").into();
    let key = Key::call(&conversation, &CallId::new(format!("{x}/c")));
    assert!(matches!(stage.ledger.borrow().look(&key, |_| true), Some(Claim::Settled(_))));
}

#[test]
fn arguments_that_do_not_fit_are_told_to_the_agent_in_words() {
    let mut stage = created();
    let x = begin(&mut stage);
    server(&mut stage, &start(&x, &json!({ "title": 5 }), false));
    server(&mut stage, &go(&x, &json!({ "title": 5 })));
    assert!(stage.runs.is_empty());
    let told = about_calls(&sent(&mut stage), "endToolCall");
    let words = told[0]["output"]["error"].as_str().unwrap();
    assert!(words.contains("/title") && told[0]["isError"] == true, "{words}");
}

#[test]
fn an_approval_with_an_edit_runs_what_was_edited() {
    let mut stage = created();
    let x = begin(&mut stage);
    server(&mut stage, &start(&x, &json!({ "title": "t" }), true));
    let asked = stage.topic(Topic::Approval)[0].clone();
    assert_eq!((&asked["state"], &asked["calls"][0]["editable"]), (&json!("open"), &json!(true)));
    let answer = |arguments: &str| Command::Answer {
        approval: format!("{x}/c"),
        accept: true,
        reason: String::new(),
        arguments: Some(super::rig::raw(arguments)),
        say: None,
    };
    let bad = stage.command(answer(r#"{"title":5}"#));
    assert_eq!(stage.error(bad), "invalid_edit");
    let good = stage.command(answer(r#"{"title":"edited"}"#));
    let confirmed = about_calls(&sent(&mut stage), "confirmToolCall");
    assert_eq!(confirmed, [json!({ "approved": true, "input": { "title": "edited" } })]);
    assert!(stage.runs.is_empty(), "only the go signal lets it run");
    server(&mut stage, &go(&x, &json!({ "title": "edited" })));
    assert_eq!(stage.runs[0].arguments, json!({ "title": "edited" }));
    assert!(stage.settled[&good].is_ok());
}

#[test]
fn a_rejected_call_is_over_and_the_agent_hears_nothing_more() {
    let mut stage = created();
    let x = begin(&mut stage);
    server(&mut stage, &start(&x, &json!({ "title": "t" }), true));
    stage.command(Command::Answer {
        approval: format!("{x}/c"),
        accept: false,
        reason: "no".into(),
        arguments: None,
        say: None,
    });
    server(&mut stage, &of_call(&x, "c", "endToolCall", json!({ "output": { "meta": "Cancelled by user" } })));
    let sent = sent(&mut stage);
    assert_eq!(about_calls(&sent, "confirmToolCall"), [json!({ "approved": false })]);
    assert_eq!(about_calls(&sent, "endToolCall"), [] as [Value; 0]);
    assert_eq!(stage.outcome(&format!("{x}/c"))["kind"], "rejected");
}

#[test]
fn the_server_may_end_a_call_that_runs() {
    let mut stage = created();
    stage.returns = None;
    let x = begin(&mut stage);
    server(&mut stage, &start(&x, &json!({ "title": "t" }), false));
    server(&mut stage, &go(&x, &json!({ "title": "t" })));
    server(&mut stage, &of_call(&x, "c", "endToolCall", json!({ "isError": true, "output": "blocked" })));
    assert_eq!(stage.aborted.len(), 1);
    stage.settle_run(Settled::Returned("{}".into()));
    assert_eq!(about_calls(&sent(&mut stage), "endToolCall"), [] as [Value; 0]);
    assert_eq!(stage.outcome(&format!("{x}/c"))["kind"], "cancelled");
}

#[test]
fn a_stop_answers_what_runs_then_ends_the_exchange() {
    let mut stage = created();
    stage.returns = None;
    let x = begin(&mut stage);
    server(&mut stage, &start(&x, &json!({ "title": "t" }), false));
    server(&mut stage, &go(&x, &json!({ "title": "t" })));
    let idle = stage.command(Command::Idle);
    let stop = stage.command(Command::Stop { reason: "enough".into() });
    let sent = sent(&mut stage);
    assert_eq!(about_calls(&sent, "endToolCall")[0]["cancelled"], true);
    assert!(sent.last().unwrap()["exchange"].get("endExchange").is_some());
    assert!(stage.settled[&stop].is_ok());
    stage.now = pagehand::net::Millis(stage.now.0 + 5_000);
    stage.input(Input::Wire(Wire::Carried(Carried::Alive)));
    assert_eq!(stage.settled[&idle].as_ref().unwrap()["status"], "paused");
}

#[test]
fn an_outcome_of_a_gap_leaves_once_and_another_page_tells_what_a_dead_one_owed() {
    let mut stage = created();
    stage.returns = None;
    let x = begin(&mut stage);
    server(&mut stage, &start(&x, &json!({ "title": "t" }), false));
    server(&mut stage, &go(&x, &json!({ "title": "t" })));
    down(&mut stage);
    stage.settle_run(Settled::Returned(r#"{"id":1}"#.into()));
    assert_eq!(sent(&mut stage), [] as [Value; 0]);
    let mut next = joining().on_page("next", &stage);
    stage.dies();
    next.command(Command::Open);
    next.answer("/conversation", 200, &format!(r#"{{"conversationId":"{ID}"}}"#));
    up(&mut next);
    let open = record(&x, &json!([{ "toolCallId": "c", "name": "create_task", "input": { "title": "t" } }]));
    next.answer("exchangeSort", 200, &format!(r#"{{"data":[{open}]}}"#));
    if next.requests.iter().any(|(_, request)| request.url.contains(&x)) {
        next.answer(&format!("/exchange/{x}"), 200, &open);
    }
    assert_eq!(about_calls(&sent(&mut next), "endToolCall"), [json!({ "output": { "id": 1 } })]);
    assert!(next.runs.is_empty());
}

#[test]
fn a_call_whose_page_died_is_interrupted_and_the_agent_is_told_once() {
    let mut stage = created();
    stage.returns = None;
    let x = begin(&mut stage);
    server(&mut stage, &start(&x, &json!({ "title": "t" }), false));
    server(&mut stage, &go(&x, &json!({ "title": "t" })));
    let mut next = joining().on_page("next", &stage);
    stage.dies();
    next.command(Command::Open);
    next.answer("/conversation", 200, &format!(r#"{{"conversationId":"{ID}"}}"#));
    up(&mut next);
    let open = record(&x, &json!([{ "toolCallId": "c", "name": "create_task", "input": { "title": "t" } }]));
    next.answer("exchangeSort", 200, &format!(r#"{{"data":[{open}]}}"#));
    while let Some((request, _)) = next.take(&format!("/exchange/{x}")) {
        let answer = pagehand::net::Answer::Http { status: 200, body: open.clone() };
        next.input(Input::Wire(Wire::Answered { request, answer }));
    }
    for _ in 0..10 {
        next.now = pagehand::net::Millis(next.now.0 + 1_000);
        next.input(Input::Tick);
    }
    let told = about_calls(&sent(&mut next), "endToolCall");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0]["output"]["error"].as_str().unwrap().contains("may or may not have completed"));
    assert_eq!(next.outcome(&format!("{x}/c"))["kind"], "interrupted");
}

/// A page with an exchange that has begun, and another one that has joined.
fn two_pages() -> (Stage, String, Stage) {
    let mut first = created();
    let x = begin(&mut first);
    let mut second = joining().on_page("second", &first);
    second.command(Command::Open);
    second.answer("/conversation", 200, &format!(r#"{{"conversationId":"{ID}"}}"#));
    up(&mut second);
    second.answer("exchangeSort", 200, r#"{"data":[]}"#);
    (first, x, second)
}

#[test]
fn two_pages_see_the_same_call_and_one_runs_it() {
    let (mut first, x, mut second) = two_pages();
    for event in [start(&x, &json!({ "title": "t" }), false), go(&x, &json!({ "title": "t" }))] {
        server(&mut first, &event);
        server(&mut second, &event);
    }
    assert_eq!(first.runs.len() + second.runs.len(), 1);
    let answers = [&mut first, &mut second].map(|stage| about_calls(&sent(stage), "endToolCall").len());
    assert_eq!(answers.iter().sum::<usize>(), 1);
}

#[test]
fn a_call_that_is_cancelled_where_it_was_only_announced_has_the_outcome_that_another_page_gave_it() {
    let (mut first, x, mut second) = two_pages();
    let title = json!({ "title": "t" });
    for stage in [&mut first, &mut second] {
        server(stage, &start(&x, &title, false));
    }
    server(&mut first, &go(&x, &title));
    second.cancel(&format!("{x}/c"));
    assert_eq!(second.outcome(&format!("{x}/c")), first.outcome(&format!("{x}/c")));
    assert_eq!(first.outcome(&format!("{x}/c"))["kind"], "ok");
    assert!(about_calls(&sent(&mut second), "endToolCall").is_empty());
}

#[test]
fn tools_that_are_one_on_the_wire_cannot_be_declared_together() {
    let protocol = |tools| {
        let opening = Opening::Attach { id: ID.into() };
        let protocol = UiPath::new(settings(SessionKey::None), opening).unwrap();
        let made = pagehand::conversation::Conversation::new(Box::new(protocol), tools, resumption(), 7);
        made.err().map(|error| error.code())
    };
    let handler = r#""hasHandler":true"#;
    let pair = |one, other| vec![tool_with(one, SCHEMA, handler), tool_with(other, SCHEMA, handler)];
    assert_eq!(protocol(pair("create task", "create_task")), Some("invalid_tool"));
    assert_eq!(protocol(pair("create task", "create tasks")), None);
}
