//! What a check reports, keyword by keyword.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use pagehand_schema::{Issue, Report, Validator, Values, keywords};
use serde_json::{Value, json};

fn check(schema: &Value, instance: &Value) -> Report {
    Validator::compile(&schema.to_string()).unwrap().check(&instance.to_string())
}

/// The one issue that the value has.
fn issue(schema: &Value, instance: &Value) -> Issue {
    let report = check(schema, instance);
    assert!(!report.valid, "{instance} should not conform to {schema}");
    assert_eq!(report.issues.len(), 1, "{:?}", report.issues);
    assert!(!report.truncated);
    report.issues.into_iter().next().unwrap()
}

fn accepts(schema: &Value, instance: &Value) -> bool {
    check(schema, instance).valid
}

#[test]
fn a_conforming_value_has_an_empty_report() {
    let report = check(&json!({"type": "object", "required": ["a"]}), &json!({"a": 1}));
    assert_eq!(report, Report { valid: true, issues: vec![], truncated: false });
}

#[test]
fn a_report_is_camel_case_json() {
    let report = check(&json!({"type": "integer"}), &json!("x"));
    let expected = json!({
        "valid": false,
        "issues": [{
            "path": "",
            "keyword": "type",
            "expected": "integer",
            "message": "must be of type integer, not the string \"x\""
        }],
        "truncated": false
    });
    assert_eq!(serde_json::from_str::<Value>(&report.to_json()).unwrap(), expected);
    assert_eq!(serde_json::to_value(&report).unwrap(), expected);
}

