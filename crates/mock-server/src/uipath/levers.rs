//! What a test may change while the server runs: above all what is not known of the real service.

/// The levers.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a lever of its own")]
pub(super) struct Levers {
    /// Whether a session that is opened again gets what was missed since a socket of the same token was lost.
    pub(super) replay_missed: bool,
    /// Whether events for a conversation without an open session on the socket count all the same.
    pub(super) lenient_sessions: bool,
    /// Whether a client's events of an exchange go to the other sockets of the conversation.
    pub(super) echo_to_others: bool,
    /// How long `sessionStarted` takes.
    pub(super) session_delay_ms: u64,
    /// The members of `sessionStarted`'s `capabilities`; none by default.
    pub(super) capabilities: Option<serde_json::Value>,
    /// The longest message that a socket accepts and announces from now on; the configured one by default.
    pub(super) max_payload: Option<u64>,
    /// How REST words its errors: `message`, `error` or `problem`.
    pub(super) error_form: ErrorForm,
    /// Whether an uploaded file needs the bearer token.
    pub(super) upload_requires_auth: bool,
}

impl Default for Levers {
    fn default() -> Self {
        Self {
            replay_missed: false,
            lenient_sessions: false,
            echo_to_others: false,
            session_delay_ms: 0,
            capabilities: None,
            max_payload: None,
            error_form: ErrorForm::Message,
            upload_requires_auth: false,
        }
    }
}

/// The bodies of errors that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ErrorForm {
    /// `{message, errorCode, traceId}`
    Message,
    /// `{error, traceId}`
    Error,
    /// `{type, title, status, errors, traceId}`
    Problem,
}
