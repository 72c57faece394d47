//! Short names at the border between a wasm file and its script.
//!
//! wasm-bindgen names each import after what it is, with a hash behind it, and names are what compresses worst. wasm-opt gives
//! them names of one or two letters, and says which; here the script learns them.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// What wasm-opt says that it has renamed.
#[derive(Deserialize)]
pub(crate) struct Renamed {
    /// Module, name, short name. All modules are called [`MODULE`] now.
    imports: Vec<(String, String, String)>,
    /// Name, short name.
    exports: Vec<(String, String)>,
}

/// What wasm-opt calls every module.
const MODULE: &str = "a";

impl Renamed {
    /// Reads what wasm-opt printed.
    pub(crate) fn read(output: &str) -> Result<Self> {
        serde_json::from_str(output).context("wasm-opt does not say what it has renamed")
    }

    /// The script with the short names.
    pub(crate) fn apply(&self, script: &str) -> Result<String> {
        let mut names = BTreeMap::new();
        let mut modules = BTreeMap::new();
        for (module, name, short) in &self.imports {
            names.insert(name.clone(), short.clone());
            modules.insert(format!("\"{module}\": "), format!("{MODULE}: "));
        }
        for (name, short) in &self.exports {
            names.insert(format!("wasm.{name}"), format!("wasm.{short}"));
        }
        let mut script = script.to_owned();
        for (module, short) in &modules {
            ensure!(script.contains(module), "the script offers no module {module}");
            script = script.replace(module, short);
        }
        Ok(with_words(&script, |word| names.get(word).map(String::as_str)))
    }
}

/// A text with some of its words replaced: runs of letters, digits, `_`, `$`, and dots between them.
fn with_words<'a>(text: &str, other: impl Fn(&str) -> Option<&'a str>) -> String {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_letter) {
        let (before, word) = rest.split_at(start);
        replaced.push_str(before);
        let after = |text: &str| text.find(|c| !is_letter(c)).unwrap_or(text.len());
        let mut end = after(word);
        if word.get(..end) == Some("wasm")
            && let Some(member) = word.get(end..).and_then(|rest| rest.strip_prefix('.'))
        {
            end += 1 + after(member);
        }
        let (word, after) = word.split_at(end);
        replaced.push_str(other(word).unwrap_or(word));
        rest = after;
    }
    replaced.push_str(rest);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = r#"{
        "imports": [["./core_bg.js", "__wbg_open_1f", "a"], ["./core_bg.js", "__wbg_openDoor_2e", "$b"]],
        "exports": [["open", "c"], ["memory", "d"]]
    }"#;

    #[test]
    fn the_script_learns_the_names() {
        let script = "
            open() { return wasm.open(wasm.memory.buffer); }
            const import0 = { __wbg_open_1f: function() {}, __wbg_openDoor_2e: (open) => open.memory };
            return { \"./core_bg.js\": import0 };";
        let expected = "
            open() { return wasm.c(wasm.d.buffer); }
            const import0 = { a: function() {}, $b: (open) => open.memory };
            return { a: import0 };";
        assert_eq!(Renamed::read(OUTPUT).unwrap().apply(script).unwrap(), expected);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        assert!(Renamed::read("").is_err());
        assert!(Renamed::read(OUTPUT).unwrap().apply("return { \"./other.js\": import0 };").is_err());
    }
}
