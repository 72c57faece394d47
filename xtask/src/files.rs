//! Files and folders, with errors that name them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

/// The text of a file.
pub(crate) fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))
}

/// Writes a file, unless it holds the same already.
pub(crate) fn write(file: &Path, content: &[u8]) -> Result<()> {
    if fs::read(file).is_ok_and(|old| old == content) {
        return Ok(());
    }
    if let Some(folder) = file.parent() {
        make_folder(folder)?;
    }
    fs::write(file, content).with_context(|| format!("cannot write {}", file.display()))
}

/// Makes a folder and those around it.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))
}

/// Removes a file, a link or a folder with all it holds; one that is missing is fine.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let Ok(data) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    let removed = if data.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.with_context(|| format!("cannot remove {}", path.display()))
}

/// All files below a folder, relative to it, sorted. Links are followed; `node_modules` and hidden names are not files
/// of ours.
pub(crate) fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(relative) = open.pop() {
        let here = folder.join(&relative);
        for entry in fs::read_dir(&here).with_context(|| format!("cannot list {}", here.display()))? {
            let name = entry?.file_name();
            let hidden = name.to_string_lossy().starts_with('.');
            if hidden || name == "node_modules" {
                continue;
            }
            let path = relative.join(&name);
            if folder.join(&path).is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether `product` exists and is at least as new as `source`.
pub(crate) fn is_up_to_date(product: &Path, source: &Path) -> bool {
    let time = |file: &Path| file.metadata().and_then(|data| data.modified()).ok();
    matches!((time(product), time(source)), (Some(product), Some(source)) if product >= source)
}

/// A short name for contents: FNV-1a, 64 bits. For cache keys, where nobody is hostile.
pub(crate) fn digest(contents: &[&[u8]]) -> String {
    let bytes = contents.iter().flat_map(|content| content.iter().chain(&[0]));
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_depends_on_each_content_and_their_borders() {
        let all = [digest(&[b"a", b"b"]), digest(&[b"ab"]), digest(&[b"b", b"a"]), digest(&[b"a"]), digest(&[])];
        for (index, one) in all.iter().enumerate() {
            assert_eq!(one.len(), 16);
            assert!(!all[index + 1..].contains(one));
        }
    }
}
