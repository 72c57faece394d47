//! JSON objects as the server sends them, read leniently: an absent member, a null and a value of an unexpected type are the
//! same. Members stay as they came, in their order, with their values as text: numbers keep all their digits and `__proto__`
//! is a name like any other.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// Names and the text of values.
#[derive(Debug, Clone, Default)]
pub(super) struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    /// Reads an object; `None` when the text is anything else.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The value of a member as text, unless it is null.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let (_, value) = self.0.iter().rfind(|(member, _)| member == name)?;
        (value.get() != "null").then_some(*value)
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|(member, _)| member == name)
    }

    /// A string.
    pub(super) fn string(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// A string, or the empty one.
    pub(super) fn text(&self, name: &str) -> String {
        self.string(name).unwrap_or_default()
    }

    /// An integer, however it is written: `2.0` is one.
    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        let text = self.get(name)?.get();
        text.strip_suffix(".0").unwrap_or(text).parse().ok()
    }

    /// Whether a member is `true`.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.get() == "true")
    }

    /// An object, or the empty one.
    pub(super) fn object(&self, name: &str) -> Self {
        self.get(name).and_then(|value| Self::read(value.get())).unwrap_or_default()
    }

    /// The items of a list.
    pub(super) fn list(&self, name: &str) -> Option<Vec<&'a RawValue>> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// Any value.
    pub(super) fn value(&self, name: &str) -> Value {
        self.get(name).and_then(|value| serde_json::from_str(value.get()).ok()).unwrap_or_default()
    }

    /// Sets a member, in its place if it is there.
    pub(super) fn set(&mut self, name: &'static str, value: &'a RawValue) {
        match self.0.iter_mut().rfind(|(member, _)| member == name) {
            Some((_, member)) => *member = value,
            None => self.0.push((name.into(), value)),
        }
    }

    pub(super) fn rename(&mut self, from: &str, to: &'static str) {
        for (name, _) in &mut self.0 {
            if name == from {
                *name = to.into();
            }
        }
    }

    /// Drops a member, and those that are null.
    pub(super) fn without_nulls_and(mut self, dropped: &str) -> Self {
        self.0.retain(|(name, value)| name != dropped && value.get() != "null");
        self
    }

    /// The object's text.
    pub(super) fn to_raw(&self) -> Option<Box<RawValue>> {
        serde_json::value::to_raw_value(self).ok()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key_seed(Name)? {
                    members.push((name, map.next_value()?));
                }
                Ok(Object(members))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// A member's name, borrowed where it has no escapes.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_order_digits_and_odd_names() {
        let text = r#"{"z":123456789012345678901234567890,"__proto__":{"a":1},"":2.0,"é\n":"\u00e9"}"#;
        assert_eq!(Object::read(text).unwrap().to_raw().unwrap().get(), text);
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
