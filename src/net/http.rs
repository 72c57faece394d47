//! HTTP requests and answers as data.

use super::Millis;

/// Names one request of one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u32);

/// The methods in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `PATCH`
    Patch,
    /// `DELETE`
    Delete,
}

impl Method {
    /// The method as it is written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// A request. It has no `Debug`: headers carry keys.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The whole URL.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(&'static str, String)>,
    /// JSON text.
    pub body: Option<String>,
    /// How long to wait for the answer.
    pub timeout: Millis,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The server answered.
    Http {
        /// The HTTP status.
        status: u16,
        /// The body, decoded as UTF-8.
        body: String,
    },
    /// No answer could be read.
    Unreachable,
    /// No answer came within the request's timeout.
    TimedOut,
}
