//! What a socket sends once it is let in: the state, the replay, then live events.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedReceiver;

use crate::clock::Clock;
use crate::faults::Fault;
use crate::object;

use super::super::conversation::Conversation;
use super::super::event::Event;
use super::super::log::Frame;
use super::Resend;
use super::inbound;
use super::link::{End, Link};
use super::voice::{Voice, send_legacy, send_session};

fn too_many() -> End {
    End::close(1013, "Too many connections for this conversation")
}

/// Waits as long as a fault wants the first frame to wait.
async fn ready(link: &mut Link) -> Result<(), End> {
    let late = link.server.faults.fire(Some(link.id), |fault| match fault {
        Fault::FirstFrameDelay { ms } => Some(Duration::from_millis(*ms)),
        _ => None,
    });
    let Some(late) = late else { return Ok(()) };
    tokio::select! {
        () = tokio::time::sleep(late) => Ok(()),
        end = link.stopping() => Err(end),
    }
}

/// The stream of bare events.
pub(super) async fn legacy(link: &mut Link, conversation: &Arc<Conversation>, resend: Resend) -> End {
    let disorder = link.server.faults.fire(Some(link.id), |fault| match fault {
        Fault::LiveBeforeReplay { frames, ms } if resend != Resend::Nothing => {
            Some((*frames, Duration::from_millis(*ms)))
        }
        _ => None,
    });
    // A listener from the first moment on: what it hears while the conversation is locked may be in the replay again.
    let Some(mut listener) = conversation.lock().log.listen() else { return too_many() };
    if let Err(end) = ready(link).await {
        return end;
    }
    let (state, history) = tokio::select! {
        biased;
        end = link.stopping() => return end,
        state = conversation.free() => {
            (state.full_state_frame(), history(&state.log.known(), resend, link.server.clock))
        }
    };
    let started = async {
        send_legacy(link, &state, false).await?;
        let history = match disorder {
            None => history,
            Some((frames, patience)) => {
                live_first(link, &mut listener, frames, patience).await?;
                self::history(&conversation.lock().log.known(), resend, link.server.clock)
            }
        };
        for event in history {
            send_legacy(link, &Frame::Durable(0, event), true).await?;
        }
        Ok::<(), End>(())
    };
    match started.await {
        Ok(()) => live(link, conversation, listener, Voice::Legacy).await,
        Err(end) => end,
    }
}

fn history(known: &[Arc<Event>], resend: Resend, clock: Clock) -> Vec<Arc<Event>> {
    let wanted = known.iter().filter(|event| match resend {
        Resend::Nothing => false,
        Resend::All => true,
        Resend::Since(after) => {
            event.wire.text("timestamp").and_then(|time| clock.read(time)).is_some_and(|time| time >= after)
        }
    });
    wanted.cloned().collect()
}

/// Sends live frames ahead of the replay, as a busy server may.
async fn live_first(
    link: &mut Link,
    listener: &mut UnboundedReceiver<Frame>,
    frames: u64,
    patience: Duration,
) -> Result<(), End> {
    let until = Instant::now() + patience;
    for _ in 0..frames {
        let left = until.saturating_duration_since(Instant::now());
        match tokio::time::timeout(left, listener.recv()).await {
            Ok(Some(frame)) => send_legacy(link, &frame, false).await?,
            Ok(None) | Err(_) => break,
        }
    }
    Ok(())
}

/// The stream of envelopes.
pub(super) async fn session(link: &mut Link, conversation: &Arc<Conversation>, after: Option<i64>) -> End {
    if let Err(end) = ready(link).await {
        return end;
    }
    let (listener, full_state, last, events) = tokio::select! {
        biased;
        end = link.stopping() => return end,
        mut state = conversation.free() => {
            (state.log.listen(), state.full_state_frame(), state.log.last_seq(), state.log.numbered())
        }
    };
    let Some(listener) = listener else { return too_many() };
    let started = async {
        let mut sync = object! { "type" => "sync" };
        if let Some(after) = after {
            sync.set("from_seq", after);
        }
        if let Some(last) = last {
            sync.set("through_seq", last);
        }
        send_session(link, &Frame::SessionOnly(sync), false).await?;
        for (seq, event) in events {
            let wanted = after.is_some_and(|after| i64::try_from(seq).is_ok_and(|seq| seq > after));
            if wanted {
                send_session(link, &Frame::Durable(seq, event), true).await?;
            }
        }
        send_session(link, &full_state, false).await
    };
    match started.await {
        Ok(()) => live(link, conversation, listener, Voice::Session).await,
        Err(end) => end,
    }
}

async fn live(
    link: &mut Link,
    conversation: &Arc<Conversation>,
    mut listener: UnboundedReceiver<Frame>,
    voice: Voice,
) -> End {
    let stopping = link.stopping();
    tokio::pin!(stopping);
    loop {
        let result = tokio::select! {
            // A restart takes the listener away, too: its own end comes first.
            biased;
            end = &mut stopping => return end,
            frame = listener.recv() => match frame {
                Some(frame) => match voice {
                    Voice::Legacy => send_legacy(link, &frame, false).await,
                    Voice::Session => send_session(link, &frame, false).await,
                },
                None => return End::Gone,
            },
            message = link.receive() => match message {
                Some(message) => tokio::select! {
                    biased;
                    end = &mut stopping => return end,
                    result = inbound::handle(link, conversation, &message, voice) => result,
                },
                None => return End::Gone,
            },
        };
        if let Err(end) = result {
            return end;
        }
    }
}
