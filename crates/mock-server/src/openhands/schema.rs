//! How the real server reads one argument: its models know a few simple types and nothing else of JSON Schema.

use crate::json::{Json, parse};

/// The type of a property, as far as it is checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind<'a> {
    Text,
    Integer,
    Number,
    Boolean,
    /// With the schema of the items.
    List(Option<&'a Json>),
    Map,
    Any,
}

/// A complaint in pydantic's words: error type, message, and the path below the property.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Complaint {
    pub(super) code: &'static str,
    pub(super) message: &'static str,
    pub(super) index: Option<usize>,
    pub(super) input: Json,
}

impl<'a> Kind<'a> {
    pub(super) fn of(schema: &'a Json) -> Self {
        let name = match schema.get("type") {
            Some(Json::Text(name)) => name.as_str(),
            Some(Json::Array(names)) => {
                let mut real = names.iter().filter_map(Json::as_str).filter(|name| *name != "null");
                match (real.next(), real.next()) {
                    (Some(only), None) => only,
                    _ => return Self::Any,
                }
            }
            _ => return Self::Any,
        };
        match name {
            "string" => Self::Text,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "array" => Self::List(schema.get("items")),
            "object" => Self::Map,
            _ => Self::Any,
        }
    }

    /// Repairs what LLMs often get wrong, in the arguments themselves.
    pub(super) fn repair(self, value: &Json) -> Option<Json> {
        match (self, value) {
            (Self::Text, Json::Array(items)) => {
                items.iter().map(Json::as_str).collect::<Option<Vec<_>>>().map(|parts| parts.concat().into())
            }
            (Self::List(_) | Self::Map, Json::Text(text)) => {
                let text = text.trim();
                let text = text.strip_suffix("</parameter>").unwrap_or(text);
                let decoded = parse(text).ok()?;
                let fits = match self {
                    Self::Map => decoded.as_object().is_some(),
                    _ => decoded.as_array().is_some(),
                };
                fits.then_some(decoded)
            }
            _ => None,
        }
    }

    /// The value as it is delivered.
    pub(super) fn coerce(self, value: &Json) -> Result<Json, Complaint> {
        match self {
            Self::Any => Ok(value.clone()),
            Self::Text if value.as_str().is_some() => Ok(value.clone()),
            Self::Text => fail("string_type", "Input should be a valid string", value),
            Self::Integer => integer(value),
            Self::Number => number(value),
            Self::Boolean => boolean(value),
            Self::Map if value.as_object().is_some() => Ok(value.clone()),
            Self::Map => fail("dict_type", "Input should be a valid dictionary", value),
            Self::List(items) => {
                let Some(values) = value.as_array() else {
                    return fail("list_type", "Input should be a valid list", value);
                };
                // One level: arrays of arrays are not looked into.
                let kind = match items.map(Kind::of) {
                    None | Some(Self::List(_)) => Self::Any,
                    Some(kind) => kind,
                };
                let coerced = values.iter().enumerate().map(|(index, item)| {
                    kind.coerce(item).map_err(|complaint| Complaint { index: Some(index), ..complaint })
                });
                coerced.collect::<Result<Vec<_>, _>>().map(Json::Array)
            }
        }
    }
}

fn fail(code: &'static str, message: &'static str, input: &Json) -> Result<Json, Complaint> {
    Err(Complaint { code, message, index: None, input: input.clone() })
}

fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn integer(value: &Json) -> Result<Json, Complaint> {
    match value {
        Json::Bool(value) => Ok(u64::from(*value).into()),
        Json::Number(text) if is_whole(text) => Ok(value.clone()),
        Json::Number(text) => match text.parse::<f64>() {
            Ok(float) if !float.is_finite() => fail("finite_number", "Input should be a finite number", value),
            Ok(float) if float.fract() == 0.0 => Ok(Json::Number(format!("{float:.0}"))),
            Ok(_) => {
                fail("int_from_float", "Input should be a valid integer, got a number with a fractional part", value)
            }
            Err(_) => fail("finite_number", "Input should be a finite number", value),
        },
        Json::Text(text) => {
            let trimmed = text.trim();
            let whole = trimmed.split_once('.').map_or(trimmed, |(whole, fraction)| {
                if !fraction.is_empty() && fraction.bytes().all(|byte| byte == b'0') { whole } else { trimmed }
            });
            if is_whole(whole) {
                Ok(Json::Number(whole.trim_start_matches('+').to_owned()))
            } else {
                let message = "Input should be a valid integer, unable to parse string as an integer";
                fail("int_parsing", message, value)
            }
        }
        _ => fail("int_type", "Input should be a valid integer", value),
    }
}

fn number(value: &Json) -> Result<Json, Complaint> {
    let read = |text: &str| text.trim().parse::<f64>().ok();
    match value {
        Json::Bool(value) => Ok(if *value { 1.0.into() } else { 0.0.into() }),
        Json::Number(text) => Ok(read(text).map_or(Json::Null, Json::from)),
        Json::Text(text) => match read(text) {
            Some(float) => Ok(float.into()),
            None => fail("float_parsing", "Input should be a valid number, unable to parse string as a number", value),
        },
        _ => fail("float_type", "Input should be a valid number", value),
    }
}

fn boolean(value: &Json) -> Result<Json, Complaint> {
    let word = match value {
        Json::Bool(_) => return Ok(value.clone()),
        Json::Number(text) => text.trim_end_matches(".0").to_owned(),
        Json::Text(text) => text.to_lowercase(),
        _ => return fail("bool_type", "Input should be a valid boolean", value),
    };
    match word.as_str() {
        "1" | "true" | "t" | "yes" | "y" | "on" => Ok(true.into()),
        "0" | "false" | "f" | "no" | "n" | "off" => Ok(false.into()),
        _ => fail("bool_parsing", "Input should be a valid boolean, unable to interpret input", value),
    }
}
