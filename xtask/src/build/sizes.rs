//! What users download, and whether it is within the budget.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{
    build::{Profile, crates, wasm},
    files,
    process::{Program, step},
    workspace::Workspace,
};

/// Node compresses faster than a debug build of ours would, and a release build needs it anyway.
const MEASURE: &str = "
const { readFileSync } = require('fs'), { brotliCompressSync, gzipSync, constants } = require('zlib');
const sizes = process.argv.slice(1).map((file) => {
  const bytes = readFileSync(file);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return [bytes.length, gzipSync(bytes, { level: 9 }).length, brotliCompressSync(bytes, { params }).length];
});
console.log(JSON.stringify(sizes));
";

/// One file, or several together, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Size {
    name: String,
    raw: u64,
    gzip: u64,
    brotli: u64,
}

/// A group of files in budget.json.
#[derive(Debug)]
struct Group {
    name: String,
    files: Vec<String>,
    except: Vec<String>,
    brotli: u64,
}

/// Prints the sizes of all that `pkg/` holds for the page, `at_length` with what is large in the cores, and fails if a group is
/// over its budget.
pub(crate) fn report(workspace: &Workspace, at_length: bool) -> Result<()> {
    let groups = parse_budget(&files::read(&workspace.root.join("budget.json"))?)?;
    let pkg = workspace.pkg();
    let names: Vec<String> = files::below(&pkg)?
        .iter()
        .map(|path| path.to_string_lossy().replace('\\', "/"))
        .filter(|name| Path::new(name).extension().is_some_and(|kind| kind == "js" || kind == "wasm"))
        .collect();
    let sizes = step("measures the files, as they are in pkg/", || measure(&pkg, &names))?;
    let totals: Vec<Size> = groups.iter().map(|group| total(group, &sizes)).collect();
    print!("{}", table(&sizes, &totals));
    for name in wasm::MODULES.map(|module| module.name) {
        let unoptimised = wasm::before_optimisation(workspace, Profile::Release, name);
        if unoptimised.is_file() {
            print!(
                "code of {name}.wasm before wasm-opt, by crate
{}",
                crates::table(&unoptimised, at_length)?
            );
        }
    }
    let complaints: Vec<String> =
        groups.iter().zip(&totals).filter_map(|(group, total)| complaint(group, total, &sizes)).collect();
    ensure!(complaints.is_empty(), "{}", complaints.join("\n"));
    Ok(())
}

fn measure(pkg: &Path, names: &[String]) -> Result<Vec<Size>> {
    let output = Program::new("node").args(["-e", MEASURE, "--"]).args(names).directory(pkg).capture()?;
    let answer: Vec<[u64; 3]> = serde_json::from_str(&output).context("Node did not answer with sizes")?;
    let sizes = names.iter().zip(answer);
    Ok(sizes.map(|(name, [raw, gzip, brotli])| Size { name: name.clone(), raw, gzip, brotli }).collect())
}

fn parse_budget(text: &str) -> Result<Vec<Group>> {
    let value: Value = serde_json::from_str(text).context("budget.json is not JSON")?;
    let groups = value.as_object().context("budget.json is not an object of groups")?;
    groups
        .iter()
        .map(|(name, group)| {
            let list = |key: &str| -> Option<Vec<String>> {
                group.get(key)?.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
            };
            let brotli = group.get("brotli").and_then(Value::as_u64);
            match (list("files"), list("except"), brotli) {
                (Some(files), Some(except), Some(brotli)) => Ok(Group { name: name.clone(), files, except, brotli }),
                _ => bail!(
                    "budget.json: {name:?} needs the lists \"files\" and \"except\" and the number of bytes \"brotli\""
                ),
            }
        })
        .collect()
}

impl Group {
    fn has(&self, file: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, file));
        any(&self.files) && !any(&self.except)
    }
}

/// Whether a name fits a pattern, in which `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(name) = name.strip_prefix(start) else {
        return false;
    };
    name.char_indices()
        .map(|(at, _)| at)
        .chain([name.len()])
        .any(|at| matches(rest, name.get(at..).unwrap_or_default()))
}

fn total(group: &Group, sizes: &[Size]) -> Size {
    let mut total = Size { name: group.name.clone(), raw: 0, gzip: 0, brotli: 0 };
    for size in sizes.iter().filter(|size| group.has(&size.name)) {
        total.raw += size.raw;
        total.gzip += size.gzip;
        total.brotli += size.brotli;
    }
    total
}

