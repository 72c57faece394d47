//! The sentences. They say what to do, not only what is wrong, and never repeat a long value.

use std::fmt::{self, Write};

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

/// Characters in a message.
const MAX_MESSAGE: usize = 300;
/// Characters of a value in a message.
const MAX_PREVIEW: usize = 60;
/// How often a message about alternatives may contain one about alternatives.
const MAX_NESTING: u8 = 2;

/// What a model has to change. `parent` is the schema object that contains the keyword.
pub(crate) fn for_model(error: &ValidationError<'_>, parent: Option<&Value>, values: Values) -> String {
    capped(Sentence { error, parent, values, nesting: 0 })
}

/// What the author of a schema has to change.
pub(crate) fn for_schema_author(error: &ValidationError<'_>) -> String {
    capped(Sentence { error, parent: None, values: Values::Shown, nesting: 0 })
}

/// Whether messages may repeat what was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// The beginning of a value is shown.
    Shown,
    /// No value is shown. Names of properties are, and so is what the schema says.
    Masked,
}

/// Text of at most [`MAX_MESSAGE`] characters.
pub(crate) fn capped(text: impl fmt::Display) -> String {
    cut(text, MAX_MESSAGE)
}

fn cut(text: impl fmt::Display, most: usize) -> String {
    struct Cut {
        text: String,
        left: usize,
    }
    impl Write for Cut {
        fn write_str(&mut self, piece: &str) -> fmt::Result {
            for character in piece.chars() {
                if self.left == 0 {
                    self.text.pop();
                    self.text.push('…');
                    return Err(fmt::Error);
                }
                self.left -= 1;
                self.text.push(character);
            }
            Ok(())
        }
    }
    let mut out = Cut { text: String::new(), left: most };
    // An error only says that the rest was cut.
    let _ = write!(out, "{text}");
    out.text
}

struct Sentence<'a> {
    error: &'a ValidationError<'a>,
    parent: Option<&'a Value>,
    values: Values,
    nesting: u8,
}

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = self.error;
        let got = Got(error.instance(), self.values);
        if let Some((rule, limit)) = number_rule(error.kind()) {
            return write!(f, "must be {rule} {limit}, not {got}");
        }
        if let Some((rule, limit, unit)) = size_rule(error.kind()) {
            let size = size(error.instance());
            return write!(f, "must have {rule} {limit} {unit}, but has {size}");
        }
        match error.kind() {
            Kind::Type { kind } => {
                write!(f, "must be of type {}, not {}", Types(kind), TypeAnd(got))
            }
            Kind::Enum { options } => {
                let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
                write!(f, "must be one of {}; {got} is not", List(options))
            }
            Kind::Constant { expected_value } => {
                write!(f, "must be {}, not {got}", Preview(expected_value))
            }
            Kind::Pattern { pattern } => {
                write!(f, "must match the pattern {pattern}; {got} does not")
            }
            Kind::Format { format } => write!(f, "must be in the format {format}; {got} is not"),
            Kind::Required { property } => write!(f, "the property {property} is missing"),
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                write!(f, "must not have {}", Names(unexpected))?;
                match self.allowed_properties() {
                    Some(allowed) if !allowed.is_empty() => {
                        write!(f, "; allowed are {}", Names(&allowed))
                    }
                    _ => Ok(()),
                }
            }
            Kind::UnevaluatedItems { .. } => f.write_str("has items that the schema does not allow"),
            Kind::UniqueItems => f.write_str("must not contain the same item twice"),
            Kind::Contains => f.write_str("does not contain the items that the schema asks for"),
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => self.alternatives(f, context),
            Kind::OneOfMultipleValid { .. } => {
                f.write_str("must match exactly one of the alternatives, but matches several")
            }
            Kind::Not { .. } => write!(f, "must not be what the schema excludes; {got} is"),
            Kind::FalseSchema => f.write_str("nothing is allowed here: leave it out"),
            Kind::PropertyNames { error } => {
                write!(f, "a property has a name that is not allowed: it {}", self.nested(error))
            }
            Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
                f.write_str("cannot be checked: the pattern is too costly on this value")
            }
            Kind::ContentEncoding { content_encoding } => {
                write!(f, "must be encoded as {content_encoding}")
            }
            Kind::ContentMediaType { content_media_type } => {
                write!(f, "must be a document of the type {content_media_type}")
            }
            Kind::FromUtf8 { .. } => f.write_str("must be text once it is decoded"),
            Kind::Referencing(cause) => cause.fmt(f),
            // The engine's own sentences are kilobytes, and show the value.
            _ => write!(f, "must be what {} asks for", error.kind().keyword()),
        }
    }
}

/// Keywords that bound a number.
fn number_rule(kind: &Kind) -> Option<(&'static str, &dyn fmt::Display)> {
    match kind {
        Kind::Minimum { limit } => Some(("at least", limit)),
        Kind::Maximum { limit } => Some(("at most", limit)),
        Kind::ExclusiveMinimum { limit } => Some(("greater than", limit)),
        Kind::ExclusiveMaximum { limit } => Some(("less than", limit)),
        Kind::MultipleOf { multiple_of } => Some(("a multiple of", multiple_of)),
        _ => None,
    }
}

