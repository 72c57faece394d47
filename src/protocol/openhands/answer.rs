//! Answers of the REST interface: a body, or an error with a stable code.
//!
//! The key `detail` of an error body may be a text, a list (validation) or an object.

use std::borrow::Cow;

use crate::error::{ConflictPlace, Error, RequestIssue};
use crate::json::{Json, Object};
use crate::net::Answer;

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
    let detail = words(body.get("detail"));
    match status {
        401 => Error::Unauthorized,
        404 => Error::NotFound { detail },
        409 if detail.starts_with("Conversation already running") => Error::AlreadyRunning,
        409 => Error::Conflict { detail, retryable: body.flag("retryable") },
        422 => unprocessable(body.list("detail"), detail),
        429 => Error::Capacity { detail },
        400..=499 => Error::RequestRefused { status, detail },
        _ => {
            let detail = body.string("exception").unwrap_or(detail);
            Error::Server { status, detail, error_id: body.string("error_id") }
        }
    }
}

fn unprocessable(issues: Option<Vec<Json>>, words: String) -> Error {
    if let Some(issues) = issues {
        return Error::InvalidRequest { issues: issues.into_iter().map(issue).collect() };
    }
    // The server tells its refusals of client tools apart by their words only.
    let mut parts = words.split('\'');
    let (before, tool, after) = (parts.next(), parts.next().unwrap_or_default().to_owned(), parts.next());
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    if after.starts_with(" is already registered with a different parameters schema") {
        Error::ToolConflict { tool, place: ConflictPlace::Server, suggestion: None }
    } else if after.starts_with(" collides with") {
        Error::ToolCollision { tool }
    } else if before.starts_with("Duplicate client tool name") {
        Error::DuplicateTool { tool }
    } else {
        Error::RequestRefused { status: 422, detail: words }
    }
}

/// The `input` of an issue may echo what was sent, secrets among it: it is left out.
fn issue(item: Json) -> RequestIssue {
    let item = Object::of(item).unwrap_or_default();
    let segments: Vec<_> = item.list("loc").unwrap_or_default().into_iter().map(plain).collect();
    RequestIssue { path: segments.join("."), message: words(item.get("msg")) }
}

fn words(value: Option<Json>) -> String {
    let Some(value) = value else { return String::new() };
    Object::of(value).and_then(|fields| fields.string("message")).unwrap_or_else(|| plain(value))
}

/// A string without its quotes, and anything else as it came.
fn plain(value: Json) -> String {
    value.string().map_or_else(|| value.get().to_owned(), Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn error(status: u16, body: &str) -> Error {
        read(Answer::Http { status, body: body.into() }).unwrap_err()
    }

    fn details(error: &Error) -> serde_json::Value {
        serde_json::from_str(&crate::json::text(error)).unwrap()
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
        assert_eq!(details(&conflict), json!({ "tool": "show_toast", "place": "server" }));
    }

    #[test]
    fn issues_say_where_and_never_echo_what_was_sent() {
        let body = r#"{"detail":[{"loc":["body","client_tools",0,"parameters"],"msg":"bad","input":"sk-secret"}]}"#;
        let details = details(&error(422, body));
        assert_eq!(details["issues"][0]["path"], "body.client_tools.0.parameters");
        assert!(!details.to_string().contains("sk-secret"));
    }

    #[test]
    fn a_server_failure_carries_the_servers_name_for_it() {
        let body = r#"{"detail":"Internal Server Error","exception":"boom","error_id":"abc"}"#;
        let told = json!({ "status": 500, "detail": "boom", "errorId": "abc" });
        assert_eq!(details(&error(500, body)), told);
    }
}
