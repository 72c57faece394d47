//! Reading in the log what a socket does not bring: the end of it when a conversation is joined, and what was missed where
//! no replay brings it (the legacy socket has no numbers, and the session socket refuses what is too large for it).
//!
//! Once the server has subscribed us, live events wait while the log is read; then the log comes first, and the events that
//! waited after it. An event may be in both: the house delivers an id once.

use std::mem;

use crate::error::Error;
use crate::json::Object;
use crate::protocol::{Page, Status};
use crate::recent::Recent;

use super::event::Event;
use super::missed::{Handed, Lag, Missed};
use super::position::Position;
use super::tail::{Joined, Tail};

/// Ids kept to find our place in a log that does not know the last one any more.
const REMEMBERED: usize = 256;

pub(super) struct Reconciliation {
    state: State,
    /// The latest events of the log, in its order.
    recent: Recent,
    /// Whether the log is ours from its start.
    whole: bool,
    /// Whether it is known what in the log is ours.
    joined: bool,
    /// What the conversation did before its log was read.
    status: Status,
}

enum State {
    /// The server has not subscribed us.
    Quiet,
    /// The end of the log is being read.
    Joining { waiting: Vec<Live>, tail: Tail },
    /// What was missed is being read.
    Reading(Missed),
    /// Events are delivered as they come.
    Live(Lag),
}

/// An event in its place in the order.
pub(super) struct Live {
    /// Its number, if the socket gave it one.
    pub(super) seq: Option<i64>,
    pub(super) text: String,
}

impl Live {
    /// The event's id.
    pub(super) fn id(&self) -> Option<String> {
        event_id(&self.text)
    }
}

/// What comes of an event or a page.
pub(super) enum Step {
    /// Nothing yet.
    Wait,
    /// Read this page.
    Ask(Page),
    /// One event, live.
    Event(Live),
    /// These events, in this order; then read this page.
    Some { events: Vec<Live>, next: Page },
    /// Nothing is missing any more: these events, in this order.
    CaughtUp { events: Vec<Live>, rewound: bool },
}

/// What was under way when we joined: the events of the past, and what the conversation did after them, if that is known.
pub(super) type Past = (Vec<String>, Option<Status>);

impl Reconciliation {
    /// Of a conversation that does this, whose log is ours from this place on.
    pub(super) fn new(position: Option<&Position>, status: Status) -> Self {
        let last = position.and_then(|position| position.last.clone());
        let whole = position.is_some() && last.is_none();
        let mut recent = Recent::keeping(REMEMBERED);
        if let Some(last) = last {
            recent.add(&last);
        }
        Self { state: State::Quiet, recent, whole, joined: whole, status }
    }

    /// A new socket.
    pub(super) fn connecting(&mut self) {
        self.state = State::Quiet;
    }

    /// Whether the server has not subscribed us yet.
    pub(super) fn is_quiet(&self) -> bool {
        matches!(self.state, State::Quiet)
    }

