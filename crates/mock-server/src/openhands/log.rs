//! The event log of a conversation and those who listen to it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use uuid::Uuid;

use crate::clock::Clock;
use crate::faults::{Fault, Faults, FrameFacts, Sender};
use crate::json::Json;

use super::event::{Event, assemble};

/// The real server has room for 50 subscribers, one of which is its own.
const SUBSCRIBERS: usize = 49;
/// The parent of the first event after a navigation to before all events.
const ROOT: &str = "__root__";

/// What a socket is told.
#[derive(Debug, Clone)]
pub(crate) enum Frame {
    /// An event that is in the log, with its sequence number.
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

#[derive(Debug, Clone)]
struct Entry {
    seq: u64,
    event: Arc<Event>,
    /// When REST may know the event.
    known_from: Instant,
    /// What this event hangs on, and what the next one did after it.
    before: Option<String>,
    after: Option<String>,
}

/// The event that another one hangs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head(Option<String>);

/// Events in order, and the sockets that get them.
#[derive(Debug)]
pub(super) struct Log {
    conversation: Uuid,
    clock: Clock,
    faults: Arc<Faults>,
    entries: Vec<Entry>,
    next_seq: u64,
    leaf: Option<String>,
    /// Whether events of other branches may be in the log.
    branched: bool,
    listeners: Vec<UnboundedSender<Frame>>,
}

impl Log {
    pub(super) fn new(conversation: Uuid, clock: Clock, faults: Arc<Faults>) -> Self {
        Self {
            conversation,
            clock,
            faults,
            entries: Vec::new(),
            next_seq: 0,
            leaf: None,
            branched: false,
            listeners: Vec::new(),
        }
    }

    /// The id of the event that the next one hangs on.
    pub(super) fn leaf(&self) -> Option<&str> {
        self.leaf.as_deref().filter(|leaf| *leaf != ROOT)
    }

    /// What the next event hangs on, for one that is put together before others come in between.
    pub(super) fn head(&self) -> Head {
        Head(self.leaf.clone())
    }

    /// Whether a navigation went to before all events.
    pub(super) fn head_is_empty(&self) -> bool {
        self.leaf.as_deref() == Some(ROOT)
    }

    /// How many events there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The highest sequence number.
    pub(super) fn last_seq(&self) -> Option<u64> {
        self.entries.last().map(|entry| entry.seq)
    }

    /// All events with their sequence numbers, also those that REST does not know yet.
    pub(super) fn numbered(&self) -> Vec<(u64, Arc<Event>)> {
        self.entries.iter().map(|entry| (entry.seq, Arc::clone(&entry.event))).collect()
    }

    /// The events that REST knows.
    pub(super) fn known(&self) -> Vec<Arc<Event>> {
        let now = Instant::now();
        let known = self.entries.iter().filter(|entry| entry.known_from <= now);
        known.map(|entry| Arc::clone(&entry.event)).collect()
    }

    /// The events that the agent goes on from: all of them, unless a navigation left some aside.
    pub(super) fn branch(&self) -> Vec<&Arc<Event>> {
        let path = self.branched.then(|| self.path(self.leaf.as_deref()));
        let on_path = |entry: &&Entry| path.as_ref().is_none_or(|path| path.contains(entry.event.id.as_str()));
        self.entries.iter().filter(on_path).map(|entry| &entry.event).collect()
    }

    /// The ids from the first event to `tip`, each hanging on the one before it.
    fn path(&self, tip: Option<&str>) -> HashSet<String> {
        let mut path = HashSet::new();
        let mut wanted = tip.map(str::to_owned);
        for entry in self.entries.iter().rev() {
            if wanted.as_ref() == Some(&entry.event.id) && entry.after == wanted {
                path.extend(wanted.take());
                wanted.clone_from(&entry.before);
            }
        }
        path
    }

    pub(super) fn contains(&self, event: &str) -> bool {
        self.entries.iter().any(|entry| entry.event.id == event)
    }

    /// Goes back to an event, or to before all events.
    pub(super) fn navigate(&mut self, event: Option<&str>) {
        self.leaf = Some(event.unwrap_or(ROOT).to_owned());
        self.branched = true;
    }

