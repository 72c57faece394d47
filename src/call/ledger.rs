//! The record of who did what, shared by all pages that see the same server.
//!
//! Inserting an entry is the claim: who finds one there has lost. An entry outlives its page, so that what was begun is
//! never begun again; whoever reads it learns whether its owner still lives.

use std::mem;
use std::rc::Rc;

use serde_json::value::RawValue;

use crate::json::Object;
use crate::list::List;
use crate::net::Millis;
use crate::sorted::Sorted;

use super::CallId;

/// The name of an entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Server and conversation.
    pub conversation: Rc<str>,
    /// What it is about within the conversation: a kind and an id.
    pub subject: Rc<str>,
}

const CALL: &str = "call ";
const APPROVAL: &str = "approval ";
const ANSWER: &str = "answer ";

impl Key {
    /// Of a run of a call.
    pub fn call(conversation: &Rc<str>, call: &CallId) -> Self {
        Self { conversation: Rc::clone(conversation), subject: [CALL, call.as_str()].concat().into() }
    }

    /// Of an attempt at answering a request for approval, the first of which is 0.
    pub fn approval(conversation: &Rc<str>, approval: &str, attempt: u32) -> Self {
        let subject = match attempt {
            0 => [APPROVAL, approval].concat(),
            again => [APPROVAL, "again ", &again.to_string(), " ", approval].concat(),
        };
        Self { conversation: Rc::clone(conversation), subject: subject.into() }
    }

    /// Of telling the agent the outcome of a call.
    pub fn answer(conversation: &Rc<str>, call: &CallId) -> Self {
        Self { conversation: Rc::clone(conversation), subject: [ANSWER, call.as_str()].concat().into() }
    }

    /// The call, if the entry is about its run.
    pub fn as_call(&self) -> Option<CallId> {
        self.subject.strip_prefix(CALL).map(CallId::new)
    }

    /// The call, if the entry is about telling its outcome.
    pub fn as_answer(&self) -> Option<CallId> {
        self.subject.strip_prefix(ANSWER).map(CallId::new)
    }
}

/// What the ledger says about an entry.
#[derive(Debug, Clone)]
pub enum Claim {
    /// It was free and is ours from now on.
    Won,
    /// Another page has it, and lives.
    Held,
    /// The page that had it is gone, and left no outcome.
    Abandoned,
    /// It has this outcome.
    Settled(Box<RawValue>),
}

impl Claim {
    /// The same about a call. What is stored as its outcome and is none tells nothing but that it is over.
    #[must_use]
    pub fn of_call(self) -> Self {
        match self {
            Self::Settled(outcome)
                if Object::read(outcome.get()).is_none_or(|outcome| outcome.string("kind").is_none()) =>
            {
                Self::Abandoned
            }
            claim => claim,
        }
    }
}

/// One thing to do with the ledger.
#[derive(Debug, Clone)]
pub enum LedgerEffect {
    /// Tell what is known of a conversation; answer with [`LedgerInput::Recalled`].
    Recall {
        /// Server and conversation.
        conversation: Rc<str>,
    },
    /// Insert an entry; answer with [`LedgerInput::Claimed`].
    Claim {
        /// Its name.
        key: Key,
        /// The tool's name, for who recalls it.
        tool: String,
        /// How long its owner may take at most. Where nothing else tells, an owner is taken for gone after that.
        lease: Millis,
    },
    /// Wait for the outcome of an entry that another page has, or for the end of that page; answer with
    /// [`LedgerInput::Watched`].
    Watch {
        /// Its name.
        key: Key,
    },
    /// Write an outcome, unless there is one. Other pages are told.
    Record {
        /// The entry; it is inserted when it is not there.
        key: Key,
        /// JSON text.
        outcome: String,
        /// Whether the agent is still to be told: until [`LedgerEffect::Discharge`] the entry is recalled.
        owed: bool,
    },
    /// The agent has been told the outcome of an entry.
    Discharge {
        /// Its name.
        key: Key,
    },
    /// Remember how far a conversation has been dealt with; unless any place may be written over, answer with
    /// [`LedgerInput::Placed`].
    Remember {
        /// Server and conversation.
        conversation: Rc<str>,
        /// The protocol's word for the place in its log.
        position: String,
        /// What may be written over. A place that stays is taken for written now: somebody is here.
        over: Over,
    },
}

