//! What crossed the wire, in the vocabulary of `tests/fixtures/openhands/README.md`.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::json::{Json, Object};

/// A demo may run for days: the oldest lines go.
const LINES: usize = 20_000;

/// Keeps one line for each request, response, frame and close.
#[derive(Debug)]
pub(crate) struct Recorder {
    tape: Mutex<Tape>,
}

#[derive(Debug)]
struct Tape {
    start: Instant,
    lines: VecDeque<Json>,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self { tape: Mutex::new(Tape { start: Instant::now(), lines: VecDeque::new() }) }
    }

    fn tape(&self) -> MutexGuard<'_, Tape> {
        self.tape.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line; `t`, the seconds since the tape was emptied, comes first.
    pub(crate) fn add(&self, line: Json) {
        let Json::Object(line) = line else { return };
        let mut tape = self.tape();
        // Four decimals, as in the recordings.
        let t = format!("{:.4}", tape.start.elapsed().as_secs_f64());
        let mut all = Object::new();
        all.set("t", Json::Number(t));
        for (key, value) in line {
            all.set(&key, value);
        }
        if tape.lines.len() >= LINES {
            tape.lines.pop_front();
        }
        tape.lines.push_back(Json::Object(all));
    }

    pub(crate) fn lines(&self) -> Vec<Json> {
        self.tape().lines.iter().cloned().collect()
    }

    pub(crate) fn clear(&self) {
        *self.tape() = Tape { start: Instant::now(), lines: VecDeque::new() };
    }
}
