//! Runs as the real server recorded them.
//!
//! | file | played here | left out, and why |
//! |---|---|---|
//! | a-basic | a1 | |
//! | b-parallel | b1, b2, b3, b4 | |
//! | c-invalid-args | all 22 | |
//! | d-unknown-tool | all | |
//! | f-confirmation | f1 to f12 | |
//! | i-auth-cors | see `conformance_auth.rs` | |
//! | k-pause-run-delete | k1 to k9 | |
//! | m-misc | m1 | the others need 50 sockets, 11 runs or megabytes |
//! | e, g, j | see `conformance_create.rs`, `conformance_search.rs`, `conformance_arguments.rs` | |
//! | e2-weird-tools-at-run | all | |
//! | n-extra | n_superseded, n_late_accept, n_abort, n_hook_block, n_hook_pass, n_condense, n_condense_none, n_fork, n_rest, n_interrupt_batch, n_lock | of n_rest not `/count` and `/api/agent-profiles`; of n_lock not the sockets that come late, see `lock.rs` |
//! | h | h1, hk, hs, hw, with the restart | hi, hr: no such numbers, no socket to watch it; see `restarts.rs` |
//! | h2 | h21, h23 | h22: see `restarts.rs` |
//! | g2 | | chance order, other time zones: not imitated |
//! | l-throughput | | the same frames two hundred times over |
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::replay::{Play, replay};
use common::{Bench, case, recording};

/// What minor cases have cut out of their recordings.
const MINOR: [&str; 4] = ["SystemPromptEvent", "stats", "last_user_message_id", "full_state"];

async fn play(file: &str, name: &str, play: Play) {
    let bench = Bench::keyed().await;
    replay(&bench, &case(file, name), play).await;
    bench.running.stop().await;
}

async fn play_minor(file: &str, name: &str) {
    play(file, name, Play { cut: &MINOR, loose_seq: true, ..Play::default() }).await;
}

#[tokio::test]
async fn one_call_and_finish_with_replay_on_both_sockets() {
    play("a-basic", "a1", Play { hold: Some(("ws", 5)), ..Play::default() }).await;
}

#[tokio::test]
async fn parallel_calls_are_acked_together() {
    play("b-parallel", "b1", Play::default()).await;
}

#[tokio::test]
async fn finish_in_the_middle_duplicate_ids_and_plain_text() {
    for name in ["b2", "b3", "b4"] {
        play_minor("b-parallel", name).await;
    }
}

#[tokio::test]
async fn a_missing_argument_is_an_agent_error() {
    let cut = &["full_state"];
    play("c-invalid-args", "c_missing_required", Play { cut, ..Play::default() }).await;
}

#[tokio::test]
async fn an_unknown_tool_is_an_agent_error() {
    play("d-unknown-tool", "d1", Play { cut: &["stats"], ..Play::default() }).await;
}

#[tokio::test]
async fn unknown_mixed_with_known_mangled_and_wrong_case_names() {
    let mut names: Vec<String> =
        recording("d-unknown-tool").iter().filter_map(|line| line.text("case").map(str::to_owned)).collect();
    names.dedup();
    for name in names {
        play_minor("d-unknown-tool", &name).await;
    }
}

#[tokio::test]
async fn confirmation_accepted() {
    play("f-confirmation", "f1", Play::default()).await;
}

#[tokio::test]
async fn confirmation_rejected_then_run() {
    play("f-confirmation", "f2", Play::default()).await;
}

#[tokio::test]
async fn messages_while_waiting_policies_analyzer_and_stale_calls() {
    for number in 3..=12 {
        play_minor("f-confirmation", &format!("f{number}")).await;
    }
}

#[tokio::test]
async fn a_pause_lets_the_call_under_way_have_its_effect() {
    let play_ = Play {
        cut: &["SystemPromptEvent"],
        loose_seq: true,
        lagging_status: true,
        release_after: Some(6),
        ..Play::default()
    };
    play("k-pause-run-delete", "k1", play_).await;
}

#[tokio::test]
async fn an_interrupt_cancels_the_call_under_way() {
    let play_ = Play { cut: &["SystemPromptEvent"], loose_seq: true, ..Play::default() };
    play("k-pause-run-delete", "k2", play_).await;
}

