//! One compiled schema.

use jsonschema::{
    ValidationError,
    error::{TypeKind, ValidationErrorKind},
};
use serde_json::{Value, json};

use crate::{
    SchemaError, formats,
    limits::{self, MAX_INSTANCE_BYTES, MAX_ISSUES, MAX_SCHEMA_BYTES},
    message::{self, Values},
    report::{Issue, Report, keywords},
};

/// Longer keyword values are left out of a report, in bytes of JSON text.
const MAX_EXPECTED_BYTES: usize = 8 * 1024;

/// One compiled schema. Compile once per tool and keep it: that costs milliseconds, a check microseconds.
pub struct Validator {
    compiled: jsonschema::Validator,
    schema: Value,
}

impl std::fmt::Debug for Validator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Validator").finish_non_exhaustive()
    }
}

impl Validator {
    /// Compiles the JSON text of a schema.
    pub fn compile(schema_text: &str) -> Result<Self, SchemaError> {
        if schema_text.len() > MAX_SCHEMA_BYTES {
            return Err(SchemaError::TooLarge { bytes: schema_text.len() });
        }
        let schema: Value =
            serde_json::from_str(schema_text).map_err(|error| SchemaError::NotJson { message: error.to_string() })?;
        if limits::has_too_many_references(&schema) {
            return Err(SchemaError::TooManyReferences);
        }
        let compiled = formats::checked(jsonschema::options().offline())
            .build(&schema)
            .map_err(|error| SchemaError::from_build(&error, &schema))?;
        Ok(Self { compiled, schema })
    }

    /// Checks the JSON text of a value; the messages show what is wrong with it.
    pub fn check(&self, instance_text: &str) -> Report {
        self.check_with(instance_text, Values::Shown)
    }

    /// Checks the JSON text of a value; the messages show as much of it as they are allowed to.
    pub fn check_with(&self, instance_text: &str, values: Values) -> Report {
        if instance_text.len() > MAX_INSTANCE_BYTES {
            return Report::unreadable(format!(
                "the value is {} bytes long, more than the {MAX_INSTANCE_BYTES} allowed",
                instance_text.len()
            ));
        }
        match serde_json::from_str(instance_text) {
            Ok(instance) => self.check_value(&instance, values),
            Err(error) => Report::unreadable(message::capped(format_args!("the value is not readable JSON: {error}"))),
        }
    }

    fn check_value(&self, instance: &Value, values: Values) -> Report {
        // Far cheaper than collecting errors, and nearly every call is valid.
        if self.compiled.is_valid(instance) {
            return Report::valid();
        }
        let mut errors = self.compiled.iter_errors(instance);
        let issues = errors.by_ref().take(MAX_ISSUES).map(|error| self.issue(&error, values)).collect();
        Report { valid: false, issues, truncated: errors.next().is_some() }
    }

    fn issue(&self, error: &ValidationError<'_>, values: Values) -> Issue {
        let keyword = match error.kind() {
            ValidationErrorKind::BacktrackLimitExceeded { .. } | ValidationErrorKind::RegexEngineFailure { .. } => {
                keywords::PATTERN_LIMIT
            }
            ValidationErrorKind::FalseSchema => keywords::FALSE_SCHEMA,
            kind => kind.keyword(),
        };
        let location = error.schema_path().as_str();
        let (parent, last) = location.rsplit_once('/').unwrap_or_default();
        let parent = self.schema.pointer(parent);
        let value = parent.and_then(|parent| parent.get(last)).filter(|_| last == error.kind().keyword());
        let expected = value.cloned().unwrap_or_else(|| expected_by(error.kind()));
        Issue {
            path: error.instance_path().as_str().to_owned(),
            keyword: keyword.to_owned(),
            message: message::for_model(error, parent, values),
            expected: if is_short(&expected) { expected } else { Value::Null },
        }
    }
}

/// The keyword's value as the error itself tells it, for a keyword that is not where the error's path leads in the
/// document: below an embedded `$id`, or in a meta-schema.
fn expected_by(kind: &ValidationErrorKind) -> Value {
    match kind {
        ValidationErrorKind::Constant { expected_value } => (**expected_value).clone(),
        ValidationErrorKind::Enum { options } => (**options).clone(),
        ValidationErrorKind::ExclusiveMaximum { limit }
        | ValidationErrorKind::ExclusiveMinimum { limit }
        | ValidationErrorKind::Maximum { limit }
        | ValidationErrorKind::Minimum { limit } => limit.clone(),
        ValidationErrorKind::MaxItems { limit }
        | ValidationErrorKind::MinItems { limit }
        | ValidationErrorKind::MaxLength { limit }
        | ValidationErrorKind::MinLength { limit }
        | ValidationErrorKind::MaxProperties { limit }
        | ValidationErrorKind::MinProperties { limit } => json!(limit),
        ValidationErrorKind::MultipleOf { multiple_of } => json!(multiple_of),
        ValidationErrorKind::Pattern { pattern } => json!(pattern),
        ValidationErrorKind::Format { format } => json!(format),
        ValidationErrorKind::Required { property } => json!([property]),
        ValidationErrorKind::Type { kind: TypeKind::Single(one) } => json!(one.as_str()),
        ValidationErrorKind::Type { kind: TypeKind::Multiple(set) } => {
            set.iter().map(|one| json!(one.as_str())).collect()
        }
        ValidationErrorKind::AdditionalProperties { .. }
        | ValidationErrorKind::UnevaluatedProperties { .. }
        | ValidationErrorKind::UnevaluatedItems { .. }
        | ValidationErrorKind::AdditionalItems { .. }
        | ValidationErrorKind::FalseSchema => Value::Bool(false),
        ValidationErrorKind::UniqueItems => Value::Bool(true),
        ValidationErrorKind::ContentEncoding { content_encoding } => json!(content_encoding),
        ValidationErrorKind::ContentMediaType { content_media_type } => json!(content_media_type),
        ValidationErrorKind::Not { schema } => schema.clone(),
        ValidationErrorKind::AnyOf { .. }
        | ValidationErrorKind::OneOfMultipleValid { .. }
        | ValidationErrorKind::OneOfNotValid { .. }
        | ValidationErrorKind::BacktrackLimitExceeded { .. }
        | ValidationErrorKind::RegexEngineFailure { .. }
        | ValidationErrorKind::Contains
        | ValidationErrorKind::Custom { .. }
        | ValidationErrorKind::FromUtf8 { .. }
        | ValidationErrorKind::PropertyNames { .. }
        | ValidationErrorKind::Referencing(_) => Value::Null,
    }
}

/// Whether a keyword's value is worth repeating. Cheap: writing stops at the limit.
fn is_short(value: &Value) -> bool {
    struct Budget(usize);
    impl std::fmt::Write for Budget {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0 = self.0.checked_sub(text.len()).ok_or(std::fmt::Error)?;
            Ok(())
        }
    }
    std::fmt::Write::write_fmt(&mut Budget(MAX_EXPECTED_BYTES), format_args!("{value}")).is_ok()
}
