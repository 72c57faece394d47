//! Reading on in the log where a socket cannot: the legacy socket has no numbers, and the session socket refuses to replay
//! what is too large for it.
//!
//! Once the server has subscribed us, live events wait while the log is read from the last event that we know; then the log
//! comes first, and the events that waited after it. An event may be in both: the house delivers an id once.

use std::collections::VecDeque;
use std::mem;

use crate::error::Error;
use crate::protocol::Page;

use super::event::Event;
use super::object::Object;

/// Ids kept to find our place in a log that does not know the last one any more.
const REMEMBERED: usize = 256;
const PAGE: u32 = 100;

pub(super) struct Reconciliation {
    state: State,
    /// The latest events of the log, in its order.
    recent: VecDeque<String>,
    /// How many events at the start of the log are not ours, if that is known.
    history: Option<usize>,
}

enum State {
    /// The server has not subscribed us.
    Quiet,
    /// A joined conversation: what is in the log by now is not ours.
    Boundary {
        waiting: Vec<String>,
    },
    /// The log is being read.
    Reading {
        waiting: Vec<String>,
        log: Vec<String>,
    },
    Live,
}

/// What comes of an event or a page.
pub(super) enum Step {
    /// Nothing yet.
    Wait,
    /// Read this page.
    Ask(Page),
    /// One event, live.
    Event(String),
    /// Nothing is missing any more: these events, in this order.
    CaughtUp { events: Vec<String>, rewound: bool },
}

impl Reconciliation {
    /// Of a conversation that is new, so that everything in its log is ours, or of one that is joined.
    pub(super) fn new(created: bool) -> Self {
        Self { state: State::Quiet, recent: VecDeque::new(), history: created.then_some(0) }
    }

    /// So many events at the start of the log are not ours.
    pub(super) fn begin_after(&mut self, events: usize) {
        self.history.get_or_insert(events);
    }

    /// A new socket.
    pub(super) fn connecting(&mut self) {
        self.state = State::Quiet;
    }

    /// Whether the server has not subscribed us yet.
    pub(super) fn is_quiet(&self) -> bool {
        matches!(self.state, State::Quiet)
    }

    /// An event of the log was delivered.
    pub(super) fn delivered(&mut self, id: &str) {
        if self.recent.back().is_some_and(|last| last == id) {
            return;
        }
        self.recent.push_back(id.to_owned());
        if self.recent.len() > REMEMBERED {
            self.recent.pop_front();
        }
    }

    /// The server has subscribed us: what comes from now on waits until the log has been read. The page to begin with.
    pub(super) fn subscribed(&mut self) -> Page {
        if self.recent.is_empty() && self.history.is_none() {
            self.state = State::Boundary { waiting: Vec::new() };
            return Page { limit: 1, newest_first: true, page: None };
        }
        self.state = State::Reading { waiting: Vec::new(), log: Vec::new() };
        Page { limit: PAGE, newest_first: false, page: self.recent.back().cloned() }
    }

    /// An event came over the socket.
    pub(super) fn event(&mut self, text: String) -> Step {
        match &mut self.state {
            State::Quiet | State::Live => Step::Event(text),
            State::Boundary { waiting } | State::Reading { waiting, .. } => {
                waiting.push(text);
                Step::Wait
            }
        }
    }

    /// A page came.
    pub(super) fn page(&mut self, body: &str) -> Result<Step, Error> {
        let bad = Error::BadResponse { what: "reading the log" };
        let found = Object::read(body).ok_or_else(|| bad.clone())?;
        let items = found.list("items").ok_or(bad)?;
        match &mut self.state {
            State::Quiet | State::Live => Ok(Step::Wait),
            State::Boundary { waiting } => {
                let events = mem::take(waiting);
                match items.first().and_then(|item| Event::read(item.get())).and_then(|event| event.id) {
                    Some(id) => self.delivered(&id),
                    None => self.history = Some(0),
                }
                self.state = State::Live;
                Ok(Step::CaughtUp { events, rewound: false })
            }
            State::Reading { waiting, log } => {
                log.extend(items.iter().map(|item| item.get().to_owned()));
                if let Some(next) = found.string("next_page_id") {
                    return Ok(Step::Ask(Page { limit: PAGE, newest_first: false, page: Some(next) }));
                }
                let (mut events, waiting) = (mem::take(log), mem::take(waiting));
                let rewound = self.drop_known(&mut events);
                events.extend(waiting);
                self.state = State::Live;
                Ok(Step::CaughtUp { events, rewound })
            }
        }
    }

