//! JSON that need not be JSON: a tree whose leaves and names are raw text, so that a mutation can write anything.

use std::fmt::Write;

use pagehand::json::{self, Json, Object};

/// A value. Leaves and the names of members are text as it is written, quotes included.
#[derive(Clone)]
pub enum Node {
    Leaf(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
    /// So many lists or objects around the value.
    Deep(&'static str, &'static str, usize, Box<Node>),
}

impl Node {
    /// Takes a text apart; `None` when it is no JSON.
    pub fn read(text: &str) -> Option<Self> {
        Json::read(text).map(|json| Self::of(json, 64))
    }

    fn of(json: Json, depth: usize) -> Self {
        let text = json.get();
        if depth == 0 {
            return Self::Leaf(text.to_owned());
        }
        if let Some(items) = json.items() {
            return Self::List(items.into_iter().map(|item| Self::of(item, depth - 1)).collect());
        }
        match Object::of(json) {
            None => Self::Leaf(text.to_owned()),
            Some(object) => {
                let member = |name: &str| object.raw(name).map(|value| (json::text(name), Self::of(value, depth - 1)));
                Self::Object(object.names().filter_map(member).collect())
            }
        }
    }

    /// How many values there are, this one included.
    pub fn count(&self) -> usize {
        1 + match self {
            Self::Leaf(_) => 0,
            Self::List(items) => items.iter().map(Self::count).sum(),
            Self::Object(members) => members.iter().map(|(_, value)| value.count()).sum(),
            Self::Deep(_, _, _, inner) => inner.count(),
        }
    }

    /// The value with this number, counted as [`Node::count`] does.
    pub fn nth(&mut self, place: &mut usize) -> Option<&mut Self> {
        if *place == 0 {
            return Some(self);
        }
        *place -= 1;
        match self {
            Self::Leaf(_) => None,
            Self::List(items) => items.iter_mut().find_map(|item| item.nth(place)),
            Self::Object(members) => members.iter_mut().find_map(|(_, value)| value.nth(place)),
            Self::Deep(_, _, _, inner) => inner.nth(place),
        }
    }

    pub fn write(&self, text: &mut String) {
        match self {
            Self::Leaf(leaf) => text.push_str(leaf),
            Self::List(items) => {
                text.push('[');
                for (at, item) in items.iter().enumerate() {
                    text.push_str(if at == 0 { "" } else { "," });
                    item.write(text);
                }
                text.push(']');
            }
            Self::Object(members) => {
                text.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    write!(text, "{comma}{name}:").unwrap();
                    value.write(text);
                }
                text.push('}');
            }
            Self::Deep(open, close, levels, inner) => {
                text.extend(std::iter::repeat_n(*open, *levels));
                inner.write(text);
                text.extend(std::iter::repeat_n(*close, *levels));
            }
        }
    }

    pub fn to_text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }
}
