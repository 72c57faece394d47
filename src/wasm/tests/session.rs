//! The loop: sockets, timers, re-entrancy, closing.

use std::rc::Rc;

use wasm_bindgen::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

use super::stage::{Stage, function, js, met, pause, replace};
use crate::conversation::{Command, Content, OperationId};
use crate::net::Millis;
use crate::wasm::clock;

fn send(text: &str) -> Command {
    Command::Send { content: Content::text(text).unwrap(), run: true, approve: false }
}

#[wasm_bindgen_test]
async fn a_socket_is_opened_spoken_to_and_heard() {
    let stage = Stage::new(&[]);
    stage.open().await;
    stage.socket_does("message", "{ data: 'one' }");
    stage.socket_does("message", "{ data: new ArrayBuffer(4) }");
    stage.socket_does("error", "{}");
    stage.socket_does("close", "{ code: 4001, reason: 'who are you' }");
    assert_eq!(stage.seen(), ["opened", "frame one", "frame ", "closed 4001 who are you"]);
    let log = stage.socket_log();
    assert_eq!(log[..5], ["new ws://stage.invalid/", "+open", "+message", "+close", "send hello"]);
    assert!(log.contains(&"-close".to_owned()), "{log:?}");
    assert!(stage.log().iter().any(|line| line.starts_with("settle 1 ")));
}

#[wasm_bindgen_test]
async fn a_closed_socket_is_silent() {
    let stage = Stage::new(&[]);
    stage.open().await;
    stage.socket_does("message", "{ data: 'close' }");
    stage.socket_does("message", "{ data: 'late' }");
    stage.socket_does("close", "{ code: 1000, reason: '' }");
    assert_eq!(stage.seen(), ["opened", "frame close"]);
    assert_eq!(stage.socket_log()[5..], ["-open", "-message", "-close", "close 1000"]);
}

#[wasm_bindgen_test]
async fn a_text_for_a_socket_that_is_not_open_goes_nowhere() {
    let stage = Stage::new(&[]);
    stage.driver.ask(OperationId(1), Command::Open);
    stage.connecting().await;
    // Opened for the core, and closing by the time it speaks.
    function("", "const s = WebSocket.all.at(-1); s.readyState = 2; s.dispatchEvent(new Event('open'))")
        .call0(&JsValue::UNDEFINED)
        .unwrap();
    assert!(!stage.socket_log().contains(&"send hello".to_owned()));
}

#[wasm_bindgen_test]
async fn a_socket_that_cannot_be_made_is_a_closed_one() {
    let stage = Stage::new(&[]);
    let _refused = replace("WebSocket", &js("class { constructor() { throw 'not even an error' } }"));
    stage.driver.ask(OperationId(1), Command::Open);
    met(|| !stage.seen().is_empty()).await;
    assert_eq!(stage.seen(), ["closed 1006 the socket could not be made"]);
}

#[wasm_bindgen_test]
async fn a_listener_that_calls_back_is_queued() {
    let stage = Stage::new(&[]);
    let driver = Rc::clone(&stage.driver);
    let back = Closure::<dyn Fn(String)>::new(move |topic: String| {
        if topic == "tools" {
            driver.ask(OperationId(2), send("from a listener"));
            driver.abandon(OperationId(99));
        }
    });
    stage.on_emit(back.as_ref());
    stage.open().await;
    let log = stage.log();
    let place = |start: &str| log.iter().position(|line| line.starts_with(start)).unwrap();
    // The listener ran inside the opening, and what it asked for came after the opening was done.
    assert!(place("tools") < place("settle 1"), "{log:?}");
    assert!(place("settle 1") < place("settle 2"), "{log:?}");
    stage.on_emit(&function("", ""));
}

#[wasm_bindgen_test]
async fn a_listener_that_throws_stops_nothing() {
    let stage = Stage::new(&[]);
    let _quiet = replace("console", &js("{ ...console, error() {} }"));
    stage.on_emit(&function("", "throw undefined"));
    stage.open().await;
    assert!(stage.log().iter().any(|line| line.starts_with("settle 1 ")));
}

