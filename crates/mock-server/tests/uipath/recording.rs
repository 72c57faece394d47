//! The recordings of the real parts.

use std::path::PathBuf;

use pagehand_mock_server::json::{Json, parse};

use crate::bench::{envelope_in, find, names};

/// The exchanges that were recorded: file and scenario.
pub(crate) const EXCHANGES: [(&str, &str); 28] = [
    ("plain-turn", "plain"),
    ("client-tool-success", "success"),
    ("full-agent-plan", "full-agent-plan"),
    ("min-runtime", "min-runtime-parallel"),
    ("confirm-approve", "confirm-approve-unmodified"),
    ("confirm-approve-no-input", "confirm-no-input"),
    ("confirm-edit", "confirm-modified"),
    ("confirm-reject", "confirm-reject"),
    ("confirm-invalid-edit", "confirm-modified-invalid"),
    ("parallel-reversed", "two-parallel-reverse"),
    ("parallel-mixed", "mixed-two-tools"),
    ("error-result", "error-result"),
    ("cancelled-result", "cancelled"),
    ("result-types", "string-output"),
    ("result-types", "array-output"),
    ("result-types", "boolean-output"),
    ("result-types", "end-without-output"),
    ("result-types", "output-not-matching-schema"),
    ("foreign-end", "model-sends-invalid-args"),
    ("guardrail-blocked", "guardrail-block-input"),
    ("guardrail-hides-flags", "guardrail-passes-answer-anyway"),
    ("guardrail-hides-flags", "guardrail-passes-confirm"),
    ("odd-answers", "end-instead-of-confirm"),
    ("odd-answers", "confirm-instead-of-end"),
    ("odd-answers", "duplicate-end"),
    ("odd-answers", "answer-with-other-messageId"),
    ("exchange-error", "model-failure"),
    ("client-ends-exchange", "client-ends-exchange"),
];

/// The lines of a scenario.
pub(crate) fn lines(file: &str, scenario: &str) -> Vec<Json> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/uipath");
    let text = std::fs::read_to_string(PathBuf::from(folder).join(format!("{file}.jsonl"))).unwrap();
    let all = text.lines().map(|line| parse(line).unwrap());
    let lines: Vec<Json> = all.filter(|line| line.text("scenario") == Some(scenario)).collect();
    assert!(!lines.is_empty(), "no {scenario} in {file}");
    lines
}

/// One event of a recording.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) from_peer: bool,
    pub(crate) raw: String,
    pub(crate) envelope: Json,
}

impl Frame {
    /// Whether the service itself says it, and not a runtime through it.
    pub(crate) fn is_of_service(&self) -> bool {
        !self.from_peer && self.envelope.get("exchange").is_none()
    }

    pub(crate) fn is_answer(&self) -> bool {
        self.from_peer && ["confirmToolCall", "endToolCall"].iter().any(|name| find(&self.envelope, name).is_some())
    }
}

/// The events on one leg, for a conversation of this id.
pub(crate) fn events(lines: &[Json], leg: &str, id: &str) -> Vec<Frame> {
    let recorded = lines.iter().find_map(|line| line.get("event")?.as_array()?.get(1)?.text("conversationId"));
    let recorded = recorded.unwrap().to_owned();
    let on_leg = lines.iter().filter(|line| line.text("leg") == Some(leg) && line.text("kind") == Some("frame"));
    let frames = on_leg.filter_map(|line| {
        let raw = line.text("raw")?.replace(&recorded, id);
        let envelope = envelope_in(&raw)?;
        Some(Frame { from_peer: line.text("dir") == Some("peer->server"), raw, envelope })
    });
    frames.collect()
}

/// An envelope with the names that vary from run to run taken out, consecutive chunks of a part joined by the caller.
pub(crate) struct Plain {
    ids: Vec<(String, String)>,
}

impl Plain {
    pub(crate) fn new() -> Self {
        Self { ids: Vec::new() }
    }

    /// Ids of messages and parts by order of appearance, times by a mark.
    pub(crate) fn read(&mut self, value: &Json) -> Json {
        match value {
            Json::Object(object) => {
                let members = object.iter().map(|(name, value)| {
                    let plain = match (name, value.as_str()) {
                        ("messageId" | "contentPartId", Some(id)) => Json::Text(self.number(name, id)),
                        ("timestamp", Some(_)) => Json::from("time"),
                        _ => self.read(value),
                    };
                    (name.to_owned(), plain)
                });
                Json::Object(members.collect::<Vec<_>>().into_iter().collect())
            }
            other => other.clone(),
        }
    }

    fn number(&mut self, kind: &str, id: &str) -> String {
        if let Some((_, number)) = self.ids.iter().find(|(known, _)| known == id) {
            return number.clone();
        }
        let number = format!("{kind}-{}", self.ids.len());
        self.ids.push((id.to_owned(), number.clone()));
        number
    }
}

/// What a client received, in a form that two runs have in common: chunks of a part in a row are one.
pub(crate) fn comparable(envelopes: &[Json]) -> Vec<Json> {
    let mut plain = Plain::new();
    let mut all: Vec<Json> = Vec::new();
    for envelope in envelopes {
        let next = plain.read(envelope);
        let text = find(&next, "chunk").and_then(|chunk| chunk.text("data").map(str::to_owned));
        let before = all.last().filter(|last| names(last) == ["chunk"] && names(&next) == ["chunk"]);
        let joined = before.and_then(|last| find(last, "chunk")?.text("data").map(str::to_owned)).zip(text);
        if let Some((before, text)) = joined {
            let last = all.pop().unwrap();
            all.push(with_text(last, &(before + &text)));
        } else {
            all.push(next);
        }
    }
    all
}

/// The chunk with another text.
pub(crate) fn with_text(envelope: Json, text: &str) -> Json {
    match envelope {
        Json::Object(object) => {
            let members = object.into_iter().map(|(name, value)| {
                let value = if name == "data" { Json::from(text) } else { with_text(value, text) };
                (name, value)
            });
            Json::Object(members.collect())
        }
        other => other,
    }
}
