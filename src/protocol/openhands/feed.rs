//! What an app hears over a connection of its own: session frames or bare events.

use crate::protocol::{NoticeCode, Outlet, Signal, Status};

use super::meaning::{Reader, Reading};
use super::session::Frame;

/// A log that comes from outside. Which part of it is past the app says, or the first `sync` frame: what is replayed on the
/// first subscription was there before.
pub(super) struct Feed {
    reader: Reader,
    past_until: Option<i64>,
    synced: bool,
    /// Whether what the past left open has been said.
    joined: bool,
}

impl Feed {
    pub(super) fn new(reader: Reader) -> Self {
        Self { reader, past_until: None, synced: false, joined: false }
    }

    /// Takes one frame.
    pub(super) fn take(&mut self, text: &str, past: bool, out: &mut Outlet) {
        match Frame::read(text) {
            // No envelope: an event as the older socket and the REST interface have it.
            None => self.event(text, past, out),
            Some(Frame::Sync(sync)) => {
                if !self.synced {
                    self.past_until = sync.replayed_until();
                }
                self.synced = true;
            }
            Some(Frame::Durable { seq, event }) => {
                let replayed = seq.zip(self.past_until).is_some_and(|(seq, until)| seq <= until);
                self.event(event.get(), past || replayed, out);
            }
            Some(Frame::Transient { event }) => self.event(event.get(), past, out),
            Some(Frame::Delta { item, reasoning, content }) => out.say(Signal::Delta { item, reasoning, content }),
            Some(Frame::Started | Frame::Aborted { .. } | Frame::Error { .. }) => {}
            Some(Frame::Unknown(kind)) => out.say(Signal::Notice { code: NoticeCode::UnknownFrame, message: kind }),
        }
    }

    /// A past event says what is open, and starts nothing.
    fn event(&mut self, text: &str, past: bool, out: &mut Outlet) {
        if !past && !self.joined {
            self.joined = true;
            out.say(Signal::Found(self.reader.catch_up(&[], &Status::Running)));
        }
        let reading = self.reader.read(text);
        if !past || reading.is_none() {
            say(reading, out);
        }
    }

    /// An action by itself, whose answer has come.
    pub(super) fn fetched(&mut self, text: &str, out: &mut Outlet) {
        say(self.reader.read_answered(text), out);
    }
}

fn say(reading: Option<Reading>, out: &mut Outlet) {
    match reading {
        None => {
            let message = "what was given is no event and no frame".to_owned();
            out.say(Signal::Notice { code: NoticeCode::MalformedFrame, message });
        }
        Some(reading) => {
            out.say(Signal::Delivered(reading.delivery));
            out.signals.extend(reading.asides);
        }
    }
}
