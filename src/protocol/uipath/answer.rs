//! Answers of the REST interface: a body, or an error with a stable code. Error bodies come in several forms.

use crate::error::{Error, RequestIssue};
use crate::json::{Json, Object};
use crate::net::Answer;

/// The body of a success, empty where there is none; or the error.
pub(super) fn read(answer: Answer) -> Result<String, Error> {
    match answer {
        Answer::Http { status, body } if (200..300).contains(&status) => Ok(body),
        Answer::Http { status, body } => Err(failure(status, &body)),
        Answer::Unreachable => Err(Error::Unreachable),
        Answer::TimedOut => Err(Error::RequestTimeout),
    }
}

fn failure(status: u16, body: &str) -> Error {
    // A proxy in between may answer with HTML: then the status alone must do.
    let body = Object::read(body).unwrap_or_default();
    let detail = words(&body);
    match status {
        401 => Error::Unauthorized,
        404 => Error::NotFound { detail },
        409 => Error::Conflict { detail, retryable: false },
        429 => Error::Capacity { detail },
        400 | 422 if body.get("errors").is_some() => Error::InvalidRequest { issues: issues(&body.object("errors")) },
        400..=499 => Error::RequestRefused { status, detail },
        _ => Error::Server { status, detail, error_id: body.string("traceId") },
    }
}

/// The words of an error body, in whichever member they are.
fn words(body: &Object) -> String {
    let named = ["message", "error", "title"].into_iter().find_map(|name| body.string(name)).unwrap_or_default();
    match body.string("errorCode") {
        Some(code) if named.is_empty() => code,
        Some(code) => [&code, ": ", &named].concat(),
        None => named,
    }
}

/// One issue for each word about each field.
fn issues(errors: &Object) -> Vec<RequestIssue> {
    let mut issues = Vec::new();
    for path in errors.names() {
        let said = errors.list(path).unwrap_or_default();
        for message in said.into_iter().filter_map(Json::string) {
            issues.push(RequestIssue { path: path.to_owned(), message: message.into_owned() });
        }
    }
    issues
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(error: &Error) -> serde_json::Value {
        serde_json::from_str(&crate::json::text(error)).unwrap()
    }

    fn error(status: u16, body: &str) -> Error {
        read(Answer::Http { status, body: body.into() }).unwrap_err()
    }

    #[test]
    fn every_form_of_error_body_has_its_code() {
        for (status, body, code, said) in [
            (401, r#"{"message":"no"}"#, "unauthorized", ""),
            (403, r#"{"message":"no","errorCode":"E1","traceId":"t"}"#, "request_refused", "E1: no"),
            (404, r#"{"error":"gone","traceId":"t"}"#, "not_found", "gone"),
            (409, r#"{"title":"Conflict","status":409}"#, "conflict", "Conflict"),
            (400, r#"{"type":"t","title":"Bad","status":400}"#, "request_refused", "Bad"),
            (429, "", "capacity", ""),
            (500, r#"{"errorCode":"E2","traceId":"t"}"#, "server_error", "E2"),
            (503, "<html>", "server_error", ""),
        ] {
            let error = error(status, body);
            assert_eq!((error.code(), details(&error)["detail"].as_str().unwrap_or_default()), (code, said), "{body}");
        }
        assert_eq!(read(Answer::Unreachable).unwrap_err().code(), "unreachable");
        assert_eq!(read(Answer::TimedOut).unwrap_err().code(), "request_timeout");
        assert_eq!(read(Answer::Http { status: 204, body: String::new() }), Ok(String::new()));
    }

    #[test]
    fn invalid_fields_are_named() {
        let body = r#"{"title":"Bad","status":400,"errors":{"label":["too long","odd"],"folderId":["missing"]}}"#;
        let Error::InvalidRequest { issues } = error(400, body) else { panic!("another error") };
        let told: Vec<_> = issues.iter().map(|issue| format!("{}: {}", issue.path, issue.message)).collect();
        assert_eq!(told, ["label: too long", "label: odd", "folderId: missing"]);
    }

    #[test]
    fn a_failure_of_the_server_can_be_found_in_its_log() {
        assert_eq!(details(&error(500, r#"{"message":"m","traceId":"t"}"#))["errorId"], "t");
    }
}
