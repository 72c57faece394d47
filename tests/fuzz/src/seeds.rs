//! Inputs that once broke something, and are played for ever: a file for each decoder, a line for each play, which is a JSON list
//! of texts.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use crate::play::{DECODERS, Decoder, play};

/// Longer texts are shown cut.
const SHOWN: usize = 600;

fn file(decoder: &Decoder) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/seeds");
    PathBuf::from(folder).join([decoder.name, ".jsonl"].concat())
}

/// The plays that are kept for a decoder.
fn kept(decoder: &Decoder) -> Vec<Vec<String>> {
    let text = fs::read_to_string(file(decoder)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("a list of texts")).collect()
}

/// Keeps a play.
pub fn keep(decoder: &Decoder, inputs: &[String]) {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(file(decoder)).unwrap();
    writeln!(file, "{}", serde_json::to_string(inputs).unwrap()).unwrap();
}

/// A failing play as people want to read it.
pub fn told(decoder: &Decoder, inputs: &[String], what: &str) -> String {
    let cut = |text: &str| text.chars().take(SHOWN).collect::<String>();
    let mut told = format!("{}: {}\n", decoder.name, cut(what));
    for input in inputs {
        told.extend(["  ", &cut(input), "\n"]);
    }
    told
}

/// Plays all that is kept. What fails again.
pub fn replay() -> Vec<String> {
    let mut failures = Vec::new();
    for decoder in &DECODERS {
        for inputs in kept(decoder) {
            failures.extend(play(decoder, &inputs).err().map(|what| told(decoder, &inputs, &what)));
        }
    }
    failures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_broke_something_once_breaks_nothing() {
        assert_eq!(replay(), Vec::<String>::new());
    }

    #[test]
    fn every_file_is_a_decoders() {
        for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/seeds")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(DECODERS.iter().any(|decoder| name == [decoder.name, ".jsonl"].concat()), "{name}");
        }
    }
}
