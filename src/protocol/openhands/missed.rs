//! What was missed, read in the log page by page, from our place in it on.

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
    lag: Lag,
}

/// How far a socket is behind what was read in the log. A state that it tells may be older, and then says something else than
/// the log's last word.
#[derive(Default)]
pub(super) struct Lag {
    /// That word, until the socket has come to it.
    told: Option<Status>,
    /// The last event that was read.
    last: Option<String>,
    /// The latest of them.
    read: Recent,
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
    /// How far the socket is behind then.
    pub(super) lag: Lag,
}

impl Missed {
    pub(super) fn new(waiting: Vec<Live>) -> Self {
        Self { waiting, place: Place::Unread, held: Vec::new(), lag: Lag::default() }
    }

    /// The page where a reading begins, when this is the last event that is known.
    pub(super) fn first_page(last: Option<&str>) -> Page {
        Page { limit: PAGE, newest_first: false, page: last.map(str::to_owned) }
    }

    /// An event came over the socket.
    pub(super) fn wait(&mut self, event: Live) {
        self.waiting.push(event);
    }

    pub(super) fn waiting(&self) -> &[Live] {
        &self.waiting
    }

    /// A page came. These events are known, the latest last; `whole` when the log is ours from its start.
    pub(super) fn page(&mut self, mut items: Vec<String>, next: Option<String>, known: &Recent, whole: bool) -> Handed {
        self.lag.read(&items);
        if self.place == Place::Unread {
            let first = items.first().and_then(|text| event_id(text));
            self.place = match known.last() {
                None => Place::Passed,
                Some(last) if first.as_deref() == Some(last) => Place::Passed,
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
        let mut log = if next.is_none() { mem::take(&mut self.held) } else { Vec::new() };
        log.append(&mut items);
        self.lag.hear(&log);
        let mut events: Vec<_> = log.into_iter().map(|text| Live { seq: None, text }).collect();
        let mut lag = Lag::default();
        if next.is_none() {
            lag = mem::take(&mut self.lag);
            events.extend(lag.after(mem::take(&mut self.waiting)));
        }
        let next = next.map(|next| Page { limit: PAGE, newest_first: false, page: Some(next) });
        Handed { events, next, rewound, lag }
    }
}

/// Drops what lies before the latest event that is known, and that one. Whether there is one.
fn drop_known(log: &mut Vec<String>, known: &Recent) -> bool {
    let place = log.iter().rposition(|text| event_id(text).is_some_and(|id| known.contains(&id)));
    if let Some(place) = place {
        log.drain(..=place);
    }
    place.is_some()
}

impl Lag {
    /// Of a socket that is behind these events of the log, which are ours.
    pub(super) fn behind(log: &[String]) -> Self {
        let mut lag = Self::default();
        lag.read(log);
        lag.hear(log);
        lag
    }

    fn read(&mut self, log: &[String]) {
        for id in log.iter().filter_map(|text| event_id(text)) {
            self.read.add(&id);
            self.last = Some(id);
        }
    }

    fn hear(&mut self, log: &[String]) {
        self.told = log.iter().rev().find_map(|text| told_status(text)).or(self.told.take());
    }

    /// What waited while the log was read, without what is older.
    pub(super) fn after(&mut self, mut waiting: Vec<Live>) -> Vec<Live> {
        waiting.retain(|event| self.lets(event));
        waiting
    }

    /// Whether an event of the socket is not older than the log.
    pub(super) fn lets(&mut self, event: &Live) -> bool {
        let Some(told) = &self.told else { return true };
        let Some(Event { id, kind }) = Event::read(&event.text) else { return true };
        if let Kind::StateUpdate(StateUpdate::Full { status: word, .. }) = &kind {
            return info::status(word) == *told;
        }
        // The log ends with this, or before this, and the socket keeps its order.
        let newer = || id.as_deref().is_none_or(|id| !self.read.contains(id));
        if id == self.last || (matches!(kind, Kind::StateUpdate(StateUpdate::Status(_))) && newer()) {
            self.told = None;
        }
        true
    }
}

fn told_status(text: &str) -> Option<Status> {
    match Event::read(text)?.kind {
        Kind::StateUpdate(StateUpdate::Status(word)) => Some(info::status(&word)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(id: &str, status: &str) -> String {
        format!(r#"{{"id":"{id}","kind":"ConversationStateUpdateEvent","key":"execution_status","value":"{status}"}}"#)
    }

    fn full(status: &str) -> Live {
        let text = format!(
            r#"{{"id":"f","kind":"ConversationStateUpdateEvent","key":"full_state","value":{{"execution_status":"{status}"}}}}"#
        );
        Live { seq: None, text }
    }

    fn live(text: String) -> Live {
        Live { seq: None, text }
    }

    #[test]
    fn a_state_that_a_slow_socket_tells_is_dropped_while_it_lags_behind_the_log() {
        let mut lag = Lag::behind(&[told("a", "running"), told("b", "idle")]);
        assert!(!lag.lets(&full("finished")) && lag.lets(&full("idle")));
        assert!(lag.lets(&live(told("a", "running"))) && !lag.lets(&full("finished")));
        assert!(lag.lets(&live(told("b", "idle"))), "now it is where the log ended");
        assert!(lag.lets(&full("finished")));
        let mut lag = Lag::behind(&[told("b", "idle")]);
        assert!(lag.lets(&live(told("c", "running"))), "now it is further");
        assert!(lag.lets(&full("finished")));
    }

    #[test]
    fn of_a_log_that_does_not_know_our_place_what_follows_the_latest_known_event_is_ours() {
        let mut known = Recent::default();
        known.add("b");
        known.add("gone");
        let mut missed = Missed::new(Vec::new());
        let mut page = |ids: &[&str], next: Option<&str>| {
            let items = ids.iter().map(|id| format!(r#"{{"id":"{id}","kind":"PauseEvent"}}"#)).collect();
            let Handed { events, next, rewound, .. } = missed.page(items, next.map(str::to_owned), &known, true);
            let ids: Vec<_> = events.iter().filter_map(Live::id).collect();
            (ids.join(" "), next.is_some(), rewound)
        };
        assert_eq!(page(&["x", "y"], Some("a")), (String::new(), true, false), "it is not known yet what is ours");
        assert_eq!(page(&["a", "b"], Some("c")), (String::new(), true, false));
        assert_eq!(page(&["c", "d"], None), ("c d".into(), false, true));
    }
}