/// What is wrong with a group, if something is.
fn complaint(group: &Group, total: &Size, sizes: &[Size]) -> Option<String> {
    let Some(largest) = sizes.iter().filter(|size| group.has(&size.name)).max_by_key(|size| size.brotli) else {
        return Some(format!("no file in pkg/ belongs to {:?} of budget.json", group.name));
    };
    let over = total.brotli.checked_sub(group.brotli).filter(|over| *over > 0)?;
    Some(format!(
        "{} takes {} bytes of brotli, {} more than budget.json allows; its largest file is {} with {}",
        group.name,
        grouped(total.brotli),
        grouped(over),
        largest.name,
        grouped(largest.brotli)
    ))
}

fn table(sizes: &[Size], totals: &[Size]) -> String {
    let width = sizes.iter().chain(totals).map(|size| size.name.len()).max().unwrap_or(0);
    let row = |name: &str, raw: &str, gzip: &str, brotli: &str| {
        format!("  {name:<width$} {raw:>10} {gzip:>10} {brotli:>10}\n")
    };
    let line = |size: &Size| row(&size.name, &grouped(size.raw), &grouped(size.gzip), &grouped(size.brotli));
    let mut text = row("bytes", "raw", "gzip", "brotli");
    text.extend(sizes.iter().map(line));
    text.push_str(&row("together", "", "", ""));
    text.extend(totals.iter().map(line));
    text
}

/// A number with a space between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(name: &str, brotli: u64) -> Size {
        Size { name: name.to_owned(), raw: brotli * 3, gzip: brotli * 2, brotli }
    }

    const BUDGET: &str = r#"{
        "core": { "files": ["*.js", "core.wasm"], "except": ["schema.js", "inline*.js"], "brotli": 100 },
        "engine": { "files": ["schema.js", "schema.wasm"], "except": [], "brotli": 1000 }
    }"#;

    #[test]
    fn files_go_to_the_group_that_names_them() {
        let groups = parse_budget(BUDGET).unwrap();
        let sizes = [
            size("index.js", 10),
            size("net/socket.js", 5),
            size("core.wasm", 70),
            size("schema.js", 3),
            size("schema.wasm", 900),
            size("inline-data.js", 5000),
        ];
        assert_eq!(groups[0].name, "core");
        assert_eq!(total(&groups[0], &sizes), Size { name: "core".into(), raw: 255, gzip: 170, brotli: 85 });
        assert_eq!(total(&groups[1], &sizes).brotli, 903);
        assert!(groups.iter().all(|group| complaint(group, &total(group, &sizes), &sizes).is_none()));
    }

    #[test]
    fn excess_is_told_with_the_largest_file() {
        let groups = parse_budget(BUDGET).unwrap();
        let sizes = [size("index.js", 31), size("core.wasm", 1_470)];
        let text = complaint(&groups[0], &total(&groups[0], &sizes), &sizes).unwrap();
        assert!(
            text.contains("1 501 bytes") && text.contains("1 401 more") && text.contains("core.wasm with 1 470"),
            "{text}"
        );
    }

    #[test]
    fn exactly_the_budget_is_fine_and_no_file_is_not() {
        let groups = parse_budget(BUDGET).unwrap();
        let sizes = [size("core.wasm", 100)];
        assert_eq!(complaint(&groups[0], &total(&groups[0], &sizes), &sizes), None);
        assert!(complaint(&groups[1], &total(&groups[1], &sizes), &sizes).unwrap().contains("engine"));
    }

    #[test]
    fn a_budget_with_a_mistake_names_the_group() {
        for text in [
            r#"{"a": {}}"#,
            r#"{"a": {"files": ["x"], "except": [], "brotli": "1"}}"#,
            r#"{"a": {"files": "x", "except": [], "brotli": 1}}"#,
        ] {
            assert!(parse_budget(text).unwrap_err().to_string().contains("\"a\""));
        }
        assert!(parse_budget("[]").is_err());
    }

    #[test]
    fn the_budget_of_this_repository_is_readable() {
        assert_eq!(parse_budget(include_str!("../../../budget.json")).unwrap().len(), 4);
    }

    #[test]
    fn stars_match_anything() {
        assert!(matches("*.js", "a/b.js") && matches("a*c*", "abcd") && matches("*", "") && matches("é*", "éa"));
        assert!(!matches("*.js", "b.jsx") && !matches("a", "ab") && !matches("a*c", "ab"));
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([1, 999, 1000, 1_234_567].map(grouped), ["1", "999", "1 000", "1 234 567"]);
    }
}
