//! `g1` of `g-resend-paging`: replay modes, pages, filters, the single event.
//!
//! | left out | why |
//! |---|---|
//! | `g2` | it connects during the run: what arrives between what is chance; see `faults_of_sockets.rs` |
//! | sockets with a time just beside an event's | the mock's times are others |
//! | `GET events` with a body | not served |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::replay::{Play, replay};
use common::{Bench, case};

const LEFT_OUT: [&str; 2] = [
    "?resend_mode=since&after_timestamp=2026-11-30T08:53:47.711297",
    "?resend_mode=since&after_timestamp=2026-11-30T08:53:47.711Z",
];

#[tokio::test]
async fn replays_pages_filters_and_the_single_event() {
    let bench = Bench::keyed().await;
    let lines: Vec<_> = case("g-resend-paging", "g1")
        .into_iter()
        .filter(|line| {
            let path = line.text("path").unwrap_or_default();
            line.text("ch") != Some("rest") || !(path.ends_with("/events") && line.text("method") == Some("GET"))
        })
        .filter(|line| !line.text("path").unwrap_or_default().contains("events?event_ids"))
        .collect();
    let hidden = &[(34, "8760c392-750b-42bb-8965-875fb090c748", "2026-11-30T08:53:47.711296")];
    replay(&bench, &lines, Play { without: &LEFT_OUT, hidden, ..Play::default() }).await;
}
