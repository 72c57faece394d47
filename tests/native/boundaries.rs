//! Who knows whom: the arrows of the house point one way, and the words of a wire stay in its protocol's folder.

use std::fs;
use std::path::{Path, PathBuf};

/// Words that only one wire has.
const OPENHANDS: [&str; 10] = [
    "ClientAction_",
    "ClientToolObservation",
    "ActionEvent",
    "execution_status",
    "client_tools",
    "confirmation_policy",
    "from_seq",
    "tool_call_id",
    "llm_message",
    "X-Session-API-Key",
];
const UIPATH: [&str; 13] = [
    "startExchange",
    "endExchange",
    "startToolCall",
    "executingToolCall",
    "endToolCall",
    "confirmToolCall",
    "isClientSideTool",
    "requireConfirmation",
    "clientSideTools",
    "sessionStarted",
    "ConversationEvent\"",
    "agentReleaseId",
    "autopilotforeveryone",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The files below a folder, with what they say but for their comments.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            all.push((path.strip_prefix(root()).unwrap().display().to_string(), code.join("\n")));
        }
    }
    all
}

fn offenders(files: &[(String, String)], allowed: &str, words: &[&str]) -> Vec<String> {
    let outside = files.iter().filter(|(file, _)| !file.starts_with(allowed));
    let found = outside.flat_map(|(file, text)| {
        words.iter().filter(|word| text.contains(**word)).map(move |word| format!("{file} says {word}"))
    });
    found.collect()
}

#[test]
fn the_words_of_a_wire_stay_in_the_folder_of_its_protocol() {
    let files = files(&root());
    assert!(files.len() > 80, "{} files", files.len());
    for (folder, words) in [("protocol/openhands/", &OPENHANDS[..]), ("protocol/uipath/", &UIPATH[..])] {
        assert_eq!(offenders(&files, folder, words), Vec::<String>::new());
        let inside: Vec<_> = files.iter().filter(|(file, _)| file.starts_with(folder)).cloned().collect();
        for word in words {
            assert!(!offenders(&inside, "nowhere", &[word]).is_empty(), "{word} is no word of {folder} any more");
        }
    }
}

#[test]
fn nobody_uses_what_lies_above() {
    let files = files(&root());
    let uses = |folder: &str, above: &[&str]| {
        let inside: Vec<_> = files.iter().filter(|(file, _)| file.starts_with(folder)).cloned().collect();
        assert!(!inside.is_empty(), "{folder}");
        offenders(&inside, "nowhere", above)
    };
    for (folder, above) in [
        ("protocol/openhands/", &["uipath", "crate::conversation", "crate::wasm"][..]),
        ("protocol/uipath/", &["openhands", "crate::conversation", "crate::wasm"]),
        ("protocol/", &["crate::conversation", "crate::wasm"]),
        ("call/", &["crate::protocol", "crate::conversation", "crate::wasm"]),
        ("tool/", &["crate::call", "crate::protocol", "crate::conversation", "crate::wasm"]),
        ("conversation/", &["crate::wasm", "protocol::openhands", "protocol::uipath"]),
        ("net/", &["crate::call", "crate::tool", "crate::protocol", "crate::conversation", "crate::error"]),
    ] {
        assert_eq!(uses(folder, above), Vec::<String>::new(), "{folder}");
    }
    let js = ["wasm_bindgen", "js_sys", "web_sys", "JsValue"];
    assert_eq!(offenders(&files, "wasm/", &js), Vec::<String>::new());
}
