//! The end of the log of a conversation that is joined: what is under way in it, and where what is ours begins.

use crate::call::CallId;
use crate::error::Error;
use crate::json::{Json, Object};
use crate::protocol::{Page, Status};

use super::event::{Event, Kind, StateUpdate};
use super::info;
use super::meaning::Reader;

/// Pages read at most: all but the first only to find what waits for approval.
const PAGES: u32 = 5;
const PAGE: u32 = 100;

/// The newest events of the log.
pub(super) struct Tail {
    /// Newest first.
    events: Vec<Logged>,
    pages: u32,
    /// Whether the log has nothing older.
    complete: bool,
}

struct Logged {
    id: Option<String>,
    text: String,
    /// What the conversation does from here on.
    status: Option<Status>,
    /// Whether everything that waits for approval is later.
    begins_turn: bool,
}

/// The end of the log, divided, in the log's order.
pub(super) struct Joined {
    /// What has been dealt with, or is history.
    pub(super) past: Vec<String>,
    /// What is ours.
    pub(super) ours: Vec<String>,
    /// What the conversation did at the end of the past; `None` when what is ours tells.
    pub(super) status: Option<Status>,
    /// Whether the log does not know our place.
    pub(super) rewound: bool,
    /// Whether our place is further back than was read.
    pub(super) further: bool,
}

impl Tail {
    pub(super) fn new() -> Self {
        Self { events: Vec::new(), pages: 0, complete: false }
    }

    pub(super) fn first_page() -> Page {
        Page { limit: PAGE, newest_first: true, page: None }
    }

    /// A page came. The next one, if it is needed: what waits for approval was announced after the last turn began.
    pub(super) fn add(&mut self, items: &[Json], next: Option<String>, status: &Status) -> Option<Page> {
        self.events.extend(items.iter().map(|item| Logged::read(*item)));
        self.pages += 1;
        self.complete = next.is_none();
        let latest = self.events.iter().find_map(|event| event.status.as_ref()).unwrap_or(status);
        let searching = *latest == Status::WaitingForConfirmation && !self.events.iter().any(|event| event.begins_turn);
        let page = next.filter(|_| searching && self.pages < PAGES)?;
        Some(Page { limit: PAGE, newest_first: true, page: Some(page) })
    }

    /// The same with the text of a page.
    pub(super) fn add_page(&mut self, body: &str, status: &Status) -> Result<Option<Page>, Error> {
        let bad = || Error::BadResponse { what: "reading the log" };
        let page = Object::read(body).ok_or_else(bad)?;
        let items = page.list("items").ok_or_else(bad)?;
        Ok(self.add(&items, page.string("next_page_id"), status))
    }

    /// The newest call that waits for approval by what was read.
    pub(super) fn waiting(self) -> Option<CallId> {
        let latest = self.events.iter().find_map(|event| event.status.as_ref());
        if latest.is_some_and(|status| *status != Status::WaitingForConfirmation) {
            return None;
        }
        Reader::default().newest_unanswered(self.events.iter().rev().map(|event| event.text.as_str()))
    }

    /// Divides the log at our place in it. Without a place all of it is past, but for what the socket has brought
    /// meanwhile. The conversation had this status before the log was read.
    pub(super) fn divide(mut self, place: Option<&str>, brought: &[String], status: &Status) -> Joined {
        self.events.reverse();
        let at = |id: &str| self.events.iter().rposition(|event| event.id.as_deref() == Some(id));
        let found = place.map(at);
        let rewound = found == Some(None) && self.complete;
        let (past, ours): (Vec<_>, Vec<_>) = match found {
            Some(Some(last)) => {
                let ours = self.events.split_off(last.saturating_add(1));
                (self.events, ours)
            }
            Some(None) if !rewound => (Vec::new(), self.events),
            _ => {
                // The socket has begun to bring what is new, and brings all that follows.
                let brought = |event: &Logged| event.id.as_ref().is_some_and(|id| brought.contains(id));
                let new = self.events.iter().position(brought);
                self.events.truncate(new.unwrap_or(self.events.len()));
                (self.events, Vec::new())
            }
        };
        let told = past.iter().rev().find_map(|event| event.status.clone());
        let status = told.or_else(|| ours.is_empty().then(|| status.clone()));
        let further = found == Some(None) && !rewound;
        let texts = |events: Vec<Logged>| events.into_iter().map(|event| event.text).collect();
        Joined { past: texts(past), ours: texts(ours), status, rewound, further }
    }
}

