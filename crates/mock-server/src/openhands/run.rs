//! The run loop: from a start to the `full_state` that ends it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use uuid::Uuid;

use crate::faults::Fault;
use crate::object;
use crate::script::{Answer, Turn};
use crate::shared::Shared;

use super::conversation::{Conversation, Run, State, Status};
use super::event::Event;
use super::log::Frame;
use super::reply::Failure;
use super::step::{Batch, Delivery, Next};

/// Runs at a time, of all conversations.
const CAPACITY: usize = 10;
/// The longest that streamed arguments take.
const STREAM_LIMIT: Duration = Duration::from_mins(1);
/// So many equal calls in a row are a rut.
const RUT: usize = 4;
/// What the provider says of an LLM whose key was lost.
const NO_KEY: &str = "Missing credentials. Please pass an `api_key`, `workload_identity`, `admin_api_key`, or set the \
                      `OPENAI_API_KEY` or `OPENAI_ADMIN_KEY` environment variable.";

/// Fails with 429 if there is no room for another run.
pub(super) fn check_capacity(server: &Shared, conversation: Uuid) -> Result<(), Failure> {
    let limited = |fault: &Fault| matches!(fault, Fault::RunLimit).then_some(());
    let full = server.config.at_least(1, 50) && server.conversations.running() >= CAPACITY;
    if !full && server.faults.fire(Some(conversation), limited).is_none() {
        return Ok(());
    }
    let detail = "Conversation run limit reached. Retry the request later.".to_owned();
    Err(Failure::Detail(axum::http::StatusCode::TOO_MANY_REQUESTS, detail))
}

/// Starts a run in the background unless one is under way; whether it did.
pub(super) fn start(server: &Arc<Shared>, conversation: &Arc<Conversation>) -> Result<bool, Failure> {
    let mut state = conversation.lock();
    if state.run.is_some() || state.deleted {
        return Ok(false);
    }
    state.prepare_agent()?;
    let (cancel, cancelled) = watch::channel(false);
    state.runs += 1;
    let serial = state.runs;
    state.run = Some(Run { serial, cancel, open_item: None });
    tokio::spawn(drive(Arc::clone(server), Arc::clone(conversation), serial, cancelled));
    Ok(true)
}

async fn drive(
    server: Arc<Shared>,
    conversation: Arc<Conversation>,
    serial: u64,
    mut cancelled: watch::Receiver<bool>,
) {
    let mut iterations = 0;
    let mut next = begin(&mut conversation.lock(), &cancelled);
    loop {
        next = match next {
            Next::Think => {
                iterations += 1;
                think(&server, &conversation, &mut cancelled, iterations).await
            }
            Next::Work(batch) => work(&server, &conversation, &mut cancelled, &batch).await,
            Next::Stop => return end(&mut conversation.lock(), serial),
        }
    }
}

/// Sets off: what waited for confirmation is carried out now, and so is what a `finish` left over.
fn begin(state: &mut State, cancelled: &watch::Receiver<bool>) -> Next {
    if *cancelled.borrow() || state.status == Status::Finished {
        return Next::Stop;
    }
    state.set_status(Status::Running);
    if state.fail_broken_tools() {
        return Next::Stop;
    }
    let actions = state.pending();
    if actions.is_empty() {
        return Next::Think;
    }
    state.busy.send_replace(true);
    Next::Work(Batch { actions, overtaken: false })
}

/// One call of the LLM, and what it leads to.
async fn think(
    server: &Shared,
    conversation: &Conversation,
    cancelled: &mut watch::Receiver<bool>,
    iteration: u64,
) -> Next {
    let Some(call) = next_call(server, conversation, cancelled, iteration) else { return Next::Stop };
    let started = Instant::now();
    tokio::select! {
        () = answered(server, conversation, &call) => {}
        _ = cancelled.wait_for(|cancelled| *cancelled) => {}
    }
    let mut state = conversation.lock();
    if *cancelled.borrow() {
        return Next::Stop;
    }
    if let Some(run) = &mut state.run {
        run.open_item = None;
    }
    let overtaken = server.config.at_least(1, 45) && state.last_user_message != call.last_user_message;
    let latency = started.elapsed().as_secs_f64();
    let supersedes = server.config.at_least(1, 58);
    state.deliver(&Delivery { turn: &call.turn, latency, item: &call.item, overtaken, supersedes })
}

/// The tools of a batch, with the conversation locked all the while.
async fn work(
    server: &Shared,
    conversation: &Conversation,
    cancelled: &mut watch::Receiver<bool>,
    batch: &Batch,
) -> Next {
    let duration = std::mem::take(&mut conversation.lock().work);
    tokio::select! {
        () = server.scripts.wait(&duration) => {}
        _ = cancelled.wait_for(|cancelled| *cancelled) => {}
    }
    let mut state = conversation.lock();
    if *cancelled.borrow() {
        return Next::Stop;
    }
    let next = state.execute(batch);
    state.busy.send_replace(false);
    next
}