/// Which place of another page may be written over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Over {
    /// Any: what lies before the new one has been dealt with.
    Any,
    /// None, or this one, which nobody goes on from any more.
    Only(Option<String>),
}

/// One thing that the ledger says.
#[derive(Debug, Clone)]
pub enum LedgerInput {
    /// What is known of the conversation.
    Recalled(Memory),
    /// The answer to a claim.
    Claimed {
        /// Of which entry.
        key: Key,
        /// The answer.
        claim: Claim,
    },
    /// An entry has its outcome, or lost its owner.
    Watched {
        /// Which.
        key: Key,
        /// `Settled` or `Abandoned`.
        claim: Claim,
    },
    /// A place was written, or the one that another page wrote stays.
    Placed {
        /// The one that stays.
        theirs: Option<String>,
    },
    /// There is no lasting ledger (any more): what is known is kept in memory.
    Unavailable {
        /// Why, in a sentence.
        reason: String,
    },
}

/// What a ledger knows of a conversation.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// How far it was dealt with, and when that was written.
    pub place: Option<Place>,
    /// Entries without an outcome, `Held` or `Abandoned`, and those whose outcome is owed to the agent, `Settled`.
    pub open: Vec<Remembered>,
}

/// How far a conversation was dealt with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The protocol's word for it.
    pub position: String,
    /// When it was written.
    pub at: Millis,
}

/// An entry that is not done with.
#[derive(Debug, Clone)]
pub struct Remembered {
    /// Its name.
    pub key: Key,
    /// The tool's name.
    pub tool: String,
    /// What is known of it.
    pub claim: Claim,
}

/// Names one owner of entries: one open conversation of one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner(pub Rc<str>);

/// Entries kept that are done with.
const KEPT: usize = 20_000;

/// A ledger in memory: the whole truth where there is no storage.
#[derive(Debug, Default)]
pub struct Ledger {
    entries: Sorted<Key, Entry>,
    places: List<Rc<str>, (Owner, Place)>,
    /// The entries that are done with, in that order.
    ended: Vec<Key>,
}

#[derive(Debug)]
struct Entry {
    owner: Owner,
    tool: String,
    outcome: Option<Box<RawValue>>,
    owed: bool,
}

impl Ledger {
    /// Inserts an entry for an owner, or says who has it.
    pub fn claim(&mut self, key: &Key, tool: &str, owner: &Owner, lives: impl Fn(&Owner) -> bool) -> Claim {
        if let Some(entry) = self.entries.get(key) {
            return entry.claim(lives);
        }
        let entry = Entry { owner: owner.clone(), tool: tool.to_owned(), outcome: None, owed: false };
        self.entries.add(key.clone(), entry);
        Claim::Won
    }

    /// What there is to say about an entry.
    pub fn look(&self, key: &Key, lives: impl Fn(&Owner) -> bool) -> Option<Claim> {
        self.entries.get(key).map(|entry| entry.claim(lives))
    }

    /// Writes an outcome, unless there is one. Whether it was written.
    pub fn record(&mut self, key: &Key, outcome: Box<RawValue>, owed: bool, owner: &Owner) -> bool {
        match self.entries.get_mut(key) {
            Some(entry) if entry.outcome.is_some() => return false,
            Some(entry) => (entry.outcome, entry.owed) = (Some(outcome), owed),
            None => {
                let entry = Entry { owner: owner.clone(), tool: String::new(), outcome: Some(outcome), owed };
                self.entries.add(key.clone(), entry);
            }
        }
        if !owed {
            self.end(key);
        }
        true
    }

    /// The agent has been told.
    pub fn discharge(&mut self, key: &Key) {
        if let Some(entry) = self.entries.get_mut(key)
            && mem::take(&mut entry.owed)
        {
            self.end(key);
        }
    }