#[tokio::test]
async fn runs_and_messages_while_running_and_after() {
    let play_ = Play { cut: &MINOR, lagging_status: true, release_after: Some(5), ..Play::default() };
    play("k-pause-run-delete", "k3", play_).await;
}

#[tokio::test]
async fn deleting_leaves_sockets_open_and_silent() {
    play_minor("k-pause-run-delete", "k4").await;
    play_minor("k-pause-run-delete", "k5").await;
}

#[tokio::test]
async fn errors_of_the_llm_iteration_limit_and_ruts_end_a_run() {
    for name in ["k6", "k7", "k8"] {
        play_minor("k-pause-run-delete", name).await;
    }
}

#[tokio::test]
async fn text_streams_on_both_sockets() {
    play("k-pause-run-delete", "k9", Play::default()).await;
}

#[tokio::test]
async fn agent_settings_add_tools_and_a_condenser() {
    play("m-misc", "m1", Play::default()).await;
}

#[tokio::test]
async fn odd_tools_pass_create_and_fail_or_work_at_run() {
    let mut names: Vec<String> =
        recording("e2-weird-tools-at-run").iter().filter_map(|line| line.text("case").map(str::to_owned)).collect();
    names.dedup();
    for name in names {
        play_minor("e2-weird-tools-at-run", &name).await;
    }
}

#[tokio::test]
async fn a_message_during_the_call_supersedes_what_would_wait() {
    let play_ = Play { cut: &MINOR, release_after: Some(3), ..Play::default() };
    play("n-extra", "n_superseded", play_).await;
}

#[tokio::test]
async fn a_late_accept_starts_a_turn() {
    play_minor("n-extra", "n_late_accept").await;
}

#[tokio::test]
async fn an_interrupt_aborts_the_stream() {
    play_minor("n-extra", "n_abort").await;
}

#[tokio::test]
async fn a_hook_before_a_tool_blocks_its_call() {
    play_minor("n-extra", "n_hook_block").await;
}

#[tokio::test]
async fn hooks_around_tools_pass_and_one_at_the_end_sends_the_agent_back() {
    let cut = &["SystemPromptEvent", "stats", "last_user_message_id"];
    play("n-extra", "n_hook_pass", Play { cut, ..Play::default() }).await;
}

#[tokio::test]
async fn a_condensation_forgets_the_middle() {
    let bench = Bench::keyed().await;
    bench.script("n_cond_llm", r#"[{"text": "A short summary."}]"#).await;
    let lines = case("n-extra", "n_condense");
    replay(&bench, &lines, Play { cut: &MINOR, loose_seq: true, ..Play::default() }).await;
    play_minor("n-extra", "n_condense_none").await;
}

#[tokio::test]
async fn a_fork_and_the_rest_of_the_routes() {
    let bench = Bench::keyed().await;
    let mut lines = case("n-extra", "n_fork");
    lines.extend(case("n-extra", "n_rest"));
    lines.retain(|line| {
        let path = line.text("path").unwrap_or_default();
        path != "/api/conversations/count" && path != "/api/agent-profiles"
    });
    replay(&bench, &lines, Play { cut: &MINOR, loose_seq: true, ..Play::default() }).await;
}

#[tokio::test]
async fn tools_of_the_server_delay_the_acknowledgements_beside_them() {
    let play_ = Play {
        cut: &MINOR,
        loose_seq: true,
        tool_hold: true,
        release_after: Some(2),
        without: &["n_lock-late", "n_lock-late-session"],
        ..Play::default()
    };
    play("n-extra", "n_lock", play_).await;
}

#[tokio::test]
async fn an_interrupt_drops_the_calls_of_a_batch() {
    let play_ = Play { cut: &MINOR, loose_seq: true, tool_hold: true, ..Play::default() };
    play("n-extra", "n_interrupt_batch", play_).await;
}

#[tokio::test]
async fn forks_and_what_a_restart_leaves() {
    for name in ["h1", "hk", "hs", "hw"] {
        play_minor("h-fork-restart", name).await;
    }
    for name in ["h21", "h23"] {
        play_minor("h2-fork-key-kill9", name).await;
    }
}