/// Ends a run, unless a restart of the server did.
fn end(state: &mut State, serial: u64) {
    if state.run.as_ref().is_some_and(|run| run.serial == serial) {
        state.run = None;
        state.touch();
        state.publish_full_state();
    }
}

/// One call of the LLM.
struct LlmTurn {
    turn: Turn,
    item: String,
    anchor: Option<u64>,
    streams: bool,
    last_user_message: Option<String>,
}

/// The next call; none if the run is over.
fn next_call(
    server: &Shared,
    conversation: &Conversation,
    cancelled: &watch::Receiver<bool>,
    iteration: u64,
) -> Option<LlmTurn> {
    let mut state = conversation.lock();
    if *cancelled.borrow() || state.status != Status::Running {
        return None;
    }
    if state.stuck_detection && in_a_rut(&state) {
        state.set_status(Status::Stuck);
        return None;
    }
    if iteration > state.max_iterations {
        state.fail_iterations();
        return None;
    }
    let turn = if state.agent.lost_key() {
        Turn::failed(500, NO_KEY)
    } else {
        server.scripts.take(&state.agent.model(), state.llm_request())
    };
    Some(LlmTurn {
        turn,
        item: Uuid::new_v4().to_string(),
        anchor: state.log.last_seq(),
        streams: state.agent.streams(),
        last_user_message: state.last_user_message.clone(),
    })
}

/// Whether the last calls and their results were all the same.
fn in_a_rut(state: &State) -> bool {
    let mut rounds: Vec<(&Arc<Event>, &Arc<Event>)> = Vec::new();
    let branch = state.log.branch();
    let mut events = branch.iter().rev().copied().filter(|event| {
        ["ActionEvent", "ObservationEvent", "AgentErrorEvent", "MessageEvent"].contains(&event.kind.as_str())
    });
    while rounds.len() < RUT {
        match (events.next(), events.next()) {
            (Some(result), Some(action)) if action.kind == "ActionEvent" && result.kind == "ObservationEvent" => {
                rounds.push((action, result));
            }
            _ => return false,
        }
    }
    let same = |a: &Event, b: &Event, field: &str| a.wire.get(field) == b.wire.get(field);
    rounds.windows(2).all(|pair| match pair {
        [(action, result), (other, other_result)] => {
            same(action, other, "action") && same(action, other, "thought") && same(result, other_result, "observation")
        }
        _ => false,
    })
}

/// Waits for the answer, and streams its text if the agent wants that.
async fn answered(server: &Shared, conversation: &Conversation, call: &LlmTurn) {
    server.scripts.wait(&call.turn.thinking).await;
    let Answer::Message { text, calls } = &call.turn.answer else { return };
    if !call.streams {
        return;
    }
    let legacy = |piece: &str| {
        let mut state = conversation.lock();
        let fields = object! { "content" => piece };
        let event = state.log.passing("agent", "StreamingDeltaEvent", fields);
        state.log.publish(&Frame::LegacyOnly(event));
    };
    // OpenAI's first chunk has empty content.
    legacy("");
    let chars: Vec<char> = text.as_deref().unwrap_or_default().chars().collect();
    for (order, piece) in chars.chunks(call.turn.chunk_chars).enumerate() {
        let piece: String = piece.iter().collect();
        legacy(&piece);
        if order == 0 && server.config.at_least(1, 48) {
            open_item(conversation, call);
        }
        publish_delta(conversation, call, order, &piece);
        tokio::time::sleep(call.turn.chunk_delay).await;
    }
    let pieces: usize = calls.iter().map(|call_| call_.arguments.len().div_ceil(call.turn.chunk_chars)).sum();
    if !call.turn.chunk_delay.is_zero() {
        // Arguments are streamed to the server, but never on to its clients.
        let pieces = u32::try_from(pieces).unwrap_or(u32::MAX);
        tokio::time::sleep(call.turn.chunk_delay.saturating_mul(pieces).min(STREAM_LIMIT)).await;
    }
}

fn open_item(conversation: &Conversation, call: &LlmTurn) {
    let mut state = conversation.lock();
    if let Some(run) = &mut state.run {
        run.open_item = Some(call.item.clone());
    }
    let mut frame = object! { "type" => "item_started", "item_id" => &call.item, "attempt" => 1u64 };
    if let Some(anchor) = call.anchor {
        frame.set("anchor_seq", anchor);
    }
    state.log.publish(&Frame::SessionOnly(frame));
}

fn publish_delta(conversation: &Conversation, call: &LlmTurn, order: usize, piece: &str) {
    let frame = object! {
        "type" => "delta",
        "item_id" => &call.item,
        "attempt" => 1u64,
        "order" => order,
        "kind" => "text",
        "content" => piece,
        "chunk_id" => &call.turn.response_id,
        "choice_index" => 0u64,
    };
    let mut state = conversation.lock();
    // An interrupt may just have aborted the item.
    if state.run.as_ref().is_some_and(|run| run.open_item.is_some()) {
        state.log.publish(&Frame::SessionOnly(frame));
    }
}
