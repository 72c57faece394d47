//! How one value differs from another.

use serde_json::value::RawValue;

use super::{Json, Members, Object, Value, Write};

/// Deeper differences are told as a difference of the whole.
const DEPTH: u8 = 32;

/// So are those of longer lists and of objects with more members: what is told stays of the size of what it is about.
const WIDE: usize = 1_000;

/// One difference. The JSON is `Edit` of `types.d.ts`.
#[derive(Debug, Clone)]
pub struct Edit {
    /// Where: a JSON Pointer.
    pub path: String,
    /// What was there.
    pub from: Option<Box<RawValue>>,
    /// What is there.
    pub to: Option<Box<RawValue>>,
}

impl Write for Edit {
    fn write(&self, text: &mut String) {
        let mut members = Members::of(text);
        members.set("path", &self.path).set_some("from", self.from.as_ref()).set_some("to", self.to.as_ref()).end();
    }
}

/// All differences, in the order of what was, then of what is new.
pub fn edits<'a>(from: Option<Json<'a>>, to: impl Into<Json<'a>>) -> Vec<Edit> {
    let mut all = Vec::new();
    compare(DEPTH, String::new(), from, Some(to.into()), &mut all);
    all
}

fn compare(depth: u8, path: String, from: Option<Json>, to: Option<Json>, all: &mut Vec<Edit>) {
    if let (Some(from), Some(to)) = (from, to) {
        if from.get() == to.get() || Value::read(from).is_some_and(|from| Value::read(to) == Some(from)) {
            return;
        }
        if let Some(depth) = depth.checked_sub(1) {
            if let (Some(old), Some(new)) = (Object::of(from), Object::of(to))
                && old.names().chain(new.names()).nth(WIDE).is_none()
            {
                for name in old.names().chain(new.names().filter(|name| !old.contains(name))) {
                    let path = [&path, "/", &name.replace('~', "~0").replace('/', "~1")].concat();
                    compare(depth, path, old.raw(name), new.raw(name), all);
                }
                return;
            }
            if let (Some(old), Some(new)) = (from.items(), to.items())
                && old.len() == new.len()
                && old.len() <= WIDE
            {
                for (at, (old, new)) in old.into_iter().zip(new).enumerate() {
                    compare(depth, [&path, "/", &at.to_string()].concat(), Some(old), Some(new), all);
                }
                return;
            }
        }
    }
    all.push(Edit { path, from: from.map(Json::to_raw), to: to.map(Json::to_raw) });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(from: &str, to: &str) -> serde_json::Value {
        serde_json::from_str(&crate::text(&edits(Json::read(from), Json::read(to).unwrap()))).unwrap()
    }

    #[test]
    fn what_is_the_same_is_no_edit_however_it_is_written() {
        assert_eq!(told(r#"{"a":1,"b":[2]}"#, r#"{ "b":[2.0], "a":1 }"#), serde_json::json!([]));
    }

    #[test]
    fn members_that_changed_came_and_went_are_told_by_their_path() {
        let edits = told(
            r#"{"title":"a","x/y":1,"due":null,"tags":["p","q"]}"#,
            r#"{"title":"b","tags":["p","r"],"due":null,"new":{}}"#,
        );
        let expected = serde_json::json!([
            { "path": "/title", "from": "a", "to": "b" },
            { "path": "/x~1y", "from": 1 },
            { "path": "/tags/1", "from": "q", "to": "r" },
            { "path": "/new", "to": {} },
        ]);
        assert_eq!(edits, expected);
    }

    #[test]
    fn lists_of_another_length_and_values_of_another_type_are_told_whole() {
        assert_eq!(
            told(r#"{"a":[1]}"#, r#"{"a":[1,2]}"#),
            serde_json::json!([{ "path": "/a", "from": [1], "to": [1, 2] }])
        );
        assert_eq!(told("{}", "[]"), serde_json::json!([{ "path": "", "from": {}, "to": [] }]));
    }

    #[test]
    fn what_is_very_wide_is_told_whole_and_soon() {
        let list = |last: u32| ["[", &"1,".repeat(500_000), &last.to_string(), "]"].concat();
        assert_eq!(told(&list(1), &list(2)).as_array().unwrap().len(), 1);
        let object = |value: u32| {
            let members: Vec<_> = (0..200_000).rev().map(|n| format!(r#""{n:06}":{value}"#)).collect();
            ["{", &members.join(","), "}"].concat()
        };
        assert_eq!(told(&object(1), &object(2)).as_array().unwrap().len(), 1);
        assert_eq!(told(&object(1), &object(1)), serde_json::json!([]));
    }

    #[test]
    fn what_is_very_deep_is_told_where_reading_ends() {
        let deep = |end: &str| [&r#"{"a":"#.repeat(100), end, &"}".repeat(100)].concat();
        assert_eq!(told(&deep("1"), &deep("2"))[0]["path"], "/a".repeat(32));
    }
}
