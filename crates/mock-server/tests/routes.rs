//! Routes that go beyond a run: forks, lists, the LLM.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{Bench, create_body, last_event, message, name_of, names};
use pagehand_mock_server::json::{Json, parse};
use pagehand_mock_server::{Config, object};

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";
const TOAST: &str = r#"[{"tool_calls": [{"name": "show_toast", "arguments": {"message": "hi"}}]}, {"finish": "ok"},
                        {"finish": "again"}]"#;

async fn old(version: &str) -> Bench {
    Bench::with(Config { version: version.to_owned(), ..Config::default() }).await
}

/// A conversation after its first turn.
async fn after_a_turn(bench: &Bench) -> String {
    bench.script("s", TOAST).await;
    let id = bench.conversation("s").await;
    let socket = bench.legacy(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    socket.until("full_state", 2).await;
    id
}

fn ids(events: &[Json]) -> Vec<String> {
    events.iter().map(|event| event.text("id").unwrap().to_owned()).collect()
}

fn id_of(events: &[Json], name: &str) -> String {
    events.iter().find(|event| name_of(event) == name).unwrap().text("id").unwrap().to_owned()
}

#[tokio::test]
async fn a_fork_has_the_same_events_at_rest_and_goes_its_own_way() {
    let bench = Bench::start().await;
    let id = after_a_turn(&bench).await;
    let wanted = "7c1f0f3e-6a52-4c0c-9a38-2a3f0e4ad111";
    let order = object! { "id" => wanted, "title" => "A fork", "tags" => object! { "ui" => "1" } };
    let answer = bench.post(&format!("/api/conversations/{id}/fork"), order.clone()).await;
    assert_eq!(answer.status, 201);
    let fork = answer.json();
    assert_eq!(fork.text("id"), Some(wanted));
    assert_eq!(fork.text("title"), Some("A fork"));
    assert_eq!(fork.get("tags"), Some(&object! { "ui" => "1" }));
    assert_eq!(fork.text("execution_status"), Some("idle"));
    assert_eq!(fork.text("forked_from_conversation_id"), Some(id.as_str()));
    let source = bench.get(&format!("/api/conversations/{id}")).await;
    assert_eq!(fork.get("client_tools"), source.get("client_tools"));
    let before = bench.events(&id).await;
    assert_eq!(ids(&bench.events(wanted).await), ids(&before));

    bench.post(&format!("/api/conversations/{wanted}/events"), message("only here", false)).await;
    assert_eq!(bench.events(&id).await.len(), before.len());
    let again = bench.post(&format!("/api/conversations/{id}/fork"), order).await;
    assert_eq!(again.status, 409);
    assert_eq!(bench.call("POST", &format!("/api/conversations/{id}/fork"), None).await.status, 201);
    assert_eq!(bench.call("POST", &format!("/api/conversations/{NOBODY}/fork"), None).await.status, 404);
    let bad = object! { "id" => "x" };
    assert_eq!(bench.post(&format!("/api/conversations/{id}/fork"), bad).await.status, 422);
}

#[tokio::test]
async fn a_fork_at_an_action_acknowledges_it_again_with_another_id() {
    let bench = Bench::start().await;
    let id = after_a_turn(&bench).await;
    let source = bench.events(&id).await;
    let action = id_of(&source, "ActionEvent");
    let path = format!("/api/conversations/{id}/fork");
    let answer = bench.post(&path, object! { "from_event_id" => action.as_str() }).await;
    assert_eq!(answer.status, 201);
    let fork = answer.json();
    assert_eq!(fork.text("forked_from_event_id"), Some(action.as_str()));
    let fork = fork.text("id").unwrap();
    assert_eq!(names(&bench.events(fork).await), ["SystemPromptEvent", "MessageEvent", "ActionEvent"]);
    let socket = bench.session(fork).await;
    socket.until("full_state", 1).await;
    bench.call("POST", &format!("/api/conversations/{fork}/run"), None).await;
    let frames = socket.until("ObservationEvent", 1).await;
    let ack = frames.iter().find(|frame| name_of(frame) == "ObservationEvent").unwrap().get("event").unwrap();
    assert_eq!(ack.text("action_id"), Some(action.as_str()));
    assert!(!ids(&source).contains(&ack.text("id").unwrap().to_owned()));
    let unknown = bench.post(&path, object! { "from_event_id" => "nope" }).await;
    assert_eq!((unknown.status, unknown.text.as_str()), (404, r#"{"detail":"Unknown from_event_id: nope"}"#));
}

#[tokio::test]
async fn a_fork_loses_the_key_of_its_llm_until_it_gets_another() {
    let bench = Bench::start().await;
    let id = after_a_turn(&bench).await;
    let fork = bench.call("POST", &format!("/api/conversations/{id}/fork"), None).await.json();
    let fork = fork.text("id").unwrap();
    let socket = bench.session(fork).await;
    socket.until("full_state", 1).await;
    bench.message(fork, "go").await;
    let frames = socket.until("ConversationErrorEvent", 1).await;
    let error = last_event(&frames, "ConversationErrorEvent");
    assert_eq!(error.text("code"), Some("LLMServiceUnavailableError"));
    assert!(error.text("detail").unwrap().contains("Missing credentials"));
    socket.until("full_state", 2).await;

    let llm = parse(r#"{"llm": {"model": "openai/s", "api_key": "y"}}"#).unwrap();
    assert_eq!(bench.post(&format!("/api/conversations/{fork}/switch_llm"), llm).await.status, 200);
    socket.until("agent", 1).await;
    bench.call("POST", &format!("/api/conversations/{fork}/run"), None).await;
    socket.until("finished", 2).await;
}

#[tokio::test]
async fn switching_the_llm_needs_a_conversation_and_an_llm() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    let llm = parse(r#"{"llm": {"model": "openai/other"}}"#).unwrap();
    assert_eq!(bench.post(&format!("/api/conversations/{NOBODY}/switch_llm"), llm.clone()).await.status, 404);
    let missing = bench.post(&format!("/api/conversations/{id}/switch_llm"), object! {}).await;
    assert_eq!(missing.status, 422);
    assert!(missing.text.contains(r#""loc":["body","llm"]"#), "{}", missing.text);
    assert_eq!(bench.post(&format!("/api/conversations/{id}/switch_llm"), llm).await.status, 200);
    let info = bench.get(&format!("/api/conversations/{id}")).await;
    assert_eq!(info.get("agent").unwrap().get("llm").unwrap().text("model"), Some("openai/other"));
    let profile = object! { "profile_name" => "nope" };
    let answer = bench.post(&format!("/api/conversations/{id}/switch_profile"), profile).await;
    assert_eq!((answer.status, answer.text.as_str()), (404, r#"{"detail":"Profile 'nope' not found"}"#));
}

#[tokio::test]
async fn navigating_sets_later_events_aside() {
    let bench = Bench::start().await;
    let id = after_a_turn(&bench).await;
    let path = format!("/api/conversations/{id}/navigate");
    let user = id_of(&bench.events(&id).await, "MessageEvent");
    let answer = bench.post(&path, object! { "event_id" => user.as_str() }).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json().text("leaf_event_id"), Some(user.as_str()));
    bench.message(&id, "another way").await;
    let socket = bench.session(&id).await;
    socket.until("finished", 2).await;
    let requests = bench.get("/mock/scripts/s").await;
    let last = requests.get("requests").unwrap().as_array().unwrap().last().unwrap().clone();
    let roles: Vec<&str> =
        last.get("messages").unwrap().as_array().unwrap().iter().filter_map(|message| message.text("role")).collect();
    assert_eq!(roles, ["system", "user", "user"]);

    let root = bench.post(&path, object! { "event_id" => Json::Null }).await;
    assert_eq!(root.json().get("leaf_event_id"), Some(&Json::Null));
    bench.post(&format!("/api/conversations/{id}/events"), message("from the root", false)).await;
    let log = bench.events(&id).await;
    let message = log.iter().rfind(|event| name_of(event) == "MessageEvent").unwrap();
    assert_eq!(message.text("parent_id"), Some("__root__"));
    assert_eq!(bench.post(&path, object! { "event_id" => "nope" }).await.status, 404);
    assert_eq!(bench.post(&path, object! {}).await.status, 422);
}

#[tokio::test]
async fn conversations_are_listed_the_newest_first_page_by_page() {
    let bench = Bench::start().await;
    let mut made = Vec::new();
    for _ in 0..3 {
        made.push(bench.conversation("s").await);
    }
    let page = bench.get("/api/conversations/search?limit=2").await;
    let found = |page: &Json| ids(page.get("items").unwrap().as_array().unwrap());
    assert_eq!(found(&page), [made[2].clone(), made[1].clone()]);
    let next = page.text("next_page_id").unwrap().to_owned();
    assert_eq!(next, made[0].replace('-', ""));
    let last = bench.get(&format!("/api/conversations/search?limit=2&page_id={next}")).await;
    assert_eq!((found(&last), last.get("next_page_id")), (vec![made[0].clone()], Some(&Json::Null)));
    let oldest = bench.get("/api/conversations/search?sort_order=CREATED_AT").await;
    assert_eq!(found(&oldest), made);
    bench.call("PATCH", &format!("/api/conversations/{}", made[0]), Some(object! { "title" => "t" })).await;
    let fresh = bench.get("/api/conversations/search?sort_order=UPDATED_AT_DESC&limit=1").await;
    assert_eq!(found(&fresh), [made[0].clone()]);
    assert_eq!(found(&bench.get("/api/conversations/search?status=paused").await), Vec::<String>::new());
    assert_eq!(found(&bench.get("/api/conversations/search?status=idle").await).len(), 3);
    assert_eq!(bench.get("/api/conversations/count?status=idle").await, 3u64.into());
    for bad in ["limit=101", "limit=0", "status=bogus", "sort_order=TITLE"] {
        let path = format!("/api/conversations/search?{bad}");
        assert_eq!(bench.call("GET", &path, None).await.status, 422, "{bad}");
    }
    let old = old("1.43.1").await;
    assert_eq!(old.call("GET", "/api/conversations/search?limit=101", None).await.status, 500);
}

#[tokio::test]
async fn conversations_are_found_by_id_in_the_order_asked() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    let found = bench.get(&format!("/api/conversations?ids={NOBODY}&ids={id}")).await;
    let found = found.as_array().unwrap();
    assert_eq!((&found[0], found[1].text("id")), (&Json::Null, Some(id.as_str())));
    assert_eq!(bench.call("GET", "/api/conversations", None).await.status, 422);
    assert_eq!(bench.call("GET", "/api/conversations?ids=x", None).await.status, 422);
}

#[tokio::test]
async fn changes_of_title_and_tags_are_checked() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    let path = format!("/api/conversations/{id}");
    let long = |count: usize| "x".repeat(count);
    let change = |text: String| bench.call("PATCH", &path, Some(parse(&text).unwrap()));
    assert_eq!(change(format!(r#"{{"title": "{}"}}"#, long(200))).await.status, 200);
    let answer = change(format!(r#"{{"title": "{}"}}"#, long(201))).await;
    assert_eq!(answer.status, 422);
    assert!(answer.text.contains("string_too_long"), "{}", answer.text);
    assert_eq!(change(r#"{"title": 7}"#.to_owned()).await.status, 422);
    assert_eq!(change(format!(r#"{{"tags": {{"a": "{}"}}}}"#, long(256))).await.status, 200);
    for tags in [format!(r#"{{"a": "{}"}}"#, long(257)), r#"{"a": 1}"#.to_owned(), "[]".to_owned()] {
        assert_eq!(change(format!(r#"{{"tags": {tags}}}"#)).await.status, 422, "{tags}");
    }
    let old = old("1.43.1").await;
    let id = old.conversation("s").await;
    let path = format!("/api/conversations/{id}");
    assert_eq!(old.call("PATCH", &path, Some(object! { "title" => " " })).await.status, 200);
}

#[tokio::test]
async fn questions_on_the_side_get_scripted_replies_and_leave_no_trace() {
    let bench = Bench::start().await;
    bench.script("s", r#"[{"reply": "first"}, {"finish": "ok"}, {"reply": "second"}]"#).await;
    let id = bench.conversation("s").await;
    let path = format!("/api/conversations/{id}/ask_agent");
    for expected in ["first", "second", "script exhausted"] {
        let answer = bench.post(&path, object! { "question" => "why?" }).await;
        assert_eq!((answer.status, answer.json().text("response")), (200, Some(expected)));
    }
    assert!(bench.events(&id).await.is_empty());
    assert_eq!(bench.get("/mock/scripts/s").await.count("left"), Some(1));
    assert_eq!(bench.post(&path, object! {}).await.status, 422);
    let nobody = format!("/api/conversations/{NOBODY}/ask_agent");
    assert_eq!(bench.post(&nobody, object! { "question" => "?" }).await.status, 404);
    let old = old("1.43.1").await;
    assert_eq!(old.post(&nobody, object! { "question" => "?" }).await.status, 500);
}

#[tokio::test]
async fn condensing_needs_a_condenser() {
    let path = |id: &str| format!("/api/conversations/{id}/condense");
    for (version, status) in [("1.58.2", 409), ("1.55.0", 500)] {
        let bench = old(version).await;
        let id = bench.conversation("s").await;
        let answer = bench.call("POST", &path(&id), None).await;
        assert_eq!(answer.status, status, "{version}");
        assert!(answer.text.contains("No condenser configured"), "{}", answer.text);
    }
}

#[tokio::test]
async fn condensing_forgets_whole_calls_in_the_middle() {
    let bench = Bench::start().await;
    bench.script("sum", r#"[{"text": "a summary"}]"#).await;
    let call = r#"{"repeat": 12, "tool_calls": [{"name": "show_toast", "arguments": {"message": "{i}"}}]}"#;
    bench.script("s", &format!(r#"[{call}, {{"finish": "ok"}}]"#)).await;
    let agent = r#"{"agent": {"llm": {"model": "openai/s"}, "condenser":
        {"kind": "LLMSummarizingCondenser", "llm": {"model": "openai/sum", "usage_id": "c"}, "keep_first": 2}}}"#;
    let id = bench.conversation_with("s", agent).await;
    let socket = bench.session(&id).await;
    socket.until("full_state", 1).await;
    bench.message(&id, "go").await;
    socket.until("full_state", 2).await;
    assert_eq!(bench.call("POST", &format!("/api/conversations/{id}/condense"), None).await.status, 200);
    let frames = socket.until("Condensation", 1).await;
    let order = names(&frames);
    let at = order.iter().position(|name| name == "CondensationRequest").unwrap();
    assert_eq!(order[at + 1], "Condensation");
    let condensation = last_event(&frames, "Condensation");
    assert_eq!(condensation.text("summary"), Some("a summary"));
    let forgotten = condensation.get("forgotten_event_ids").unwrap().as_array().unwrap();
    let log = bench.events(&id).await;
    let seen: Vec<&Json> =
        log.iter().filter(|event| ["ActionEvent", "ObservationEvent"].contains(&name_of(event).as_str())).collect();
    let expected: Vec<Json> = seen[..16].iter().map(|event| event.get("id").unwrap().clone()).collect();
    assert_eq!(forgotten, expected);
}

#[tokio::test]
async fn secrets_are_taken_and_told_nobody() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    let path = format!("/api/conversations/{id}/secrets");
    let secrets = parse(r#"{"secrets": {"A": "hush"}}"#).unwrap();
    assert_eq!(bench.post(&path, secrets.clone()).await.status, 200);
    assert!(!bench.call("GET", &format!("/api/conversations/{id}"), None).await.text.contains("hush"));
    assert_eq!(bench.post(&path, object! {}).await.status, 422);
    assert_eq!(bench.post(&format!("/api/conversations/{NOBODY}/secrets"), secrets).await.status, 404);
}

#[tokio::test]
async fn iterations_and_tools_of_a_create_request_are_checked() {
    let bench = Bench::start().await;
    let detail = |more: &'static str| {
        let body = create_body("s", more);
        let bench = &bench;
        async move {
            let answer = bench.post("/api/conversations", body).await;
            assert_eq!(answer.status, 422, "{more}: {}", answer.text);
            answer.json().get("detail").unwrap().as_array().unwrap()[0].clone()
        }
    };
    let none = detail(r#"{"max_iterations": 0}"#).await;
    assert_eq!(none.text("type"), Some("greater_than_equal"));
    assert_eq!(none.get("loc"), Some(&vec![Json::from("body"), "max_iterations".into()].into()));
    detail(r#"{"max_iterations": -3}"#).await;
    detail(r#"{"max_iterations": 1.5}"#).await;
    detail(r#"{"max_iterations": "many"}"#).await;
    let tools = detail(r#"{"agent": {"llm": {"model": "openai/s"}, "tools": "none"}}"#).await;
    assert_eq!(tools.text("type"), Some("list_type"));
    assert_eq!(tools.get("loc"), Some(&vec![Json::from("body"), "agent".into(), "tools".into()].into()));
    let settings = r#"{"agent": null, "agent_settings": {"llm": {"model": "openai/s"}, "tools": null}}"#;
    bench.conversation_with("s", settings).await;
}

#[tokio::test]
async fn sockets_of_a_deleted_conversation_stay_open_and_silent() {
    let bench = Bench::start().await;
    let id = bench.conversation("s").await;
    let (legacy, session) = (bench.legacy(&id).await, bench.session(&id).await);
    legacy.until("full_state", 1).await;
    session.until("full_state", 1).await;
    assert_eq!(bench.call("DELETE", &format!("/api/conversations/{id}"), None).await.status, 200);
    bench.let_others_run().await;
    assert_eq!((legacy.raw().len(), session.raw().len()), (1, 2));
    for socket in [&legacy, &session] {
        socket.send(r#"{"role": "user", "content": "anyone?"}"#).await;
    }
    legacy.until("ServerErrorEvent", 1).await;
    let frames = session.until("error", 1).await;
    assert_eq!(last_event(&frames, "error").text("detail"), Some("inactive_service"));
    assert_eq!(bench.session(&id).await.ended().await.unwrap().0, 4004);
    assert_eq!(bench.call("GET", &format!("/api/conversations/{id}"), None).await.status, 404);
}
