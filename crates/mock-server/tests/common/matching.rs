//! Compares what the mock says with what the real server said: same keys in the same order, same values but for ids,
//! times, serial numbers and the like.

use std::collections::HashMap;

use pagehand_mock_server::json::{Json, Object};

/// Members whose values have nothing to say.
const NOISE: [&str; 9] = [
    "latency",
    "uptime",
    "idle_time",
    "python_version",
    "usable_tools",
    "error_id",
    "updated_at",
    "base_url",
    // A set: in any order.
    "forgotten_event_ids",
];

/// Pairs of recorded and mock values that stand for the same thing.
#[derive(Default)]
pub struct Matcher {
    twins: HashMap<String, String>,
    back: HashMap<String, String>,
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && text.matches('-').count() == 4 && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}

fn is_time(text: &str) -> bool {
    let shape = |at: usize, wanted: char| text.chars().nth(at) == Some(wanted);
    text.len() >= 19 && shape(4, '-') && shape(7, '-') && shape(10, 'T') && shape(13, ':') && shape(16, ':')
}

/// Serial numbers of the scripted LLM count over all cases of a recording.
fn without_serials(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) =
        ["call_", "chatcmpl-scripted-"].iter().filter_map(|mark| Some(rest.find(mark)? + mark.len())).min()
    {
        out.push_str(&rest[..at]);
        rest = rest[at..].trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out.push_str(rest);
    // Addresses of Python objects.
    match out.find(" at 0x") {
        Some(at) => out[..at].to_owned(),
        None => out,
    }
}

impl Matcher {
    /// The mock's word for a recorded id or time.
    pub fn translate(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for (recorded, mock) in &self.twins {
            out = out.replace(recorded, mock);
            out = out.replace(&recorded.replace(':', "%3A"), &mock.replace(':', "%3A"));
            if is_uuid(recorded) {
                out = out.replace(&recorded.replace('-', ""), &mock.replace('-', ""));
            }
        }
        out
    }

    pub fn pair(&mut self, recorded: &str, mock: &str, place: &str) {
        let known = self.twins.entry(recorded.to_owned()).or_insert_with(|| mock.to_owned());
        assert_eq!(known, mock, "{place}: {recorded} stands for something else");
        let known = self.back.entry(mock.to_owned()).or_insert_with(|| recorded.to_owned());
        assert_eq!(known, recorded, "{place}: {mock} stands for something else");
    }

    pub fn same(&mut self, recorded: &Json, mock: &Json, place: &str) {
        match (recorded, mock) {
            (Json::Object(recorded), Json::Object(mock)) => self.same_members(recorded, mock, place),
            (Json::Array(recorded), Json::Array(mock)) => {
                assert_eq!(recorded.len(), mock.len(), "{place}: items\n  recorded {recorded:?}\n  mock {mock:?}");
                for (index, (recorded, mock)) in recorded.iter().zip(mock).enumerate() {
                    self.same(recorded, mock, &format!("{place}[{index}]"));
                }
            }
            (Json::Text(recorded), Json::Text(mock)) => self.same_text(recorded, mock, place),
            (recorded, mock) => assert_eq!(recorded, mock, "{place}"),
        }
    }

    fn same_members(&mut self, recorded: &Object, mock: &Object, place: &str) {
        let keys = |object: &Object| object.keys().map(|key| self.translate(key)).collect::<Vec<_>>();
        assert_eq!(keys(recorded), keys(mock), "{place}: keys");
        // Ids first: members of an event refer to each other.
        for ((key, recorded), (_, mock)) in recorded.iter().zip(mock.iter()) {
            if !NOISE.contains(&key) {
                self.same(recorded, mock, &format!("{place}.{key}"));
            }
        }
    }

    fn same_text(&mut self, recorded: &str, mock: &str, place: &str) {
        if recorded.contains(" cut, ") && recorded.starts_with('[') {
            return;
        }
        if is_uuid(recorded) && is_uuid(mock) {
            return self.pair(recorded, mock, place);
        }
        if is_time(recorded) && is_time(mock) {
            self.twins.entry(recorded.to_owned()).or_insert_with(|| mock.to_owned());
            return;
        }
        if place.ends_with("persistence_dir") {
            assert_eq!(self.translate(recorded), mock, "{place}");
            return;
        }
        assert_eq!(without_serials(&self.translate(recorded)), without_serials(mock), "{place}");
    }
}
