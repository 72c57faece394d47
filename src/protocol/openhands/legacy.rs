//! The legacy socket (before 1.45): bare events without numbers, so that each connection is reconciled with the log.
//!
//! The first frame of any kind proves that the server has subscribed us. From then on live frames wait while the log is read
//! from the last event that we know; then the log comes first, and the frames that waited after it. An event may be in both:
//! the house delivers an id once.

use std::collections::VecDeque;
use std::mem;

use crate::error::Error;
use crate::protocol::Page;

use super::event::Event;
use super::object::Object;

/// Ids kept to find our place in a log that does not know the last one any more.
const REMEMBERED: usize = 256;
const PAGE: u32 = 100;

pub(super) struct Legacy {
    state: State,
    /// The latest events of the log, in its order.
    recent: VecDeque<String>,
    /// Whether everything in the log is ours, from its start.
    whole: bool,
}

enum State {
    /// The server has not spoken.
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

/// What comes of a frame or an answer.
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

impl Legacy {
    /// Whether the conversation is new, so that everything in its log is ours.
    pub(super) fn new(created: bool) -> Self {
        Self { state: State::Quiet, recent: VecDeque::new(), whole: created }
    }

    /// A new socket.
    pub(super) fn connected(&mut self) {
        self.state = State::Quiet;
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

    /// A frame came.
    pub(super) fn frame(&mut self, text: String) -> Step {
        match &mut self.state {
            State::Live => Step::Event(text),
            State::Boundary { waiting } | State::Reading { waiting, .. } => {
                waiting.push(text);
                Step::Wait
            }
            State::Quiet => {
                let waiting = vec![text];
                if self.recent.is_empty() && !self.whole {
                    self.state = State::Boundary { waiting };
                    return Step::Ask(Page { limit: 1, newest_first: true, page: None });
                }
                self.state = State::Reading { waiting, log: Vec::new() };
                Step::Ask(Page { limit: PAGE, newest_first: false, page: self.recent.back().cloned() })
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
                    None => self.whole = true,
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
        let Some(last) = self.recent.back() else { return false };
        let id = |text: &String| Event::read(text).and_then(|event| event.id);
        let first_is_last = log.first().and_then(id).is_some_and(|first| first == *last);
        let place = log.iter().rposition(|text| id(text).is_some_and(|id| self.recent.contains(&id)));
        match place {
            Some(place) => {
                log.drain(..=place);
            }
            // Nothing of the log is known: it is another one. Unless all of it is ours, none of it is.
            None if !self.whole => log.clear(),
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
        let mut legacy = Legacy::new(true);
        assert_eq!(asks(legacy.frame(event("live"))).page, None);
        assert!(matches!(legacy.frame(event("live2")), Step::Wait));
        assert_eq!(asks(legacy.page(&page(&["a", "b"], Some("c"))).unwrap()).page.as_deref(), Some("c"));
        let (order, rewound) = ids(legacy.page(&page(&["c"], None)).unwrap());
        assert_eq!((order.join(" ").as_str(), rewound), ("a b c live live2", false));
        assert!(matches!(legacy.frame(event("d")), Step::Event(_)));
    }

    #[test]
    fn a_reconnection_reads_on_from_the_last_known_event() {
        let mut legacy = Legacy::new(true);
        legacy.delivered("a");
        legacy.delivered("b");
        legacy.connected();
        assert_eq!(asks(legacy.frame(event("x"))).page.as_deref(), Some("b"));
        assert_eq!(ids(legacy.page(&page(&["b", "c"], None)).unwrap()), (vec!["c".into(), "x".into()], false));
    }

    #[test]
    fn what_is_in_the_log_when_we_join_is_not_ours() {
        let mut legacy = Legacy::new(false);
        let boundary = asks(legacy.frame(event("live")));
        assert!(boundary.newest_first);
        assert_eq!(ids(legacy.page(&page(&["old"], None)).unwrap()).0, ["live"]);
        legacy.delivered("live");
        legacy.connected();
        assert_eq!(asks(legacy.frame(event("x"))).page.as_deref(), Some("live"));
    }

    #[test]
    fn a_log_that_lost_our_place_is_read_from_the_latest_known_event() {
        let mut legacy = Legacy::new(false);
        legacy.delivered("b");
        legacy.delivered("lost");
        legacy.connected();
        legacy.frame(event("x"));
        let (order, rewound) = ids(legacy.page(&page(&["a", "b", "c"], None)).unwrap());
        assert_eq!((order.join(" ").as_str(), rewound), ("c x", true));
    }

    #[test]
    fn another_log_is_history() {
        let mut legacy = Legacy::new(false);
        legacy.delivered("ours");
        legacy.connected();
        legacy.frame(event("x"));
        let (order, rewound) = ids(legacy.page(&page(&["a", "b"], None)).unwrap());
        assert_eq!((order.join(" ").as_str(), rewound), ("x", true));
    }
}
