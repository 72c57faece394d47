//! Whether a socket still lives: when to wait, when to ask, when to replace it.
//!
//! A browser cannot ping, and a socket whose network is gone looks like one whose server has nothing to say. So silence is
//! asked about by other means, and the answers decide.

use super::Millis;

/// How long a socket may take to open.
const OPENING: Millis = Millis(30_000);
/// How long an open socket may be silent before that is worth a word.
const GREETING: Millis = Millis(5_000);
/// How long an open socket may go without its first frame, though the server can be reached: a tool may hold the server up for
/// minutes, and the first bytes of a socket may be lost for good.
const PATIENCE: Millis = Millis(300_000);
/// How long a socket may be silent before the server is asked.
const SILENCE: Millis = Millis(30_000);
/// How long a frame that the server is known to have sent may take.
const DELIVERY: Millis = Millis(10_000);

/// The life of the current socket.
#[derive(Debug, Default)]
pub struct Liveness {
    state: State,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// There is no socket.
    #[default]
    Down,
    Opening {
        until: Millis,
    },
    /// Open, and no frame has come: the server may be busy.
    Silent {
        tell_at: Option<Millis>,
        ask_at: Millis,
        until: Millis,
    },
    /// The server was asked whether it is there, since no frame has come.
    AskingServer {
        until: Millis,
    },
    /// Frames have come.
    Heard {
        ask_at: Millis,
    },
    /// The server was asked what is new, since no more frames came.
    AskingNewest,
    /// There is something new that did not come.
    Overdue {
        until: Millis,
    },
}

/// What must be done about a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Replace it; it is good for nothing any more.
    Replace(&'static str),
    /// Say that the server lets us wait.
    Waiting,
    /// Ask whether the server is there: [`Liveness::reached`].
    AskServer,
    /// Ask for what is newest on the server: [`Liveness::newest`].
    AskNewest,
}

impl Liveness {
    /// A socket is being opened.
    pub fn connecting(&mut self, now: Millis) {
        self.state = State::Opening { until: now + OPENING };
    }

    /// It is open.
    pub fn opened(&mut self, now: Millis) {
        self.state = State::Silent { tell_at: Some(now + GREETING), ask_at: now + SILENCE, until: now + PATIENCE };
    }

    /// A frame came.
    pub fn heard(&mut self, now: Millis) {
        self.state = State::Heard { ask_at: now + SILENCE };
    }

    /// The socket is gone.
    pub fn down(&mut self) {
        self.state = State::Down;
    }

    /// The server was asked whether it is there, and answered or not.
    pub fn reached(&mut self, answered: bool, now: Millis) -> Option<Verdict> {
        let State::AskingServer { until } = self.state else { return None };
        self.state = State::Silent { tell_at: None, ask_at: now + SILENCE, until };
        match answered {
            false => Some(Verdict::Replace("the server cannot be reached")),
            true if until <= now => Some(Verdict::Replace("the socket has never brought anything")),
            true => None,
        }
    }

    /// The server was asked for what is newest. `Some(true)`: we have it, `Some(false)`: we do not, `None`: no answer.
    pub fn newest(&mut self, known: Option<bool>, now: Millis) -> Option<Verdict> {
        if self.state != State::AskingNewest {
            return None;
        }
        self.state = match known {
            Some(false) => State::Overdue { until: now + DELIVERY },
            Some(true) | None => State::Heard { ask_at: now + SILENCE },
        };
        known.is_none().then_some(Verdict::Replace("the server cannot be reached"))
    }

    /// There is reason to doubt the socket: ask at once.
    pub fn check(&mut self) -> Option<Verdict> {
        match self.state {
            State::Heard { .. } => {
                self.state = State::AskingNewest;
                Some(Verdict::AskNewest)
            }
            State::Silent { until, .. } => {
                self.state = State::AskingServer { until };
                Some(Verdict::AskServer)
            }
            State::Down
            | State::Opening { .. }
            | State::AskingServer { .. }
            | State::AskingNewest
            | State::Overdue { .. } => None,
        }
    }