    /// Drops what lies before our place in the log. Whether the log has lost its last known event: an unknown page id reads
    /// from the start, and then our place is behind the latest event that we know.
    fn drop_known(&self, log: &mut Vec<String>) -> bool {
        let history = self.history.unwrap_or_default().min(log.len());
        let Some(last) = self.recent.back() else {
            log.drain(..history);
            return false;
        };
        let id = |text: &String| Event::read(text).and_then(|event| event.id);
        let first_is_last = log.first().and_then(id).is_some_and(|first| first == *last);
        match log.iter().rposition(|text| id(text).is_some_and(|id| self.recent.contains(&id))) {
            Some(place) => {
                log.drain(..=place);
            }
            // Nothing of the log is known: it is another one. Unless all of it is ours, none of it is.
            None if self.history != Some(0) => log.clear(),
            None => {}
        }
        !first_is_last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &str) -> String {
        format!(r#"{{"id":"{id}","kind":"MessageEvent"}}"#)
    }

    fn page(ids: &[&str], next: Option<&str>) -> String {
        let items = ids.iter().map(|id| event(id)).collect::<Vec<_>>().join(",");
        format!(r#"{{"items":[{items}],"next_page_id":{}}}"#, next.map_or("null".into(), |next| format!("{next:?}")))
    }

    fn ids(step: Step) -> (Vec<String>, bool) {
        let Step::CaughtUp { events, rewound } = step else { panic!("not caught up") };
        (events.iter().map(|text| Event::read(text).unwrap().id.unwrap()).collect(), rewound)
    }

    fn asks(step: Step) -> Page {
        let Step::Ask(page) = step else { panic!("asks nothing") };
        page
    }

    #[test]
    fn the_log_comes_before_the_frames_that_waited() {
        let mut log = Reconciliation::new(true);
        assert_eq!(log.subscribed().page, None);
        assert!(matches!(log.event(event("live")), Step::Wait));
        assert!(matches!(log.event(event("live2")), Step::Wait));
        assert_eq!(asks(log.page(&page(&["a", "b"], Some("c"))).unwrap()).page.as_deref(), Some("c"));
        let (order, rewound) = ids(log.page(&page(&["c"], None)).unwrap());
        assert_eq!((order.join(" ").as_str(), rewound), ("a b c live live2", false));
        assert!(matches!(log.event(event("d")), Step::Event(_)));
    }

    #[test]
    fn a_reconnection_reads_on_from_the_last_known_event() {
        let mut log = Reconciliation::new(true);
        log.delivered("a");
        log.delivered("b");
        log.connecting();
        assert_eq!(log.subscribed().page.as_deref(), Some("b"));
        log.event(event("x"));
        assert_eq!(ids(log.page(&page(&["b", "c"], None)).unwrap()), (vec!["c".into(), "x".into()], false));
    }

    #[test]
    fn what_is_in_the_log_when_we_join_is_not_ours() {
        let mut log = Reconciliation::new(false);
        assert!(log.subscribed().newest_first);
        log.event(event("live"));
        assert_eq!(ids(log.page(&page(&["old"], None)).unwrap()).0, ["live"]);
        log.delivered("live");
        log.connecting();
        assert_eq!(log.subscribed().page.as_deref(), Some("live"));
    }

    #[test]
    fn a_log_that_lost_our_place_is_read_from_the_latest_known_event() {
        let mut log = Reconciliation::new(false);
        log.delivered("b");
        log.delivered("lost");
        log.connecting();
        log.subscribed();
        log.event(event("x"));
        let (order, rewound) = ids(log.page(&page(&["a", "b", "c"], None)).unwrap());
        assert_eq!((order.join(" ").as_str(), rewound), ("c x", true));
    }

    #[test]
    fn another_log_is_history() {
        let mut log = Reconciliation::new(false);
        log.delivered("ours");
        log.connecting();
        log.subscribed();
        log.event(event("x"));
        let (order, rewound) = ids(log.page(&page(&["a", "b"], None)).unwrap());
        assert_eq!((order.join(" ").as_str(), rewound), ("x", true));
    }

    #[test]
    fn a_joined_log_without_a_known_event_is_read_past_its_history() {
        let mut log = Reconciliation::new(false);
        log.begin_after(2);
        assert_eq!(log.subscribed().page, None);
        let (order, rewound) = ids(log.page(&page(&["old", "older", "ours"], None)).unwrap());
        assert_eq!((order.join(" ").as_str(), rewound), ("ours", false));
    }
}
