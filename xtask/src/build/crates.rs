//! Whose code the wasm files are made of, and what in them is large.
//!
//! Asked of the file before wasm-opt, which drops the names of functions and takes about a third of the bytes. A generic
//! function belongs to the crate that wrote it, not to the one that made it necessary.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result};

use crate::{build::sizes::grouped, process::Program};

/// The name and the bytes of every function.
const FUNCTIONS: &str = "
const bytes = require('fs').readFileSync(process.argv[1]);
let at = 8;
const number = () => {
  for (let value = 0, shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    value |= (byte & 127) << shift;
    if (byte < 128) return value >>> 0;
  }
};
const text = () => {
  const end = number() + at;
  const text = bytes.toString('utf8', at, end);
  at = end;
  return text;
};
const sizes = [], names = new Map();
while (at < bytes.length) {
  const section = bytes[at++], end = number() + at;
  if (section === 10) {
    for (let left = number(); left > 0; left--) {
      const size = number();
      sizes.push(size);
      at += size;
    }
  } else if (section === 0 && text() === 'name') {
    while (at < end) {
      const kind = bytes[at++], stop = number() + at;
      if (kind === 1) for (let left = number(); left > 0; left--) names.set(number(), text());
      at = stop;
    }
  }
  at = end;
}
const { length } = WebAssembly.Module.imports(new WebAssembly.Module(bytes)).filter(({ kind }) => kind === 'function');
console.log(JSON.stringify(sizes.map((size, index) => [names.get(length + index) ?? '', size])));
";

/// Fewer bytes of a crate are not worth a line,
const SMALL_CRATE: u64 = 1000;
/// nor of a module
const SMALL_MODULE: u64 = 3000;
/// or a function.
const SMALL_FUNCTION: u64 = 3000;

/// A short table of the crates in a file that still has its names; at length with its modules and functions.
pub(crate) fn table(wasm: &Path, at_length: bool) -> Result<String> {
    let output = Program::new("node").args(["-e", FUNCTIONS, "--"]).arg(wasm).capture()?;
    let functions: Vec<(String, u64)> = serde_json::from_str(&output).context("Node did not answer with functions")?;
    let mut table = lines(&functions, crate_of, SMALL_CRATE);
    if at_length {
        table.push_str("by module\n");
        table.push_str(&lines(&functions, module_of, SMALL_MODULE));
        table.push_str("by function\n");
        table.push_str(&lines(&functions, |function| function, SMALL_FUNCTION));
    }
    Ok(table)
}

fn lines(functions: &[(String, u64)], owner: impl Fn(&str) -> &str, small: u64) -> String {
    let mut owners: BTreeMap<&str, u64> = BTreeMap::new();
    for (function, bytes) in functions {
        *owners.entry(owner(function)).or_default() += bytes;
    }
    let (mut owners, small): (Vec<_>, Vec<_>) = owners.into_iter().partition(|(_, bytes)| *bytes >= small);
    owners.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    owners.push(("others", small.iter().map(|(_, bytes)| bytes).sum()));
    owners.push(("together", functions.iter().map(|(_, bytes)| bytes).sum()));
    let lines = owners.iter().map(|(name, bytes)| format!("  {:>10} {name}\n", grouped(*bytes)));
    lines.collect::<Vec<_>>().concat()
}

/// The first three words of the first path in a name, with what stands before it.
fn module_of(function: &str) -> &str {
    let mut words = function.match_indices("::").map(|(at, _)| at);
    words.nth(2).and_then(|end| function.get(..end)).unwrap_or(function)
}

/// The first path in a name: `<T as alloc::string::ToString>::to_string` is alloc's. What has none is an export of ours, but
/// for methods of primitive types.
fn crate_of(function: &str) -> &str {
    let mut rest = function;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let (_, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        // Some names carry the crate's hash: `core[0123456789abcdef]::fmt::write`.
        if after.starts_with("::") || after.starts_with('[') {
            return word;
        }
        rest = after;
    }
    if function.starts_with('<') { "core" } else { "exports" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_belongs_to_the_crate_of_the_first_path_in_its_name() {
        for (function, owner) in [
            ("pagehand::wasm::driver::Driver::push::h0ad4d40155ef44f6", "pagehand"),
            ("<pagehand::call::Calls as core::fmt::Debug>::fmt::h1", "pagehand"),
            ("<T as alloc::string::ToString>::to_string::h2", "alloc"),
            ("<&serde_json::raw::RawValue as serde_core::de::Deserialize>::deserialize::h3", "serde_json"),
            ("core::ptr::drop_in_place<pagehand::error::Error>::h4", "core"),
            (
                "<dlmalloc[e24a27700634d609]::dlmalloc::Dlmalloc<dlmalloc[e24a27700634d609]::sys::System>>::free",
                "dlmalloc",
            ),
            ("<str as core[c5930c85a12de822]::fmt::Debug>::fmt", "core"),
            ("<char>::escape_debug_ext", "core"),
            ("session_openhands", "exports"),
            ("", "exports"),
        ] {
            assert_eq!(crate_of(function), owner, "{function}");
        }
    }

    #[test]
    fn a_module_has_three_words() {
        assert_eq!(module_of("pagehand::wasm::driver::Driver::push::h0"), "pagehand::wasm::driver");
        assert_eq!(module_of("<T as alloc::string::ToString>::to_string"), "<T as alloc::string::ToString>");
        assert_eq!(module_of("session_open"), "session_open");
    }

    #[test]
    fn crates_are_listed_by_size_and_small_ones_together() {
        let functions = [("a::b", 700), ("c::d", 1200), ("e::f", 1), ("a::c", 900), ("g::h", 2)];
        let text = lines(&functions.map(|(name, bytes)| (name.to_owned(), bytes)), crate_of, SMALL_CRATE);
        let words: Vec<_> = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(words, ["1 600 a", "1 200 c", "3 others", "2 803 together"]);
    }
}
