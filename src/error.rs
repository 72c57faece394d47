//! The one error of the house: every way something can fail, with a stable code.
//!
//! A variant carries data, never a formatted sentence about another variant's case. `Display` is one
//! sentence without payloads, keys or URLs, so that it can be logged.

use std::fmt;

use crate::json::{Members, Write, text as quoted};
use crate::report::Issue;

/// What went wrong. [`Error::code`] is stable and public; the README's table lists every code. Written, it is the
/// error's `details`: its fields, and `null` where it has none.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The app passed something unusable.
    InvalidArgument {
        /// The name of the argument or field.
        field: &'static str,
        /// The rule that it breaks.
        message: String,
    },
    /// A tool's declaration breaks a rule.
    InvalidTool(ToolFault),
    /// The name is declared already, with another schema.
    ToolConflict {
        /// The tool's name.
        tool: String,
        /// Where the other declaration is.
        place: ConflictPlace,
        /// A name that is free: the tool's with the version of its schema.
        suggestion: Option<String>,
    },
    /// The name belongs to one of the server's own tools.
    ToolCollision {
        /// The tool's name.
        tool: String,
    },
    /// The name occurs twice in one declaration.
    DuplicateTool {
        /// The tool's name.
        tool: String,
    },
    /// `runOn: "announcement"` where something could still hold the call back.
    AnnouncementRefused {
        /// The tool's name.
        tool: String,
        /// What could come in between.
        because: &'static str,
    },
    /// The server is too old, or does not say its version.
    UnsupportedServer {
        /// What the server said.
        version: String,
        /// The oldest version that works.
        minimum: &'static str,
    },
    /// The key or token is missing or wrong.
    Unauthorized,
    /// The conversation, event or route does not exist.
    NotFound {
        /// The server's words.
        detail: String,
    },
    /// The server found fields of a request invalid.
    InvalidRequest {
        /// One entry per field.
        issues: Vec<RequestIssue>,
    },
    /// The server refused a well-formed request.
    RequestRefused {
        /// The HTTP status.
        status: u16,
        /// The server's words.
        detail: String,
    },
    /// The request contradicts the server's state.
    Conflict {
        /// The server's words.
        detail: String,
        /// Whether the server says that the same request may succeed later.
        retryable: bool,
    },
    /// The agent runs already.
    AlreadyRunning,
    /// The server is at its limit.
    Capacity {
        /// The server's words.
        detail: String,
    },
    /// The server failed.
    Server {
        /// The HTTP status.
        status: u16,
        /// The server's words.
        detail: String,
        /// The server's name for this failure, to be found in its log.
        error_id: Option<String>,
    },
    /// No answer could be read: network, CORS, or a failure that the browser hides.
    Unreachable,
    /// No answer came in time. The request may have had its effect.
    RequestTimeout,
    /// The answer is not what the protocol promises.
    BadResponse {
        /// What was being asked.
        what: &'static str,
    },
    /// The agent's run ended in an error.
    ConversationFailed {
        /// The server's code.
        code: String,
        /// The server's words.
        detail: String,
    },
    /// The server answers, and can no longer load this conversation.
    ConversationUnavailable {
        /// What it said or did.
        detail: String,
    },
    /// No answer came to a message, and the log could not be read: it may be there or not.
    Unconfirmed,
    /// Calls wait for approval, and what was asked for would approve them.
    ApprovalPending,
    /// What was to be approved has its answer, or never waited.
    ApprovalAnswered,
    /// The arguments that came with an approval do not fit the schema.
    InvalidEdit {
        /// Where and why.
        issues: Vec<Issue>,
    },
    /// No tool of this name is declared.
    UnknownTool {
        /// The name as it was given.
        tool: String,
    },
    /// No such call, or it has ended.
    UnknownCall {
        /// The call's id as it was given.
        call: String,
    },
    /// The app asks for more than the page takes.
    LimitExceeded {
        /// The limit's name.
        limit: &'static str,
        /// What it is set to.
        most: usize,
    },
    /// The conversation is closed.
    Closed {
        /// What closed it.
        reason: String,
    },
}

/// One broken rule of a tool's declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFault {
    /// The tool's name as it was given.
    pub tool: String,
    /// The field, as a path from the definition: `name`, `inputSchema.properties.kind`.
    pub field: String,
    /// The rule's stable name.
    pub rule: &'static str,
    /// A sentence for the developer.
    pub message: String,
}