    /// Whether events are delivered as they come.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.state, State::Live(_))
    }

    /// Whether the end of the log has been read.
    pub(super) fn has_joined(&self) -> bool {
        self.joined
    }

    /// Whether the log is ours from its start.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Whether one event of the log is another or comes after it, as far as we remember. What we no longer remember lies
    /// before all that we do.
    pub(super) fn is_since(&self, id: Option<&str>, other: Option<&str>) -> bool {
        let place = |id: Option<&str>| self.recent.place(id?);
        place(id).is_some_and(|at| at >= place(other).unwrap_or_default())
    }

    /// Our place is not in this log: all of it is past.
    pub(super) fn forget_place(&mut self) {
        self.recent.truncate(0);
    }

    /// An event of the log was delivered. Whether for the first time, as far as is known.
    pub(super) fn delivered(&mut self, id: &str) -> bool {
        self.recent.add(id)
    }

    /// A socket with numbers has come to this event: what we read before, from it on, is still to come.
    pub(super) fn come_to(&mut self, id: &str) {
        if let Some(place) = self.recent.place(id) {
            self.recent.truncate(place);
        }
    }

    /// Whether an event was delivered or is past, as far as is known.
    pub(super) fn has_dealt_with(&self, id: &str) -> bool {
        self.recent.contains(id)
    }

    /// The id of the last event that was delivered.
    pub(super) fn last(&self) -> Option<&str> {
        self.recent.last()
    }

    /// Whether an event has come, though it may have to wait.
    pub(super) fn has(&self, id: &str) -> bool {
        let waiting = match &self.state {
            State::Joining { waiting, .. } => waiting.as_slice(),
            State::Reading(missed) => missed.waiting(),
            State::Quiet | State::Live(_) => &[],
        };
        self.has_dealt_with(id) || waiting.iter().any(|event| event_id(&event.text).is_some_and(|known| known == id))
    }

    /// The server has subscribed us: what comes from now on waits until the log has been read, if it must be. The page to
    /// begin with.
    pub(super) fn subscribed(&mut self, reads: bool) -> Option<Page> {
        let (state, page) = match (self.joined, reads) {
            (false, _) => (State::Joining { waiting: Vec::new(), tail: Tail::new() }, Some(Tail::first_page())),
            (true, true) => (State::Reading(Missed::new(Vec::new())), Some(Missed::first_page(self.recent.last()))),
            (true, false) => (State::Live(Lag::default()), None),
        };
        self.state = state;
        page
    }

    /// An event came over the socket.
    pub(super) fn event(&mut self, event: Live) -> Step {
        match &mut self.state {
            State::Quiet => Step::Event(event),
            State::Live(lag) => {
                if lag.lets(&event) {
                    Step::Event(event)
                } else {
                    Step::Wait
                }
            }
            State::Joining { waiting, .. } => {
                waiting.push(event);
                Step::Wait
            }
            State::Reading(missed) => {
                missed.wait(event);
                Step::Wait
            }
        }
    }

    /// A page came. `reads` when no replay brings what is ours.
    pub(super) fn page(&mut self, body: &str, reads: bool) -> Result<(Option<Past>, Step), Error> {
        let bad = || Error::BadResponse { what: "reading the log" };
        let found = Object::read(body).ok_or_else(bad)?;
        let items = found.list("items").ok_or_else(bad)?;
        let next = found.string("next_page_id");
        match &mut self.state {
            State::Quiet | State::Live(_) => Ok((None, Step::Wait)),
            State::Joining { waiting, tail } => {
                if let Some(page) = tail.add(&items, next, &self.status) {
                    return Ok((None, Step::Ask(page)));
                }
                let (waiting, tail) = (mem::take(waiting), mem::replace(tail, Tail::new()));
                let brought: Vec<_> = waiting.iter().filter_map(|event| event_id(&event.text)).collect();
                let joined = tail.divide(self.recent.last(), &brought, &self.status);
                Ok(self.join(joined, waiting, reads))
            }
            State::Reading(missed) => {
                let items = items.iter().map(|item| item.get().to_owned()).collect();
                let Handed { events, next, rewound, lag } = missed.page(items, next, &self.recent, self.whole);
                if let Some(next) = next {
                    return Ok((None, Step::Some { events, next }));
                }
                self.state = State::Live(lag);
                Ok((None, Step::CaughtUp { events, rewound }))
            }
        }
    }

    fn join(&mut self, joined: Joined, waiting: Vec<Live>, reads: bool) -> (Option<Past>, Step) {
        let Joined { past, ours, status, rewound, further } = joined;
        self.joined = true;
        // What was read ends with our place, unless that lies further back.
        if !further {
            self.recent.truncate(0);
        }
        // A log without events is ours from its start.
        self.whole = self.recent.is_empty() && past.is_empty();
        for id in past.iter().filter_map(|text| event_id(text)) {
            self.delivered(&id);
        }
        let step = if reads && further {
            self.state = State::Reading(Missed::new(waiting));
            Step::Ask(Missed::first_page(self.recent.last()))
        } else {
            let ours = if reads { ours } else { Vec::new() };
            let mut lag = Lag::behind(&ours);
            let mut events: Vec<_> = ours.into_iter().map(|text| Live { seq: None, text }).collect();
            events.extend(lag.after(waiting));
            self.state = State::Live(lag);
            Step::CaughtUp { events, rewound }
        };
        (Some((past, status)), step)
    }
}

