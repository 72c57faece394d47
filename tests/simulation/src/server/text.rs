//! The server's words: events, frames and answers as it writes them.

use std::fmt::Write;

pub const ID: &str = "7c1f0f3e-6a52-4c0c-9a38-2a3f0e4ad111";
pub const KEY: &str = "canary-5f1d";

pub fn message(number: u32, source: &str, role: &str, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"id":"e{number}","source":"{source}","llm_message":{{"role":"{role}","content":[{{"type":"text","text":{text}}}]}},"kind":"MessageEvent"}}"#
    )
}

/// An action of one of our tools; the arguments are the text of an object.
pub fn client_action(number: u32, tool: &str, arguments: &str, call: &str) -> String {
    let (open, _) = arguments.split_at(arguments.len() - 1);
    let comma = if open.len() > 1 { "," } else { "" };
    format!(
        r#"{{"id":"e{number}","source":"agent","thought":[],"action":{open}{comma}"kind":"ClientAction_{tool}"}},"tool_name":"{tool}","tool_call_id":"{call}","kind":"ActionEvent"}}"#
    )
}

pub fn server_action(number: u32, tool: &str, kind: &str, call: &str) -> String {
    format!(
        r#"{{"id":"e{number}","source":"agent","thought":[],"action":{{"message":"m","kind":"{kind}"}},"tool_name":"{tool}","tool_call_id":"{call}","kind":"ActionEvent"}}"#
    )
}

/// An action that the server found invalid.
pub fn invalid_action(number: u32, tool: &str, call: &str) -> String {
    format!(
        r#"{{"id":"e{number}","source":"agent","thought":[],"tool_name":"{tool}","tool_call_id":"{call}","kind":"ActionEvent"}}"#
    )
}

pub fn observation(number: u32, tool: &str, call: &str, action: u32, kind: &str) -> String {
    format!(
        r#"{{"id":"e{number}","source":"environment","tool_name":"{tool}","tool_call_id":"{call}","observation":{{"content":[],"is_error":false,"kind":"{kind}"}},"action_id":"e{action}","kind":"ObservationEvent"}}"#
    )
}

pub fn rejection(number: u32, tool: &str, call: &str, action: u32, reason: &str, source: &str) -> String {
    format!(
        r#"{{"id":"e{number}","source":"environment","tool_name":"{tool}","tool_call_id":"{call}","rejection_reason":"{reason}","rejection_source":"{source}","action_id":"e{action}","kind":"UserRejectObservation"}}"#
    )
}

pub fn agent_error(number: u32, tool: &str, call: &str, error: &str) -> String {
    format!(
        r#"{{"id":"e{number}","source":"agent","tool_name":"{tool}","tool_call_id":"{call}","error":"{error}","kind":"AgentErrorEvent"}}"#
    )
}

pub fn state(number: u32, key: &str, value: &str) -> String {
    format!(
        r#"{{"id":"e{number}","source":"environment","key":"{key}","value":{value},"kind":"ConversationStateUpdateEvent"}}"#
    )
}

pub fn plain(number: u32, kind: &str) -> String {
    format!(r#"{{"id":"e{number}","source":"user","kind":"{kind}"}}"#)
}

pub fn full_state(number: u32, status: &str, confirm: bool) -> String {
    let policy = policy(confirm);
    format!(
        r#"{{"id":"f{number}","source":"environment","key":"full_state","value":{{"id":"{ID}","execution_status":"{status}","confirmation_policy":{{"kind":"{policy}"}}}},"kind":"ConversationStateUpdateEvent"}}"#
    )
}

pub fn info(status: &str, confirm: bool, tools: &str) -> String {
    let policy = policy(confirm);
    format!(
        r#"{{"id":"{ID}","execution_status":"{status}","confirmation_policy":{{"kind":"{policy}"}},"client_tools":{tools},"title":null}}"#
    )
}

fn policy(confirm: bool) -> &'static str {
    if confirm { "AlwaysConfirm" } else { "NeverConfirm" }
}

pub fn page<'a>(items: impl Iterator<Item = &'a str>, next: Option<&str>) -> String {
    let mut text = r#"{"items":["#.to_owned();
    for (place, item) in items.enumerate() {
        if place > 0 {
            text.push(',');
        }
        text.push_str(item);
    }
    match next {
        Some(next) => write!(text, r#"],"next_page_id":"{next}"}}"#).unwrap(),
        None => text.push_str(r#"],"next_page_id":null}"#),
    }
    text
}

pub fn sync(from: Option<i64>, through: Option<i64>) -> String {
    let mut text = r#"{"type":"sync""#.to_owned();
    for (name, number) in [("from_seq", from), ("through_seq", through)] {
        if let Some(number) = number {
            write!(text, r#","{name}":{number}"#).unwrap();
        }
    }
    text.push('}');
    text
}

pub fn durable(seq: usize, event: &str) -> String {
    format!(r#"{{"type":"durable","seq":{seq},"event":{event}}}"#)
}

pub fn transient(event: &str) -> String {
    format!(r#"{{"type":"transient","event":{event}}}"#)
}

/// The number of an event of the log, from its id or its text.
pub fn number(text: &str) -> Option<u32> {
    let text = text.strip_prefix(r#"{"id":""#).unwrap_or(text).strip_prefix('e')?;
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..digits].parse().ok()
}
