//! One level of a text: the members of an object, the items of a list, a string.

use std::borrow::Cow;

use serde_json::value::RawValue;

/// The members of an object, in their order; `None` when the text is anything else.
pub(super) fn members(text: &str) -> Option<Vec<(Cow<'_, str>, &RawValue)>> {
    level(text, [b'{', b'}'], |rest| {
        let name = match rest.plain_string() {
            Some(name) => Cow::Borrowed(name),
            None => string(rest.value()?)?,
        };
        rest.skip(b':').then_some(())?;
        Some((name, rest.value()?))
    })
}

/// The items of a list; `None` when the text is anything else.
pub fn items(text: &str) -> Option<Vec<&RawValue>> {
    level(text, [b'[', b']'], Rest::value)
}

/// A string without its escapes; `None` when the value is anything else, or half of a surrogate pair is in it.
pub(super) fn exact_string(value: &RawValue) -> Option<Cow<'_, str>> {
    decoded(value, None)
}

/// A string without its escapes; `None` when the value is anything else. Half of a surrogate pair, of which no text can be made,
/// becomes U+FFFD, as it does wherever text leaves JavaScript.
pub fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    decoded(value, Some(char::REPLACEMENT_CHARACTER))
}

fn decoded(value: &RawValue, half: Option<char>) -> Option<Cow<'_, str>> {
    let inner = value.get().strip_prefix('"')?.strip_suffix('"')?;
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
            return Some(Cow::Owned(decoded));
        };
        decoded.push_str(plain);
        rest = next;
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

fn level<'a, T>(text: &'a str, ends: [u8; 2], mut one: impl FnMut(&mut Rest<'a>) -> Option<T>) -> Option<Vec<T>> {
    let [start, end] = ends;
    let mut rest = Rest(text);
    rest.skip(start).then_some(())?;
    let mut all = Vec::new();
    if !rest.skip(end) {
        loop {
            all.push(one(&mut rest)?);
            if !rest.skip(b',') {
                rest.skip(end).then_some(())?;
                break;
            }
        }
    }
    rest.trim().is_empty().then_some(all)
}

/// What has not been read yet.
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

    /// Takes a string that is written as it reads, if one comes next: nearly every name is.
    fn plain_string(&mut self) -> Option<&'a str> {
        let (text, rest) = self.trim().strip_prefix('"')?.split_once('"')?;
        let plain = text.bytes().all(|byte| byte != b'\\' && byte >= b' ');
        plain.then(|| {
            self.0 = rest;
            text
        })
    }

    /// Takes a value, whatever it is.
    fn value(&mut self) -> Option<&'a RawValue> {
        let mut values = serde_json::Deserializer::from_str(self.0).into_iter();
        let value = values.next()?.ok()?;
        self.0 = self.0.get(values.byte_offset()..)?;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn raw(text: &str) -> &RawValue {
        serde_json::from_str(text).unwrap()
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
            let parse = |value: &RawValue| serde_json::from_str::<Value>(value.get()).unwrap();
            let list = items(text).map(|items| items.into_iter().map(parse).collect::<Vec<_>>());
            assert_eq!(list.as_ref(), known.as_ref().and_then(Value::as_array), "{text}");
            let object = members(text)
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
            assert_eq!(exact_string(raw(text)).map(Cow::into_owned), known, "{text}");
            assert_eq!(
                known.is_none(),
                known != string(raw(text)).map(Cow::into_owned) || !text.starts_with('"'),
                "{text}"
            );
        }
        assert!(matches!(string(raw(r#""plain""#)), Some(Cow::Borrowed("plain"))));
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
            assert_eq!(string(raw(text)).as_deref(), Some(read), "{text}");
        }
    }
}
