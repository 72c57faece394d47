//! What was missed, read in the log page by page, from our place in it on.

use std::collections::VecDeque;
use std::mem;

use crate::protocol::{Page, Status};
use crate::recent::Recent;

use super::event::{Event, Kind, StateUpdate};
use super::info;
use super::reconciliation::{Live, event_id};

const PAGE: u32 = 100;

/// A reading under way. Of a log that knows our place a page is handed out as it comes: however much was missed, no more
/// than that is kept.
pub(super) struct Missed {
    /// Events of the socket that came meanwhile.
    waiting: Vec<Live>,
    place: Place,
    /// What may be ours, in a log that does not know our place.
    held: Vec<String>,
    /// The latest events that were read.
    read: Recent,
    /// The last word of the log about what the conversation does.
    told: Option<Status>,
}

/// Our place in the log.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing has been read.
    Unread,
    /// What follows is ours.
    Passed,
    /// The log does not know the last event any more: an unknown page id reads from the start.
    Lost {
        /// Whether another event was met that we know.
        met: bool,
    },
}

/// What a page leads to.
pub(super) struct Handed {
    /// Ours, in this order.
    pub(super) events: Vec<Live>,
    /// The page to read next; without one nothing is missing any more.
    pub(super) next: Option<Page>,
    pub(super) rewound: bool,
}

impl Missed {
    pub(super) fn new(waiting: Vec<Live>) -> Self {
        Self { waiting, place: Place::Unread, held: Vec::new(), read: Recent::default(), told: None }
    }

    /// The page where a reading begins, when this is the last event that is known.
    pub(super) fn first_page(last: Option<&String>) -> Page {
        Page { limit: PAGE, newest_first: false, page: last.cloned() }
    }

    /// An event came over the socket.
    pub(super) fn wait(&mut self, event: Live) {
        self.waiting.push(event);
    }

    pub(super) fn waiting(&self) -> &[Live] {
        &self.waiting
    }

    /// A page came. These events are known, the latest last; `whole` when the log is ours from its start.
    pub(super) fn page(
        &mut self,
        mut items: Vec<String>,
        next: Option<String>,
        known: &VecDeque<String>,
        whole: bool,
    ) -> Handed {
        for item in &items {
            if let Some(id) = event_id(item) {
                self.read.add(id);
            }
        }
        if self.place == Place::Unread {
            let first = items.first().and_then(|text| event_id(text));
            self.place = match known.back() {
                None => Place::Passed,
                Some(last) if first.as_ref() == Some(last) => Place::Passed,
                Some(_) => Place::Lost { met: false },
            };
            // Without a place in it the log is ours as a whole, or not at all.
            if known.is_empty() && !whole {
                self.place = Place::Lost { met: false };
            } else if self.place == Place::Passed {
                drop_known(&mut items, known);
            }
        }
        if let Place::Lost { met } = &mut self.place {
            self.held.append(&mut items);
            *met |= drop_known(&mut self.held, known);
            // Nothing of the log is known so far: if it is not ours as a whole, none of that is.
            if !*met && !whole {
                self.held.clear();
            }
        }
        let rewound = self.place != Place::Passed && !known.is_empty() && next.is_none();
        let held = if next.is_none() { mem::take(&mut self.held) } else { Vec::new() };
        let mut events: Vec<_> = held.into_iter().chain(items).map(|text| Live { seq: None, text }).collect();
        self.told = events.iter().rev().find_map(|event| told_status(&event.text)).or(self.told.take());
        if next.is_none() {
            events.extend(self.end());
        }
        let next = next.map(|next| Page { limit: PAGE, newest_first: false, page: Some(next) });
        Handed { events, next, rewound }
    }

    /// What waited, after the log.
    fn end(&mut self) -> Vec<Live> {
        after(mem::take(&mut self.waiting), self.told.take(), |id| self.read.contains(id))
    }
}

/// Drops what lies before the latest event that is known, and that one. Whether there is one.
fn drop_known(log: &mut Vec<String>, known: &VecDeque<String>) -> bool {
    let place = log.iter().rposition(|text| event_id(text).is_some_and(|id| known.contains(&id)));
    if let Some(place) = place {
        log.drain(..=place);
    }
    place.is_some()
}

/// What waited while the log was read, which ends with this status. A state that was told before the log was read may be
/// older than the log, and then says something else than its last word.
pub(super) fn after(waiting: Vec<Live>, mut told: Option<Status>, known: impl Fn(&str) -> bool) -> Vec<Live> {
    let mut events = Vec::new();
    for event in waiting {
        match Event::read(&event.text).map(|event| (event.id, event.kind)) {
            Some((_, Kind::StateUpdate(StateUpdate::Full { status: word, .. })))
                if told.as_ref().is_some_and(|status| *status != info::status(&word)) =>
            {
                continue;
            }
            // The log ends before this, and the socket keeps its order.
            Some((id, Kind::StateUpdate(StateUpdate::Status(_)))) if id.as_ref().is_none_or(|id| !known(id)) => {
                told = None;
            }
            _ => {}
        }
        events.push(event);
    }
    events
}

pub(super) fn told_status(text: &str) -> Option<Status> {
    match Event::read(text)?.kind {
        Kind::StateUpdate(StateUpdate::Status(word)) => Some(info::status(&word)),
        _ => None,
    }
}
