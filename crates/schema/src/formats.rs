//! Which values of `format` are checked: date, time, date-time, email, hostname, ipv4, ipv6, uri and uuid.
//!
//! All others are annotations, as the specification has it: a check that knows half of a format refuses good values.

use jsonschema::ValidationOptions;

/// Formats that `jsonschema` would check as well.
const ANNOTATIONS: [&str; 8] = [
    "duration",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "uri-reference",
    "uri-template",
];

/// Has exactly these checked.
pub(crate) fn checked(options: ValidationOptions<'_>) -> ValidationOptions<'_> {
    let options = options.should_validate_formats(true).should_ignore_unknown_formats(true);
    // Drafts before 2019-09 do not know it, but who writes it there means it.
    let options = options.with_format("uuid", is_uuid);
    ANNOTATIONS.into_iter().fold(options, |options, format| options.with_format(format, |_: &str| true))
}

/// Eight, four, four, four and twelve hexadecimal digits with hyphens between.
fn is_uuid(text: &str) -> bool {
    let groups = text.split('-').map(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(group.len()));
    groups.eq([8, 4, 4, 4, 12].map(Some))
}