#[test]
fn an_enum_lists_every_option() {
    let options = json!(["todo", "doing", "blocked", "review", "done"]);
    let schema = json!({"properties": {"status": {"enum": options}}});
    let issue = issue(&schema, &json!({"status": "later"}));
    assert_eq!((issue.path.as_str(), issue.keyword.as_str()), ("/status", "enum"));
    assert_eq!(issue.expected, options);
    assert_eq!(issue.message, r#"must be one of "todo", "doing", "blocked", "review", "done"; "later" is not"#);
}

#[test]
fn a_const_names_its_value() {
    let issue = issue(&json!({"const": "v1"}), &json!("v2"));
    assert_eq!(issue.expected, json!("v1"));
    assert_eq!(issue.message, r#"must be "v1", not "v2""#);
}

#[test]
fn bounds_carry_the_bound() {
    let table = [
        (json!({"minimum": 3}), json!(2), "minimum", "must be at least 3, not 2"),
        (json!({"maximum": 3}), json!(4), "maximum", "must be at most 3, not 4"),
        (json!({"exclusiveMinimum": 3}), json!(3), "exclusiveMinimum", "must be greater than 3, not 3"),
        (json!({"exclusiveMaximum": 3}), json!(3), "exclusiveMaximum", "must be less than 3, not 3"),
        (json!({"multipleOf": 5}), json!(7), "multipleOf", "must be a multiple of 5, not 7"),
        (json!({"minLength": 2}), json!("é"), "minLength", "must have at least 2 characters, but has 1"),
        (json!({"maxLength": 1}), json!("ab"), "maxLength", "must have at most 1 characters, but has 2"),
        (json!({"minItems": 2}), json!([1]), "minItems", "must have at least 2 items, but has 1"),
        (json!({"maxItems": 1}), json!([1, 2]), "maxItems", "must have at most 1 items, but has 2"),
        (json!({"minProperties": 1}), json!({}), "minProperties", "must have at least 1 properties, but has 0"),
        (json!({"maxProperties": 0}), json!({"a": 1}), "maxProperties", "must have at most 0 properties, but has 1"),
    ];
    for (schema, instance, keyword, message) in table {
        let issue = issue(&schema, &instance);
        assert_eq!(issue.keyword, keyword);
        assert_eq!(issue.expected, schema[keyword], "{schema}");
        assert_eq!(issue.message, message);
    }
}

#[test]
fn a_pattern_is_reported_with_its_text() {
    let issue = issue(&json!({"pattern": "^[A-Z]{3}-\\d+$"}), &json!("abc"));
    assert_eq!(issue.keyword, "pattern");
    assert_eq!(issue.expected, json!("^[A-Z]{3}-\\d+$"));
    assert_eq!(issue.message, r#"must match the pattern ^[A-Z]{3}-\d+$; "abc" does not"#);
}

#[test]
fn a_text_that_is_too_long_for_a_pattern_has_its_own_outcome() {
    let schema = json!({"pattern": "^a*$"});
    assert!(accepts(&schema, &json!("a".repeat(64 * 1024))));
    let issue = issue(&schema, &json!("a".repeat(64 * 1024 + 1)));
    assert_eq!(issue.keyword, keywords::PATTERN_LIMIT);
    assert!(issue.message.contains("too costly"), "{}", issue.message);
}

#[test]
fn nested_objects_are_addressed_by_pointer() {
    let schema =
        json!({"properties": {"a/b": {"type": "array", "items": {"properties": {"~n": {"type": "integer"}}}}}});
    let issue = issue(&schema, &json!({"a/b": [{"~n": 1}, {"~n": true}]}));
    assert_eq!(issue.path, "/a~1b/1/~0n");
    assert_eq!(issue.message, "must be of type integer, not the boolean true");
}

#[test]
fn a_missing_property_is_named_on_its_parent() {
    let schema = json!({"properties": {"task": {"required": ["id", "title"]}}});
    let issue = issue(&schema, &json!({"task": {"id": 1}}));
    assert_eq!((issue.path.as_str(), issue.keyword.as_str()), ("/task", "required"));
    assert_eq!(issue.expected, json!(["id", "title"]));
    assert_eq!(issue.message, r#"the property "title" is missing"#);
}

#[test]
fn an_unknown_property_comes_with_those_allowed() {
    let schema = json!({"properties": {"id": {}, "title": {}}, "additionalProperties": false});
    let issue = issue(&schema, &json!({"id": 1, "name": "x"}));
    assert_eq!((issue.keyword.as_str(), &issue.expected), ("additionalProperties", &json!(false)));
    assert_eq!(issue.message, r#"must not have the property "name"; allowed are the properties "id", "title""#);
}

#[test]
fn references_into_the_schema_are_followed() {
    let schema = json!({
        "$defs": {"node": {"type": "object", "properties": {"v": {"minimum": 1}, "next": {"$ref": "#/$defs/node"}}}},
        "$ref": "#/$defs/node"
    });
    assert!(accepts(&schema, &json!({"v": 1, "next": {"v": 2}})));
    let issue = issue(&schema, &json!({"v": 1, "next": {"v": 1, "next": {"v": 0}}}));
    assert_eq!((issue.path.as_str(), &issue.expected), ("/next/next/v", &json!(1)));
}

#[test]
fn a_keyword_below_an_embedded_id_still_tells_what_it_expects() {
    let schema = json!({
        "$id": "https://app.example/root",
        "properties": {"a": {"$id": "sub", "$defs": {"k": {"type": "string"}}, "$ref": "#/$defs/k"}}
    });
    assert_eq!(issue(&schema, &json!({"a": 1})).expected, json!("string"));
}

#[test]
fn integers_may_be_written_with_a_fraction_of_zero() {
    let schema = json!({"type": "integer"});
    assert!(Validator::compile(&schema.to_string()).unwrap().check("2.0").valid);
    assert!(!Validator::compile(&schema.to_string()).unwrap().check("2.5").valid);
}

#[test]
fn integers_beyond_2_to_the_53_are_compared_exactly() {
    let validator = Validator::compile(r#"{"maximum": 9007199254740992}"#).unwrap();
    assert!(validator.check("9007199254740992").valid);
    assert!(!validator.check("9007199254740993").valid);
}

#[test]
fn alternatives_of_plain_types_are_told_as_types() {
    let schema = json!({"properties": {"due": {"anyOf": [{"type": "string"}, {"type": "null"}]}}});
    let issue = issue(&schema, &json!({"due": 7}));
    assert_eq!((issue.path.as_str(), issue.keyword.as_str()), ("/due", "anyOf"));
    assert_eq!(issue.expected, json!([{"type": "string"}, {"type": "null"}]));
    assert_eq!(issue.message, "must be of type string or null, not the number 7");
}

#[test]
fn alternatives_are_one_issue_that_tells_the_closest() {
    let schema = json!({"oneOf": [
        {"type": "string"},
        {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind", "x"]},
        {"type": "object", "properties": {"kind": {"const": "b"}, "n": {"type": "integer"}}, "required": ["kind", "n"]}
    ]});
    let issue = issue(&schema, &json!({"kind": "b", "n": "7"}));
    assert_eq!((issue.path.as_str(), issue.keyword.as_str()), ("", "oneOf"));
    assert_eq!(
        issue.message,
        r#"must match one of the 3 alternatives; closest is number 3: /n must be of type integer, not the string "7""#
    );
}

#[test]
fn several_matching_alternatives_of_one_of_are_refused() {
    let issue = issue(&json!({"oneOf": [{"type": "integer"}, {"minimum": 0}]}), &json!(1));
    assert_eq!(issue.keyword, "oneOf");
    assert!(issue.message.contains("exactly one"), "{}", issue.message);
}

#[test]
fn formats_are_asserted() {
    let table = [
        ("date", "2026-02-28", "2026-02-30"),
        ("time", "12:30:00Z", "25:00:00Z"),
        ("date-time", "2026-02-28T12:30:00+01:00", "2026-02-28 noon"),
        ("email", "ada@example.org", "ada"),
        ("uri", "https://example.org/a?b#c", "not a uri"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"),
        ("ipv4", "192.0.2.1", "192.0.2.256"),
        ("ipv6", "2001:db8::1", "2001:db8:::1"),
        ("hostname", "example.org", "-example-.org"),
    ];
    for (format, good, bad) in table {
        let schema = json!({"format": format});
        assert!(accepts(&schema, &json!(good)), "{format}: {good}");
        let issue = issue(&schema, &json!(bad));
        assert_eq!((issue.keyword.as_str(), issue.expected), ("format", json!(format)));
    }
}

#[test]
fn other_formats_are_annotations() {
    for format in
        ["duration", "idn-email", "idn-hostname", "iri", "json-pointer", "regex", "uri-reference", "uri-template"]
    {
        assert!(accepts(&json!({"format": format}), &json!("%[ (")), "{format}");
    }
}

#[test]
fn formats_are_asserted_whatever_the_dialect() {
    for draft in ["draft-04", "draft-06", "draft-07"] {
        let schema = json!({"$schema": format!("http://json-schema.org/{draft}/schema#"), "format": "uuid"});
        assert!(accepts(&schema, &json!("123e4567-e89b-12d3-a456-426614174000")), "{draft}");
        assert!(!accepts(&schema, &json!("123e4567-e89b-12d3-a456-42661417400")), "{draft}");
    }
}

#[test]
fn a_masked_report_shows_no_value() {
    let schema = json!({
        "properties": {
            "type": {"type": "integer"},
            "enum": {"enum": ["low", "high"]},
            "const": {"const": 1},
            "pattern": {"pattern": "^[0-9]+$"},
            "format": {"format": "date"},
            "minimum": {"minimum": 7},
            "maxLength": {"maxLength": 3},
            "anyOf": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
            "oneOf": {"oneOf": [{"pattern": "^a"}, {"minLength": 100}]},
            "not": {"not": {"type": "string"}},
            "names": {"propertyNames": {"pattern": "^[0-9]+$"}},
            "unique": {"uniqueItems": true},
            "contains": {"contains": {"type": "null"}},
            "extra": {"additionalProperties": {"type": "null"}}
        }
    });
    let secret = "secret-4711";
    let mut value = json!({"minimum": -4711, "names": {secret: 1}, "unique": [secret, secret], "contains": [secret]});
    value["extra"] = json!({"name": secret});
    for keyword in ["type", "enum", "const", "pattern", "format", "maxLength", "anyOf", "oneOf", "not"] {
        value[keyword] = json!(secret);
    }
    let validator = Validator::compile(&schema.to_string()).unwrap();
    let report = validator.check_with(&value.to_string(), Values::Masked);
    assert_eq!(report.issues.len(), 14, "{:?}", report.issues);
    for issue in &report.issues {
        assert!(!issue.message.contains("4711") && !issue.expected.to_string().contains("4711"), "{issue:?}");
    }
    let message = |path: &str| report.issues.iter().find(|issue| issue.path == path).unwrap().message.as_str();
    assert_eq!(message("/type"), "must be of type integer, not the string");
    assert_eq!(message("/enum"), r#"must be one of "low", "high"; what was given is not"#);
    assert!(validator.check(&value.to_string()).issues.iter().any(|issue| issue.message.contains(secret)));
}

#[test]
fn unknown_keywords_and_formats_are_ignored() {
    let schema = json!({"type": "string", "format": "board-id", "x-order": 3, "widget": {"type": "nonsense"}});
    assert!(accepts(&schema, &json!("anything")));
}

#[test]
fn case_27_tuples_follow_the_draft_that_they_are_written_in() {
    let tuple = |dialect: &str| json!({"$schema": dialect, "items": [{"type": "integer"}]});
    let seven = tuple("http://json-schema.org/draft-07/schema#");
    assert!(accepts(&seven, &json!([1, "x"])));
    assert!(!accepts(&seven, &json!(["x"])));
    // 2020-12 has no array form of `items`.
    assert!(Validator::compile(&tuple("https://json-schema.org/draft/2020-12/schema").to_string()).is_err());
    assert!(Validator::compile(r#"{"items": [{}]}"#).is_err());
    assert!(accepts(&json!({"prefixItems": [{"type": "integer"}]}), &json!([1, "x"])));
}

#[test]
fn boolean_schemas_allow_all_or_nothing() {
    assert!(accepts(&json!(true), &json!({"a": [1]})));
    let issue = issue(&json!({"properties": {"secret": false}}), &json!({"secret": 1}));
    assert_eq!((issue.path.as_str(), issue.keyword.as_str()), ("/secret", keywords::FALSE_SCHEMA));
    assert_eq!(issue.expected, json!(false));
}

#[test]
fn proto_is_an_ordinary_key() {
    let schema =
        r#"{"type": "object", "properties": {"__proto__": {"type": "integer"}}, "additionalProperties": false}"#;
    let validator = Validator::compile(schema).unwrap();
    assert!(validator.check(r#"{"__proto__": 1}"#).valid);
    let report = validator.check(r#"{"__proto__": {"polluted": true}}"#);
    assert_eq!(report.issues[0].path, "/__proto__");
    let report = validator.check(r#"{"constructor": 1}"#);
    assert!(report.issues[0].message.contains(r#""constructor""#));
}

#[test]
fn unicode_is_counted_and_shown_by_character() {
    let schema = json!({"properties": {"名前": {"maxLength": 2, "pattern": "^\\p{L}+$"}}});
    assert!(accepts(&schema, &json!({"名前": "日本"})));
    let report = check(&schema, &json!({"名前": "👩‍🚀!"}));
    assert_eq!(report.issues.len(), 2);
    assert!(report.issues.iter().all(|issue| issue.path == "/名前"));
}

#[test]
fn property_names_and_dependencies_are_checked() {
    let issue_of_names = issue(&json!({"propertyNames": {"maxLength": 2}}), &json!({"abc": 1}));
    assert_eq!(issue_of_names.keyword, "propertyNames");
    assert!(issue_of_names.message.contains("at most 2 characters"), "{}", issue_of_names.message);
    let issue = issue(&json!({"dependentRequired": {"from": ["to"]}}), &json!({"from": 1}));
    assert_eq!((issue.keyword.as_str(), issue.expected), ("required", json!(["to"])));
}

#[test]
fn unevaluated_properties_are_refused() {
    let schema = json!({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": false});
    assert!(accepts(&schema, &json!({"a": 1})));
    assert_eq!(issue(&schema, &json!({"b": 1})).keyword, "unevaluatedProperties");
}
