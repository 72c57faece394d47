//! Content parts: text in pieces, or a reference to a file, with citations.

use crate::json::Json;

use super::found_or_new;

/// A part of a message.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) id: String,
    pub(crate) mime_type: String,
    pub(crate) name: Option<String>,
    /// What the pieces add up to.
    pub(crate) text: String,
    /// `{uri, byteCount?}` of a part that is a file.
    pub(crate) external: Option<Json>,
    pub(crate) transcript: Option<bool>,
    pub(crate) incomplete: bool,
    pub(crate) citations: Vec<Citation>,
}

/// Where a stretch of text comes from.
#[derive(Debug)]
pub(crate) struct Citation {
    pub(crate) id: String,
    /// In UTF-16 units, as JavaScript counts.
    pub(crate) offset: usize,
    pub(crate) length: usize,
    pub(crate) sources: Json,
    pub(crate) time: String,
}

pub(super) fn note(parts: &mut Vec<Part>, event: &Json, now: &str) {
    let Some(id) = event.text("contentPartId") else { return };
    let part =
        found_or_new(parts, |known| known.id == id, || Part { id: id.to_owned(), incomplete: true, ..Part::default() });
    if let Some(start) = event.get("startContentPart") {
        start.text("mimeType").unwrap_or_default().clone_into(&mut part.mime_type);
        part.name = start.text("name").map(str::to_owned);
        part.external = start.present("externalValue").cloned();
        part.transcript = start.get("metaData").and_then(|data| data.flag("isTranscript"));
    }
    if let Some(chunk) = event.get("chunk") {
        let before = length(&part.text);
        part.text.push_str(chunk.text("data").unwrap_or_default());
        if let Some(citation) = chunk.get("citation") {
            cite(part, citation, before, now);
        }
    }
    if let Some(end) = event.get("endContentPart") {
        part.incomplete = end.get("interrupted").is_some();
    }
}

fn cite(part: &mut Part, event: &Json, before: usize, now: &str) {
    let Some(id) = event.text("citationId") else { return };
    let end = length(&part.text);
    let citation = found_or_new(
        &mut part.citations,
        |known| known.id == id,
        || Citation {
            id: id.to_owned(),
            offset: before,
            length: 0,
            sources: Json::Array(Vec::new()),
            time: now.to_owned(),
        },
    );
    if event.get("startCitation").is_some() {
        citation.offset = before;
    }
    if let Some(ended) = event.get("endCitation") {
        citation.length = end.saturating_sub(citation.offset);
        citation.sources = ended.get("sources").cloned().unwrap_or(Json::Array(Vec::new()));
    }
}

fn length(text: &str) -> usize {
    text.encode_utf16().count()
}