    /// Time went on.
    pub fn tick(&mut self, now: Millis) -> Option<Verdict> {
        match &mut self.state {
            State::Opening { until } if *until <= now => Some(Verdict::Replace("the socket did not open in time")),
            State::Silent { ask_at, .. } if *ask_at <= now => self.check(),
            State::Silent { tell_at, .. } if tell_at.is_some_and(|at| at <= now) => {
                *tell_at = None;
                Some(Verdict::Waiting)
            }
            State::Heard { ask_at } if *ask_at <= now => self.check(),
            State::Overdue { until } if *until <= now => {
                Some(Verdict::Replace("the socket is half-open: nothing comes"))
            }
            State::Down
            | State::Opening { .. }
            | State::Silent { .. }
            | State::AskingServer { .. }
            | State::Heard { .. }
            | State::AskingNewest
            | State::Overdue { .. } => None,
        }
    }

    /// When [`Liveness::tick`] is needed next.
    pub fn next_deadline(&self) -> Option<Millis> {
        match self.state {
            State::Down | State::AskingServer { .. } | State::AskingNewest => None,
            State::Opening { until } | State::Overdue { until } => Some(until),
            State::Silent { tell_at, ask_at, .. } => Some(tell_at.unwrap_or(ask_at)),
            State::Heard { ask_at } => Some(ask_at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(liveness: &mut Liveness, seconds: u64) -> Option<Verdict> {
        liveness.tick(Millis(seconds * 1_000))
    }

    #[test]
    fn a_socket_that_does_not_open_is_replaced_after_half_a_minute() {
        let mut liveness = Liveness::default();
        liveness.connecting(Millis(0));
        assert_eq!(after(&mut liveness, 29), None);
        assert!(matches!(after(&mut liveness, 30), Some(Verdict::Replace(_))));
    }

    #[test]
    fn a_socket_that_never_spoke_is_waited_for_while_the_server_answers() {
        let mut liveness = Liveness::default();
        liveness.opened(Millis(0));
        assert_eq!(after(&mut liveness, 5), Some(Verdict::Waiting));
        for half_minute in 0..9 {
            let now = half_minute * 30 + 30;
            assert_eq!(after(&mut liveness, now - 1), None);
            assert_eq!(after(&mut liveness, now), Some(Verdict::AskServer));
            assert_eq!(liveness.next_deadline(), None, "one question at a time");
            assert_eq!(liveness.reached(true, Millis(now * 1_000)), None);
        }
        assert_eq!(after(&mut liveness, 300), Some(Verdict::AskServer));
        let mut unreached = Liveness { state: liveness.state };
        assert!(matches!(unreached.reached(false, Millis(300_000)), Some(Verdict::Replace(_))));
        let verdict = liveness.reached(true, Millis(300_000));
        assert_eq!(verdict, Some(Verdict::Replace("the socket has never brought anything")), "not for ever");
    }

    #[test]
    fn a_silent_socket_that_has_everything_lives() {
        let mut liveness = Liveness::default();
        liveness.heard(Millis(0));
        assert_eq!(after(&mut liveness, 29), None);
        assert_eq!(after(&mut liveness, 30), Some(Verdict::AskNewest));
        assert_eq!(liveness.newest(Some(true), Millis(31_000)), None);
        assert_eq!(liveness.next_deadline(), Some(Millis(61_000)));
    }

    #[test]
    fn a_socket_that_lacks_what_the_server_has_gets_ten_more_seconds() {
        let mut liveness = Liveness::default();
        liveness.heard(Millis(0));
        after(&mut liveness, 30);
        assert_eq!(liveness.newest(Some(false), Millis(30_000)), None);
        assert_eq!(after(&mut liveness, 39), None);
        let mut saved = Liveness { state: liveness.state };
        assert!(matches!(after(&mut liveness, 40), Some(Verdict::Replace(_))));
        saved.heard(Millis(39_000));
        assert_eq!(after(&mut saved, 40), None, "the frame came after all");
    }

    #[test]
    fn a_question_without_an_answer_condemns_the_socket_unless_it_spoke_meanwhile() {
        let mut liveness = Liveness::default();
        liveness.heard(Millis(0));
        assert_eq!(liveness.check(), Some(Verdict::AskNewest));
        assert_eq!(liveness.check(), None, "one question at a time");
        let mut saved = Liveness { state: liveness.state };
        assert!(matches!(liveness.newest(None, Millis(1)), Some(Verdict::Replace(_))));
        saved.heard(Millis(1));
        assert_eq!(saved.newest(None, Millis(2)), None);
    }
}
