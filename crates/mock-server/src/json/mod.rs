//! JSON whose objects keep the order of their keys and whose numbers keep their text.
//!
//! The order of keys is part of what this server imitates, and so are integers beyond 64 bits, `7.0` and `NaN`.
//! `serde_json` can do some of this with features that Cargo would then switch on for the whole workspace, among it
//! code whose behaviour depends on them: hence a small type of our own.

mod read;
mod write;

pub use read::{ParseError, parse, parse_lenient};
pub use write::{python_dumps, python_repr};

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it is written. `NaN` and `Infinity` are possible here, as in Python.
    Number(String),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, in the order of its keys.
    Object(Object),
}

/// The members of a JSON object, in order; a key occurs once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object(Vec<(String, Json)>);

impl Object {
    /// An object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value of `key`, to change it in place.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        self.0.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Gives `key` a value; a known key keeps its place.
    pub fn set(&mut self, key: &str, value: impl Into<Json>) {
        let value = value.into();
        match self.get_mut(key) {
            Some(place) => *place = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    /// Takes `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    /// Keys and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_str())
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl IntoIterator for Object {
    type Item = (String, Json);
    type IntoIter = std::vec::IntoIter<(String, Json)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl FromIterator<(String, Json)> for Object {
    fn from_iter<T: IntoIterator<Item = (String, Json)>>(members: T) -> Self {
        let mut object = Self::new();
        for (key, value) in members {
            object.set(&key, value);
        }
        object
    }
}

impl Json {
    /// A member of an object; `None` for anything else and for a missing key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object().and_then(|object| object.get(key))
    }

    /// A member that is neither missing nor `null`.
    pub fn present(&self, key: &str) -> Option<&Json> {
        self.get(key).filter(|value| !value.is_null())
    }

    /// The string member `key`.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Json::as_str)
    }

    /// The boolean member `key`.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.get(key).and_then(Json::as_bool)
    }

    /// The member `key` as a whole number of 0 or more.
    pub fn count(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(Json::as_u64)
    }

    /// Gives a member of an object a value; does nothing to other values.
    pub fn set(&mut self, key: &str, value: impl Into<Json>) {
        if let Json::Object(object) = self {
            object.set(key, value);
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    /// The value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let Json::Bool(value) = self { Some(*value) } else { None }
    }

    /// A number without fraction, sign or exponent, within 64 bits.
    pub fn as_u64(&self) -> Option<u64> {
        if let Json::Number(text) = self { text.parse().ok() } else { None }
    }

    /// The items of an array.
    pub fn as_array(&self) -> Option<&[Json]> {
        if let Json::Array(items) = self { Some(items) } else { None }
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Json::Object(object) = self { Some(object) } else { None }
    }

    /// The members of an object, to change them.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        if let Json::Object(object) = self { Some(object) } else { None }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }

    /// Equality as a JSON Schema has it: the order of keys does not matter, that of items does.
    pub fn same_value(&self, other: &Json) -> bool {
        match (self, other) {
            (Json::Array(left), Json::Array(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(a, b)| a.same_value(b))
            }
            (Json::Object(left), Json::Object(right)) => {
                left.len() == right.len()
                    && left.iter().all(|(key, value)| right.get(key).is_some_and(|twin| value.same_value(twin)))
            }
            (left, right) => left == right,
        }
    }

    /// The same value without the object members that are `null`, at any depth, except below the keys in `keep`.
    #[must_use]
    pub fn without_nulls(&self, keep: &[&str]) -> Json {
        match self {
            Json::Array(items) => Json::Array(items.iter().map(|item| item.without_nulls(keep)).collect()),
            Json::Object(object) => Json::Object(
                object
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| {
                        let value = if keep.contains(&key) { value.clone() } else { value.without_nulls(keep) };
                        (key.to_owned(), value)
                    })
                    .collect(),
            ),
            other => other.clone(),
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Json::Text(text)
    }
}

impl From<&String> for Json {
    fn from(text: &String) -> Self {
        Json::Text(text.clone())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Json::Bool(value)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Json::Number(value.to_string())
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Self {
        Json::Number(value.to_string())
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Self {
        Json::Number(value.to_string())
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Self {
        if value.is_nan() {
            return Json::Number("NaN".to_owned());
        }
        if value.is_infinite() {
            return Json::Number(if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned());
        }
        // Rust writes `1e19`, the real server `1e+19`.
        let text = format!("{value:?}");
        let text = if text.contains("e-") { text } else { text.replace('e', "e+") };
        Json::Number(text)
    }
}

impl From<Vec<Json>> for Json {
    fn from(items: Vec<Json>) -> Self {
        Json::Array(items)
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Self {
        Json::Object(object)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Json::Null, Into::into)
    }
}

/// An ordered JSON object: `object! { "id" => id, "kind" => "PauseEvent" }`.
#[macro_export]
macro_rules! object {
    ($($key:expr => $value:expr),* $(,)?) => {{
        #[allow(unused_mut)]
        let mut object = $crate::json::Object::new();
        $(object.set($key, $value);)*
        $crate::json::Json::Object(object)
    }};
}