#[wasm_bindgen_test]
async fn a_handler_runs_in_a_task_of_its_own_and_settles() {
    let stage = Stage::new(&[("add", function("args", "globalThis.ran = true; return args.n + 1"))]);
    stage.open().await;
    stage.socket_does("message", "{ data: 'call add' }");
    assert!(js("globalThis.ran").is_undefined());
    let log = stage.told(1, "\"outcome\"").await.join("\n");
    assert!(js("globalThis.ran").is_truthy());
    assert!(log.contains(r#""outcome":{"kind":"ok","result":2}"#), "{log}");
}

#[wasm_bindgen_test]
async fn a_running_call_keeps_its_handler_when_it_is_replaced() {
    let slow = function("args", "return new Promise((done) => { globalThis.finish = () => done('old') })");
    let stage = Stage::new(&[("slow", slow)]);
    stage.open().await;
    stage.socket_does("message", "{ data: 'call slow' }");
    while js("globalThis.finish").is_undefined() {
        pause(1).await;
    }
    let definition = r#"{"name":"slow","description":"d","hasHandler":true}"#;
    let tool = crate::tool::Tool::from_json(definition).unwrap();
    stage.driver.declaring(OperationId(2), function("", "return 'new'"));
    stage.driver.ask(OperationId(2), Command::Declare(tool));
    stage.socket_does("message", "{ data: 'call slow' }");
    stage.told(1, "\"outcome\"").await;
    js("finish()");
    let log = stage.told(2, "\"outcome\"").await;
    let results: Vec<_> = log.iter().filter(|line| line.contains("\"outcome\"")).collect();
    assert!(results[0].contains("call-2") && results[0].contains("\"new\""), "{results:?}");
    assert!(results[1].contains("call-1") && results[1].contains("\"old\""), "{results:?}");
}

#[wasm_bindgen_test]
async fn a_refused_declaration_changes_no_handler() {
    let stage = Stage::new(&[("kept", function("", "return 'old'"))]);
    stage.open().await;
    let other =
        r#"{"name":"kept","description":"d","inputSchema":{"type":"object","minProperties":1},"hasHandler":true}"#;
    let tool = crate::tool::Tool::from_json(other).unwrap();
    stage.driver.declaring(OperationId(2), function("", "return 'new'"));
    stage.driver.ask(OperationId(2), Command::Declare(tool));
    assert!(stage.log().contains(&"fail 2 tool_conflict".to_owned()), "{:?}", stage.log());
    stage.socket_does("message", "{ data: 'call kept' }");
    stage.told(1, r#""result":"old""#).await;
}

#[wasm_bindgen_test]
async fn cancelling_aborts_the_signal_and_a_handler_may_close_from_within() {
    let body = "return new Promise((done) => { context.signal.addEventListener('abort', () => {
        globalThis.reason = context.signal.reason; done('late') }); globalThis.waits = true })";
    let stage = Stage::new(&[("wait", function("args, context", body))]);
    stage.open().await;
    stage.socket_does("message", "{ data: 'call wait' }");
    while js("globalThis.waits").is_undefined() {
        pause(1).await;
    }
    let call = crate::call::CallId::new("call-1");
    stage.driver.ask(OperationId(2), Command::Cancel { call, reason: "enough".into() });
    assert_eq!(js("reason.name + ': ' + reason.message").as_string().unwrap(), "AbortError: enough");
    assert!(js("reason instanceof DOMException").is_truthy());
    stage.driver.ask(OperationId(3), Command::Close);
    let log = stage.told(1, r#""kind":"cancelled""#).await;
    assert!(log.iter().any(|line| line.starts_with("settle 3")), "{log:?}");
}

#[wasm_bindgen_test]
async fn the_timer_follows_the_core_and_stops_with_the_session() {
    let stage = Stage::new(&[]);
    stage.open().await;
    let later = Millis(clock::now().0 + 20);
    stage.deadline.set(Some(later));
    stage.socket_does("message", "{ data: 'arm' }");
    while stage.seen().len() < 3 {
        pause(1).await;
    }
    assert_eq!(stage.seen(), ["opened", "frame arm", "tick"]);

    stage.deadline.set(Some(Millis(clock::now().0 + 10)));
    stage.socket_does("message", "{ data: 'arm' }");
    stage.driver.stop();
    // A timer that is set later and fires later: by then the stopped one would have fired.
    pause(40).await;
    assert_eq!(stage.seen(), ["opened", "frame arm", "tick", "frame arm"]);
}

#[wasm_bindgen_test]
fn a_wait_beyond_what_timers_can_do_is_cut() {
    assert_eq!(clock::wait(Millis(u64::MAX)), 0x7fff_ffff);
    assert_eq!(clock::wait(Millis(5)), 5);
}

#[wasm_bindgen_test]
async fn a_stopped_session_hears_nothing() {
    let stage = Stage::new(&[]);
    stage.open().await;
    stage.driver.stop();
    stage.socket_does("message", "{ data: 'late' }");
    assert_eq!(stage.seen(), ["opened"]);
    assert_eq!(stage.socket_log().last().unwrap(), "close 1000");
}
