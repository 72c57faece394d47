//! What a page takes at most, so that nothing that comes from outside can fill it.

use serde_json::value::RawValue;

/// The limits of a conversation. Each can be set by the app, under its name in JS.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of a call's arguments as JSON text.
    pub argument_bytes: usize,
    /// How deep arrays and objects may lie in each other in them.
    pub argument_depth: usize,
    /// Bytes of a result as JSON text.
    pub result_bytes: usize,
    /// Bytes of one frame from the server.
    pub frame_bytes: usize,
    /// Calls of this page that are let through and have not ended.
    pub pending_calls: usize,
    /// What the app has asked for and waits for.
    pub pending_requests: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            argument_bytes: 4 << 20,
            argument_depth: 100,
            result_bytes: 4 << 20,
            frame_bytes: 64 << 20,
            pending_calls: 1_000,
            pending_requests: 1_000,
        }
    }
}

impl Limits {
    /// The limits by their names in JS.
    pub fn by_name(&mut self) -> [(&'static str, &mut usize); 6] {
        [
            ("argumentBytes", &mut self.argument_bytes),
            ("argumentDepth", &mut self.argument_depth),
            ("resultBytes", &mut self.result_bytes),
            ("frameBytes", &mut self.frame_bytes),
            ("pendingCalls", &mut self.pending_calls),
            ("pendingRequests", &mut self.pending_requests),
        ]
    }

    /// What is too large about these arguments.
    pub(super) fn too_large(&self, arguments: &RawValue) -> Option<String> {
        let text = arguments.get();
        beyond("the arguments have", text.len(), "bytes", self.argument_bytes)
            .or_else(|| beyond("the arguments have", depth(text), "levels", self.argument_depth))
    }
}

/// A sentence about what is beyond its limit.
pub(super) fn beyond(what: &str, found: usize, of: &str, limit: usize) -> Option<String> {
    let words = || [what, " ", &found.to_string(), " ", of, ", and the limit is ", &limit.to_string()].concat();
    (found > limit).then(words)
}

/// How deep arrays and objects lie in each other in a JSON text.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_count_where_they_are_no_text() {
        for (text, levels) in [
            ("1", 0),
            ("{}", 1),
            (r#"{"a":[1,{"b":[]}],"c":{}}"#, 4),
            (r#"{"[[[[":"{{{\"[\\"}"#, 1),
            (r#"["\\",["\""]]"#, 2),
        ] {
            assert_eq!(depth(text), levels, "{text}");
        }
    }

    #[test]
    fn what_is_too_large_is_told_with_its_size_and_the_limit() {
        let limits = Limits { argument_bytes: 10, argument_depth: 2, ..Limits::default() };
        let told = |text: &str| limits.too_large(serde_json::from_str(text).unwrap());
        assert_eq!(told(r#"{"a":[1]}"#), None);
        assert_eq!(told(r#"{"a":[[]]}"#).unwrap(), "the arguments have 3 levels, and the limit is 2");
        assert_eq!(told(r#"{"a":12345}"#).unwrap(), "the arguments have 11 bytes, and the limit is 10");
    }
}
