//! Lists in pages. A cursor names the last item of the page before.

use crate::json::Json;
use crate::object;
use crate::query::Query;

use super::failure::Failure;

const PAGE: usize = 50;
const LONGEST: usize = 1000;

/// Whether a list is wanted with its newest item first.
pub(super) fn newest_first(query: &Query, name: &str, default: bool) -> Result<bool, Failure> {
    match query.get(name) {
        None => Ok(default),
        Some("ascending") => Ok(false),
        Some("descending") => Ok(true),
        Some(_) => Err(Failure::invalid(vec![(name.to_owned(), "ascending or descending".to_owned())])),
    }
}

/// The page that a query asks for: `{"data": […], "cursor": …}`, without a cursor on the last one.
pub(super) fn page(query: &Query, items: Vec<(String, Json)>) -> Result<Json, Failure> {
    let limit = match query.get("limit") {
        None => PAGE,
        Some(text) => text
            .parse()
            .ok()
            .filter(|limit| (1..=LONGEST).contains(limit))
            .ok_or_else(|| Failure::invalid(vec![("limit".to_owned(), format!("a number from 1 to {LONGEST}"))]))?,
    };
    let start = match query.get("cursor") {
        None => 0,
        Some(cursor) => items
            .iter()
            .position(|(id, _)| id == cursor)
            .map(|at| at + 1)
            .ok_or_else(|| Failure::invalid(vec![("cursor".to_owned(), "no such cursor".to_owned())]))?,
    };
    let more = items.len() > start + limit;
    let page: Vec<(String, Json)> = items.into_iter().skip(start).take(limit).collect();
    let last = page.last().map(|(id, _)| id.clone()).filter(|_| more);
    let data: Vec<Json> = page.into_iter().map(|(_, item)| item).collect();
    let mut body = object! { "data" => data };
    if let Some(last) = last {
        body.set("cursor", last);
    }
    Ok(body)
}