/// Where the declaration that contradicts a new one was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictPlace {
    /// Declared before by this app.
    Here,
    /// Declared before by anybody at the server.
    Server,
}

/// One invalid field of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestIssue {
    /// Where: segments joined by `.`.
    pub path: String,
    /// The server's words.
    pub message: String,
}

impl Error {
    /// The app passed something unusable.
    pub fn invalid(field: &'static str, rule: &str) -> Self {
        Self::InvalidArgument { field, message: rule.to_owned() }
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidArgument { .. } => "invalid_argument",
            Self::InvalidTool(_) => "invalid_tool",
            Self::ToolConflict { .. } => "tool_conflict",
            Self::ToolCollision { .. } => "tool_collision",
            Self::DuplicateTool { .. } => "duplicate_tool",
            Self::AnnouncementRefused { .. } => "announcement_refused",
            Self::UnsupportedServer { .. } => "unsupported_server",
            Self::Unauthorized => "unauthorized",
            Self::NotFound { .. } => "not_found",
            Self::InvalidRequest { .. } => "invalid_request",
            Self::RequestRefused { .. } => "request_refused",
            Self::Conflict { .. } => "conflict",
            Self::AlreadyRunning => "already_running",
            Self::Capacity { .. } => "capacity",
            Self::Server { .. } => "server_error",
            Self::Unreachable => "unreachable",
            Self::RequestTimeout => "request_timeout",
            Self::BadResponse { .. } => "bad_response",
            Self::ConversationFailed { .. } => "conversation_failed",
            Self::ConversationUnavailable { .. } => "conversation_unavailable",
            Self::Unconfirmed => "unconfirmed",
            Self::ApprovalPending => "approval_pending",
            Self::ApprovalAnswered => "approval_answered",
            Self::InvalidEdit { .. } => "invalid_edit",
            Self::UnknownTool { .. } => "unknown_tool",
            Self::UnknownCall { .. } => "unknown_call",
            Self::LimitExceeded { .. } => "limit_exceeded",
            Self::Closed { .. } => "closed",
        }
    }

    /// Whether the same request may succeed later, unchanged.
    pub fn retryable(&self) -> bool {
        match self {
            Self::AlreadyRunning
            | Self::Capacity { .. }
            | Self::Server { .. }
            | Self::Unreachable
            | Self::RequestTimeout
            | Self::LimitExceeded { .. } => true,
            Self::Conflict { retryable, .. } => *retryable,
            Self::InvalidArgument { .. }
            | Self::InvalidTool(_)
            | Self::ToolConflict { .. }
            | Self::ToolCollision { .. }
            | Self::DuplicateTool { .. }
            | Self::AnnouncementRefused { .. }
            | Self::UnsupportedServer { .. }
            | Self::Unauthorized
            | Self::NotFound { .. }
            | Self::InvalidRequest { .. }
            | Self::RequestRefused { .. }
            | Self::BadResponse { .. }
            | Self::ConversationFailed { .. }
            | Self::ConversationUnavailable { .. }
            | Self::Unconfirmed
            | Self::ApprovalPending
            | Self::ApprovalAnswered
            | Self::InvalidEdit { .. }
            | Self::UnknownTool { .. }
            | Self::UnknownCall { .. }
            | Self::Closed { .. } => false,
        }
    }

    /// Why a conversation that ended with this error is closed.
    pub fn reason(&self) -> String {
        match self {
            Self::Closed { reason } => reason.clone(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidArgument { field, message } => write!(f, "{field}: {message}"),
            Self::InvalidTool(fault) => {
                write!(f, "tool {}: {}: {}", quoted(&fault.tool), fault.field, fault.message)
            }
            Self::ToolConflict { tool, place, suggestion } => {
                match place {
                    ConflictPlace::Here => write!(f, "tool {} is declared already, with another schema", quoted(tool)),
                    ConflictPlace::Server => write!(f, "the server knows tool {} with another schema", quoted(tool)),
                }?;
                f.write_str("; a changed schema needs a new name")?;
                match suggestion {
                    Some(name) => write!(f, ", such as {}, which `versioned: true` gives it", quoted(name)),
                    None => Ok(()),
                }
            }
            Self::ToolCollision { tool } => write!(f, "{} is the name of one of the server's own tools", quoted(tool)),
            Self::DuplicateTool { tool } => write!(f, "tool {} is declared twice", quoted(tool)),
            Self::AnnouncementRefused { tool, because } => {
                write!(f, "tool {} cannot run on the announcement: {because}", quoted(tool))
            }
            Self::UnsupportedServer { version, minimum } => {
                write!(f, "the server's version is {}, and {minimum} is the oldest that works", quoted(version))
            }
            Self::Unauthorized => f.write_str("the session key is missing or wrong"),
            Self::NotFound { detail } => write!(f, "not found: {detail}"),
            Self::InvalidRequest { issues } => {
                f.write_str("the server found the request invalid")?;
                issues.first().map_or(Ok(()), |issue| write!(f, ": {}: {}", issue.path, issue.message))
            }
            Self::RequestRefused { status, detail } => write!(f, "the server refused ({status}): {detail}"),
            Self::Conflict { detail, .. } => write!(f, "the server's state forbids it: {detail}"),
            Self::AlreadyRunning => f.write_str("the agent is running already"),
            Self::Capacity { detail } => write!(f, "the server is at its limit: {detail}"),
            Self::Server { status, detail, .. } => write!(f, "the server failed ({status}): {detail}"),
            Self::Unreachable => f.write_str(
                "no answer could be read: the server is down, does not allow this origin, or failed in a way that the browser hides",
            ),
            Self::RequestTimeout => f.write_str("no answer came in time; the request may have had its effect"),
            Self::BadResponse { what } => write!(f, "the server's answer to {what} is not what the protocol promises"),
            Self::ConversationFailed { code, detail } => write!(f, "the run failed: {code}: {detail}"),
            Self::ConversationUnavailable { detail } => {
                write!(f, "the server answers, but cannot load this conversation any more: {detail}")
            }
            Self::Unconfirmed => {
                f.write_str("no answer came and the log could not be read; the message may be there or not")
            }
            Self::ApprovalPending => {
                f.write_str("calls wait for approval, and the server would take this for a yes: answer them first")
            }
            Self::ApprovalAnswered => f.write_str("this approval has its answer already, or never waited for one"),
            Self::InvalidEdit { issues } => {
                f.write_str("the changed arguments do not fit the schema")?;
                issues.first().map_or(Ok(()), |issue| write!(f, ": {}: {}", issue.path, issue.message))
            }
            Self::UnknownTool { tool } => write!(f, "no tool {} is declared", quoted(tool)),
            Self::UnknownCall { call } => write!(f, "no open call has the id {}", quoted(call)),
            Self::LimitExceeded { limit, most } => write!(f, "{limit}: {most} wait already; await some of them first"),
            Self::Closed { reason } => write!(f, "the conversation is closed: {reason}"),
        }
    }
}

