//! `i-auth-cors`: keys, sockets, inbound frames, CORS.
//!
//! | left out | why |
//! |---|---|
//! | `silent (10s timeout)` | see `faults_of_sockets.rs`, with a shorter limit |
//! | `GET /docs`, `/openapi.json`, `GET /api/conversations/search` | not served |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::replay::{Play, replay};
use common::{Bench, recording};

const NOT_SERVED: [&str; 3] = ["/docs", "/openapi.json", "/api/conversations/search"];

#[tokio::test]
async fn keys_sockets_inbound_frames_and_cors() {
    let bench = Bench::keyed().await;
    let lines: Vec<_> = recording("i-auth-cors")
        .into_iter()
        .filter(|line| !line.text("path").is_some_and(|path| NOT_SERVED.contains(&path)))
        .collect();
    let play = Play {
        cut: &["SystemPromptEvent", "stats", "last_user_message_id"],
        loose_seq: true,
        without: &["silent (10s timeout)"],
        ..Play::default()
    };
    replay(&bench, &lines, play).await;
}
