//! Samples of everything that the core tells an app, and of every kind of event that was recorded, as TypeScript literals:
//! `tsc` holds them against `types.d.ts`.
//!
//! The files are written by these tests; when one differs from what is committed its test fails. Run them with
//! `UPDATE_SAMPLES=1` to write them anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use pagehand::call::Settled;
use pagehand::conversation::{Command, Topic};
use serde_json::Value;

use crate::recording::sockets;
use crate::stage::{Stage, ack, action, full_state, status, tool, tool_with};

const LEVEL: &str = r#"{"type":"object","properties":{"level":{"enum":["info","warn"]}}}"#;

/// Stages that together tell everything.
fn stages() -> Vec<Stage> {
    let mut all = Vec::new();
    for (settled, arguments) in [
        (Settled::Returned(r#"{"tasks":[]}"#.into()), r#"{"level":"info"}"#),
        (Settled::Threw { name: "TypeError".into(), message: "boom".into() }, "{}"),
        (Settled::NotSerializable { message: "cyclic".into() }, "{}"),
        (Settled::Returned("1".into()), r#"{"level":"zzz"}"#),
    ] {
        let output = r#""hasHandler":true,"outputSchema":{"type":["object","number"]}"#;
        let mut stage = Stage::ready(vec![tool_with("t", LEVEL, output)]);
        stage.returns = Some(settled);
        stage.durable(0, &action("a", "t", arguments));
        stage.durable(1, &ack("a"));
        all.push(stage);
    }
    let mut stage = Stage::ready(vec![
        tool_with("t", LEVEL, r#""hasHandler":true,"outputSchema":{"type":"null"},"timeout":5"#),
        tool("broken", r#"{"type":"object","properties":7,"properties":{"a":{"type":"strin"}}}"#),
    ]);
    stage.returns = Some(Settled::Returned("1".into()));
    stage.durable(0, &action("a", "t", "{}"));
    stage.durable(1, &ack("a"));
    stage.returns = None;
    for id in ["late", "cancelled"] {
        stage.frame(&format!(r#"{{"type":"durable","event":{}}}"#, action(id, "t", "{}")));
        stage.frame(&format!(r#"{{"type":"durable","event":{}}}"#, ack(id)));
    }
    stage.cancel("cancelled");
    stage.wait();
    stage.frame(&format!(r#"{{"type":"durable","event":{}}}"#, action("gone", "gone", "{}")));
    stage.frame(&format!(r#"{{"type":"durable","event":{}}}"#, ack("gone")));
    stage.frame(&format!(r#"{{"type":"durable","event":{}}}"#, action("asked", "t", "{}")));
    stage.durable(9, &status("w", "waiting_for_confirmation"));
    stage.durable(10, r#"{"id":"r","kind":"UserRejectObservation","tool_name":"t","tool_call_id":"tc_asked","action_id":"asked","rejection_reason":"no"}"#);
    stage.durable(11, &ack("asked"));
    stage.frame(&format!(r#"{{"type":"durable","event":{}}}"#, action("taken", "t", "{}")));
    stage.durable(
        12,
        r#"{"id":"ae","kind":"AgentErrorEvent","tool_name":"t","tool_call_id":"tc_taken","error":"interrupted"}"#,
    );
    for word in ["running", "paused", "idle", "stuck", "deleting", "error", "finished", "levitating"] {
        stage.durable(13, &status(word, word));
    }
    stage.durable(14, r#"{"id":"ce","kind":"ConversationErrorEvent","code":"MaxIterationsReached","detail":"500"}"#);
    stage.durable(15, r#"{"id":"m","kind":"MessageEvent","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"hi"}]}}"#);
    stage.frame(r#"{"type":"delta","item_id":"i","kind":"text","content":"hel"}"#);
    stage.frame(r#"{"type":"delta","kind":"reasoning","content":"lo"}"#);
    stage.frame(r#"{"type":"error","code":"ValidationError","detail":"d"}"#);
    stage.frame("nonsense");
    stage.lose_socket(1006);
    stage.command(Command::Close);
    all.push(stage);
    all
}

fn samples() -> String {
    let mut shapes: BTreeMap<String, (Topic, Value)> = BTreeMap::new();
    for (topic, value) in stages().into_iter().flat_map(|stage| stage.events) {
        let keys: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        let words = ["state", "status", "code", "kind"].map(|key| value[key].as_str().unwrap_or_default().to_owned());
        let outcome = [&value["outcome"]["kind"], &value["outcome"]["code"]].map(ToString::to_string);
        let shape = format!("{} {keys:?} {words:?} {outcome:?}", topic.as_str());
        shapes.entry(shape).or_insert((topic, value));
    }
    let mut text = String::from(
        "// Written by the test `samples` from what the core really tells. Not to be edited.\n\
         import type { ApprovalTold, ConversationEvents, HistoryPage, TurnEnd } from \"../../src/wasm/types.d.ts\";\n\n\
         export const samples = [\n",
    );
    for (topic, value) in shapes.into_values().filter(|(topic, _)| *topic != Topic::Event) {
        match topic {
            // The facade makes a request of it that can be answered.
            Topic::Approval => writeln!(text, "  {value} satisfies ApprovalTold,").unwrap(),
            _ => writeln!(text, "  {value} satisfies ConversationEvents[{:?}],", topic.as_str()).unwrap(),
        }
    }
    for end in turn_ends() {
        writeln!(text, "  {end} satisfies TurnEnd,").unwrap();
    }
    text.push_str("  {\"events\":[],\"next\":null} satisfies HistoryPage,\n];\n");
    text
}

fn turn_ends() -> Vec<Value> {
    let mut stage = Stage::ready(vec![]);
    let idle = stage.command(Command::Idle);
    stage.send("x");
    let failed = stage.command(Command::Idle);
    stage.durable(0, &status("s", "running"));
    stage.durable(1, r#"{"id":"ce","kind":"ConversationErrorEvent","code":"c","detail":"d"}"#);
    stage.durable(2, &full_state("f", "error"));
    [idle, failed].map(|operation| stage.settled[&operation].clone().unwrap()).into()
}

/// The shortest recorded event of each kind.
fn recorded() -> String {
    let mut shortest: BTreeMap<String, String> = BTreeMap::new();
    for frame in sockets().into_iter().flat_map(|socket| socket.frames) {
        let frame: Value = serde_json::from_str(&frame).unwrap();
        let event = frame.get("event").unwrap_or(&frame);
        let (Some(kind), text) = (event["kind"].as_str(), event.to_string()) else { continue };
        // The socket's own `delta` frames have a `kind`, too.
        if event.get("id").is_some() && shortest.get(kind).is_none_or(|known| text.len() < known.len()) {
            shortest.insert(kind.to_owned(), text);
        }
    }
    let mut text = String::from(
        "// Written by the test `samples` from the recordings of the real server. Not to be edited.\n\
         import type { OpenHandsEvent } from \"../../src/wasm/types.d.ts\";\n\n\
         type ReadOnly<T> = T extends object ? { readonly [P in keyof T]: ReadOnly<T[P]> } : T;\n\
         type Known<K> = ReadOnly<Extract<OpenHandsEvent, { kind: K }>>;\n",
    );
    for (kind, event) in shortest {
        // Not a fresh literal where it is checked, so that fields which the types leave out are no errors.
        write!(text, "\nconst a{kind} = {event} as const;\na{kind} satisfies Known<{kind:?}>;\n").unwrap();
    }
    text
}

fn compare(name: &str, now: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/types").join(name);
    if std::env::var_os("UPDATE_SAMPLES").is_some() {
        std::fs::write(&file, now).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == now, "{name}: run with UPDATE_SAMPLES=1 and look at the difference");
}

#[test]
fn the_samples_for_tsc_are_what_the_core_tells() {
    compare("samples.ts", &samples());
}

#[test]
fn the_events_for_tsc_are_what_was_recorded() {
    compare("recorded.ts", &recorded());
}
