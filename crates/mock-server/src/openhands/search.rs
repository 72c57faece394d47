//! `GET events/search` and `events/count`: filters and pages.

use std::sync::Arc;

use jiff::civil::DateTime;

use crate::clock::Clock;
use crate::json::Json;
use crate::object;
use crate::query::Query;
use crate::shared::Shared;

use super::event::Event;
use super::reply::Failure;

const LIMIT: u64 = 100;

/// What is searched for.
#[derive(Debug)]
pub(super) struct Search {
    clock: Clock,
    from: Option<String>,
    limit: usize,
    descending: bool,
    kind: Option<String>,
    source: Option<String>,
    body: Option<String>,
    not_before: Option<DateTime>,
    before: Option<DateTime>,
}

fn complaint(kind: &str, field: &str, message: &str, input: &str, context: Json) -> Failure {
    let loc = vec![Json::from("query"), Json::from(field)];
    Failure::invalid(kind, loc, message, input.into(), Some(context))
}

impl Search {
    pub(super) fn read(query: &str, server: &Shared) -> Result<Self, Failure> {
        let query = Query::read(query);
        let descending = match query.get("sort_order") {
            None | Some("TIMESTAMP") => false,
            Some("TIMESTAMP_DESC") => true,
            Some(other) => return Err(enum_complaint("sort_order", other, &["TIMESTAMP", "TIMESTAMP_DESC"])),
        };
        let source = query.get("source").map(str::to_owned);
        let sources = ["agent", "user", "environment", "hook"];
        if let Some(source) = source.as_deref().filter(|source| !sources.contains(source)) {
            return Err(enum_complaint("source", source, &sources));
        }
        let kind = query.get("kind").map(|kind| {
            let bare = kind.rsplit('.').next().unwrap_or(kind).to_owned();
            // Older servers know only the Python path, and find nothing for the bare name.
            if server.config.at_least(1, 56) || kind.contains('.') { bare } else { String::new() }
        });
        Ok(Self {
            clock: server.clock,
            from: query.get("page_id").map(str::to_owned),
            limit: limit(&query, server)?,
            descending,
            kind,
            source,
            body: query.get("body").map(str::to_lowercase),
            not_before: time(&query, "timestamp__gte", server.clock)?,
            before: time(&query, "timestamp__lt", server.clock)?,
        })
    }

    fn wants(&self, event: &Event) -> bool {
        let time = || self.clock.read(event.field("timestamp"));
        self.kind.as_deref().is_none_or(|kind| kind == event.kind)
            && self.source.as_deref().is_none_or(|source| source == event.field("source"))
            && self.body.as_deref().is_none_or(|body| says(event, body))
            && self.not_before.is_none_or(|limit| time().is_some_and(|time| time >= limit))
            && self.before.is_none_or(|limit| time().is_some_and(|time| time < limit))
    }

    pub(super) fn count(&self, events: &[Arc<Event>]) -> usize {
        events.iter().filter(|event| self.wants(event)).count()
    }

    /// One page, as the body of the response.
    pub(super) fn page(&self, mut events: Vec<Arc<Event>>) -> Json {
        if self.descending {
            events.reverse();
        }
        // An unknown id restarts from the beginning.
        let start = self.from.as_deref().and_then(|from| events.iter().position(|event| event.id == from));
        let mut found = events.iter().skip(start.unwrap_or(0)).filter(|event| self.wants(event));
        let items: Vec<Json> = found.by_ref().take(self.limit).map(|event| event.wire.clone()).collect();
        object! { "items" => items, "next_page_id" => found.next().map(|event| event.id.clone()) }
    }
}

fn says(event: &Event, body: &str) -> bool {
    let content = event.wire.get("llm_message").and_then(|message| message.get("content"));
    let items = content.and_then(Json::as_array).unwrap_or_default();
    items.iter().filter_map(|item| item.text("text")).any(|text| text.to_lowercase().contains(body))
}

/// The page size that a query asks for.
pub(super) fn limit(query: &Query, server: &Shared) -> Result<usize, Failure> {
    let Some(text) = query.get("limit") else { return Ok(100) };
    let Ok(limit) = text.parse::<i64>() else {
        let message = "Input should be a valid integer, unable to parse string as an integer";
        let loc = vec![Json::from("query"), Json::from("limit")];
        return Err(Failure::invalid("int_parsing", loc, message, text.into(), None));
    };
    if limit <= 0 {
        let message = "Input should be greater than 0";
        return Err(complaint("greater_than", "limit", message, text, object! { "gt" => 0u64 }));
    }
    if limit.unsigned_abs() <= LIMIT {
        return Ok(usize::try_from(limit).unwrap_or(100));
    }
    if !server.config.at_least(1, 48) {
        return Err(Failure::Unhandled(String::new()));
    }
    let message = "Input should be less than or equal to 100";
    Err(complaint("less_than_equal", "limit", message, text, object! { "le" => LIMIT }))
}

/// A complaint about a value that is none of those there are.
pub(super) fn enum_complaint(field: &str, input: &str, values: &[&str]) -> Failure {
    let quoted: Vec<String> = values.iter().map(|value| format!("'{value}'")).collect();
    let expected = match quoted.as_slice() {
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
        [] => String::new(),
    };
    complaint("enum", field, &format!("Input should be {expected}"), input, object! { "expected" => &expected })
}

fn time(query: &Query, field: &str, clock: Clock) -> Result<Option<DateTime>, Failure> {
    let Some(text) = query.get(field) else { return Ok(None) };
    clock.read(text).map(Some).ok_or_else(|| {
        let message = "Input should be a valid datetime or date, invalid character in year";
        let context = object! { "error" => "invalid character in year" };
        complaint("datetime_from_date_parsing", field, message, text, context)
    })
}
