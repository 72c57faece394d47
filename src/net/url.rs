//! Joining URLs, without a URL library: the base comes from the app, the rest from us.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What a path segment or a query value may keep (RFC 3986, unreserved).
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes a path segment or a query value.
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, KEPT).to_string()
}

/// The base without its trailing slashes, if it is an `http` or `https` URL without credentials, query or fragment.
pub fn base(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split('/').next().unwrap_or_default();
    let plain = !authority.is_empty() && !authority.contains('@');
    let clean = !rest.contains(|c: char| c == '?' || c == '#' || c.is_whitespace() || c.is_control());
    (plain && clean).then(|| url.trim_end_matches('/'))
}

/// The same address for a WebSocket: `http` becomes `ws`, `https` becomes `wss`.
pub fn websocket(base: &str) -> String {
    base.strip_prefix("http").map_or_else(|| base.to_owned(), |rest| ["ws", rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_keeps_its_path_and_loses_its_slashes() {
        assert_eq!(base("http://localhost:8000/"), Some("http://localhost:8000"));
        assert_eq!(base("https://x.example/agent//"), Some("https://x.example/agent"));
    }

    #[test]
    fn a_base_with_credentials_query_or_another_scheme_is_refused() {
        for url in ["ftp://x", "http://", "http://u:p@x", "http://x?key=1", "http://x#f", "x", "http://a b"] {
            assert_eq!(base(url), None, "{url}");
        }
    }

    #[test]
    fn websockets_keep_the_security_of_the_base() {
        assert_eq!(websocket("http://x"), "ws://x");
        assert_eq!(websocket("https://x/p"), "wss://x/p");
    }

    #[test]
    fn segments_are_encoded_whole() {
        assert_eq!(encode("a/b c?é"), "a%2Fb%20c%3F%C3%A9");
    }
}
