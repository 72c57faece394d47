//! The session socket (from 1.45): numbered frames, resumed by number.

use crate::json::{Json, Object};

/// Where we are in the log.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// The number of the last event that was delivered. `None`: what lies before is not ours.
    delivered: Option<i64>,
    /// The number of the last event when the server subscribed us; -1 when there was none.
    through: i64,
    /// The replay ends with this number.
    replay_until: Option<i64>,
}

/// One frame.
pub(super) enum Frame<'a> {
    Sync(Sync),
    /// An event of the log, with its number.
    Durable {
        seq: Option<i64>,
        event: Json<'a>,
    },
    /// An event of the moment.
    Transient {
        event: Json<'a>,
    },
    Delta {
        item: Option<String>,
        reasoning: bool,
        content: String,
    },
    /// A streamed text ends without an event.
    Aborted {
        item: Option<String>,
        reason: String,
    },
    Error {
        code: String,
        detail: String,
    },
    /// A streamed text begins: nothing to do.
    Started,
    Unknown(String),
}

/// The first frame: which part of the log is replayed.
pub(super) struct Sync {
    from: Option<i64>,
    through: Option<i64>,
}

impl Sync {
    /// The last number that is replayed, if anything is asked to be.
    pub(super) fn replayed_until(&self) -> Option<i64> {
        self.from.and(self.through)
    }
}

impl<'a> Frame<'a> {
    /// Reads a frame; `None` when it is no envelope.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let envelope = Object::read(text)?;
        let kind = envelope.string("type")?;
        Some(match (kind.as_str(), envelope.get("event")) {
            ("sync", _) => {
                Self::Sync(Sync { from: envelope.integer("from_seq"), through: envelope.integer("through_seq") })
            }
            ("durable", Some(event)) => Self::Durable { seq: envelope.integer("seq"), event },
            ("transient", Some(event)) => Self::Transient { event },
            ("item_started", _) => Self::Started,
            ("delta", _) => Self::Delta {
                item: envelope.string("item_id"),
                reasoning: envelope.text("kind") == "reasoning",
                content: envelope.text("content"),
            },
            ("item_aborted", _) => Self::Aborted { item: envelope.string("item_id"), reason: envelope.text("reason") },
            ("error", _) => Self::Error { code: envelope.text("code"), detail: envelope.text("detail") },
            _ => Self::Unknown(kind),
        })
    }
}

impl Cursor {
    /// Everything after this number is ours.
    pub(super) fn after(seq: Option<i64>) -> Self {
        Self { delivered: seq, ..Self::default() }
    }

    /// The number of the last event that was delivered.
    pub(super) fn delivered(&self) -> Option<i64> {
        self.delivered
    }

    /// The query of the next connection. Without a cursor the server replays nothing.
    pub(super) fn query(&self) -> String {
        self.delivered.map_or_else(String::new, |seq| ["?after_seq=", &seq.to_string()].concat())
    }

    /// The server says what it will replay. `Err` when its log is shorter than what we saw of it.
    pub(super) fn synced(&mut self, sync: &Sync) -> Result<(), ()> {
        self.through = sync.through.unwrap_or(-1);
        self.replay_until = sync.from.filter(|from| *from < self.through).map(|_| self.through);
        let rewound = self.delivered.is_some_and(|seq| seq > self.through);
        if rewound {
            self.delivered = None;
            return Err(());
        }
        Ok(())
    }

    /// An event of the log came. Numbers may have gaps.
    pub(super) fn received(&mut self, seq: i64) {
        if self.replay_until.is_some_and(|end| seq >= end) {
            self.replay_until = None;
        }
    }

    /// What is told only of the moment comes after all replay.
    pub(super) fn replay_is_over(&mut self) {
        self.replay_until = None;
    }

    /// An event of the log was delivered.
    pub(super) fn advance(&mut self, seq: i64) {
        self.delivered = self.delivered.max(Some(seq));
    }

    /// Everything up to the subscription is dealt with: it was read in the log, or is past.
    pub(super) fn skip(&mut self) {
        self.advance(self.through);
    }

    /// Whether everything missed has come.
    pub(super) fn is_caught_up(&self) -> bool {
        self.replay_until.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sync(cursor: &mut Cursor, text: &str) -> Result<(), ()> {
        match Frame::read(text) {
            Some(Frame::Sync(sync)) => cursor.synced(&sync),
            _ => panic!("{text}"),
        }
    }

    #[test]
    fn a_new_conversation_is_replayed_whole_and_a_joined_one_from_now_on() {
        assert_eq!(Cursor::after(Some(-1)).query(), "?after_seq=-1");
        let mut joined = Cursor::default();
        assert_eq!(joined.query(), "");
        sync(&mut joined, r#"{"type":"sync","through_seq":10}"#).unwrap();
        assert!(joined.is_caught_up());
        assert_eq!(joined.query(), "", "nothing is dealt with yet");
        joined.skip();
        assert_eq!(joined.query(), "?after_seq=10");
    }

    #[test]
    fn a_joined_conversation_without_events_resumes_from_its_start() {
        let mut cursor = Cursor::default();
        sync(&mut cursor, r#"{"type":"sync"}"#).unwrap();
        cursor.skip();
        assert_eq!(cursor.query(), "?after_seq=-1");
    }

    #[test]
    fn the_replay_ends_with_its_last_number_over_gaps() {
        let mut cursor = Cursor::after(Some(-1));
        sync(&mut cursor, r#"{"type":"sync","from_seq":-1,"through_seq":4}"#).unwrap();
        assert!(!cursor.is_caught_up());
        cursor.received(0);
        cursor.received(3);
        assert!(!cursor.is_caught_up());
        cursor.received(4);
        assert!(cursor.is_caught_up());
        assert_eq!(cursor.query(), "?after_seq=-1", "what came is not what was delivered");
        cursor.advance(4);
        assert_eq!(cursor.query(), "?after_seq=4");
    }

    #[test]
    fn a_log_shorter_than_what_was_seen_is_told() {
        let mut cursor = Cursor::after(Some(9));
        assert_eq!(sync(&mut cursor, r#"{"type":"sync","from_seq":9,"through_seq":3}"#), Err(()));
        cursor.skip();
        assert_eq!(cursor.query(), "?after_seq=3");
    }
}
