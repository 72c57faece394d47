//! A JSON object whose members stay as they came: in their order, with their values as text.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

/// Names and the text of values. Numbers keep all their digits, `__proto__` is a name like any other.
#[derive(Default)]
pub(super) struct Members<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    pub(super) fn read(text: &'a RawValue) -> Option<Self> {
        serde_json::from_str(text.get()).ok()
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(member, _)| member == name).map(|(_, value)| *value)
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<&'a RawValue> {
        let at = self.0.iter().position(|(member, _)| member == name)?;
        Some(self.0.remove(at).1)
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) {
        for (name, _) in &mut self.0 {
            if name == from {
                to.clone_into(name);
            }
        }
    }

    pub(super) fn to_raw(&self) -> Option<Box<RawValue>> {
        serde_json::value::to_raw_value(self).ok()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members::default();
                while let Some(member) = map.next_entry()? {
                    members.0.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Object)
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_order_digits_and_odd_names() {
        let text = r#"{"z":123456789012345678901234567890,"__proto__":{"a":1},"":2.0,"é":"\u00e9"}"#;
        let members: Members = serde_json::from_str(text).unwrap();
        assert_eq!(members.to_raw().unwrap().get(), text);
    }
}
