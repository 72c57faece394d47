//! A value that is looked into.

use std::collections::BinaryHeap;

use super::{Json, Members, Write};

/// The deepest value that is read.
const DEPTH: u8 = 128;

/// A JSON value. Two are equal whatever the order of their members; the order of items counts.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// The items of a list.
    Array(Vec<Value>),
    /// Members, sorted by their names. Of several with one name the last counts.
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Reads a value; `None` when it is too deep, or half of a surrogate pair is in it.
    pub fn read<'a>(value: impl Into<Json<'a>>) -> Option<Self> {
        Self::within(DEPTH, value.into())
    }

    fn within(depth: u8, value: Json) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        let plain = value.get();
        Some(match plain {
            "null" => Self::Null,
            "true" => Self::Bool(true),
            "false" => Self::Bool(false),
            _ if plain.starts_with('"') => Self::String(value.exact_string()?.into_owned()),
            _ if plain.starts_with('[') => {
                let items = value.items()?.into_iter();
                Self::Array(items.map(|item| Self::within(depth, item)).collect::<Option<_>>()?)
            }
            _ if plain.starts_with('{') => {
                // By a heap: there may be a million of them, and a list's own sort is five times its code. Those of one name keep
                // their order, and the last counts.
                let (mut names, mut values) = (BinaryHeap::new(), Vec::new());
                for (at, (name, value)) in value.members()?.into_iter().enumerate() {
                    names.push((name.into_owned(), at));
                    values.push(Some(Self::within(depth, value)?));
                }
                let mut sorted: Vec<(String, Self)> = Vec::with_capacity(values.len());
                for (name, at) in names.into_sorted_vec() {
                    let value = values.get_mut(at)?.take()?;
                    match sorted.last_mut() {
                        Some((same, earlier)) if *same == name => *earlier = value,
                        _ => sorted.push((name, value)),
                    }
                }
                Self::Object(sorted)
            }
            _ => Self::Number(Number(plain.to_owned())),
        })
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The items; none, unless it is a list.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    /// The members; none, unless it is an object.
    pub fn members(&self) -> &[(String, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// A member, if it is an object that has one of this name.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.members().iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }
}

/// The same text for all values that are equal: members in their order, numbers by their worth, no space.
impl Write for Value {
    fn write(&self, text: &mut String) {
        match self {
            Self::Null => text.push_str("null"),
            Self::Bool(flag) => flag.write(text),
            Self::Number(number) => text.push_str(&number.canonical()),
            Self::String(string) => string.write(text),
            Self::Array(items) => items.write(text),
            Self::Object(all) => {
                let mut members = Members::of(text);
                for (name, value) in all {
                    members.set(name, value);
                }
                members.end();
            }
        }
    }
}

/// A number with all its digits. Equal are numbers of one worth, however they are written: `1e2` is `100.0`.
#[derive(Debug, Clone)]
pub struct Number(String);

impl Number {
    /// The whole part, of a number that is not negative and written without an exponent.
    pub fn whole(&self) -> Option<u64> {
        let (whole, fraction) = self.0.split_once('.').unwrap_or((&self.0, ""));
        if fraction.contains(['e', 'E']) { None } else { whole.parse().ok() }
    }

    fn canonical(&self) -> String {
        let (negative, digits, power) = self.worth();
        let power = power.map(|power| power.to_string()).unwrap_or_default();
        [if negative { "-" } else { "" }, &digits, "e", &power].concat()
    }

    /// The sign, the digits without the zeros around them, and the power of ten of the last.
    fn worth(&self) -> (bool, String, Option<i64>) {
        let (mantissa, exponent) = self.0.split_once(['e', 'E']).unwrap_or((&self.0, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = [whole.trim_start_matches('-'), fraction].concat();
        let significant = digits.trim_end_matches('0');
        let zeros = digits.len() - significant.len();
        let significant = significant.trim_start_matches('0');
        if significant.is_empty() {
            return (false, String::new(), None);
        }
        let shift = i64::try_from(zeros).ok().zip(i64::try_from(fraction.len()).ok());
        let power = exponent.parse::<i64>().ok().zip(shift);
        let power = power.and_then(|(power, (zeros, fraction))| power.checked_add(zeros)?.checked_sub(fraction));
        (whole.starts_with('-'), significant.to_owned(), power)
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.worth() == other.worth()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<Value> {
        Value::read(Json::read(text).unwrap())
    }

    #[test]
    fn the_order_of_items_counts_and_that_of_members_does_not() {
        assert_eq!(value(r#"{"b":[1,{}],"a":"x\n"}"#), value(r#"{ "a":"x\u000a", "b":[1, {}] }"#));
        assert_ne!(value("[1,2]"), value("[2,1]"));
        assert_ne!(value(r#"{"a":null}"#), value("{}"));
        assert_eq!(value(r#"{"a":1,"b":0,"a":2}"#), value(r#"{"a":2,"b":0}"#));
        assert_eq!(value(r#"{"a":1,"a":3,"b":0,"a":2}"#), value(r#"{"b":0,"a":2}"#));
    }

    #[test]
    fn equal_values_have_one_text() {
        let canonical = |text| crate::text(&value(text).unwrap());
        let text = r#"{"a":["x\n",1e2,e,true,null],"b":{"é":-15e-1}}"#;
        assert_eq!(canonical(r#"{ "b":{"\u00e9":-1.50}, "a":["x\u000a", 100.0, -0, true, null] }"#), text);
        assert_eq!(canonical(r#"{"a":["x\n",1e2,0.0,true,null],"b":{"é":-15E-1}}"#), text);
        assert_ne!(canonical(r#"["1e2"]"#), canonical("[1e2]"));
    }

    #[test]
    fn numbers_are_equal_by_their_worth() {
        for same in [
            &["100", "1e2", "1E+2", "100.0", "0.1e3", "10000e-2"][..],
            &["0", "-0", "0.0", "0e5", "-0.00E-7"],
            &["-1.5", "-15e-1", "-1.50"],
            &["123456789012345678901234567890", "123456789012345678901234567890.0"],
        ] {
            for number in same {
                assert_eq!(value(number), value(same[0]), "{number}");
            }
        }
        for (one, other) in
            [("1", "-1"), ("1", "10"), ("0.1", "0.01"), ("123456789012345678901", "123456789012345678902")]
        {
            assert_ne!(value(one), value(other));
        }
    }

    #[test]
    fn a_number_has_a_whole_part_where_its_digits_show_it() {
        let whole = |text| match value(text) {
            Some(Value::Number(number)) => number.whole(),
            _ => None,
        };
        assert_eq!(["7", "1500.75", "0.5"].map(whole), [Some(7), Some(1500), Some(0)]);
        assert_eq!(["-7", "1e3", "1.5e3", "99999999999999999999"].map(whole), [None; 4]);
    }

    #[test]
    fn what_is_too_deep_or_no_text_is_not_read() {
        let deep = |levels: usize| ["[".repeat(levels), "]".repeat(levels)].concat();
        assert!(value(&deep(128)).is_some());
        assert!(value(&deep(129)).is_none());
        assert!(value(&["[".repeat(100_000), "]".repeat(100_000)].concat()).is_none());
        assert!(value(r#"["\ud800"]"#).is_none());
    }
}
