//! One level of a text that is JSON: the members of an object, the items of a list, a string.
//!
//! Whether it is JSON is asked once, of the whole of it ([`value_of`]). What reads on within it then looks for the ends of values
//! only, and knows that there are such.

use std::borrow::Cow;

use serde_json::value::RawValue;

/// A value to be kept; `None` when the text is no JSON.
pub fn raw(text: &str) -> Option<Box<RawValue>> {
    checked(text).map(ToOwned::to_owned)
}

/// Whether a text is JSON is asked in one place, of its bytes: a part of a text that is cut out can fail in more ways, and
/// what tells of them is larger than all that reads here.
#[inline(never)]
fn checked(text: &str) -> Option<&RawValue> {
    serde_json::from_slice(text.as_bytes()).ok()
}

/// The text of a JSON value, without space around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<'a>(&'a str);

impl<'a> From<&'a RawValue> for Json<'a> {
    fn from(value: &'a RawValue) -> Self {
        Self(value.get())
    }
}

impl<'a> From<&'a Box<RawValue>> for Json<'a> {
    fn from(value: &'a Box<RawValue>) -> Self {
        Self(value.get())
    }
}

impl<'a> Json<'a> {
    /// Of the one value that this text is; `None` when it is no JSON.
    pub fn read(text: &'a str) -> Option<Self> {
        checked(text).map(Self::from)
    }

    /// Of a text that was written here.
    pub fn written(text: &'a str) -> Self {
        Self(text)
    }

    /// The text.
    pub fn get(self) -> &'a str {
        self.0
    }

    /// The same for as long as it is needed.
    pub fn to_raw(self) -> Box<RawValue> {
        raw(self.0).unwrap_or_default()
    }

    /// The members of an object, in their order; `None` when the value is anything else.
    pub(super) fn members(self) -> Option<Vec<(Cow<'a, str>, Self)>> {
        self.level([b'{', b'}'], |rest| {
            let name = rest.value()?.string()?;
            rest.skip(b':').then_some(())?;
            Some((name, rest.value()?))
        })
    }

    /// The items of a list; `None` when the value is anything else.
    pub fn items(self) -> Option<Vec<Self>> {
        self.level([b'[', b']'], Rest::value)
    }

    /// A string without its escapes; `None` when the value is anything else. Half of a surrogate pair, of which no text can be
    /// made, becomes U+FFFD, as it does wherever text leaves JavaScript.
    pub fn string(self) -> Option<Cow<'a, str>> {
        self.decoded(Some(char::REPLACEMENT_CHARACTER))
    }

    /// A string without its escapes; `None` when the value is anything else, or half of a surrogate pair is in it.
    pub(super) fn exact_string(self) -> Option<Cow<'a, str>> {
        self.decoded(None)
    }

    fn decoded(self, half: Option<char>) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        let Some((plain, mut rest)) = inner.split_once('\\') else { return Some(Cow::Borrowed(inner)) };
        let mut decoded = plain.to_owned();
        loop {
            let mut escape = rest.chars();
            decoded.push(match escape.next()? {
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => code_point(&mut escape).or(half)?,
                itself => itself,
            });
            let Some((plain, next)) = escape.as_str().split_once('\\') else {
                decoded.push_str(escape.as_str());
                break;
            };
            decoded.push_str(plain);
            rest = next;
        }
        Some(Cow::Owned(decoded))
    }

    fn level<T>(self, [start, end]: [u8; 2], mut one: impl FnMut(&mut Rest<'a>) -> Option<T>) -> Option<Vec<T>> {
        let mut rest = Rest(self.0);
        rest.skip(start).then_some(())?;
        let mut all = Vec::new();
        if !rest.skip(end) {
            loop {
                all.push(one(&mut rest)?);
                if !rest.skip(b',') {
                    break;
                }
            }
        }
        Some(all)
    }
}

/// The four digits of an escape, and those of the next one if the two are a pair. `None` for half of a pair.
fn code_point(rest: &mut std::str::Chars) -> Option<char> {
    let first = unit(rest)?;
    let mut next = rest.clone();
    if (0xd800..0xdc00).contains(&first) && next.next() == Some('\\') && next.next() == Some('u') {
        let pair = char::decode_utf16([first, unit(&mut next)?]).next()?.ok();
        if pair.is_some() {
            *rest = next;
        }
        return pair;
    }
    char::from_u32(first.into())
}

fn unit(rest: &mut std::str::Chars) -> Option<u16> {
    let (digits, after) = rest.as_str().split_at_checked(4)?;
    *rest = after.chars();
    u16::from_str_radix(digits, 16).ok()
}

