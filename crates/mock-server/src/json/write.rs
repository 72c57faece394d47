//! Writes JSON in the two styles of the real server, and Python's `repr` of a value for its error texts.

use std::fmt::{Display, Formatter, Result, Write};

use super::Json;

/// Compact, non-ASCII as it is: bodies and frames.
impl Display for Json {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            // JSON has no such numbers; the real server writes null where a model holds one.
            Json::Number(text) if is_special(text) => out.write_str("null"),
            Json::Array(items) => {
                out.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    write!(out, "{}{item}", if index == 0 { "" } else { "," })?;
                }
                out.write_char(']')
            }
            Json::Object(object) => {
                out.write_char('{')?;
                for (index, (key, value)) in object.iter().enumerate() {
                    out.write_str(if index == 0 { "" } else { "," })?;
                    quote(out, key, false)?;
                    write!(out, ":{value}")?;
                }
                out.write_char('}')
            }
            Json::Text(text) => quote(out, text, false),
            scalar => scalar_text(out, scalar),
        }
    }
}

fn is_special(number: &str) -> bool {
    matches!(number, "NaN" | "Infinity" | "-Infinity")
}

fn scalar_text(out: &mut impl Write, value: &Json) -> Result {
    match value {
        Json::Bool(true) => out.write_str("true"),
        Json::Bool(false) => out.write_str("false"),
        Json::Number(text) => out.write_str(text),
        _ => out.write_str("null"),
    }
}

fn quote(out: &mut impl Write, text: &str, ascii: bool) -> Result {
    out.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            '\u{8}' => out.write_str("\\b")?,
            '\u{c}' => out.write_str("\\f")?,
            c if u32::from(c) < 0x20 => write!(out, "\\u{:04x}", u32::from(c))?,
            c if ascii && !c.is_ascii() => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
            }
            c => out.write_char(c)?,
        }
    }
    out.write_char('"')
}

/// As Python's `json.dumps`: spaces after `,` and `:`, ASCII only. The arguments of tool calls look like this.
pub fn python_dumps(value: &Json) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = dumps(&mut out, value);
    out
}

fn dumps(out: &mut String, value: &Json) -> Result {
    match value {
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                dumps(out, item)?;
            }
            out.push(']');
            Ok(())
        }
        Json::Object(object) => {
            out.push('{');
            for (index, (key, value)) in object.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                quote(out, key, true)?;
                out.push_str(": ");
                dumps(out, value)?;
            }
            out.push('}');
            Ok(())
        }
        Json::Text(text) => quote(out, text, true),
        scalar => scalar_text(out, scalar),
    }
}

/// Python's `repr` of the value, near enough for error texts.
pub fn python_repr(value: &Json) -> String {
    match value {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::Number(text) => match text.as_str() {
            "NaN" => "nan".to_owned(),
            "Infinity" => "inf".to_owned(),
            "-Infinity" => "-inf".to_owned(),
            other => other.to_owned(),
        },
        Json::Text(text) => {
            let mark = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
            let body = text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
            let body = if mark == '\'' { body.replace('\'', "\\'") } else { body };
            format!("{mark}{body}{mark}")
        }
        Json::Array(items) => format!("[{}]", items.iter().map(python_repr).collect::<Vec<_>>().join(", ")),
        Json::Object(object) => {
            let members: Vec<_> = object
                .iter()
                .map(|(key, value)| format!("{}: {}", python_repr(&key.into()), python_repr(value)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}
