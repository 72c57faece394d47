//! Whether the server can still load the conversation: one that it cannot lets sockets open, and they die.
//!
//! A browser does not see why. So after some such deaths the server is asked three things that tell a dead network, a dead
//! server and a broken conversation apart.

use crate::error::Error;
use crate::net::Millis;

/// Deaths in a row that are worth a question.
const DEATHS: u32 = 3;
/// A socket that breaks so soon has died of something else than the network.
const EARLY: Millis = Millis(10_000);
/// Bad answers in a row that settle it.
const FAILURES: u32 = 2;

/// The questions, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    /// Is the server there?
    Server,
    /// Does it know the conversation?
    Conversation,
    /// Can it read its log?
    Log,
}

/// What follows an answer.
#[derive(Debug, PartialEq)]
pub(super) enum Finding {
    /// Nothing: go on trying.
    Nothing,
    /// Ask this.
    Ask(Question),
    /// The conversation is of no use any more.
    Over(Error),
}

#[derive(Debug, Default)]
pub(super) struct Suspicion {
    opened: Option<Millis>,
    heard: bool,
    deaths: u32,
    failures: u32,
    asking: bool,
}

impl Suspicion {
    /// A socket is being opened.
    pub(super) fn connecting(&mut self) {
        self.opened = None;
        self.heard = false;
    }

    /// It is open.
    pub(super) fn opened(&mut self, now: Millis) {
        self.opened = Some(now);
    }

    /// A frame came.
    pub(super) fn heard(&mut self) {
        self.heard = true;
    }

    /// It was closed, not by us. The question to begin with, if it is time for one.
    pub(super) fn died(&mut self, code: u16, now: Millis) -> Option<Question> {
        let suspect = self.opened.take().is_some_and(|opened| !self.heard || (code == 1006 && now < opened + EARLY));
        if !suspect {
            self.deaths = 0;
            self.failures = 0;
            return None;
        }
        self.deaths = self.deaths.saturating_add(1);
        let ask = self.deaths >= DEATHS && !self.asking;
        self.asking |= ask;
        ask.then_some(Question::Server)
    }

    /// A question was answered.
    pub(super) fn answered(&mut self, question: Question, error: Option<Error>) -> Finding {
        let bad = matches!(error, Some(Error::Server { .. } | Error::Unreachable));
        let next = match (question, error) {
            (Question::Server, Some(Error::Server { .. } | Error::Unreachable | Error::RequestTimeout)) => None,
            (Question::Server, _) => Some(Question::Conversation),
            (_, Some(error @ Error::NotFound { .. })) => return Finding::Over(error),
            (_, Some(error)) if bad => {
                self.asking = false;
                self.failures += 1;
                if self.failures < FAILURES {
                    return Finding::Nothing;
                }
                return Finding::Over(Error::ConversationUnavailable { detail: error.to_string() });
            }
            (Question::Conversation, _) => Some(Question::Log),
            (Question::Log, _) => None,
        };
        if let Some(next) = next {
            return Finding::Ask(next);
        }
        self.asking = false;
        self.failures = 0;
        Finding::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dies(suspicion: &mut Suspicion, heard: bool, code: u16, after: u64) -> Option<Question> {
        suspicion.connecting();
        suspicion.opened(Millis(0));
        if heard {
            suspicion.heard();
        }
        suspicion.died(code, Millis(after))
    }

    fn broken() -> Error {
        Error::Server { status: 500, detail: "poisoned".into(), error_id: None }
    }

    #[test]
    fn three_sockets_that_open_and_die_unheard_are_asked_about() {
        let mut suspicion = Suspicion::default();
        assert_eq!(dies(&mut suspicion, false, 1011, 60_000), None);
        assert_eq!(dies(&mut suspicion, true, 1006, 4_000), None);
        assert_eq!(dies(&mut suspicion, false, 1006, 0), Some(Question::Server));
        assert_eq!(dies(&mut suspicion, false, 1006, 0), None, "one probe at a time");
    }

    #[test]
    fn sockets_that_live_or_never_open_are_not_suspect() {
        let mut suspicion = Suspicion::default();
        for _ in 0..10 {
            assert_eq!(dies(&mut suspicion, true, 1012, 4_000), None);
            assert_eq!(dies(&mut suspicion, true, 1006, 60_000), None);
            suspicion.connecting();
            assert_eq!(suspicion.died(1006, Millis(0)), None);
        }
    }

    #[test]
    fn a_server_that_answers_and_cannot_load_the_conversation_twice_has_lost_it() {
        let mut suspicion = Suspicion::default();
        for round in 0..2 {
            while dies(&mut suspicion, false, 1006, 0).is_none() {}
            assert_eq!(suspicion.answered(Question::Server, None), Finding::Ask(Question::Conversation));
            assert_eq!(suspicion.answered(Question::Conversation, None), Finding::Ask(Question::Log));
            match suspicion.answered(Question::Log, Some(broken())) {
                Finding::Nothing => assert_eq!(round, 0),
                Finding::Over(error) => assert_eq!((round, error.code()), (1, "conversation_unavailable")),
                Finding::Ask(question) => panic!("{question:?}"),
            }
        }
    }

    #[test]
    fn a_server_that_is_not_there_says_nothing_of_the_conversation() {
        let mut suspicion = Suspicion::default();
        for _ in 0..10 {
            while dies(&mut suspicion, false, 1006, 0).is_none() {}
            assert_eq!(suspicion.answered(Question::Server, Some(Error::Unreachable)), Finding::Nothing);
        }
    }

    #[test]
    fn a_good_answer_in_between_begins_the_count_anew() {
        let mut suspicion = Suspicion::default();
        for error in [Some(broken()), None, Some(broken())] {
            while dies(&mut suspicion, false, 1006, 0).is_none() {}
            suspicion.answered(Question::Server, None);
            suspicion.answered(Question::Conversation, None);
            assert_eq!(suspicion.answered(Question::Log, error), Finding::Nothing);
        }
    }
}
