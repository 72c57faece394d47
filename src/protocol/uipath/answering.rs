//! What the agent is told about how a call ended.
//!
//! Its side loses `isError`, shows nothing of `cancelled`, and writes anything but an object in Python's notation: so there is
//! always an object, and a failure is said in words.

use serde_json::value::RawValue;

use crate::json::{self, Json, Object};

/// Issues that the agent is told, at most.
const MOST_ISSUES: usize = 20;

/// JSON text of an `endToolCall`.
pub(super) fn end_of_call(outcome: &RawValue) -> String {
    let outcome = Object::of(outcome).unwrap_or_default();
    let kind = outcome.text("kind");
    let message = || outcome.text("message");
    match kind.as_str() {
        "ok" => ["{\"output\":", &output(outcome.get("result")), "}"].concat(),
        // By the page, which was asked after the service: that a person says no there is another member's to say.
        "rejected" => error(&["The call was not allowed, so it did not run: ", &message()]),
        "missing_handler" => {
            let names = outcome.list("registered").unwrap_or_default().into_iter().filter_map(Json::string);
            let names: Vec<_> = names.collect();
            let known = if names.is_empty() {
                "None is registered.".to_owned()
            } else {
                ["Registered are: ", &names.join(", "), "."].concat()
            };
            error(&["No handler is registered for client-side tool '", &outcome.text("tool"), "'. ", &known])
        }
        "invalid_arguments" => {
            error(&["The arguments do not fit the tool's input schema, so it did not run: ", &issues(&outcome)])
        }
        "invalid_output" => error(&[
            "The tool ran, but its result does not fit its output schema and is kept back: ",
            &issues(&outcome),
        ]),
        "timed_out" => {
            let milliseconds = outcome.integer("timeout").unwrap_or_default().to_string();
            error(&["The tool did not finish within ", &milliseconds, " ms; what it began may have had an effect."])
        }
        "cancelled" => cancelled(&message()),
        "interrupted" => error(&[
            "The tool was interrupted; it may or may not have completed, so do not assume either: ",
            &message(),
        ]),
        _ => {
            let name = outcome.text("name");
            let what = if name.is_empty() { outcome.text("code") } else { name };
            error(&["The tool failed: ", &what, ": ", &message()])
        }
    }
}

/// JSON text of an `endToolCall` for what nobody wants any more.
pub(super) fn cancelled(why: &str) -> String {
    let said = said(&["The call was cancelled: ", why]);
    [r#"{"isError":true,"cancelled":true,"output":{"error":"#, &said, "}}"].concat()
}

/// JSON text of an `endToolCall` with an error in words.
pub(super) fn error(parts: &[&str]) -> String {
    [r#"{"isError":true,"output":{"error":"#, &said(parts), "}}"].concat()
}

/// JSON text of a string.
fn said(parts: &[&str]) -> String {
    json::text(&parts.concat())
}

/// A result as an object.
fn output(result: Option<Json>) -> String {
    match result.map(Json::get) {
        Some(object) if object.starts_with('{') => object.to_owned(),
        other => ["{\"result\":", other.unwrap_or("null"), "}"].concat(),
    }
}

fn issues(outcome: &Object) -> String {
    let all = outcome.list("issues").unwrap_or_default();
    let told = all.iter().take(MOST_ISSUES).filter_map(|issue| {
        let issue = Object::of(*issue)?;
        let path = issue.text("path");
        let place = if path.is_empty() { "(the whole)" } else { &path };
        Some([place, ": ", &issue.text("message")].concat())
    });
    let mut text = told.collect::<Vec<_>>().join("; ");
    if all.len() > MOST_ISSUES {
        text.push_str("; and more");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(outcome: &str) -> String {
        end_of_call(serde_json::from_str(outcome).unwrap())
    }

    #[test]
    fn a_result_is_always_an_object() {
        for (result, output) in [
            (r#"{"a":1.50}"#, r#"{"a":1.50}"#),
            ("[1]", r#"{"result":[1]}"#),
            ("true", r#"{"result":true}"#),
            (r#""abc""#, r#"{"result":"abc"}"#),
            ("null", r#"{"result":null}"#),
        ] {
            let outcome = format!(r#"{{"kind":"ok","result":{result}}}"#);
            assert_eq!(told(&outcome), format!(r#"{{"output":{output}}}"#));
        }
    }

    #[test]
    fn every_other_outcome_is_an_error_in_words() {
        for (outcome, words) in [
            (
                r#"{"kind":"missing_handler","tool":"read board","registered":["a","b"]}"#,
                "No handler is registered for client-side tool 'read board'. Registered are: a, b.",
            ),
            (
                r#"{"kind":"missing_handler","tool":"read board","registered":[]}"#,
                "No handler is registered for client-side tool 'read board'. None is registered.",
            ),
            (
                r#"{"kind":"invalid_arguments","issues":[{"path":"/a/0","message":"must be a string"},{"path":"","message":"needs b"}]}"#,
                "The arguments do not fit the tool's input schema, so it did not run: /a/0: must be a string; (the whole): needs b",
            ),
            (
                r#"{"kind":"invalid_output","issues":[]}"#,
                "The tool ran, but its result does not fit its output schema and is kept back: ",
            ),
            (
                r#"{"kind":"timed_out","timeout":30000}"#,
                "The tool did not finish within 30000 ms; what it began may have had an effect.",
            ),
            (
                r#"{"kind":"failed","code":"handler_threw","name":"TypeError","message":"no board"}"#,
                "The tool failed: TypeError: no board",
            ),
            (
                r#"{"kind":"failed","code":"invalid_schema","name":"","message":"m"}"#,
                "The tool failed: invalid_schema: m",
            ),
            (
                r#"{"kind":"interrupted","message":"its page is gone"}"#,
                "The tool was interrupted; it may or may not have completed, so do not assume either: its page is gone",
            ),
        ] {
            let expected = serde_json::json!({ "isError": true, "output": { "error": words } });
            assert_eq!(serde_json::from_str::<serde_json::Value>(&told(outcome)).unwrap(), expected);
        }
    }

    #[test]
    fn a_cancelled_call_says_so_in_both_ways_and_one_that_the_page_did_not_allow_is_an_error() {
        let text = told(r#"{"kind":"cancelled","message":"stop"}"#);
        assert_eq!(text, r#"{"isError":true,"cancelled":true,"output":{"error":"The call was cancelled: stop"}}"#);
        let text = told(r#"{"kind":"rejected","message":"no"}"#);
        assert_eq!(text, r#"{"isError":true,"output":{"error":"The call was not allowed, so it did not run: no"}}"#);
    }

    #[test]
    fn a_long_list_of_issues_is_cut() {
        let issue = r#"{"path":"/a","message":"m"}"#;
        let outcome = format!(r#"{{"kind":"invalid_arguments","issues":[{}]}}"#, [issue; 30].join(","));
        let text = told(&outcome);
        assert_eq!(text.matches("/a: m").count(), 20);
        assert!(text.contains("; and more"));
    }
}