/// What of a value has not been read yet.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn trim(&self) -> &'a str {
        match self.0.as_bytes().first() {
            // Servers write compact JSON.
            Some(first) if *first > b' ' => self.0,
            _ => self.0.trim_start_matches([' ', '\n', '\r', '\t']),
        }
    }

    /// Takes a mark, if it comes next.
    fn skip(&mut self, mark: u8) -> bool {
        let rest = self.trim();
        let comes = rest.as_bytes().first() == Some(&mark);
        if comes {
            self.0 = rest.get(1..).unwrap_or_default();
        }
        comes
    }

    /// Takes a value, whatever it is.
    fn value(&mut self) -> Option<Json<'a>> {
        let text = self.trim();
        let (value, rest) = text.split_at_checked(length(text.as_bytes()))?;
        self.0 = rest;
        Some(Json(value))
    }
}

/// How long the value is that a text begins with.
fn length(text: &[u8]) -> usize {
    let (mut depth, mut rest) = (0_usize, text.iter());
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => skip_string(&mut rest),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ if depth > 0 => continue,
            // A word or a number ends before the next mark.
            _ => {
                let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
                return text.iter().position(ends).unwrap_or(text.len());
            }
        }
        if depth == 0 {
            break;
        }
    }
    text.len() - rest.len()
}

/// Goes on behind the end of a string.
pub(super) fn skip_string(rest: &mut std::slice::Iter<u8>) {
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => break,
            b'\\' => drop(rest.next()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn json(text: &str) -> Json<'_> {
        Json::read(text).unwrap()
    }

    /// Texts that are JSON, nearly JSON, and anything.
    const TEXTS: [&str; 38] = [
        "{}",
        " { } ",
        "[]",
        "\t[ ]\r\n",
        r#"{"a":1,"b":[{"c":null}],"a":2}"#,
        r#" { "a" : "x" , "" : -1.5e-7 } "#,
        r#"{"\u0061\n":true}"#,
        r#"{"a\\":1,"\"":2,"é\"b":3,"c" : 4}"#,
        "{\"a\nb\":1}",
        "[1,2.50,\"x\",{},[],false]",
        "[[[[1]]]]",
        "[1 ]",
        "[ \"]\" , \"}\"]",
        "",
        " ",
        "null",
        "5",
        "\"{}\"",
        "{",
        "[",
        "{}{}",
        "[] []",
        "{} x",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1}",
        "[01]",
        "[1.]",
        "[tru]",
        "[\"\\x\"]",
        "[\"\n\"]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
    ];

    #[test]
    fn lists_and_objects_are_what_serde_takes_for_them() {
        for text in TEXTS {
            let known: Option<Value> = serde_json::from_str(text).ok();
            let parse = |value: Json| serde_json::from_str::<Value>(value.get()).unwrap();
            let list =
                Json::read(text).and_then(Json::items).map(|items| items.into_iter().map(parse).collect::<Vec<_>>());
            assert_eq!(list.as_ref(), known.as_ref().and_then(Value::as_array), "{text}");
            let object = Json::read(text)
                .and_then(Json::members)
                .map(|all| all.into_iter().map(|(name, value)| (name.into_owned(), parse(value))).collect());
            assert_eq!(object.as_ref(), known.as_ref().and_then(Value::as_object), "{text}");
        }
    }

    #[test]
    fn strings_are_what_serde_takes_for_them() {
        for text in [
            r#""""#,
            r#""é plain 😀""#,
            r#""\"\\\/\b\f\n\r\t""#,
            r#""a\u0000b\u00e9\u20ACc""#,
            r#""\ud83d\ude00x\\u0041""#,
            r#""\ud83d""#,
            r#""\ud83d\n""#,
            r#""\ud83d\u0041""#,
            r#""\ude00""#,
            "5",
            "[\"a\"]",
            "null",
        ] {
            let known = serde_json::from_str::<String>(text).ok();
            assert_eq!(json(text).exact_string().map(Cow::into_owned), known, "{text}");
            assert_eq!(
                known.is_none(),
                known != json(text).string().map(Cow::into_owned) || !text.starts_with('"'),
                "{text}"
            );
        }
        assert!(matches!(json(r#""plain""#).string(), Some(Cow::Borrowed("plain"))));
    }

    #[test]
    fn half_of_a_surrogate_pair_is_replaced_and_nothing_else_is() {
        for (text, read) in [
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""a\ud83db""#, "a\u{fffd}b"),
            (r#""\ud83d\n""#, "\u{fffd}\n"),
            (r#""\ud83d\u0041""#, "\u{fffd}A"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
        ] {
            assert_eq!(json(text).string().as_deref(), Some(read), "{text}");
        }
    }
}
