//! Query strings.

/// The parameters of a query, decoded.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn read(query: &str) -> Self {
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(key), decode(value))
        });
        Self(pairs.collect())
    }

    /// All values of `key`.
    pub(crate) fn all(&self, key: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The last value of `key`.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// Undoes percent-encoding; a `+` is a space, as in the real server.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let decoded = hex.filter(|_| byte == b'%').and_then(|pair| u8::from_str_radix(pair, 16).ok());
        rest = if let Some(value) = decoded {
            bytes.push(value);
            tail.get(2..).unwrap_or_default()
        } else {
            bytes.push(if byte == b'+' { b' ' } else { byte });
            tail
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
