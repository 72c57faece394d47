//! What a script's text may quote: `{resumed}`, `{resumed:ID}`, `{output:ID}`, `{results}`, `{asked}`, `{tools}`.

use crate::json::{Json, python_dumps};

/// All that may be quoted.
#[derive(Debug, Default)]
pub(super) struct Quotes {
    /// The user's text.
    pub(super) asked: String,
    /// As declared; none if the member was left out.
    pub(super) tools: Option<Json>,
    /// What the model read of the last calls.
    pub(super) results: Vec<String>,
    /// What the runtime was resumed with, by call.
    pub(super) resumed: Vec<(String, Vec<Json>)>,
}

impl Quotes {
    pub(super) fn note(&mut self, call: &str, value: Json) {
        match self.resumed.iter_mut().find(|(id, _)| id == call) {
            Some((_, values)) => values.push(value),
            None => self.resumed.push((call.to_owned(), vec![value])),
        }
    }

    /// The text with its quotations.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, from)) = rest.split_once('{') {
            filled.push_str(before);
            let quoted = from.split_once('}').and_then(|(name, after)| Some((self.quote(name)?, after)));
            let (text, after) = quoted.unwrap_or_else(|| ("{".to_owned(), from));
            filled.push_str(&text);
            rest = after;
        }
        filled + rest
    }

    fn quote(&self, name: &str) -> Option<String> {
        let of = |id: &str| self.resumed.iter().find(|(call, _)| call == id).map_or(&[][..], |(_, values)| values);
        match name.split_once(':') {
            Some(("resumed", id)) => Some(python_dumps(&Json::Array(of(id).to_vec()))),
            Some(("output", id)) => {
                Some(python_dumps(&of(id).last().and_then(|last| last.get("output")).cloned().unwrap_or_default()))
            }
            Some(_) => None,
            None => match name {
                "resumed" => {
                    let all = self.resumed.iter().map(|(id, values)| (id.clone(), Json::Array(values.clone())));
                    Some(python_dumps(&Json::Object(all.collect())))
                }
                "results" => Some(self.results.join(" | ")),
                "asked" => Some(self.asked.clone()),
                "tools" => Some(self.tools.as_ref().map_or_else(|| "left out".to_owned(), python_dumps)),
                _ => None,
            },
        }
    }
}
