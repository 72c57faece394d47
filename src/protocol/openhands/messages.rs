//! Messages of ours whose fate is not known: no answer has come yet, or none will.
//!
//! The server gives a message no name that we could know, and a message is never sent twice by itself. So one without an
//! answer is looked for in the log by its text. Of equal messages each needs an event of its own.

use serde_json::value::RawValue;

use crate::error::Error;
use crate::json::{Json, Object};
use crate::net::{Backoff, Millis};
use crate::protocol::{CommandId, Page};

use super::event::{Event, Kind, joined};

/// Pages of the log that a message is looked for in.
const PAGES: u32 = 5;
const PAGE: u32 = 100;
/// Attempts at reading a page, after the first.
const RETRIES: u32 = 5;
/// Events kept that were found to be messages of ours.
const TAKEN: usize = 64;

#[derive(Default)]
pub(super) struct Messages {
    /// In the order they were sent.
    all: Vec<Message>,
    /// Events that are messages of ours.
    taken: Vec<String>,
}

struct Message {
    command: CommandId,
    text: String,
    /// The last event that was known when it was sent.
    since: Option<String>,
    state: State,
    /// Whether its event is known.
    seen: bool,
}

enum State {
    /// The answer has not come.
    Sent,
    /// It is in the log, though its event may not have come.
    There,
    /// No answer will come, for this reason.
    Doubtful { error: Error, look: Look },
}

/// Looking for a message in the log.
struct Look {
    under_way: bool,
    page: Option<String>,
    pages: u32,
    /// Events that may be it.
    found: Vec<String>,
    backoff: Backoff,
}

/// What follows a page of the log.
pub(super) enum Found {
    /// Read this page, after this delay.
    Ask(Page, Option<Millis>),
    /// This became of the message.
    Settled(Result<(), Error>),
    /// Nobody asks any more.
    Nothing,
}

impl Messages {
    /// A message goes out.
    pub(super) fn sent(&mut self, command: CommandId, content: &RawValue, since: Option<&str>) {
        let text = joined(Json::from(content).items());
        let since = since.map(str::to_owned);
        self.all.push(Message { command, text, since, state: State::Sent, seen: false });
    }

    /// The server has it.
    pub(super) fn there(&mut self, command: CommandId) {
        if let Some(message) = self.get(command) {
            message.state = State::There;
        }
        self.tidy();
    }

    /// The server did not take it.
    pub(super) fn refused(&mut self, command: CommandId) {
        self.all.retain(|message| message.command != command);
        self.tidy();
    }

    /// No answer will come. Whether the message is known to be there.
    pub(super) fn doubt(&mut self, command: CommandId, error: Error, seed: u64) -> bool {
        let Some(message) = self.get(command) else { return false };
        let known = message.seen;
        let look = Look { under_way: false, page: None, pages: 0, found: Vec::new(), backoff: Backoff::new(seed) };
        message.state = if known { State::There } else { State::Doubtful { error, look } };
        self.tidy();
        known
    }

    /// The next message to look for, and the page to begin with. An equal one that was sent before comes first: until its
    /// answer is there, an event may be either.
    pub(super) fn next_look(&mut self) -> Option<(CommandId, Page)> {
        let ready = |place: usize, message: &Message| {
            matches!(&message.state, State::Doubtful { look, .. } if !look.under_way)
                && !self.all.iter().take(place).any(|other| other.text == message.text && !other.is_there())
        };
        let place = self.all.iter().enumerate().position(|(place, message)| ready(place, message))?;
        let message = self.all.get_mut(place)?;
        let State::Doubtful { look, .. } = &mut message.state else { return None };
        look.under_way = true;
        Some((message.command, look.next_page()))
    }

    /// A user's message came with the log. A message of ours that is thereby known to be there, if it was in doubt.
    pub(super) fn heard(&mut self, id: &str, text: &str) -> Option<CommandId> {
        if self.taken.iter().any(|taken| taken == id) {
            return None;
        }
        let message = self.all.iter_mut().find(|message| !message.seen && message.text == text)?;
        message.seen = true;
        let in_doubt = matches!(message.state, State::Doubtful { .. }).then_some(message.command);
        if in_doubt.is_some() {
            message.state = State::There;
        }
        self.take(id.to_owned());
        self.tidy();
        in_doubt
    }

