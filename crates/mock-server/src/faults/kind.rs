//! What can go wrong.

use serde::{Deserialize, Serialize};

use super::matching::{Match, Requests};

/// What goes wrong.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    /// The socket ends after a frame: with a close code, or without a code by an abrupt end of the TCP connection.
    DropSocket {
        /// The frame after which it ends.
        after: Match,
        /// The close code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<u16>,
        /// The close reason.
        #[serde(default)]
        reason: String,
    },
    /// A handshake is answered with 403.
    RefuseSocket,
    /// A frame is sent twice.
    Duplicate {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// A frame is sent after the one that follows it.
    Reorder {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// A frame, and with it all later ones of the socket, is held back.
    Delay {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
        /// For how long.
        ms: u64,
    },
    /// A frame is never sent; the event is in the log all the same.
    Swallow {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// A request is answered with an error: 500 as an unhandled one, without CORS headers; others with them.
    Http {
        /// Which requests.
        #[serde(flatten)]
        requests: Requests,
        /// The status.
        status: u16,
        /// The body; by default the real server's for this status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<serde_json::Value>,
    },
    /// A request is handled late.
    HttpDelay {
        /// Which requests.
        #[serde(flatten)]
        requests: Requests,
        /// How late.
        ms: u64,
    },
    /// A request is handled, but its answer is lost: the connection closes.
    HangUp {
        /// Which requests.
        #[serde(flatten)]
        requests: Requests,
        /// Whether the request takes effect before the connection closes.
        #[serde(default)]
        handled: bool,
    },
    /// A right key counts as wrong.
    RejectKey,
    /// The legacy socket sends live frames before the replay, which then repeats them.
    LiveBeforeReplay {
        /// How many live frames come first.
        #[serde(default = "one")]
        frames: u64,
        /// How long to wait for them.
        #[serde(default = "two_seconds")]
        ms: u64,
    },
    /// The first frame of a socket comes late, as while a server-side tool runs.
    FirstFrameDelay {
        /// How late.
        ms: u64,
    },
    /// A socket of the session kind is closed with 1013 in place of a frame, as of one that is over 4 MiB long.
    FrameTooLarge {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// A socket of the session kind is closed with 1013 in place of a frame, as of a client that does not read.
    SlowConsumer {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// In place of a frame, and from then on, a socket does nothing at all, but stays open.
    HalfOpen {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// A conversation cannot be loaded: only `GET` of itself works, and its sockets end without a close frame.
    Poisoned {
        /// How long its sockets stay open.
        #[serde(default)]
        ms: u64,
    },
    /// There is no room for another run.
    RunLimit,
    /// The sequence number before an event belongs to none, as if that one could not be read.
    SeqGap {
        /// The event.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// An event is on the sockets before REST knows it, as before 1.45.
    PublishBeforePersist {
        /// The event.
        #[serde(rename = "match", default)]
        matching: Match,
        /// How much later REST knows it.
        ms: u64,
    },
    /// UiPath: a CONNECT is refused (`44`).
    RefuseConnect {
        /// The message.
        #[serde(default = "unauthorized")]
        message: String,
        /// `data.code`; without one there is no `data`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<u64>,
    },
    /// UiPath: the namespace is disconnected (`41`) after a frame.
    Disconnect {
        /// The frame after which that happens.
        after: Match,
    },
    /// UiPath: a socket is never pinged again from a ping on, though the server takes it for alive.
    NoPings,
    /// UiPath: an event has one argument more.
    ExtraArgument {
        /// The event.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// UiPath: an event asks for an acknowledgement.
    AskAck {
        /// The event.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// UiPath: before an event comes one of another name.
    ForeignEvent {
        /// The event.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// UiPath: before an event comes a binary one, in two frames.
    BinaryEvent {
        /// The event.
        #[serde(rename = "match", default)]
        matching: Match,
    },
    /// UiPath: an envelope has an unknown member of so many bytes.
    Huge {
        /// The event.
        #[serde(rename = "match", default)]
        matching: Match,
        /// Its length.
        bytes: usize,
    },
    /// UiPath: in the place of a frame comes this text.
    Malformed {
        /// The frame.
        #[serde(rename = "match", default)]
        matching: Match,
        /// The text.
        raw: String,
    },
}

fn one() -> u64 {
    1
}

fn two_seconds() -> u64 {
    2000
}

fn unauthorized() -> String {
    "Unauthorized".to_owned()
}
