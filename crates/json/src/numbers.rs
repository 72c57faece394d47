//! Integers that are rounded as soon as JavaScript reads them.

use super::Json;
use super::read::skip_string;

/// Up to here every integer is one of JavaScript's numbers: 2^53.
const EXACT: &str = "9007199254740992";

/// More of one value are not told.
const MANY: usize = 16;

/// Where the scan is.
enum Place<'a> {
    Item(usize),
    /// In the member of this name, as it is written.
    Member(&'a str),
}

/// The integers beyond 2^53, be they written with a fraction of zeros: JSON Pointers and digits. A scan without recursion, for
/// a value may be as deep as it is long.
pub fn large_integers<'a>(value: impl Into<Json<'a>>) -> Vec<(String, &'a str)> {
    let mut found = Vec::new();
    let mut places = Vec::new();
    let mut rest = value.into().get();
    while let Some(mark) = rest.chars().next()
        && found.len() < MANY
    {
        let length = match mark {
            '"' => {
                let mut after = rest.as_bytes().iter();
                after.next();
                skip_string(&mut after);
                rest.len() - after.len()
            }
            '-' | '0'..='9' => rest.find([',', ']', '}', ' ', '\n', '\r', '\t']).unwrap_or(rest.len()),
            _ => mark.len_utf8(),
        };
        let Some((token, after)) = rest.split_at_checked(length) else { break };
        match (mark, places.last_mut()) {
            ('{', _) => places.push(Place::Member("\"\"")),
            ('[', _) => places.push(Place::Item(0)),
            ('}' | ']', _) => {
                places.pop();
            }
            (',', Some(Place::Item(at))) => *at += 1,
            ('"', Some(Place::Member(name))) if after.trim_start().starts_with(':') => *name = token,
            ('-' | '0'..='9', _) if is_large(token) => found.push((pointer(&places), token)),
            _ => {}
        }
        rest = after;
    }
    found
}

fn is_large(number: &str) -> bool {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = whole.trim_start_matches('-');
    let is_integer = !digits.contains(['e', 'E']) && fraction.bytes().all(|digit| digit == b'0');
    is_integer && (digits.len(), digits) > (EXACT.len(), EXACT)
}

fn pointer(places: &[Place]) -> String {
    let mut pointer = String::new();
    for place in places {
        pointer.push('/');
        match place {
            Place::Item(at) => pointer.push_str(&at.to_string()),
            Place::Member(name) => {
                let name = Json::read(name).and_then(Json::string).unwrap_or_default();
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
            }
        }
    }
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, String)> {
        large_integers(Json::read(text).unwrap()).into_iter().map(|(path, digits)| (path, digits.to_owned())).collect()
    }

    fn paths(text: &str) -> Vec<String> {
        found(text).into_iter().map(|(path, _)| path).collect()
    }

    #[test]
    fn integers_beyond_what_javascript_holds_are_found_with_their_digits() {
        for large in ["9007199254740993", "-9007199254740993", "9007199254740993.0", "123456789012345678901234567890"] {
            assert_eq!(found(large), [(String::new(), large.to_owned())]);
        }
        for exact in
            ["9007199254740992", "-9007199254740992", "0", "-1", "1.5", "0.12345678901234567890", "1e300", "1.0e99"]
        {
            assert_eq!(paths(exact), Vec::<String>::new(), "{exact}");
        }
    }

    #[test]
    fn they_are_found_wherever_they_are_and_nothing_in_a_text_is_one() {
        let text = r#"{"a" : [1, {"x/y~z" : 12345678901234567890}, [[ ],12345678901234567891 ]], "9007199254740993":"99999999999999999999",
            "b\"\\":"\\\"", "": 12345678901234567892, "\u00e9":{"__proto__":12345678901234567893}}"#;
        assert_eq!(paths(text), ["/a/1/x~1y~0z", "/a/2/1", "/", "/é/__proto__"]);
    }

    #[test]
    fn depth_and_width_are_no_trouble() {
        let deep = ["[".repeat(10_000), "12345678901234567890".into(), "]".repeat(10_000)].concat();
        assert_eq!(paths(&deep), ["/0".repeat(10_000)]);
        let wide = ["[", &"12345678901234567890,".repeat(100_000), "1]"].concat();
        assert_eq!(paths(&wide).len(), MANY);
    }
}