    /// A page of the log came, or could not be read.
    pub(super) fn looked(&mut self, command: CommandId, page: Result<String, Error>) -> Found {
        let taken = &self.taken;
        let Some(message) = self.all.iter_mut().find(|message| message.command == command) else {
            return Found::Nothing;
        };
        let Message { text, since, state: State::Doubtful { error, look }, .. } = message else {
            return Found::Nothing;
        };
        let found = page.ok().and_then(|body| look.read(&body, text, since.as_deref(), taken));
        let done = match found {
            None if look.backoff.attempts() >= RETRIES => Err(Error::Unconfirmed),
            None => {
                let delay = look.backoff.next_delay();
                return Found::Ask(look.next_page(), Some(delay));
            }
            Some(false) => return Found::Ask(look.next_page(), None),
            Some(true) => Ok((text.clone(), error.clone(), std::mem::take(&mut look.found))),
        };
        let settled = done.and_then(|(text, error, mut events)| {
            let others = |message: &&Message| message.text == text && !message.seen && message.is_there();
            // Those that are surely there have an event each, too.
            if events.len() <= self.all.iter().filter(others).count() {
                return Err(error);
            }
            if let Some(event) = events.pop() {
                self.take(event);
            }
            Ok(())
        });
        self.refused(command);
        Found::Settled(settled)
    }

    fn get(&mut self, command: CommandId) -> Option<&mut Message> {
        self.all.iter_mut().find(|message| message.command == command)
    }

    fn take(&mut self, id: String) {
        self.taken.push(id);
        if self.taken.len() > TAKEN {
            self.taken.remove(0);
        }
    }

    /// A message that is there is kept only while its event could be taken for another one's.
    fn tidy(&mut self) {
        let open: Vec<_> =
            self.all.iter().filter(|message| !message.is_there()).map(|message| message.text.clone()).collect();
        self.all.retain(|message| !message.is_there() || (!message.seen && open.contains(&message.text)));
    }
}

impl Message {
    fn is_there(&self) -> bool {
        matches!(self.state, State::There)
    }
}

impl Look {
    fn next_page(&self) -> Page {
        Page { limit: PAGE, newest_first: true, page: self.page.clone() }
    }

