//! Opening a conversation: which server, which socket, whose tools.

use pagehand::conversation::{Command, Conversation, Topic};
use pagehand::net::Answer;
use pagehand::protocol::openhands::{OpenHands, Opening, SessionKey, Settings};
use serde_json::{Value, json};

use crate::stage::{ID, Stage, resumption, tool, tool_with};

const ANY: &str = r#"{"type":"object"}"#;
const PATH: &str = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;

fn opening(tools: Vec<pagehand::tool::Tool>) -> Stage {
    let mut stage = Stage::new(tools);
    assert_eq!(stage.command(Command::Open), 1);
    stage
}

#[test]
fn it_is_created_then_connected_then_ready() {
    let mut stage = opening(vec![tool("t", PATH)]);
    stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
    let (_, create) = stage.take("/api/conversations").unwrap();
    let body: Value = serde_json::from_str(create.body.as_deref().unwrap()).unwrap();
    assert_eq!((&body["conversation_id"], &body["client_tools"][0]["name"]), (&json!(ID), &json!("t")));
    assert_eq!(stage.sockets, [], "a socket before the conversation is there");
    let mut stage = opening(vec![tool("t", PATH)]);
    stage.open("1.58.2", 201, &format!(r#"[{{"name":"t","parameters":{PATH}}}]"#));
    assert!(!stage.settled.contains_key(&1), "ready before the server spoke");
    stage.frame(r#"{"type":"sync","from_seq":-1}"#);
    let answer = stage.settled[&1].as_ref().unwrap();
    assert_eq!((&answer["id"], &answer["created"], &answer["status"]), (&json!(ID), &json!(true), &json!("idle")));
    assert_eq!(answer["tools"]["ready"], json!(["t"]));
}

#[test]
fn the_key_is_the_first_frame_and_in_no_address() {
    let stage = Stage::ready(vec![]);
    assert_eq!(stage.sent[0].1, r#"{"type":"auth","session_api_key":"canary"}"#);
    assert_eq!(stage.sockets[0].1, format!("ws://server/sockets/session/{ID}?after_seq=-1"));
}

#[test]
fn an_older_server_gets_the_legacy_socket_and_its_log_is_read_before_it_is_ready() {
    let mut stage = opening(vec![]);
    stage.open("1.43.1", 201, "[]");
    assert_eq!(stage.sockets[0].1, format!("ws://server/sockets/events/{ID}"));
    stage.frame(r#"{"kind":"ConversationStateUpdateEvent","key":"full_state","value":{"execution_status":"idle"}}"#);
    assert!(!stage.settled.contains_key(&1));
    stage.answer("/events/search", 200, r#"{"items":[],"next_page_id":null}"#);
    assert!(stage.settled[&1].is_ok());
}

#[test]
fn a_server_without_client_tools_is_refused_by_version() {
    let mut stage = opening(vec![]);
    stage.answer("/server_info", 200, r#"{"version":"1.27.3"}"#);
    assert_eq!(stage.error(1), "unsupported_server");
}

#[test]
fn every_failure_of_opening_is_typed() {
    for (status, body, code) in [
        (401, r#"{"detail":"Unauthorized"}"#, "unauthorized"),
        (404, r#"{"detail":"Not Found"}"#, "not_found"),
        (
            422,
            r#"{"detail":"Client tool 't' is already registered with a different parameters schema."}"#,
            "tool_conflict",
        ),
        (422, r#"{"detail":[{"loc":["body"],"msg":"m"}]}"#, "invalid_request"),
        (429, r#"{"detail":"limit"}"#, "capacity"),
        (500, r#"{"detail":"Internal Server Error","exception":"x","error_id":"e"}"#, "server_error"),
        (201, "[]", "bad_response"),
    ] {
        let mut stage = opening(vec![]);
        stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
        stage.answer("/api/conversations", status, body);
        assert_eq!(stage.error(1), code);
        let after = stage.send("x");
        assert_eq!(stage.error(after), "closed");
    }
    let mut stage = opening(vec![]);
    stage.reply("/server_info", Answer::Unreachable);
    assert_eq!(stage.error(1), "unreachable");
}

#[test]
fn a_server_that_never_lets_a_socket_stand_is_given_up() {
    let mut stage = opening(vec![]);
    stage.open("1.58.2", 201, "[]");
    for _ in 0..10 {
        stage.lose_socket(1006);
        if !stage.wait() {
            break;
        }
    }
    assert_eq!(stage.error(1), "unreachable");
    assert_eq!(stage.sockets.len(), 5);
}

#[test]
fn joining_takes_the_servers_tools_for_the_truth() {
    let ours = vec![tool("same", PATH), tool("changed", PATH), tool("extra", PATH)];
    let mut stage = Stage::with(Opening::Attach { id: ID.into() }, ours);
    stage.command(Command::Open);
    let tools = format!(
        r#"[{{"name":"same","parameters":{PATH}}},{{"name":"changed","parameters":{ANY}}},{{"name":"theirs","parameters":{ANY}}}]"#
    );
    stage.open("1.58.2", 200, &tools);
    stage.frame(r#"{"type":"sync","through_seq":41}"#);
    stage.answer("/events/search", 200, r#"{"items":[],"next_page_id":"older"}"#);
    let expected = json!({"ready": ["same"], "missingHandlers": ["theirs"], "unknownToServer": ["extra"],
        "differentSchema": ["changed"]});
    assert_eq!(stage.settled[&1].as_ref().unwrap()["tools"], expected);
    assert_eq!(stage.topic(Topic::Tools), [&expected]);
    assert!(stage.sockets[0].1.ends_with(ID), "a joined conversation is not replayed: {}", stage.sockets[0].1);
}

#[test]
fn creating_under_an_id_that_exists_joins_it() {
    let mut stage = opening(vec![]);
    stage.open("1.58.2", 200, "[]");
    stage.frame(r#"{"type":"sync","through_seq":3}"#);
    stage.answer("/events/search", 200, r#"{"items":[],"next_page_id":"older"}"#);
    assert_eq!(stage.settled[&1].as_ref().unwrap()["created"], false);
}

#[test]
fn tools_that_the_server_could_not_carry_are_refused_before_anything_is_sent() {
    let settings = || Settings { url: "http://server".into(), session_key: SessionKey::None };
    let create = |request: &str| Opening::Create { id: ID.into(), request: request.into() };
    let refuse = |opening: Opening, tools| {
        let protocol = OpenHands::new(settings(), opening).unwrap();
        Conversation::new(Box::new(protocol), tools, resumption(), 1).err().unwrap()
    };
    let kind = || tool("t", r#"{"type":"object","properties":{"kind":{"type":"string"}}}"#);
    assert_eq!(refuse(create(r#"{"workspace":"/"}"#), vec![kind()]).code(), "invalid_tool");
    assert_eq!(refuse(create(r#"{"workspace":"/"}"#), vec![tool("t", ANY), tool("t", ANY)]).code(), "duplicate_tool");
    let early = || tool_with("t", ANY, r#""runOn":"announcement""#);
    let asks = r#"{"workspace":"/","confirmation_policy":{"kind":"AlwaysConfirm"}}"#;
    assert_eq!(refuse(create(asks), vec![early()]).code(), "announcement_refused");
    // What somebody else declared to the server can be handled, whatever its properties are called.
    let protocol = OpenHands::new(settings(), Opening::Attach { id: ID.into() }).unwrap();
    assert!(Conversation::new(Box::new(protocol), vec![kind()], resumption(), 1).is_ok());
}

#[test]
fn joining_a_conversation_that_asks_first_refuses_to_run_on_the_announcement() {
    let early = tool_with("t", ANY, r#""runOn":"announcement","hasHandler":true"#);
    let mut stage = Stage::with(Opening::Attach { id: ID.into() }, vec![early]);
    stage.command(Command::Open);
    stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
    let info = format!(r#"{{"id":"{ID}","execution_status":"idle","confirmation_policy":{{"kind":"ConfirmRisky"}}}}"#);
    stage.answer("/api/conversations", 200, &info);
    assert_eq!(stage.error(1), "announcement_refused");
    assert_eq!(stage.requests.len(), 0);
    assert!(!stage.wait());
}

#[test]
fn an_opening_that_nobody_waits_for_any_more_is_not_settled() {
    let mut stage = opening(vec![]);
    stage.input(pagehand::conversation::Input::Abandoned { operation: pagehand::conversation::OperationId(1) });
    stage.open("1.58.2", 201, "[]");
    stage.frame(r#"{"type":"sync","from_seq":-1}"#);
    assert!(stage.settled.is_empty());
}

#[test]
fn a_server_may_say_with_null_that_nothing_can_hold_a_call_back() {
    let early = tool_with("t", r#"{"type":"object"}"#, r#""hasHandler":true,"runOn":"announcement""#);
    let mut stage = Stage::new(vec![early]);
    let open = stage.command(Command::Open);
    stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
    let info = format!(
        r#"{{"id":"{ID}","execution_status":"idle","client_tools":[],"hook_config":null,"confirmation_policy":null}}"#
    );
    stage.answer("/api/conversations", 201, &info);
    stage.connect();
    stage.frame(r#"{"type":"sync","from_seq":-1}"#);
    assert!(stage.settled[&open].is_ok(), "{:?}", stage.settled[&open]);
}
