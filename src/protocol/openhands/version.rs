//! Which server this is.

use crate::error::Error;
use crate::json::Object;

/// The first release with client tools.
const MINIMUM: &str = "1.28.0";
const WITH_CLIENT_TOOLS: Version = Version(1, 28);
/// The first release with the session socket.
const WITH_SESSION_SOCKET: Version = Version(1, 45);

/// Major and minor: no rule of the protocol looks further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Version(u32, u32);

/// The two WebSockets a server may offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Socket {
    /// `/sockets/session/{id}`: numbered frames that can be resumed.
    Session,
    /// `/sockets/events/{id}`: bare events, to be reconciled with the log.
    Legacy,
}

impl Socket {
    /// Whether a server with this socket may lose a message that comes while the agent runs: one that is older than the
    /// session socket looks for messages only between two turns.
    pub(super) fn loses_messages(self) -> bool {
        self == Self::Legacy
    }
}

/// Reads the body of `GET /server_info`. A server older than client tools is an error.
pub(super) fn choose_socket(body: &str) -> Result<Socket, Error> {
    let info = Object::read(body).ok_or(Error::BadResponse { what: "GET /server_info" })?;
    let text = info.text("version");
    match parse(&text) {
        Some(version) if version >= WITH_SESSION_SOCKET => Ok(Socket::Session),
        Some(version) if version >= WITH_CLIENT_TOOLS => Ok(Socket::Legacy),
        _ => Err(Error::UnsupportedServer { version: text, minimum: MINIMUM }),
    }
}

/// Python versions are not semantic versions (`1.59.0.dev3`): the first two numbers are what counts.
fn parse(text: &str) -> Option<Version> {
    let mut numbers = text.trim_start_matches('v').split('.').map(|part| part.parse().ok());
    Some(Version(numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(version: &str) -> Result<Socket, &'static str> {
        choose_socket(&format!(r#"{{"version":"{version}"}}"#)).map_err(|error| error.code())
    }

    #[test]
    fn the_version_picks_the_socket() {
        assert_eq!(choose("1.58.2"), Ok(Socket::Session));
        assert_eq!(choose("1.45.0"), Ok(Socket::Session));
        assert_eq!(choose("2.0.0.dev1"), Ok(Socket::Session));
        assert_eq!(choose("1.44.9"), Ok(Socket::Legacy));
        assert_eq!(choose("1.28.0"), Ok(Socket::Legacy));
    }

    #[test]
    fn older_and_nameless_servers_are_refused() {
        for version in ["1.27.9", "0.99.0", "unknown", ""] {
            assert_eq!(choose(version), Err("unsupported_server"), "{version}");
        }
        assert_eq!(choose_socket("{}").unwrap_err().code(), "unsupported_server");
        assert_eq!(choose_socket("<html>").unwrap_err().code(), "bad_response");
    }
}