    /// Reads a page, the newest event first. Whether it was the last one of interest; `None` when it is no page.
    fn read(&mut self, body: &str, text: &str, since: Option<&str>, taken: &[String]) -> Option<bool> {
        let page = Object::read(body)?;
        let items = page.list("items")?;
        self.page = page.string("next_page_id");
        self.pages += 1;
        for item in items {
            let Some(Event { id: Some(id), kind }) = Event::read(item.get()) else { continue };
            if since == Some(id.as_str()) {
                return Some(true);
            }
            if matches!(&kind, Kind::Message { source, text: said, .. } if source == "user" && said == text)
                && !taken.contains(&id)
            {
                self.found.push(id);
            }
        }
        Some(self.page.is_none() || self.pages >= PAGES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: CommandId = CommandId(1);
    const B: CommandId = CommandId(2);

    fn messages(sent: &[CommandId]) -> Messages {
        let mut messages = Messages::default();
        let content = RawValue::from_string(r#"[{"type":"text","text":"hi"}]"#.into()).unwrap();
        for command in sent {
            messages.sent(*command, &content, Some("known"));
        }
        messages
    }

    fn said(id: &str, text: &str) -> String {
        format!(
            r#"{{"id":"{id}","source":"user","llm_message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}},"kind":"MessageEvent"}}"#
        )
    }

    fn page(events: &[String], next: Option<&str>) -> String {
        let next = next.map_or("null".into(), |next| format!("{next:?}"));
        format!(r#"{{"items":[{}],"next_page_id":{next}}}"#, events.join(","))
    }

    fn settled(found: Found) -> Result<(), &'static str> {
        match found {
            Found::Settled(result) => result.map_err(|error| error.code()),
            Found::Ask(page, _) => panic!("asks for {page:?}"),
            Found::Nothing => panic!("nothing"),
        }
    }

    fn doubt(messages: &mut Messages, command: CommandId) {
        assert!(!messages.doubt(command, Error::Unreachable, 7));
    }

    #[test]
    fn a_message_in_the_log_arrived_and_one_that_is_not_did_not() {
        for (text, result) in [("hi", Ok(())), ("hello", Err("unreachable"))] {
            let mut messages = messages(&[A]);
            assert!(messages.next_look().is_none());
            doubt(&mut messages, A);
            assert_eq!(messages.next_look().unwrap().0, A);
            assert!(messages.next_look().is_none(), "one look at a time");
            assert_eq!(
                settled(messages.looked(A, Ok(page(&[said("e", text), said("known", "hi")], Some("older"))))),
                result
            );
            assert!(messages.all.is_empty());
        }
    }

    #[test]
    fn an_equal_message_from_before_is_not_it() {
        let mut messages = messages(&[A]);
        doubt(&mut messages, A);
        messages.next_look();
        let log = [said("new", "other"), said("known", "x"), said("before", "hi")];
        assert_eq!(settled(messages.looked(A, Ok(page(&log, None)))), Err("unreachable"));
    }

    #[test]
    fn five_pages_are_read_at_most() {
        let mut messages = messages(&[A]);
        doubt(&mut messages, A);
        messages.next_look();
        for _ in 0..4 {
            let Found::Ask(next, None) = messages.looked(A, Ok(page(&[], Some("n")))) else {
                panic!("no further page")
            };
            assert_eq!(next.page.as_deref(), Some("n"));
        }
        assert_eq!(settled(messages.looked(A, Ok(page(&[], Some("n"))))), Err("unreachable"));
    }

    #[test]
    fn a_log_that_cannot_be_read_is_tried_five_times_more() {
        let mut messages = messages(&[A]);
        doubt(&mut messages, A);
        messages.next_look();
        for _ in 0..5 {
            assert!(matches!(messages.looked(A, Err(Error::Unreachable)), Found::Ask(_, Some(_))));
        }
        assert_eq!(settled(messages.looked(A, Err(Error::Unreachable))), Err("unconfirmed"));
    }

    #[test]
    fn of_two_equal_messages_each_needs_its_own_event() {
        let mut messages = messages(&[A, B]);
        doubt(&mut messages, A);
        doubt(&mut messages, B);
        assert_eq!(messages.next_look().unwrap().0, A);
        assert!(messages.next_look().is_none(), "the first one first");
        assert_eq!(settled(messages.looked(A, Ok(page(&[said("e", "hi")], None)))), Ok(()));
        assert_eq!(messages.next_look().unwrap().0, B);
        assert_eq!(settled(messages.looked(B, Ok(page(&[said("e", "hi")], None)))), Err("unreachable"));
    }

    #[test]
    fn an_event_of_an_answered_message_is_not_taken_for_an_equal_one() {
        let mut messages = messages(&[A, B]);
        messages.there(A);
        doubt(&mut messages, B);
        assert_eq!(messages.heard("e", "hi"), None);
        messages.next_look();
        assert_eq!(settled(messages.looked(B, Ok(page(&[said("e", "hi")], None)))), Err("unreachable"));
        let mut messages = self::messages(&[A, B]);
        messages.there(A);
        doubt(&mut messages, B);
        messages.next_look();
        assert_eq!(settled(messages.looked(B, Ok(page(&[said("e", "hi")], None)))), Err("unreachable"));
    }

    #[test]
    fn an_event_that_the_socket_brings_counts_too() {
        let mut messages = messages(&[A, B]);
        assert_eq!(messages.heard("a", "hi"), None, "its answer may still come");
        assert!(messages.doubt(A, Error::RequestTimeout, 7), "and if none comes it is there");
        doubt(&mut messages, B);
        assert_eq!(messages.heard("a", "hi"), None);
        assert_eq!(messages.heard("b", "hi"), Some(B));
        assert!(messages.all.is_empty());
        assert!(matches!(messages.looked(B, Ok(page(&[], None))), Found::Nothing));
    }
}
