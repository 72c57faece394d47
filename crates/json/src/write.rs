//! Writing JSON.
//!
//! Each type says which members it has, and one writer that knows no type puts them down: what is written for each type anew is
//! a multiple of its size.

use std::borrow::Cow;
use std::rc::Rc;

use serde_json::value::RawValue;

use super::Json;

/// What has a JSON text.
pub trait Write {
    /// Adds the text of this value.
    fn write(&self, text: &mut String);
}

/// The text of a value.
pub fn text(value: &(impl Write + ?Sized)) -> String {
    let mut text = String::new();
    value.write(&mut text);
    text
}

/// An object with these members.
pub fn object(members: impl Fn(&mut Members)) -> impl Write {
    Made(members)
}

struct Made<F>(F);

impl<F: Fn(&mut Members)> Write for Made<F> {
    fn write(&self, text: &mut String) {
        let mut members = Members::of(text);
        self.0(&mut members);
        members.end();
    }
}

/// An object that is being written.
pub struct Members<'a> {
    text: &'a mut String,
    /// What comes before the next member.
    mark: char,
}

impl<'a> Members<'a> {
    /// Begins an object.
    pub fn of(text: &'a mut String) -> Self {
        Self { text, mark: '{' }
    }

    /// Adds a member.
    pub fn set(&mut self, name: &str, value: &dyn Write) -> &mut Self {
        self.text.push(self.mark);
        name.write(self.text);
        self.text.push(':');
        value.write(self.text);
        self.mark = ',';
        self
    }

    /// Adds a member if there is a value.
    pub fn set_some(&mut self, name: &str, value: Option<&(impl Write + Sized)>) -> &mut Self {
        match value {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    /// Ends the object.
    pub fn end(&mut self) {
        if self.mark == '{' {
            self.text.push('{');
        }
        self.text.push('}');
    }
}

impl Write for str {
    fn write(&self, text: &mut String) {
        text.push('"');
        for piece in self.split_inclusive(needs_escape) {
            let plain = piece.trim_end_matches(needs_escape);
            text.push_str(plain);
            if plain.len() < piece.len() {
                escape(piece.bytes().next_back().unwrap_or_default(), text);
            }
        }
        text.push('"');
    }
}

fn needs_escape(char: char) -> bool {
    char < ' ' || char == '"' || char == '\\'
}

fn escape(byte: u8, text: &mut String) {
    let letter = match byte {
        8 => 'b',
        12 => 'f',
        b'\n' => 'n',
        b'\r' => 'r',
        b'\t' => 't',
        b'"' | b'\\' => byte.into(),
        _ => 'u',
    };
    text.push('\\');
    text.push(letter);
    if letter == 'u' {
        let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
        text.extend(['0', '0', digit(byte >> 4), digit(byte & 15)]);
    }
}

impl Write for String {
    fn write(&self, text: &mut String) {
        self.as_str().write(text);
    }
}

impl Write for bool {
    fn write(&self, text: &mut String) {
        text.push_str(if *self { "true" } else { "false" });
    }
}

impl Write for u16 {
    fn write(&self, text: &mut String) {
        u64::from(*self).write(text);
    }
}

impl Write for u64 {
    fn write(&self, text: &mut String) {
        text.push_str(&self.to_string());
    }
}

impl Write for usize {
    fn write(&self, text: &mut String) {
        text.push_str(&self.to_string());
    }
}

impl Write for RawValue {
    fn write(&self, text: &mut String) {
        text.push_str(self.get());
    }
}

impl Write for Json<'_> {
    fn write(&self, text: &mut String) {
        text.push_str(self.get());
    }
}

impl<T: Write + ?Sized> Write for &T {
    fn write(&self, text: &mut String) {
        (**self).write(text);
    }
}

impl<T: Write + ?Sized> Write for Box<T> {
    fn write(&self, text: &mut String) {
        (**self).write(text);
    }
}

impl<T: Write + ?Sized> Write for Rc<T> {
    fn write(&self, text: &mut String) {
        (**self).write(text);
    }
}

impl Write for Cow<'_, str> {
    fn write(&self, text: &mut String) {
        (**self).write(text);
    }
}

/// `null` when there is none.
impl<T: Write> Write for Option<T> {
    fn write(&self, text: &mut String) {
        match self {
            Some(value) => value.write(text),
            None => text.push_str("null"),
        }
    }
}

impl<T: Write> Write for [T] {
    fn write(&self, text: &mut String) {
        let mut mark = '[';
        for item in self {
            text.push(mark);
            item.write(text);
            mark = ',';
        }
        if mark == '[' {
            text.push('[');
        }
        text.push(']');
    }
}

impl<T: Write> Write for Vec<T> {
    fn write(&self, text: &mut String) {
        self.as_slice().write(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_written_as_serde_writes_them() {
        let all: String = (0..0x300).filter_map(char::from_u32).chain(['\u{2028}', '😀']).collect();
        assert_eq!(text(&all), serde_json::to_string(&all).unwrap());
    }

    #[test]
    fn what_is_made_of_values_is_written_with_its_marks() {
        let list = |length: usize| (0..length).collect::<Vec<_>>();
        assert_eq!([0, 1, 2].map(|length| text(&list(length))), ["[]", "[0]", "[0,1]"]);
        assert_eq!(text(&object(|_| {})), "{}");
        let members = object(|members| {
            let none: Option<bool> = None;
            members.set("a", &"x\"").set_some("b", none.as_ref()).set("c", &none).set_some("d", Some(&true));
            members.set("e", &Json::read("[1.0]"));
        });
        assert_eq!(text(&members), r#"{"a":"x\"","c":null,"d":true,"e":[1.0]}"#);
    }
}
