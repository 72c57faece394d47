//! How far the log has been delivered, as a text that outlives the page: `<seq>/<event id>`.
//!
//! The number is the session socket's, the id is for reading on in the log: a text written over one kind of socket can be
//! used over the other. `-1/` is the start of the log: all of it is ours.

/// A place in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// The number of the last event, where the socket has numbers.
    pub(super) seq: Option<i64>,
    /// The id of the last event.
    pub(super) last: Option<String>,
}

impl Position {
    /// Before the first event.
    pub(super) fn start() -> Self {
        Self { seq: Some(-1), last: None }
    }

    /// Reads a text; `None` when it names no place.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (seq, last) = text.split_once('/')?;
        let seq = if seq.is_empty() { None } else { Some(seq.parse().ok()?) };
        if last.is_empty() {
            return (seq == Some(-1)).then(Self::start);
        }
        Some(Self { seq, last: Some(last.to_owned()) })
    }

    pub(super) fn to_text(&self) -> String {
        let seq = self.seq.map(|seq| seq.to_string()).unwrap_or_default();
        [&seq, "/", self.last.as_deref().unwrap_or_default()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_survives_its_text() {
        let last = || Some("a/b".to_owned());
        for position in
            [Position::start(), Position { seq: Some(41), last: last() }, Position { seq: None, last: last() }]
        {
            assert_eq!(Position::read(&position.to_text()), Some(position));
        }
    }

    #[test]
    fn a_text_that_names_no_place_is_none() {
        for text in ["", "/", "41/", "x/id", "id"] {
            assert_eq!(Position::read(text), None, "{text}");
        }
    }
}
