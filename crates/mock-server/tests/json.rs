//! The ordered JSON: what it keeps, what it refuses, and how it words that.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use pagehand_mock_server::json::{Json, parse, parse_lenient, python_dumps, python_repr};
use pagehand_mock_server::object;

fn error(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn order_numbers_and_text_survive() {
    let text = r#"{"z":1,"a":[7.0,123456789012345678901234567890,1e5,-0.5],"__proto__":{"é😀":"\u0000\n\"\\"}}"#;
    assert_eq!(parse(text).unwrap().to_string(), text);
}

#[test]
fn the_last_of_equal_keys_wins_at_the_place_of_the_first() {
    assert_eq!(parse(r#"{"a":1,"b":2,"a":3}"#).unwrap().to_string(), r#"{"a":3,"b":2}"#);
}

#[test]
fn complaints_are_worded_as_in_python() {
    assert_eq!(error(""), "Expecting value: line 1 column 1 (char 0)");
    assert_eq!(error("{\"a\": 1, "), "Expecting property name enclosed in double quotes: line 1 column 10 (char 9)");
    assert_eq!(error("{\n\"a\" 1}"), "Expecting ':' delimiter: line 2 column 5 (char 6)");
    assert_eq!(error("[1 2]"), "Expecting ',' delimiter: line 1 column 4 (char 3)");
    assert_eq!(error("{} x"), "Extra data: line 1 column 4 (char 3)");
    assert_eq!(error("\"abc"), "Unterminated string starting at: line 1 column 1 (char 0)");
    assert_eq!(error("\"\\x\""), "Invalid \\escape: line 1 column 2 (char 1)");
    assert_eq!(error("\"\\uZZZZ\""), "Invalid \\uXXXX escape: line 1 column 3 (char 2)");
    assert_eq!(error("\"a\nb\""), "Invalid control character at: line 1 column 3 (char 2)");
    assert!(error(&"[".repeat(5000)).starts_with("maximum recursion depth exceeded"));
}

#[test]
fn lenient_reading_takes_raw_control_characters() {
    assert_eq!(parse_lenient("\"a\nb\"").unwrap(), Json::from("a\nb"));
}

#[test]
fn surrogates_are_joined_and_lone_ones_replaced() {
    assert_eq!(parse(r#""\ud83d\ude00""#).unwrap(), Json::from("😀"));
    assert_eq!(parse(r#""\ud83dx""#).unwrap(), Json::from("\u{fffd}x"));
}

#[test]
fn numbers_that_json_lacks_are_read_and_written_as_null() {
    let odd = parse("[NaN, Infinity, -Infinity, 1e400]").unwrap();
    assert_eq!(odd.to_string(), "[null,null,null,null]");
    assert_eq!(python_dumps(&odd), "[NaN, Infinity, -Infinity, Infinity]");
    assert_eq!(python_repr(&odd), "[nan, inf, -inf, inf]");
}

#[test]
fn python_styles_are_spaced_escaped_and_quoted() {
    let value = object! { "a" => "é😀'", "b" => vec![Json::Null, true.into(), 1.5.into()] };
    assert_eq!(python_dumps(&value), r#"{"a": "\u00e9\ud83d\ude00'", "b": [null, true, 1.5]}"#);
    assert_eq!(python_repr(&value), r#"{'a': "é😀'", 'b': [None, True, 1.5]}"#);
}

#[test]
fn equality_as_a_schema_has_it_ignores_the_order_of_keys_only() {
    let (one, other) = (parse(r#"{"a":[1,2],"b":{}}"#).unwrap(), parse(r#"{"b":{},"a":[1,2]}"#).unwrap());
    assert!(one.same_value(&other));
    assert_ne!(one, other);
    assert!(!one.same_value(&parse(r#"{"a":[2,1],"b":{}}"#).unwrap()));
}
