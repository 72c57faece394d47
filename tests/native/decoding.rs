//! Everything that was recorded, and every kind that the protocol names, decodes.

use std::collections::BTreeSet;

use pagehand::conversation::{Command, Topic};

use crate::recording::{lines, sockets};
use crate::stage::Stage;

#[test]
fn every_kind_of_the_protocol_is_known() {
    let kinds = [
        "MessageEvent",
        "ActionEvent",
        "ObservationEvent",
        "UserRejectObservation",
        "AgentErrorEvent",
        "SystemPromptEvent",
        "ConversationStateUpdateEvent",
        "ConversationErrorEvent",
        "ServerErrorEvent",
        "PauseEvent",
        "InterruptEvent",
        "Condensation",
        "CondensationRequest",
        "CondensationSummaryEvent",
        "HookExecutionEvent",
        "StreamingDeltaEvent",
        "LLMCompletionLogEvent",
        "TokenEvent",
        "ACPToolCallEvent",
        "SecurityAnalysisEvent",
    ];
    let mut stage = Stage::ready(vec![]);
    for (seq, kind) in kinds.iter().enumerate() {
        stage.durable(i64::try_from(seq).unwrap(), &format!(r#"{{"id":"{seq}","kind":"{kind}"}}"#));
        stage.durable(i64::try_from(seq).unwrap(), &format!(r#"{{"id":null,"kind":"{kind}","new":[null]}}"#));
    }
    assert!(!stage.notices().contains(&"unknown_event"));
    assert_eq!(stage.topic(Topic::Event).len(), 2 * kinds.len());
}

#[test]
fn the_app_gets_every_recorded_event_as_it_came() {
    for recorded in sockets().iter().filter(|recorded| recorded.session) {
        let mut stage = Stage::ready(vec![]);
        let mut seen = BTreeSet::new();
        let mut expected = Vec::new();
        for frame in &recorded.frames {
            stage.frame(frame);
            let frame: serde_json::Value = serde_json::from_str(frame).unwrap();
            if let Some(event) = frame.get("event")
                && event["id"].as_str().is_none_or(|id| seen.insert(id.to_owned()))
            {
                expected.push(event.clone());
            }
        }
        let events: Vec<_> = stage.topic(Topic::Event).into_iter().cloned().collect();
        assert_eq!(events, expected, "{}", recorded.name);
    }
}

#[test]
fn every_recorded_failure_is_a_typed_error() {
    let mut codes = BTreeSet::new();
    for (file, line) in lines().iter().filter(|(_, line)| line.ch == "rest" && line.status >= 400) {
        let mut stage = Stage::new(vec![]);
        let open = stage.command(Command::Open);
        stage.answer("/server_info", 200, r#"{"version":"1.58.2"}"#);
        stage.answer("/api/conversations", line.status, line.body.as_deref().unwrap_or_default());
        let expected: &[&str] = match line.status {
            401 => &["unauthorized"],
            404 => &["not_found"],
            409 => &["already_running", "conflict"],
            422 => &["invalid_request", "request_refused", "tool_conflict", "tool_collision", "duplicate_tool"],
            429 => &["capacity"],
            400..=499 => &["request_refused"],
            _ => &["server_error"],
        };
        let code = stage.error(open);
        assert!(expected.contains(&code), "{file} {}: {} is {code}", line.case, line.status);
        codes.insert(code);
    }
    for code in [
        "unauthorized",
        "not_found",
        "tool_conflict",
        "tool_collision",
        "duplicate_tool",
        "invalid_request",
        "server_error",
        "capacity",
        "already_running",
    ] {
        assert!(codes.contains(code), "no recording shows {code}");
    }
}