/// Keywords that bound a size.
fn size_rule(kind: &Kind) -> Option<(&'static str, &dyn fmt::Display, &'static str)> {
    match kind {
        Kind::MinLength { limit } => Some(("at least", limit, "characters")),
        Kind::MaxLength { limit } => Some(("at most", limit, "characters")),
        Kind::MinItems { limit } => Some(("at least", limit, "items")),
        Kind::MaxItems { limit } => Some(("at most", limit, "items")),
        Kind::AdditionalItems { limit } => Some(("at most", limit, "items")),
        Kind::MinProperties { limit } => Some(("at least", limit, "properties")),
        Kind::MaxProperties { limit } => Some(("at most", limit, "properties")),
        _ => None,
    }
}

impl Sentence<'_> {
    fn nested<'b>(&self, error: &'b ValidationError<'b>) -> Sentence<'b> {
        Sentence { error, parent: None, values: self.values, nesting: self.nesting + 1 }
    }

    fn allowed_properties(&self) -> Option<Vec<String>> {
        let properties = self.parent?.get("properties")?.as_object()?;
        Some(properties.keys().cloned().collect())
    }

    /// Types to choose from if that is all there is to it, else what the closest alternative asks for.
    fn alternatives(&self, f: &mut fmt::Formatter<'_>, context: &[Vec<ValidationError<'static>>]) -> fmt::Result {
        let own_path = self.error.instance_path().as_str();
        let types: Vec<&TypeKind> = context.iter().filter_map(|errors| only_type(errors, own_path)).collect();
        if types.len() == context.len() && !types.is_empty() {
            f.write_str("must be of type ")?;
            for (index, kind) in types.iter().enumerate() {
                write!(f, "{}{}", if index == 0 { "" } else { " or " }, Types(kind))?;
            }
            return write!(f, ", not {}", TypeAnd(Got(self.error.instance(), self.values)));
        }
        write!(f, "must match one of the {} alternatives", context.len())?;
        let closest = context
            .iter()
            .enumerate()
            .filter(|(_, errors)| !errors.is_empty())
            .min_by_key(|(_, errors)| (only_type(errors, own_path).is_some(), errors.len()));
        let Some((index, error)) = closest.and_then(|(index, errors)| Some((index, errors.first()?))) else {
            return Ok(());
        };
        if self.nesting >= MAX_NESTING {
            return Ok(());
        }
        write!(f, "; closest is number {}: ", index + 1)?;
        let path = error.instance_path().as_str();
        if path != own_path && !path.is_empty() {
            write!(f, "{path} ")?;
        }
        write!(f, "{}", self.nested(error))
    }
}

/// The type that an alternative asks for, if the value has another one and nothing else is wrong.
fn only_type<'a>(errors: &'a [ValidationError<'static>], path: &str) -> Option<&'a TypeKind> {
    match errors {
        [only] if only.instance_path().as_str() == path || only.instance_path().as_str().is_empty() => {
            match only.kind() {
                Kind::Type { kind } => Some(kind),
                _ => None,
            }
        }
        _ => None,
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "the value",
        Value::Bool(_) => "the boolean",
        Value::Number(_) => "the number",
        Value::String(_) => "the string",
        Value::Array(_) => "the array",
        Value::Object(_) => "the object",
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// What was given.
#[derive(Clone, Copy)]
struct Got<'a>(&'a Value, Values);

impl fmt::Display for Got<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Values::Shown => Preview(self.0).fmt(f),
            Values::Masked => f.write_str("what was given"),
        }
    }
}

/// What was given, after its type.
struct TypeAnd<'a>(Got<'a>);

impl fmt::Display for TypeAnd<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let got = self.0;
        f.write_str(type_name(got.0))?;
        match got.1 {
            Values::Shown => write!(f, " {got}"),
            Values::Masked => Ok(()),
        }
    }
}

/// The beginning of a value.
struct Preview<'a>(&'a Value);

impl fmt::Display for Preview<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&cut(self.0, MAX_PREVIEW))
    }
}

struct Types<'a>(&'a TypeKind);

impl fmt::Display for Types<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            TypeKind::Single(one) => f.write_str(one.as_str()),
            TypeKind::Multiple(set) => {
                for (index, one) in set.iter().enumerate() {
                    write!(f, "{}{}", if index == 0 { "" } else { " or " }, one.as_str())?;
                }
                Ok(())
            }
        }
    }
}

struct List<'a>(&'a [Value]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, value) in self.0.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { ", " }, Preview(value))?;
        }
        Ok(())
    }
}

/// Property names, quoted as JSON.
struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.len() == 1 { "the property " } else { "the properties " })?;
        for (index, name) in self.0.iter().enumerate() {
            let name = cut(name, MAX_PREVIEW);
            write!(f, "{}{}", if index == 0 { "" } else { ", " }, Value::String(name))?;
        }
        Ok(())
    }
}
