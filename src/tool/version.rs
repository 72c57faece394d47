//! Names that say which schema they stand for: `read_board_3f9a1c`.
//!
//! A server that binds a name to its schema, for all its users and for as long as it lives, takes a changed tool under such a
//! name without a word from anybody. The version is made of the schema alone, so that every build and every page comes to the
//! same one. That two schemas of one tool have the same is one in 16 million; the server then finds the conflict that it would
//! have found anyhow, and arguments are checked against the whole schema in any case.

use crate::json::{self, Value};

use super::ToolName;

/// How many digits a version has.
const DIGITS: usize = 6;
/// What a version adds to a name.
pub(super) const ADDED: usize = DIGITS + 1;

/// A name with the version of a schema.
pub(super) fn versioned(name: &ToolName, schema: &Value) -> ToolName {
    ToolName::received(&[name.as_str(), "_", &version(schema)].concat())
}

/// The name that a version was added to, of what looks like one.
pub(super) fn unversioned(name: &str) -> Option<&str> {
    let (base, version) = name.split_at_checked(name.len().checked_sub(ADDED)?)?;
    let digits = version.strip_prefix('_')?;
    digits.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')).then_some(base)
}

/// FNV-1a over the canonical text, 64 bits folded to 24. Servers have names that were made so: it must never change.
fn version(schema: &Value) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in json::text(schema).bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let folded = hash ^ (hash >> 24) ^ (hash >> 48);
    let digits =
        (0..DIGITS).rev().filter_map(|place| char::from_digit(u32::try_from((folded >> (4 * place)) & 0xf).ok()?, 16));
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    fn version_of(text: &str) -> String {
        version(&Value::read(Json::read(text).unwrap()).unwrap())
    }

    #[test]
    fn a_version_is_that_of_the_schema_however_it_is_written_and_never_changes() {
        let one = version_of(r#"{"type":"object","properties":{"n":{"minimum":1.0}}}"#);
        assert_eq!(one, version_of(r#"{ "properties": {"n":{"minimum":10e-1}}, "type":"object" }"#));
        assert_ne!(one, version_of(r#"{"type":"object","properties":{"n":{"minimum":2}}}"#));
        assert_eq!([one, version_of("{}")], ["786ec2", "db1564"]);
    }

    #[test]
    fn versions_of_many_schemas_differ() {
        let versions: std::collections::BTreeSet<_> =
            (0..2_000).map(|number| version_of(&format!(r#"{{"const":{number}}}"#))).collect();
        assert!(versions.len() >= 1_998, "{}", versions.len());
    }

    #[test]
    fn what_looks_like_a_version_has_a_name_before_it() {
        for (name, base) in [
            ("read_board_3f9a1c", Some("read_board")),
            ("_000000", Some("")),
            ("read_board", None),
            ("read_3F9A1C", None),
            ("read-3f9a1c", None),
            ("ä3f9a1c", None),
            ("", None),
        ] {
            assert_eq!(unversioned(name), base, "{name}");
        }
    }
}
