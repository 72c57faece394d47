//! The event log of a conversation and those who listen to it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use uuid::Uuid;

use crate::clock::Clock;
use crate::json::Json;

use super::event::{Event, assemble};

/// The real server has room for 50 subscribers, one of which is its own.
const SUBSCRIBERS: usize = 49;

/// What a socket is told.
#[derive(Debug, Clone)]
pub(crate) enum Frame {
    /// An event that is in the log, with its index.
    Durable(u64, Arc<Event>),
    /// An event that is not.
    Transient(Arc<Event>),
    /// An event for the legacy socket only.
    LegacyOnly(Arc<Event>),
    /// An envelope for the session socket only.
    SessionOnly(Json),
    /// Any text.
    Raw(String),
}

#[derive(Debug)]
struct Entry {
    event: Arc<Event>,
    /// When REST may know the event.
    known_from: Instant,
}

/// Events in order, and the sockets that get them.
#[derive(Debug)]
pub(super) struct Log {
    clock: Clock,
    entries: Vec<Entry>,
    leaf: Option<String>,
    listeners: Vec<UnboundedSender<Frame>>,
    /// How late REST knows an event of this kind.
    lag: Lag,
}

/// Asks the faults how long an event stays unknown to REST.
type AskLag = Box<dyn Fn(&Event) -> Option<Duration> + Send>;

/// The lag of a conversation's events.
pub(super) struct Lag(pub(super) AskLag);

impl std::fmt::Debug for Lag {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Lag")
    }
}

impl Log {
    pub(super) fn new(clock: Clock, lag: Lag) -> Self {
        Self { clock, entries: Vec::new(), leaf: None, listeners: Vec::new(), lag }
    }

    /// The id of the event that the next one hangs on.
    pub(super) fn leaf(&self) -> Option<&str> {
        self.leaf.as_deref()
    }

    /// The highest index.
    pub(super) fn last_index(&self) -> Option<u64> {
        (self.entries.len() as u64).checked_sub(1)
    }

    /// All events, also those that REST does not know yet.
    pub(super) fn events(&self) -> impl DoubleEndedIterator<Item = &Arc<Event>> {
        self.entries.iter().map(|entry| &entry.event)
    }

    /// The events that REST knows.
    pub(super) fn known(&self) -> Vec<Arc<Event>> {
        let now = Instant::now();
        let known = self.entries.iter().filter(|entry| entry.known_from <= now);
        known.map(|entry| Arc::clone(&entry.event)).collect()
    }

    /// Persists and publishes an event that becomes the new leaf.
    pub(super) fn append(&mut self, source: &str, kind: &str, fields: Json) -> Arc<Event> {
        self.append_as(&Uuid::new_v4().to_string(), source, kind, fields)
    }

    /// The same with a given id.
    pub(super) fn append_as(&mut self, id: &str, source: &str, kind: &str, fields: Json) -> Arc<Event> {
        let event = assemble(id, &self.clock.naive_now(), source, self.leaf.as_deref(), fields, kind);
        self.leaf = Some(event.id.clone());
        self.persist(event)
    }

    /// Persists and publishes an `ActionEvent`, whose action may look otherwise in `GET events/{id}`.
    pub(super) fn append_action(&mut self, id: &str, fields: Json, single: Option<Json>) -> Arc<Event> {
        let parent = self.leaf.as_deref();
        let mut event = assemble(id, &self.clock.naive_now(), "agent", parent, fields, "ActionEvent");
        event.full.set("action", single);
        self.leaf = Some(event.id.clone());
        self.persist(event)
    }

    /// Persists and publishes a change of one field of the state: it hangs on the leaf, but is none.
    pub(super) fn append_state(&mut self, key: &str, value: Json) {
        let id = Uuid::new_v4().to_string();
        let fields = crate::object! { "key" => key, "value" => value };
        let kind = "ConversationStateUpdateEvent";
        let event = assemble(&id, &self.clock.naive_now(), "environment", self.leaf.as_deref(), fields, kind);
        self.persist(event);
    }

    /// Persists and publishes an event as it is.
    pub(super) fn persist(&mut self, event: Event) -> Arc<Event> {
        let lag = (self.lag.0)(&event).unwrap_or_default();
        let event = Arc::new(event);
        self.entries.push(Entry { event: Arc::clone(&event), known_from: Instant::now() + lag });
        self.publish(&Frame::Durable(self.last_index().unwrap_or(0), Arc::clone(&event)));
        event
    }

    /// An event that is not to be persisted.
    pub(super) fn passing(&self, source: &str, kind: &str, fields: Json) -> Arc<Event> {
        let id = Uuid::new_v4().to_string();
        Arc::new(assemble(&id, &self.clock.naive_now(), source, None, fields, kind))
    }

    /// Tells every listener; those that are gone are forgotten.
    pub(super) fn publish(&mut self, frame: &Frame) {
        self.listeners.retain(|listener| listener.send(frame.clone()).is_ok());
    }

    /// A new listener; none if there are too many.
    pub(super) fn listen(&mut self) -> Option<UnboundedReceiver<Frame>> {
        self.listeners.retain(|listener| !listener.is_closed());
        if self.listeners.len() >= SUBSCRIBERS {
            return None;
        }
        let (sender, receiver) = unbounded_channel();
        self.listeners.push(sender);
        Some(receiver)
    }
}
