//! The recordings of the real server, `tests/fixtures/openhands/`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

#[derive(Deserialize)]
pub struct Line {
    pub case: String,
    pub ch: String,
    #[serde(default)]
    pub dir: String,
    #[serde(default)]
    pub label: String,
    #[serde(default)]
    pub path: String,
    #[serde(default)]
    pub raw: String,
    #[serde(default)]
    pub status: u16,
    pub body: Option<String>,
    pub cut: Option<serde_json::Value>,
}

/// One recorded socket.
pub struct Recorded {
    pub name: String,
    pub session: bool,
    pub frames: Vec<String>,
}

pub fn lines() -> Vec<(String, Line)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/openhands");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut lines = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "jsonl")) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        for line in std::fs::read_to_string(file).unwrap().lines() {
            lines.push((name.clone(), serde_json::from_str(line).unwrap()));
        }
    }
    lines
}

/// Every recorded socket with the frames that were recorded whole.
pub fn sockets() -> Vec<Recorded> {
    let mut sockets = Vec::new();
    let mut open: BTreeMap<String, Recorded> = BTreeMap::new();
    for (file, line) in lines().into_iter().filter(|(_, line)| line.ch == "ws") {
        let name = format!("{file} {} {}", line.case, line.label);
        match line.dir.as_str() {
            "open" => {
                let session = line.path.contains("/sockets/session/");
                let recorded = Recorded { name: name.clone(), session, frames: Vec::new() };
                sockets.extend(open.insert(name, recorded));
            }
            "recv" if line.cut.is_none() => {
                if let Some(recorded) = open.get_mut(&name) {
                    recorded.frames.push(line.raw);
                }
            }
            _ => {}
        }
    }
    sockets.extend(open.into_values());
    sockets.retain(|socket| !socket.frames.is_empty());
    sockets
}
