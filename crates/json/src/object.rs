//! JSON objects as others send them, read leniently: an absent member, a null and a value of an unexpected type are the
//! same. Members stay as they came, in their order, with their values as text: numbers keep all their digits and `__proto__`
//! is a name like any other.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{Json, Members, Value, raw};

/// Names and the text of values.
#[derive(Debug, Clone, Default)]
pub struct Object<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Object<'a> {
    /// Reads an object; `None` when the text is anything else.
    pub fn read(text: &'a str) -> Option<Self> {
        Json::read(text).and_then(Self::of)
    }

    /// The object that a value is; `None` when it is anything else.
    pub fn of(value: impl Into<Json<'a>>) -> Option<Self> {
        value.into().members().map(Self)
    }

    /// The value of a member as text, unless it is null.
    pub fn get(&self, name: &str) -> Option<Json<'a>> {
        self.raw(name).filter(|value| value.get() != "null")
    }

    /// The value of a member as text, be it null.
    pub fn raw(&self, name: &str) -> Option<Json<'a>> {
        self.0.iter().rfind(|(member, _)| member == name).map(|(_, value)| *value)
    }

    /// The names of all members.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_ref())
    }

    /// Whether a member is there, be it null.
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|(member, _)| member == name)
    }

    /// A string.
    pub fn string(&self, name: &str) -> Option<String> {
        self.get(name)?.string().map(Cow::into_owned)
    }

    /// A string, or the empty one.
    pub fn text(&self, name: &str) -> String {
        self.string(name).unwrap_or_default()
    }

    /// An integer, however it is written: `2.0` is one.
    pub fn integer(&self, name: &str) -> Option<i64> {
        let text = self.get(name)?.get();
        text.strip_suffix(".0").unwrap_or(text).parse().ok()
    }

    /// `true` or `false`.
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.get(name)?.get() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Whether a member is `true`.
    pub fn flag(&self, name: &str) -> bool {
        self.bool(name) == Some(true)
    }

    /// An object, or the empty one.
    #[must_use]
    pub fn object(&self, name: &str) -> Self {
        self.inside(name).unwrap_or_default()
    }

    /// What a member contains, if it is there: nothing, where it is no object.
    pub fn inside(&self, name: &str) -> Option<Self> {
        self.get(name).map(|value| Self::of(value).unwrap_or_default())
    }

    /// The items of a list.
    pub fn list(&self, name: &str) -> Option<Vec<Json<'a>>> {
        self.get(name)?.items()
    }

    /// Any value, with what is in it.
    pub fn value(&self, name: &str) -> Value {
        self.get(name).and_then(Value::read).unwrap_or(Value::Null)
    }

    /// Sets a member, in its place if it is there.
    pub fn set(&mut self, name: &'static str, value: impl Into<Json<'a>>) {
        let value = value.into();
        match self.0.iter_mut().rfind(|(member, _)| member == name) {
            Some((_, member)) => *member = value,
            None => self.0.push((name.into(), value)),
        }
    }

    /// Gives a member another name.
    pub fn rename(&mut self, from: &str, to: &'static str) {
        for (name, _) in &mut self.0 {
            if name == from {
                *name = to.into();
            }
        }
    }

    /// Drops a member, and those that are null.
    #[must_use]
    pub fn without_nulls_and(mut self, dropped: &str) -> Self {
        self.0.retain(|(name, value)| name != dropped && value.get() != "null");
        self
    }

    /// The object's text.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut members = Members::of(&mut text);
        for (name, value) in &self.0 {
            members.set(name, value);
        }
        members.end();
        text
    }

    /// The same as a value.
    pub fn to_raw(&self) -> Box<RawValue> {
        raw(&self.to_text()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_order_digits_and_odd_names() {
        let text = r#"{"z":123456789012345678901234567890,"__proto__":{"a":1},"":2.0,"é\n":"\u00e9"}"#;
        assert_eq!(Object::read(text).unwrap().to_text(), text);
    }

    #[test]
    fn absent_null_and_of_another_type_are_the_same() {
        let object = Object::read(r#"{"null":null,"number":7,"list":[1]}"#).unwrap();
        for name in ["absent", "null", "number", "list"] {
            assert_eq!((object.string(name), object.text(name)), (None, String::new()), "{name}");
            assert!(object.object(name).0.is_empty(), "{name}");
        }
        assert_eq!(object.list("number").map(|items| items.len()), None);
    }

    #[test]
    fn integers_may_be_written_as_floats() {
        let object = Object::read(r#"{"a":2,"b":2.0,"c":2.5,"d":-1,"e":"2"}"#).unwrap();
        assert_eq!(
            ["a", "b", "c", "d", "e"].map(|name| object.integer(name)),
            [Some(2), Some(2), None, Some(-1), None]
        );
    }

    #[test]
    fn only_objects_are_objects() {
        for text in ["", "[]", "null", "5", r#"{"id":"#, "{} {}"] {
            assert!(Object::read(text).is_none(), "{text}");
        }
    }
}