impl Logged {
    fn read(item: Json) -> Self {
        let (id, status, begins_turn) = match Event::of(item) {
            Some(Event { id, kind: Kind::StateUpdate(StateUpdate::Status(word)) }) => {
                let status = info::status(&word);
                let begins = status == Status::Running;
                (id, Some(status), begins)
            }
            Some(Event { id, kind: Kind::Message { source, .. } }) => (id, None, source == "user"),
            Some(Event { id, .. }) => (id, None, false),
            None => (None, None, false),
        };
        Self { id, text: item.get().to_owned(), status, begins_turn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &str) -> String {
        format!(r#"{{"id":"{id}","kind":"PauseEvent"}}"#)
    }

    fn told(id: &str, status: &str) -> String {
        format!(r#"{{"id":"{id}","key":"execution_status","value":"{status}","kind":"ConversationStateUpdateEvent"}}"#)
    }

    fn add(tail: &mut Tail, events: &[String], next: Option<&str>, status: &Status) -> Option<String> {
        let items: Vec<_> = events.iter().map(|text| Json::read(text).unwrap()).collect();
        tail.add(&items, next.map(str::to_owned), status).and_then(|page| page.page)
    }

    fn ids(texts: &[String]) -> String {
        let id = |text: &String| Event::read(text).unwrap().id.unwrap();
        texts.iter().map(id).collect::<Vec<_>>().join(" ")
    }

    fn tail(events: &[String], next: Option<&str>) -> Tail {
        let mut tail = Tail::new();
        assert_eq!(add(&mut tail, events, next, &Status::Running), None);
        tail
    }

    #[test]
    fn without_a_place_all_is_past_but_what_the_socket_has_brought() {
        let brought = ["c".to_owned()];
        let joined = tail(&[event("c"), event("b"), event("a")], Some("older")).divide(None, &brought, &Status::Idle);
        assert_eq!((ids(&joined.past).as_str(), joined.ours.len()), ("a b", 0));
        assert_eq!((joined.status, joined.rewound, joined.further), (Some(Status::Idle), false, false));
    }

    #[test]
    fn what_follows_our_place_is_ours() {
        let events = [event("d"), event("c"), told("b", "running"), event("a")];
        let joined = tail(&events, None).divide(Some("b"), &[], &Status::Finished);
        assert_eq!((ids(&joined.past).as_str(), ids(&joined.ours).as_str()), ("a b", "c d"));
        assert_eq!(joined.status, Some(Status::Running));
    }

    #[test]
    fn the_status_of_now_says_nothing_of_a_place_before() {
        let joined = tail(&[event("b"), event("a")], None).divide(Some("a"), &[], &Status::Finished);
        assert_eq!(joined.status, None);
        let joined = tail(&[event("b"), event("a")], None).divide(Some("b"), &[], &Status::Finished);
        assert_eq!(joined.status, Some(Status::Finished));
    }

    #[test]
    fn a_place_that_is_not_there_is_further_back_or_nowhere() {
        let joined = tail(&[event("b")], Some("older")).divide(Some("x"), &[], &Status::Idle);
        assert!(joined.further && !joined.rewound && joined.past.is_empty());
        let joined = tail(&[event("b")], None).divide(Some("x"), &[], &Status::Idle);
        assert!(joined.rewound && !joined.further);
        assert_eq!(ids(&joined.past), "b");
    }

    #[test]
    fn more_is_read_only_while_something_waits_whose_turn_has_not_been_reached() {
        let waiting = Status::WaitingForConfirmation;
        let mut tail = Tail::new();
        assert_eq!(add(&mut tail, &[event("c")], Some("b"), &waiting).as_deref(), Some("b"));
        assert_eq!(add(&mut tail, &[told("b", "running")], Some("a"), &waiting), None);
        let mut tail = Tail::new();
        assert_eq!(add(&mut tail, &[told("c", "finished")], Some("b"), &waiting), None, "it waits no longer");
        let mut tail = Tail::new();
        let pages = (0..9).take_while(|_| add(&mut tail, &[event("x")], Some("n"), &waiting).is_some()).count();
        assert_eq!(pages, 4);
    }
}