impl std::error::Error for Error {}

impl Write for Error {
    fn write(&self, text: &mut String) {
        match self {
            Self::InvalidArgument { field, message } => {
                Members::of(text).set("field", field).set("message", message).end();
            }
            Self::InvalidTool(fault) => Members::of(text)
                .set("tool", &fault.tool)
                .set("field", &fault.field)
                .set("rule", &fault.rule)
                .set("message", &fault.message)
                .end(),
            Self::ToolConflict { tool, place, suggestion } => {
                let place = match place {
                    ConflictPlace::Here => "here",
                    ConflictPlace::Server => "server",
                };
                Members::of(text)
                    .set("tool", tool)
                    .set("place", &place)
                    .set_some("suggestion", suggestion.as_ref())
                    .end();
            }
            Self::ToolCollision { tool } | Self::DuplicateTool { tool } | Self::UnknownTool { tool } => {
                Members::of(text).set("tool", tool).end();
            }
            Self::AnnouncementRefused { tool, because } => {
                Members::of(text).set("tool", tool).set("because", because).end();
            }
            Self::UnsupportedServer { version, minimum } => {
                Members::of(text).set("version", version).set("minimum", minimum).end();
            }
            Self::NotFound { detail }
            | Self::Conflict { detail, .. }
            | Self::Capacity { detail }
            | Self::ConversationUnavailable { detail } => Members::of(text).set("detail", detail).end(),
            Self::InvalidRequest { issues } => Members::of(text).set("issues", issues).end(),
            Self::RequestRefused { status, detail } => {
                Members::of(text).set("status", status).set("detail", detail).end();
            }
            Self::Server { status, detail, error_id } => {
                Members::of(text).set("status", status).set("detail", detail).set("errorId", error_id).end();
            }
            Self::BadResponse { what } => Members::of(text).set("what", what).end(),
            Self::ConversationFailed { code, detail } => {
                Members::of(text).set("code", code).set("detail", detail).end();
            }
            Self::InvalidEdit { issues } => Members::of(text).set("issues", issues).end(),
            Self::UnknownCall { call } => Members::of(text).set("callId", call).end(),
            Self::LimitExceeded { limit, most } => Members::of(text).set("limit", limit).set("most", most).end(),
            Self::Closed { reason } => Members::of(text).set("reason", reason).end(),
            Self::Unauthorized
            | Self::AlreadyRunning
            | Self::Unreachable
            | Self::RequestTimeout
            | Self::Unconfirmed
            | Self::ApprovalPending
            | Self::ApprovalAnswered => text.push_str("null"),
        }
    }
}

