//! What the app is told.

/// A happening, as the topic and the JSON text of its value. The shapes are in `types.d.ts`, `ConversationEvents`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What `on()` takes.
    pub topic: Topic,
    /// JSON text.
    pub json: String,
}

/// The kinds of happenings, in the order of `TOPICS` in `pkg-template/emitter.js`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// A step in the life of a call.
    Call,
    /// Calls wait for a person's answer, or no longer do.
    Approval,
    /// The conversation's status changed.
    Status,
    /// A whole message.
    Message,
    /// Streamed text.
    Delta,
    /// An event of the server's log, untouched.
    Event,
    /// The connection changed.
    Connection,
    /// How the app's tools compare with the server's.
    Tools,
    /// A drop, repair, dedupe or refusal.
    Notice,
    /// Something failed.
    Error,
    /// Something is wrong on the server for a while.
    Condition,
    /// The conversation has another title.
    Label,
}

/// Topics that somebody listens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topics(u32);

impl Topics {
    /// Every topic.
    pub const ALL: Self = Self(u32::MAX);

    /// One bit for each topic, in the order of [`Topic`], the lowest for the first.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Whether this topic is among them.
    pub const fn has(self, topic: Topic) -> bool {
        self.0 & (1 << topic as u32) != 0
    }
}

impl Topic {
    /// The topic's name in JS.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Approval => "approval",
            Self::Status => "status",
            Self::Message => "message",
            Self::Delta => "delta",
            Self::Event => "event",
            Self::Connection => "connection",
            Self::Tools => "tools",
            Self::Notice => "notice",
            Self::Error => "error",
            Self::Condition => "condition",
            Self::Label => "label",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facade_numbers_the_topics_as_we_do() {
        let facade = include_str!("../../pkg-template/emitter.js");
        let (_, list) = facade.split_once("const TOPICS = [").unwrap();
        let (list, _) = list.split_once("];").unwrap();
        let names: Vec<_> = list.split('"').skip(1).step_by(2).collect();
        let topics = [
            Topic::Call,
            Topic::Approval,
            Topic::Status,
            Topic::Message,
            Topic::Delta,
            Topic::Event,
            Topic::Connection,
            Topic::Tools,
            Topic::Notice,
            Topic::Error,
            Topic::Condition,
            Topic::Label,
        ];
        assert_eq!(names, topics.map(Topic::as_str));
        for (at, topic) in topics.into_iter().enumerate() {
            assert!(Topics::from_bits(1 << at).has(topic) && !Topics::from_bits(!(1 << at)).has(topic));
            assert!(Topics::ALL.has(topic));
        }
    }
}
