//! Arguments that are no object.

use serde_json::value::RawValue;

use crate::json::{self, Json};
use crate::tool::Issue;

use super::Outcome;

/// Whether the agent gave nothing where an object belongs: `null`, or a text without a word. Models do, where a tool asks for
/// nothing.
pub(super) fn is_nothing(arguments: &RawValue) -> bool {
    arguments.get() == "null" || Json::from(arguments).string().is_some_and(|text| text.trim().is_empty())
}

/// What a handler gets for nothing.
pub(super) fn empty() -> Option<Box<RawValue>> {
    json::raw("{}")
}

/// How a call ends whose arguments are something else, where no schema says so.
pub(super) fn no_object(arguments: &RawValue) -> Option<Outcome> {
    if arguments.get().starts_with('{') {
        return None;
    }
    let expected = json::raw(r#""object""#).unwrap_or_default();
    let (path, keyword, message) = (String::new(), "type".to_owned(), "must be of type object".to_owned());
    Some(Outcome::InvalidArguments { issues: vec![Issue { path, keyword, expected, message }] })
}
