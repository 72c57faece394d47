//! Answers of the REST interface: a body, or an error with a stable code.
//!
//! The key `detail` of an error body may be a text, a list (validation) or an object.

use serde_json::Value;

use crate::error::{ConflictPlace, Error, RequestIssue};
use crate::net::Answer;

use super::object::Object;

/// The status and body of a success, or the error.
pub(super) fn read(answer: Answer) -> Result<(u16, String), Error> {
    match answer {
        Answer::Http { status, body } if (200..300).contains(&status) => Ok((status, body)),
        Answer::Http { status, body } => Err(failure(status, &body)),
        Answer::Unreachable => Err(Error::Unreachable),
        Answer::TimedOut => Err(Error::RequestTimeout),
    }
}

fn failure(status: u16, body: &str) -> Error {
    // A proxy in between may answer with HTML: then the status alone must do.
    let body = Object::read(body).unwrap_or_default();
    let given = body.value("detail");
    let detail = words(&given);
    match status {
        401 => Error::Unauthorized,
        404 => Error::NotFound { detail },
        409 if detail.starts_with("Conversation already running") => Error::AlreadyRunning,
        409 => Error::Conflict { detail, retryable: body.flag("retryable") },
        422 => unprocessable(&given, detail),
        429 => Error::Capacity { detail },
        400..=499 => Error::RequestRefused { status, detail },
        _ => {
            let detail = body.string("exception").unwrap_or(detail);
            Error::Server { status, detail, error_id: body.string("error_id") }
        }
    }
}

fn unprocessable(detail: &Value, words: String) -> Error {
    if let Value::Array(items) = detail {
        return Error::InvalidRequest { issues: items.iter().map(issue).collect() };
    }
    // The server tells its refusals of client tools apart by their words only.
    let tool = quoted(&words).to_owned();
    if words.contains("different parameters schema") {
        Error::ToolConflict { tool, place: ConflictPlace::Server }
    } else if words.contains("collides with") {
        Error::ToolCollision { tool }
    } else if words.contains("Duplicate client tool name") {
        Error::DuplicateTool { tool }
    } else {
        Error::RequestRefused { status: 422, detail: words }
    }
}

/// The `input` of an issue may echo what was sent, secrets among it: it is left out.
fn issue(item: &Value) -> RequestIssue {
    let segments = item.get("loc").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let segments: Vec<_> =
        segments.iter().map(|segment| segment.as_str().map_or_else(|| segment.to_string(), str::to_owned)).collect();
    RequestIssue { path: segments.join("."), message: item.get("msg").map(words).unwrap_or_default() }
}

fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(fields) if fields.get("message").is_some_and(Value::is_string) => {
            fields.get("message").map(words).unwrap_or_default()
        }
        other => other.to_string(),
    }
}

/// The first text between single quotes.
fn quoted(text: &str) -> &str {
    text.split('\'').nth(1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, body: &str) -> Error {
        read(Answer::Http { status, body: body.into() }).unwrap_err()
    }

    #[test]
    fn every_form_of_error_body_has_its_code() {
        for (status, body, code) in [
            (401, r#"{"detail":"Unauthorized"}"#, "unauthorized"),
            (404, r#"{"detail":"Not Found"}"#, "not_found"),
            (
                409,
                r#"{"detail":"Conversation already running. Wait for completion or pause first."}"#,
                "already_running",
            ),
            (409, r#"{"detail":"credential_binding_activation_required","retryable":true}"#, "conflict"),
            (
                422,
                r#"{"detail":[{"type":"missing","loc":["body","workspace"],"msg":"Field required","input":{}}]}"#,
                "invalid_request",
            ),
            (
                422,
                r#"{"detail":"Client tool 'x' is already registered with a different parameters schema. Use"}"#,
                "tool_conflict",
            ),
            (
                422,
                r#"{"detail":"Client tool name 'x' collides with an existing non-client tool. Use"}"#,
                "tool_collision",
            ),
            (422, r#"{"detail":"Duplicate client tool name 'x' in one registration request. Use"}"#, "duplicate_tool"),
            (422, r#"{"detail":"parent"}"#, "request_refused"),
            (422, r#"{"detail":{"message":"dangling","dangling_mcp_server_refs":[]}}"#, "request_refused"),
            (429, r#"{"detail":"Conversation run limit reached. Retry the request later."}"#, "capacity"),
            (400, r#"{"detail":"Bad Request"}"#, "request_refused"),
            (500, r#"{"detail":"Internal Server Error","exception":"boom","error_id":"abc"}"#, "server_error"),
            (503, "<html>", "server_error"),
        ] {
            assert_eq!(error(status, body).code(), code, "{body}");
        }
        assert_eq!(read(Answer::Unreachable).unwrap_err().code(), "unreachable");
        assert_eq!(read(Answer::TimedOut).unwrap_err().code(), "request_timeout");
    }

    #[test]
    fn errors_about_tools_name_the_tool() {
        let conflict = error(
            422,
            r#"{"detail":"Client tool 'show_toast' is already registered with a different parameters schema."}"#,
        );
        assert_eq!(conflict.details()["tool"], "show_toast");
        assert_eq!(conflict.details()["place"], "server");
    }

    #[test]
    fn issues_say_where_and_never_echo_what_was_sent() {
        let body = r#"{"detail":[{"loc":["body","client_tools",0,"parameters"],"msg":"bad","input":"sk-secret"}]}"#;
        let details = error(422, body).details();
        assert_eq!(details["issues"][0]["path"], "body.client_tools.0.parameters");
        assert!(!details.to_string().contains("sk-secret"));
    }

    #[test]
    fn a_server_failure_carries_the_servers_name_for_it() {
        let details = error(500, r#"{"detail":"Internal Server Error","exception":"boom","error_id":"abc"}"#).details();
        assert_eq!(details["errorId"], "abc");
        assert_eq!(details["detail"], "boom");
    }
}