    /// Another conversation's log with the same events: all, or the path to one of them.
    pub(super) fn fork(&self, conversation: Uuid, from: Option<&str>) -> Self {
        let mut fork = Self::new(conversation, self.clock, Arc::clone(&self.faults));
        let path = from.map(|from| self.path(Some(from)));
        let taken = |entry: &&Entry| path.as_ref().is_none_or(|path| path.contains(&entry.event.id));
        fork.entries = self.entries.iter().filter(taken).cloned().collect();
        for (seq, entry) in fork.entries.iter_mut().enumerate() {
            entry.seq = seq as u64;
        }
        fork.next_seq = fork.entries.len() as u64;
        fork.leaf = from.map_or_else(|| self.leaf.clone(), |from| Some(from.to_owned()));
        fork.branched = self.branched && from.is_none();
        fork
    }

    /// Forgets all but the first events, as a log that was restored from a backup.
    pub(super) fn rewind(&mut self, events: usize) {
        self.entries.truncate(events);
        self.next_seq = self.last_seq().map_or(0, |last| last + 1);
        self.leaf = self.entries.last().and_then(|entry| entry.after.clone());
    }

    /// Persists and publishes an event that becomes the new leaf.
    pub(super) fn append(&mut self, source: &str, kind: &str, fields: Json) -> Arc<Event> {
        self.append_as(&Uuid::new_v4().to_string(), source, kind, fields)
    }

    /// The same with a given id.
    pub(super) fn append_as(&mut self, id: &str, source: &str, kind: &str, fields: Json) -> Arc<Event> {
        let event = assemble(id, &self.clock.naive_now(), source, self.leaf.as_deref(), fields, kind);
        self.put(event, true, self.head())
    }

    /// Persists and publishes an `ActionEvent`, whose action may look otherwise in `GET events/{id}`.
    pub(super) fn append_action(&mut self, id: &str, head: Head, fields: Json, single: Option<Json>) -> Arc<Event> {
        let parent = head.0.as_deref();
        let mut event = assemble(id, &self.clock.naive_now(), "agent", parent, fields, "ActionEvent");
        event.full.set("action", single);
        self.put(event, true, head)
    }

    /// Persists and publishes an `ObservationEvent`.
    pub(super) fn append_observation(&mut self, head: Head, fields: Json) {
        let id = Uuid::new_v4().to_string();
        let parent = head.0.as_deref();
        let event = assemble(&id, &self.clock.naive_now(), "environment", parent, fields, "ObservationEvent");
        self.put(event, true, head);
    }

    /// Persists and publishes a change of one field of the state: it hangs on the leaf, but is none.
    pub(super) fn append_state(&mut self, key: &str, value: Json) {
        let id = Uuid::new_v4().to_string();
        let fields = crate::object! { "key" => key, "value" => value };
        let kind = "ConversationStateUpdateEvent";
        let event = assemble(&id, &self.clock.naive_now(), "environment", self.leaf.as_deref(), fields, kind);
        self.put(event, false, self.head());
    }

    /// Persists and publishes what a hook did. It has no parent, but the next event may hang on it.
    pub(super) fn append_hook(&mut self, fields: Json) {
        let id = Uuid::new_v4().to_string();
        let event = assemble(&id, &self.clock.naive_now(), "hook", None, fields, "HookExecutionEvent");
        self.put(event, true, self.head());
    }

    /// Persists and publishes an event as it is.
    pub(super) fn persist(&mut self, event: Event) {
        self.put(event, false, self.head());
    }

    fn put(&mut self, event: Event, becomes_leaf: bool, head: Head) -> Arc<Event> {
        let facts = FrameFacts {
            kinds: &[&event.kind],
            tool: event.tool(),
            call: None,
            from: Sender::Server,
            replayed: false,
            frames: 0,
        };
        let id = Some(self.conversation);
        let lag = self.faults.fire(id, |fault| match fault {
            Fault::PublishBeforePersist { matching, ms } if matching.hits(facts) => Some(Duration::from_millis(*ms)),
            _ => None,
        });
        let gap = |fault: &Fault| matches!(fault, Fault::SeqGap { matching } if matching.hits(facts)).then_some(());
        if self.faults.fire(id, gap).is_some() {
            self.next_seq += 1;
        }
        if becomes_leaf {
            self.leaf = Some(event.id.clone());
        }
        let (seq, event) = (self.next_seq, Arc::new(event));
        self.next_seq += 1;
        self.entries.push(Entry {
            seq,
            event: Arc::clone(&event),
            known_from: Instant::now() + lag.unwrap_or_default(),
            before: head.0,
            after: self.leaf.clone(),
        });
        self.publish(&Frame::Durable(seq, Arc::clone(&event)));
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

    /// Lets all listeners go.
    pub(super) fn forget_listeners(&mut self) {
        self.listeners.clear();
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