    /// An entry is done with, and one that has been for long is forgotten.
    fn end(&mut self, key: &Key) {
        self.ended.push(key.clone());
        if self.ended.len() > KEPT {
            let oldest = self.ended.remove(0);
            self.entries.take(&oldest);
        }
    }

    /// Takes an entry out that turned out to be somebody else's.
    pub fn withdraw(&mut self, key: &Key) {
        self.entries.take(key);
    }

    /// Remembers how far a conversation has been dealt with. The place of another page that stays, if one does.
    pub fn remember(&mut self, conversation: &Rc<str>, place: Place, owner: &Owner, over: &Over) -> Option<String> {
        match self.places.get_mut(conversation) {
            Some((other, there)) if !over.allows(owner.0 == other.0, &there.position) => {
                there.at = place.at;
                return Some(there.position.clone());
            }
            Some(written) => *written = (owner.clone(), place),
            None => self.places.add(Rc::clone(conversation), (owner.clone(), place)),
        }
        None
    }

    /// What is known of a conversation.
    pub fn recall(&self, conversation: &Rc<str>, lives: impl Fn(&Owner) -> bool) -> Memory {
        let open = self
            .entries
            .iter()
            .filter(|(key, entry)| key.conversation == *conversation && (entry.outcome.is_none() || entry.owed));
        let open = open.map(|(key, entry)| Remembered {
            key: key.clone(),
            tool: entry.tool.clone(),
            claim: entry.claim(&lives),
        });
        let place = self.places.get(conversation).map(|(_, place)| place.clone());
        Memory { place, open: open.collect() }
    }
}

impl Over {
    /// Whether a place may be written over that is there, of the same page or of another.
    pub fn allows(&self, own: bool, position: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Only(old) => own || old.as_deref() == Some(position),
        }
    }
}

