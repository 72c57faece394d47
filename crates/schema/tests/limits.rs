//! Hostile and broken input ends in a report or an error, never in a crash.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fmt::Write as _;

use pagehand_schema::{
    MAX_INSTANCE_BYTES, MAX_ISSUES, MAX_REFERENCES, MAX_SCHEMA_BYTES, SchemaError, Validator, keywords,
};
use serde_json::{Value, json};

fn nested(open: &str, middle: &str, close: &str, depth: usize) -> String {
    format!("{}{middle}{}", open.repeat(depth), close.repeat(depth))
}

fn refused(schema: &Value) -> SchemaError {
    Validator::compile(&schema.to_string()).unwrap_err()
}

#[test]
fn a_value_ten_thousand_deep_is_one_issue() {
    let validator = Validator::compile(r##"{"items": {"$ref": "#"}}"##).unwrap();
    for text in [nested("[", "", "]", 10_000), nested(r#"{"a":"#, "1", "}", 10_000), "[".repeat(10_000)] {
        let report = validator.check(&text);
        assert!(!report.valid);
        assert_eq!(report.issues.len(), 1);
        assert_eq!(report.issues[0].keyword, keywords::JSON);
        assert!(report.issues[0].message.contains("recursion limit"), "{}", report.issues[0].message);
    }
}

#[test]
fn a_schema_ten_thousand_deep_is_an_error() {
    let text = nested(r#"{"items":"#, "{}", "}", 10_000);
    assert!(matches!(Validator::compile(&text), Err(SchemaError::NotJson { .. })));
}

#[test]
fn the_deepest_allowed_schema_and_value_work() {
    let validator = Validator::compile(&nested(r#"{"items":"#, r#"{"type":"integer"}"#, "}", 125)).unwrap();
    assert!(validator.check(&nested("[", "1", "]", 125)).valid);
    let report = validator.check(&nested("[", r#""x""#, "]", 125));
    assert_eq!(report.issues[0].path, "/0".repeat(125));
}

#[test]
fn text_that_is_not_json_is_one_issue() {
    let validator = Validator::compile("{}").unwrap();
    for text in ["", "{", "{'a': 1}", "undefined", "1 2", "NaN", "\u{0}", "1e999"] {
        let report = validator.check(text);
        assert_eq!(report.issues[0].keyword, keywords::JSON, "{text}");
        assert_eq!(report.issues[0].expected, Value::Null);
    }
}

#[test]
fn schemas_and_values_have_a_longest_length() {
    let long = format!("{}{{}}", " ".repeat(MAX_SCHEMA_BYTES));
    assert_eq!(Validator::compile(&long).unwrap_err(), SchemaError::TooLarge { bytes: MAX_SCHEMA_BYTES + 2 });
    let long = format!("{}{{}}", " ".repeat(MAX_INSTANCE_BYTES));
    let report = Validator::compile("{}").unwrap().check(&long);
    assert_eq!(report.issues[0].keyword, keywords::JSON);
}

#[test]
fn a_report_stops_at_twenty_issues() {
    let validator = Validator::compile(r#"{"items": {"type": "integer"}}"#).unwrap();
    let report = validator.check(&json!(vec!["x"; 1000]).to_string());
    assert_eq!(report.issues.len(), MAX_ISSUES);
    assert!(report.truncated);
    let report = validator.check(&json!(vec!["x"; MAX_ISSUES]).to_string());
    assert_eq!(report.issues.len(), MAX_ISSUES);
    assert!(!report.truncated);
}

#[test]
fn messages_stay_short_whatever_the_value() {
    let long = "長".repeat(100_000);
    let options: Vec<String> = (0..2000).map(|index| format!("option-{index}")).collect();
    let schemas = [
        json!({"type": "integer"}),
        json!({"enum": options}),
        json!({"const": long}),
        json!({"pattern": format!("^{}$", "[ab]".repeat(500))}),
        json!({"anyOf": [{"maxLength": 1}, {"enum": options}]}),
        json!({"not": {"type": "string"}}),
    ];
    for schema in schemas {
        let report = Validator::compile(&schema.to_string()).unwrap().check(&json!(format!("{long}x")).to_string());
        let message = &report.issues[0].message;
        assert!(!report.valid && message.chars().count() <= 300, "{message}");
    }
    let members: serde_json::Map<String, Value> = (0..1000).map(|index| (format!("{long}{index}"), json!(1))).collect();
    let report = Validator::compile(r#"{"additionalProperties": false}"#).unwrap().check(&json!(members).to_string());
    assert!(report.issues[0].message.chars().count() <= 300);
}

#[test]
fn a_long_keyword_value_is_left_out() {
    let options: Vec<String> = (0..2000).map(|index| format!("option-{index}")).collect();
    let validator = Validator::compile(&json!({"enum": options}).to_string()).unwrap();
    assert_eq!(validator.check(r#""x""#).issues[0].expected, Value::Null);
}

#[test]
fn nothing_is_fetched() {
    for target in ["https://example.com/a.json", "file:///etc/hostname", "other.json", "urn:example:a"] {
        let error = refused(&json!({"properties": {"a": {"$ref": target}}}));
        assert!(matches!(error, SchemaError::Unresolvable { .. }), "{error}");
        assert_eq!(error.location(), Some("/properties/a/$ref"), "{error}");
    }
}

#[test]
fn a_reference_to_nowhere_names_its_place() {
    let error = refused(
        &json!({"items": [{}], "properties": {"a/b": {"$ref": "#/$defs/nope"}}, "$schema": "http://json-schema.org/draft-07/schema#"}),
    );
    assert_eq!(error.location(), Some("/properties/a~1b/$ref"));
    assert!(error.to_string().contains("/$defs/nope"), "{error}");
}

#[test]
fn an_unknown_dialect_is_an_error() {
    let error = refused(&json!({"$schema": "https://example.com/dialect", "type": "string"}));
    assert_eq!(error.location(), Some("/$schema"));
}

#[test]
fn a_bad_schema_names_the_keyword() {
    let table = [
        (json!({"properties": {"a": {"type": "strin"}}}), "/properties/a/type"),
        (json!({"properties": {"a": {"pattern": "("}}}), "/properties/a/pattern"),
        (json!({"items": {"minLength": -1}}), "/items/minLength"),
        (json!({"required": "id"}), "/required"),
        (json!({"properties": []}), "/properties"),
    ];
    for (schema, location) in table {
        let error = refused(&schema);
        assert_eq!(error.location(), Some(location), "{error}");
        assert!(error.to_string().contains(location), "{error}");
    }
    assert_eq!(refused(&json!("x")).location(), Some(""));
    assert!(matches!(Validator::compile("{"), Err(SchemaError::NotJson { .. })));
}

#[test]
fn circular_references_end() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}}, "$ref": "#/$defs/a"}),
        json!({"not": {"$ref": "#"}}),
    ] {
        let _ = Validator::compile(&schema.to_string()).unwrap().check("1");
    }
}

#[test]
fn a_chain_of_references_is_bounded() {
    let chain = |links: usize| {
        let mut text = r##"{"$ref": "#/$defs/0", "$defs": {"##.to_owned();
        for link in 1..links {
            write!(text, r##""{}": {{"$ref": "#/$defs/{link}"}},"##, link - 1).unwrap();
        }
        write!(text, r#""{}": {{"type": "string"}}}}}}"#, links - 1).unwrap();
        text
    };
    let validator = Validator::compile(&chain(MAX_REFERENCES)).unwrap();
    assert!(validator.check(r#""x""#).valid);
    assert!(!validator.check("1").valid);
    assert_eq!(Validator::compile(&chain(MAX_REFERENCES + 1)).unwrap_err(), SchemaError::TooManyReferences);
}

#[test]
fn a_schema_of_a_validator_outlives_its_text() {
    let validator = {
        let text = String::from(r#"{"type": "string"}"#);
        Validator::compile(&text).unwrap()
    };
    assert!(validator.check(r#""x""#).valid);
}