impl Write for RequestIssue {
    fn write(&self, text: &mut String) {
        Members::of(text).set("path", &self.path).set("message", &self.message).end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each. The match in [`Error::code`] has no wildcard, so a new variant cannot be forgotten there; the count
    /// below keeps it from being forgotten here.
    fn samples() -> Vec<Error> {
        let text = String::new;
        let fault = ToolFault { tool: text(), field: text(), rule: "rule", message: text() };
        vec![
            Error::InvalidArgument { field: "url", message: text() },
            Error::InvalidTool(fault),
            Error::ToolConflict { tool: text(), place: ConflictPlace::Here, suggestion: Some(text()) },
            Error::ToolCollision { tool: text() },
            Error::DuplicateTool { tool: text() },
            Error::AnnouncementRefused { tool: text(), because: "hook" },
            Error::UnsupportedServer { version: text(), minimum: "1.28.0" },
            Error::Unauthorized,
            Error::NotFound { detail: text() },
            Error::InvalidRequest { issues: Vec::new() },
            Error::RequestRefused { status: 400, detail: text() },
            Error::Conflict { detail: text(), retryable: false },
            Error::AlreadyRunning,
            Error::Capacity { detail: text() },
            Error::Server { status: 500, detail: text(), error_id: None },
            Error::Unreachable,
            Error::RequestTimeout,
            Error::BadResponse { what: "GET" },
            Error::ConversationFailed { code: text(), detail: text() },
            Error::ConversationUnavailable { detail: text() },
            Error::Unconfirmed,
            Error::ApprovalPending,
            Error::ApprovalAnswered,
            Error::InvalidEdit { issues: Vec::new() },
            Error::UnknownTool { tool: text() },
            Error::UnknownCall { call: text() },
            Error::LimitExceeded { limit: "limit", most: 1 },
            Error::Closed { reason: text() },
        ]
    }

    #[test]
    fn every_code_is_in_the_types_and_in_the_readme() {
        let types = include_str!("wasm/types.d.ts");
        let readme = include_str!("../README.md");
        let union = types.split("export type ErrorCode =").nth(1).and_then(|rest| rest.split(';').next()).unwrap();
        let codes = include_str!("error.rs").split("pub fn code").nth(1).and_then(|rest| rest.split("    }\n").next());
        assert_eq!(codes.unwrap().matches("=> \"").count(), samples().len(), "a sample is missing");
        for error in samples() {
            let code = error.code();
            assert!(union.contains(&format!("\"{code}\"")), "{code} is not in the types");
        }
        for code in union.split('"').skip(1).step_by(2) {
            assert!(readme.contains(&format!("| `{code}` |")), "{code} is not in the README's table");
        }
    }

    #[test]
    fn the_types_know_what_each_error_holds() {
        let types = include_str!("wasm/error-details.d.ts");
        for error in samples() {
            let code = error.code();
            let start = format!("  {code}: ");
            let declared = types.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_else(|| panic!("{code}"));
            let declared = declared.trim_end_matches(" };").trim_start_matches("{ ");
            let names: Vec<_> = declared
                .split("; ")
                .filter_map(|field| field.split_once(": "))
                .map(|(name, _)| name.trim_end_matches('?'))
                .collect();
            match serde_json::from_str(&quoted(&error)).unwrap() {
                serde_json::Value::Null => assert_eq!(declared, "null;", "{code}"),
                details => {
                    let mut held: Vec<_> = details.as_object().unwrap().keys().collect();
                    held.sort_by_key(|key| names.iter().position(|name| name == key));
                    assert_eq!(held, names, "{code}");
                }
            }
        }
    }

    #[test]
    fn messages_are_one_sentence_in_lower_case_without_a_full_stop() {
        for error in samples() {
            let message = error.to_string();
            assert!(!message.is_empty() && !message.ends_with('.') && !message.contains('\n'), "{message}");
            assert!(!message.starts_with(char::is_uppercase), "{message}");
        }
    }
}