impl Entry {
    fn claim(&self, lives: impl Fn(&Owner) -> bool) -> Claim {
        match &self.outcome {
            Some(outcome) => Claim::Settled(outcome.clone()),
            None if lives(&self.owner) => Claim::Held,
            None => Claim::Abandoned,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(call: &str) -> Key {
        Key::call(&"server conversation".into(), &CallId::new(call))
    }

    fn owner(name: &str) -> Owner {
        Owner(name.into())
    }

    fn outcome(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.into()).unwrap()
    }

    #[test]
    fn what_is_stored_as_an_outcome_and_is_none_tells_nothing() {
        for text in ["5", "null", "[]", "{}", r#"{"kind":1}"#] {
            assert!(matches!(Claim::Settled(outcome(text)).of_call(), Claim::Abandoned), "{text}");
        }
        let of_a_later_version = Claim::Settled(outcome(r#"{"kind":"postponed"}"#));
        assert!(matches!(of_a_later_version.of_call(), Claim::Settled(_)));
        assert!(matches!(Claim::Held.of_call(), Claim::Held));
    }

    #[test]
    fn an_entry_is_claimed_once() {
        let mut ledger = Ledger::default();
        assert!(matches!(ledger.claim(&key("a"), "t", &owner("1"), |_| true), Claim::Won));
        assert!(matches!(ledger.claim(&key("a"), "t", &owner("2"), |_| true), Claim::Held));
        assert!(matches!(ledger.claim(&key("a"), "t", &owner("1"), |_| true), Claim::Held));
        assert!(matches!(ledger.claim(&key("b"), "t", &owner("2"), |_| true), Claim::Won));
    }

    #[test]
    fn an_entry_outlives_its_owner() {
        let mut ledger = Ledger::default();
        ledger.claim(&key("a"), "t", &owner("1"), |_| true);
        assert!(matches!(ledger.claim(&key("a"), "t", &owner("2"), |_| false), Claim::Abandoned));
    }

    #[test]
    fn the_first_outcome_stays() {
        let mut ledger = Ledger::default();
        ledger.claim(&key("a"), "t", &owner("1"), |_| true);
        assert!(ledger.record(&key("a"), outcome("1"), false, &owner("1")));
        assert!(!ledger.record(&key("a"), outcome("2"), false, &owner("2")));
        let Some(Claim::Settled(first)) = ledger.look(&key("a"), |_| false) else { panic!("no outcome") };
        assert_eq!(first.get(), "1");
    }

    #[test]
    fn an_entry_that_is_withdrawn_is_free() {
        let mut ledger = Ledger::default();
        ledger.claim(&key("a"), "t", &owner("1"), |_| true);
        ledger.withdraw(&key("a"));
        assert!(ledger.look(&key("a"), |_| true).is_none());
        assert!(matches!(ledger.claim(&key("a"), "t", &owner("2"), |_| true), Claim::Won));
    }

    #[test]
    fn what_is_done_with_for_long_is_forgotten_and_what_is_not_stays() {
        let mut ledger = Ledger::default();
        ledger.claim(&key("open"), "t", &owner("1"), |_| true);
        ledger.record(&key("owed"), outcome("1"), true, &owner("1"));
        for n in 0..30_000 {
            ledger.record(&key(&n.to_string()), outcome("1"), false, &owner("1"));
        }
        ledger.discharge(&key("owed"));
        ledger.discharge(&key("owed"));
        assert_eq!((ledger.entries.iter().count(), ledger.ended.len()), (KEPT + 1, KEPT));
        let known = |name: &str| ledger.look(&key(name), |_| true).is_some();
        assert!(known("open") && known("owed") && known("29999") && known("10001") && !known("10000"));
    }

    #[test]
    fn what_is_open_is_recalled_by_conversation() {
        let mut ledger = Ledger::default();
        let other = Key::call(&"server other".into(), &CallId::new("x"));
        ledger.claim(&key("a"), "t", &owner("1"), |_| true);
        ledger.claim(&key("b"), "t", &owner("1"), |_| true);
        ledger.claim(&other, "t", &owner("1"), |_| true);
        ledger.record(&key("b"), outcome("null"), false, &owner("1"));
        let place = Place { position: "7".into(), at: Millis(1) };
        ledger.remember(&key("a").conversation, place.clone(), &owner("1"), &Over::Any);
        let memory = ledger.recall(&key("a").conversation, |_| true);
        assert_eq!(memory.open.iter().map(|open| open.key.clone()).collect::<Vec<_>>(), [key("a")]);
        assert_eq!(memory.place, Some(place));
    }

    #[test]
    fn the_place_of_another_page_stays_unless_it_may_be_written_over() {
        let mut ledger = Ledger::default();
        let mut write = |position: &str, at, name, over| {
            let place = Place { position: position.into(), at: Millis(at) };
            ledger.remember(&key("a").conversation, place, &owner(name), &over)
        };
        assert_eq!(write("3", 1, "1", Over::Only(None)), None);
        assert_eq!(write("4", 2, "1", Over::Only(None)), None, "its own");
        assert_eq!(write("9", 3, "2", Over::Only(None)), Some("4".into()));
        assert_eq!(write("9", 4, "2", Over::Only(Some("3".into()))), Some("4".into()));
        assert_eq!(write("9", 5, "2", Over::Only(Some("4".into()))), None);
        assert_eq!(write("7", 6, "1", Over::Any), None);
        assert_eq!(write("9", 7, "2", Over::Only(None)), Some("7".into()));
        let place = ledger.recall(&key("a").conversation, |_| true).place;
        assert_eq!(place, Some(Place { position: "7".into(), at: Millis(7) }), "and somebody is here");
    }

    #[test]
    fn an_outcome_that_is_owed_is_recalled_until_it_is_discharged() {
        let mut ledger = Ledger::default();
        ledger.record(&key("a"), outcome("1"), true, &owner("1"));
        let recalled = |ledger: &Ledger| ledger.recall(&key("a").conversation, |_| false).open;
        assert!(matches!(recalled(&ledger)[0].claim, Claim::Settled(_)));
        ledger.discharge(&key("a"));
        assert!(recalled(&ledger).is_empty());
    }
}
