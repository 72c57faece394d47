//! The folder that npm publishes: the template, the wasm files, licences and readme.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    build::{bundle, wasm::Built},
    files,
    tools::node::Packages,
    workspace::Workspace,
};

/// Complains about what is missing before anything is built.
pub(crate) fn check_sources(workspace: &Workspace) -> Result<()> {
    let needed = [
        ("pkg-template/package.json", "the npm package's description"),
        ("src/wasm/types.d.ts", "the public types"),
        ("README.md", "the readme that npm shows"),
    ];
    for (path, what) in needed {
        ensure!(workspace.root.join(path).is_file(), "{path} is missing: {what}");
    }
    ensure!(!licences(&workspace.root)?.is_empty(), "no LICENSE-* file is there to go into the package");
    Ok(())
}

/// Makes `pkg/` hold exactly what belongs there. Files that did not change stay untouched. With the npm packages at hand,
/// the scripts are bundled.
pub(crate) fn assemble(workspace: &Workspace, packages: Option<&Packages>, modules: &[Built]) -> Result<()> {
    let template = workspace.root.join("pkg-template");
    let mut content: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for file in files::below(&template)? {
        content.insert(file.clone(), template.join(file));
    }
    for module in modules {
        content.insert(format!("{}.wasm", module.module.name).into(), module.wasm.clone());
        content.insert(format!("{}.js", module.module.script).into(), module.script.clone());
    }
    let edge = workspace.root.join("src/wasm");
    for file in files::below(&edge)?.into_iter().filter(|file| is_declaration(file)) {
        content.insert(file.clone(), edge.join(file));
    }
    content.insert("README.md".into(), workspace.root.join("README.md"));
    for name in licences(&workspace.root)? {
        content.insert(name.clone().into(), workspace.root.join(name));
    }

    if let Some(packages) = packages {
        bundle::replace_scripts(workspace, packages, &mut content)?;
    }

    let pkg = workspace.pkg();
    for (file, source) in &content {
        let bytes = fs::read(source).with_context(|| format!("cannot read {}", source.display()))?;
        let bytes = if file == Path::new("package.json") {
            let text = String::from_utf8(bytes).context("pkg-template/package.json is not text")?;
            stamp(&text, &workspace.version)?.into_bytes()
        } else {
            bytes
        };
        files::write(&pkg.join(file), &bytes)?;
    }
    for file in files::below(&pkg)? {
        if !content.contains_key(&file) {
            files::remove(&pkg.join(file))?;
        }
    }
    Ok(())
}

/// The public types, written by hand.
fn is_declaration(file: &Path) -> bool {
    file.to_string_lossy().ends_with(".d.ts")
}

fn licences(root: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(root).with_context(|| format!("cannot list {}", root.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter(|name| name.starts_with("LICENSE-")).collect())
}

/// Writes the version into the text of a package.json. As text: the order of `exports` matters.
fn stamp(text: &str, version: &str) -> Result<String> {
    let mut stamped = false;
    let lines = text.lines().map(|line| {
        let (before, rest) = line.split_at(line.len() - line.trim_start().len());
        if stamped || !rest.starts_with("\"version\":") {
            return line.to_owned();
        }
        stamped = true;
        let comma = if rest.trim_end().ends_with(',') { "," } else { "" };
        format!("{before}\"version\": \"{version}\"{comma}")
    });
    let mut text = lines.collect::<Vec<_>>().join("\n");
    text.push('\n');
    ensure!(stamped, "pkg-template/package.json has no line for \"version\"");
    serde_json::from_str::<serde_json::Value>(&text).context("pkg-template/package.json is not JSON")?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_stamped_and_nothing_else_changes() {
        let text = "{\n  \"name\": \"x\",\n  \"version\": \"0.0.0\",\n  \"exports\": {\n    \"z\": 1,\n    \"a\": { \"version\": 2 }\n  }\n}\n";
        let stamped = stamp(text, "1.2.3-rc.1").unwrap();
        assert_eq!(stamped, text.replace("0.0.0", "1.2.3-rc.1"));
    }

    #[test]
    fn a_last_version_keeps_its_line_end() {
        assert_eq!(stamp("{\n  \"version\": \"0\"\n}", "1.0.0").unwrap(), "{\n  \"version\": \"1.0.0\"\n}\n");
    }

    #[test]
    fn a_template_without_version_is_an_error() {
        assert!(stamp("{\n  \"name\": \"x\"\n}", "1.0.0").is_err());
        assert!(stamp("{\n  \"version\": \"0\"\n", "1.0.0").is_err());
    }
}