pub(super) fn event_id(text: &str) -> Option<String> {
    Event::read(text).and_then(|event| event.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &str) -> String {
        format!(r#"{{"id":"{id}","kind":"PauseEvent"}}"#)
    }

    fn live(id: &str) -> Live {
        Live { seq: None, text: event(id) }
    }

    fn page(ids: &[&str], next: Option<&str>) -> String {
        let items = ids.iter().map(|id| event(id)).collect::<Vec<_>>().join(",");
        format!(r#"{{"items":[{items}],"next_page_id":{}}}"#, next.map_or("null".into(), |next| format!("{next:?}")))
    }

    fn joined(events: &[String]) -> String {
        events.iter().map(|text| event_id(text).unwrap()).collect::<Vec<_>>().join(" ")
    }

    fn ids(step: Step) -> (String, bool) {
        let Step::CaughtUp { events, rewound } = step else { panic!("not caught up") };
        let texts: Vec<_> = events.into_iter().map(|event| event.text).collect();
        (joined(&texts), rewound)
    }

    fn asks(step: Step) -> Page {
        let Step::Ask(page) = step else { panic!("asks nothing") };
        page
    }

    fn new() -> Reconciliation {
        Reconciliation::new(Some(&Position::start()), Status::Idle)
    }

    fn from(last: &str) -> Reconciliation {
        Reconciliation::new(Some(&Position { seq: None, last: Some(last.into()) }), Status::Idle)
    }

    /// What a page of the log leads to, where nothing is replayed.
    fn read(log: &mut Reconciliation, ids: &[&str], next: Option<&str>) -> (Option<Past>, Step) {
        log.page(&page(ids, next), true).unwrap()
    }

    #[test]
    fn the_log_comes_before_the_frames_that_waited() {
        let mut log = new();
        assert_eq!(log.subscribed(true).unwrap().page, None);
        assert!(matches!(log.event(live("live")), Step::Wait));
        assert!(matches!(log.event(live("live2")), Step::Wait));
        let Step::Some { events, next } = read(&mut log, &["a", "b"], Some("c")).1 else { panic!("nothing comes") };
        assert_eq!(next.page.as_deref(), Some("c"));
        let texts: Vec<_> = events.into_iter().map(|event| event.text).collect();
        assert_eq!(joined(&texts), "a b", "a page is handed out as it comes");
        let (order, rewound) = ids(read(&mut log, &["c"], None).1);
        assert_eq!((order.as_str(), rewound), ("c live live2", false));
        assert!(matches!(log.event(live("d")), Step::Event(_)));
    }

    #[test]
    fn a_reconnection_reads_on_from_the_last_known_event() {
        let mut log = new();
        log.delivered("a");
        log.delivered("b");
        log.connecting();
        assert_eq!(log.subscribed(true).unwrap().page.as_deref(), Some("b"));
        log.event(live("x"));
        assert_eq!(ids(read(&mut log, &["b", "c"], None).1), ("c x".into(), false));
    }

    #[test]
    fn what_is_in_the_log_when_we_join_is_past() {
        let mut log = Reconciliation::new(None, Status::Running);
        assert!(log.subscribed(true).unwrap().newest_first);
        log.event(live("live"));
        let (past, step) = read(&mut log, &["live", "newest", "older"], Some("oldest"));
        let (events, status) = past.unwrap();
        assert_eq!((joined(&events).as_str(), status), ("older newest", Some(Status::Running)));
        assert_eq!(ids(step).0, "live");
        assert_eq!(log.last(), Some("newest"), "delivered is what was delivered");
        log.delivered("live");
        log.connecting();
        assert_eq!(log.subscribed(true).unwrap().page.as_deref(), Some("live"));
    }

    #[test]
    fn the_place_is_where_a_socket_with_numbers_is_and_not_where_the_log_was_read_to() {
        let mut log = Reconciliation::new(None, Status::Idle);
        log.subscribed(false);
        log.page(&page(&["d", "c", "b", "a"], None), false).unwrap();
        assert_eq!(log.last(), Some("d"));
        log.come_to("b");
        log.delivered("b");
        log.connecting();
        assert_eq!(log.subscribed(true).unwrap().page.as_deref(), Some("b"));
        assert_eq!(ids(read(&mut log, &["b", "c", "d"], None).1), ("c d".into(), false));
    }

    #[test]
    fn what_comes_after_what_is_known() {
        let mut log = from("a");
        log.delivered("b");
        assert!(log.is_since(Some("b"), Some("a")) && log.is_since(Some("a"), Some("a")));
        assert!(!log.is_since(Some("a"), Some("b")));
        assert!(log.is_since(Some("b"), Some("forgotten")) && !log.is_since(Some("forgotten"), Some("a")));
        assert!(!log.is_since(None, Some("a")));
    }

    #[test]
    fn our_place_is_the_last_event_of_the_past() {
        let mut log = from("b");
        log.subscribed(false);
        log.page(&page(&["c", "b", "a"], None), false).unwrap();
        assert_eq!(log.last(), Some("b"));
    }

    #[test]
    fn what_follows_an_event_that_the_socket_brought_is_not_past() {
        let mut log = Reconciliation::new(None, Status::Running);
        log.subscribed(true);
        log.event(live("b"));
        let (past, step) = read(&mut log, &["c", "b", "a"], None);
        assert_eq!(joined(&past.unwrap().0), "a");
        assert_eq!(ids(step).0, "b");
    }

    #[test]
    fn a_state_that_is_older_than_the_log_is_dropped() {
        let full = |status: &str| Live {
            seq: None,
            text: format!(
                r#"{{"id":"f","kind":"ConversationStateUpdateEvent","key":"full_state","value":{{"execution_status":"{status}"}}}}"#
            ),
        };
        let told = r#"{"id":"s","kind":"ConversationStateUpdateEvent","key":"execution_status","value":"idle"}"#;
        for (status, order) in [("finished", "s"), ("idle", "s f")] {
            let mut log = new();
            log.subscribed(true);
            log.event(full(status));
            let (_, step) = log.page(&format!(r#"{{"items":[{told}]}}"#), true).unwrap();
            assert_eq!(ids(step).0, order);
        }
    }

    #[test]
    fn a_state_that_the_socket_brings_after_what_is_newer_than_the_log_counts() {
        let text = |text: &str| Live { seq: None, text: text.to_owned() };
        let mut log = from("a");
        log.subscribed(false);
        log.event(text(
            r#"{"id":"s","kind":"ConversationStateUpdateEvent","key":"execution_status","value":"paused"}"#,
        ));
        // A server that was killed has not written that.
        log.event(text(
            r#"{"id":"f","kind":"ConversationStateUpdateEvent","key":"full_state","value":{"execution_status":"error"}}"#,
        ));
        let (_, step) = log.page(&page(&["a"], None), false).unwrap();
        assert_eq!(ids(step).0, "s f");
    }

    #[test]
    fn a_connection_that_ends_before_the_log_was_read_joins_again() {
        let mut log = Reconciliation::new(None, Status::Idle);
        log.subscribed(false);
        log.event(live("live"));
        log.connecting();
        assert!(log.subscribed(false).unwrap().newest_first);
        assert_eq!(ids(log.page(&page(&[], None), false).unwrap().1).0, "", "what waited is in the log or is replayed");
    }

    #[test]
    fn from_a_place_in_reach_what_follows_is_ours_and_read_once() {
        let mut log = from("b");
        assert!(log.subscribed(true).unwrap().newest_first);
        log.event(live("x"));
        let (past, step) = read(&mut log, &["d", "c", "b", "a"], None);
        assert_eq!(joined(&past.unwrap().0), "a b");
        assert_eq!(ids(step), ("c d x".into(), false));
    }

    #[test]
    fn from_a_place_out_of_reach_the_log_is_read_from_there() {
        let mut log = from("b");
        log.subscribed(true);
        let (past, step) = read(&mut log, &["z"], Some("y"));
        assert!(past.unwrap().0.is_empty());
        let page = asks(step);
        assert_eq!((page.page.as_deref(), page.newest_first), (Some("b"), false));
        assert_eq!(ids(read(&mut log, &["b", "c"], None).1), ("c".into(), false));
    }

    #[test]
    fn where_the_socket_replays_the_log_is_not_delivered() {
        let mut log = from("b");
        log.subscribed(false);
        let (past, step) = log.page(&page(&["c", "b"], None), false).unwrap();
        assert_eq!(joined(&past.unwrap().0), "b");
        assert_eq!(ids(step).0, "");
        assert!(log.subscribed(false).is_none());
    }

    #[test]
    fn a_place_that_the_log_never_had_makes_all_of_it_past() {
        let mut log = from("x");
        log.subscribed(true);
        let (past, step) = read(&mut log, &["b", "a"], None);
        assert_eq!(joined(&past.unwrap().0), "a b");
        assert_eq!(ids(step), (String::new(), true));
        assert_eq!(log.last(), Some("b"));
    }

    #[test]
    fn an_empty_log_that_is_joined_is_ours_from_its_start() {
        let mut log = Reconciliation::new(None, Status::Idle);
        log.subscribed(true);
        read(&mut log, &[], None);
        log.connecting();
        log.subscribed(true);
        assert_eq!(ids(read(&mut log, &["a"], None).1).0, "a");
    }

    #[test]
    fn a_log_that_lost_our_place_is_read_from_the_latest_known_event() {
        let mut log = new();
        log.delivered("b");
        log.delivered("lost");
        log.connecting();
        log.subscribed(true);
        log.event(live("x"));
        assert_eq!(ids(read(&mut log, &["a", "b", "c"], None).1), ("c x".into(), true));
    }

    #[test]
    fn another_log_is_past() {
        let mut log = from("ours");
        log.subscribed(true);
        read(&mut log, &["ours"], None);
        log.connecting();
        log.subscribed(true);
        log.event(live("x"));
        assert_eq!(ids(read(&mut log, &["a", "b"], None).1), ("x".into(), true));
    }
}
