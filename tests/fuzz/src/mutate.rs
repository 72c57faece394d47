//! Making one input of another: by its structure where it is JSON, and by its bytes.

use fastrand::Rng;

use crate::node::Node;

/// Values that something, somewhere, was not written for.
const LEAVES: [&str; 46] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-1",
    "1",
    "2.0",
    "2.5",
    "1e2",
    "255",
    "256",
    "429",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483649",
    "4294967296",
    "9007199254740991",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890",
    "1e308",
    "1e400",
    "-1e400",
    "5e-324",
    "1e-99999999999999999999",
    "1e99999999999999999999",
    "0.1000000000000000055511151231257827",
    "\"\"",
    "\" \"",
    "\"null\"",
    "\"[]\"",
    "\"{\\\"a\\\":1}\"",
    "\"\\ud800\"",
    "\"\\udc00\\ud800\"",
    "\"\\ud83d\\ude00\"",
    "\"\\u0000\"",
    "\"__proto__\"",
    "\"../..//%2e?#\"",
    "[]",
    "{}",
];

const NAMES: [&str; 9] = [
    "\"__proto__\"",
    "\"constructor\"",
    "\"toJSON\"",
    "\"\"",
    "\"\\ud800\"",
    "\"id\"",
    "\"kind\"",
    "\"a/b~c\"",
    "\"\\u0069d\"",
];

/// What may stand in the place of text.
const SCRAPS: [&str; 22] = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud800", "\u{0}", "\u{feff}", "\u{2028}", "😀", "é", "-", "e",
    ".", "null", "/", "42", "{}",
];

/// Levels of what is deep.
const DEPTHS: [usize; 7] = [2, 31, 33, 127, 129, 500, 10_000];

/// One input made of another, and parts of a third.
pub fn mutate(random: &mut Rng, from: &str, tree: Option<&Node>, other: &Node) -> String {
    let text = match tree {
        Some(tree) if random.u8(..) < 205 => {
            let mut tree = tree.clone();
            for _ in 0..=geometric(random) {
                by_structure(random, &mut tree, other);
            }
            tree.to_text()
        }
        _ => from.to_owned(),
    };
    // A prefix that is no JSON, such as a packet's, is part of the text only.
    if tree.is_some() && random.u8(..) < 205 { text } else { by_bytes(random, text) }
}

/// 0 half of the time, 1 a quarter of the time, and so on.
fn geometric(random: &mut Rng) -> u32 {
    random.u32(..).leading_zeros()
}

fn by_structure(random: &mut Rng, tree: &mut Node, other: &Node) {
    let mut place = random.usize(..tree.count());
    let Some(node) = tree.nth(&mut place) else { return };
    match random.u8(..14) {
        // Another value, of any type.
        0..=3 => *node = Node::Leaf(choice(random, &LEAVES).to_owned()),
        // A part of another input.
        4 | 5 => {
            let mut other = other.clone();
            let mut place = random.usize(..other.count());
            *node = other.nth(&mut place).cloned().unwrap_or(Node::List(Vec::new()));
        }
        6 => {
            // Depth is dear to write: the deepest are rare.
            let levels = DEPTHS[random.usize(..DEPTHS.len()).min(random.usize(..DEPTHS.len() + 2))];
            let (open, close) = if random.bool() { ("[", "]") } else { ("{\"a\":", "}") };
            let inner = std::mem::replace(node, Node::List(Vec::new()));
            *node = Node::Deep(open, close, levels, Box::new(inner));
        }
        7 => {
            let wide = 1 << random.u32(..9);
            *node = Node::List(vec![Node::Leaf(choice(random, &LEAVES).to_owned()); wide]);
        }
        _ => inside(random, node),
    }
}

/// Changes what a list or an object holds.
fn inside(random: &mut Rng, node: &mut Node) {
    match node {
        Node::Leaf(text) => *text = by_bytes(random, std::mem::take(text)),
        Node::Deep(_, _, levels, _) => *levels /= 2,
        Node::List(items) => match random.u8(..4) {
            _ if items.is_empty() => items.push(Node::Leaf(choice(random, &LEAVES).to_owned())),
            0 => drop(items.remove(random.usize(..items.len()))),
            1 => items.push(items[random.usize(..items.len())].clone()),
            2 => items.reverse(),
            _ => random.shuffle(items),
        },
        Node::Object(members) => match random.u8(..7) {
            _ if members.is_empty() => {
                members.push((choice(random, &NAMES).to_owned(), Node::Leaf(choice(random, &LEAVES).to_owned())));
            }
            0 | 1 => drop(members.remove(random.usize(..members.len()))),
            // One name twice, with another value.
            2 => {
                let name = members[random.usize(..members.len())].0.clone();
                members.push((name, Node::Leaf(choice(random, &LEAVES).to_owned())));
            }
            3 => random.shuffle(members),
            4 => {
                let at = random.usize(..members.len());
                members[at].0 = choice(random, &NAMES).to_owned();
            }
            5 => {
                members.push((choice(random, &NAMES).to_owned(), Node::Leaf(choice(random, &LEAVES).to_owned())));
            }
            // Two values change places.
            _ => {
                let (one, two) = (random.usize(..members.len()), random.usize(..members.len()));
                let value = members[one].1.clone();
                members[one].1 = std::mem::replace(&mut members[two].1, value);
            }
        },
    }
}

/// Changes bytes. What is no UTF-8 afterwards is what a browser makes of it: it decodes before we see anything.
fn by_bytes(random: &mut Rng, text: String) -> String {
    let mut bytes = text.into_bytes();
    for _ in 0..=geometric(random) {
        let length = bytes.len();
        let at = random.usize(..=length);
        let end = (at + random.usize(..=16)).min(length);
        match random.u8(..7) {
            0 if at < length => bytes[at] ^= 1 << random.u32(..8),
            1 => bytes.truncate(at),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                let to = random.usize(..=length);
                bytes.splice(to..to, piece);
            }
            4 => drop(bytes.drain(..at.min(4))),
            5 if at < length => bytes[at] = random.u8(..),
            _ => drop(bytes.splice(at..at, choice(random, &SCRAPS).bytes())),
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn choice<'a>(random: &mut Rng, of: &[&'a str]) -> &'a str {
    of[random.usize(..of.len())]
}
