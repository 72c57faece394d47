//! One open socket: sends through the faults, records both directions, ends in one of several ways.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use tokio::sync::watch;
use uuid::Uuid;

use crate::faults::{Fault, FrameFacts, Match, Sender};
use crate::json::Json;
use crate::object;
use crate::restarts::{Signal, restarted};
use crate::shared::{Shared, stopped};

/// How long a client may take to answer a close.
const FAREWELL: Duration = Duration::from_secs(1);

/// How a socket ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// With a close frame.
    Close(u16, Cow<'static, str>),
    /// The client closed it or vanished.
    Gone,
    /// The TCP connection ends without a close frame.
    Abrupt,
    /// Not at all: nothing is sent or read any more, and the client does not learn of it.
    HalfOpen,
}

impl End {
    pub(super) fn close(code: u16, reason: &'static str) -> Self {
        Self::Close(code, Cow::Borrowed(reason))
    }

    fn of(code: Option<u16>, reason: &str) -> Self {
        code.map_or(Self::Abrupt, |code| Self::Close(code, Cow::Owned(reason.to_owned())))
    }

    /// As the real server closes its sockets when it is terminated.
    pub(super) fn restart() -> Self {
        Self::close(1012, "")
    }
}

/// A frame to send: its text, and what faults look at.
#[derive(Debug)]
pub(super) struct Outgoing<'a> {
    pub(super) text: &'a str,
    pub(super) kind: &'a str,
    pub(super) tool: Option<&'a str>,
    pub(super) replayed: bool,
    /// Whether it is for a session socket, which the server gives up more easily.
    pub(super) session: bool,
}

#[derive(Debug)]
pub(super) struct Link {
    pub(super) server: Arc<Shared>,
    pub(super) id: Uuid,
    socket: WebSocket,
    label: String,
    restarts: watch::Receiver<Signal>,
    sent: u64,
    held: Option<String>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.server.open.send_modify(|open| *open = open.saturating_sub(1));
    }
}

impl Link {
    pub(super) fn new(server: Arc<Shared>, id: Uuid, socket: WebSocket, label: String) -> Self {
        server.open.send_modify(|open| *open += 1);
        let restarts = server.restarts.watch();
        Self { server, id, socket, label, restarts, sent: 0, held: None }
    }

    /// Resolves when the server stops, to how that ends a socket.
    pub(super) fn stopping(&self) -> impl Future<Output = End> + use<> {
        let (stops, restarts) = (self.server.stopping.clone(), self.restarts.clone());
        async move {
            tokio::select! {
                () = stopped(stops) => End::restart(),
                signal = restarted(restarts) => match signal {
                    Signal::Term => End::restart(),
                    Signal::Kill => End::Abrupt,
                },
            }
        }
    }

    /// Ends the socket as a fault says that is about it as a whole: before its first frame.
    pub(super) fn dropped_at_once(&self) -> Option<End> {
        self.server.faults.fire(Some(self.id), |fault| match fault {
            Fault::DropSocket { after, code, reason } if after.frames == Some(0) => Some(End::of(*code, reason)),
            _ => None,
        })
    }

    fn record(&self, direction: &str, raw: &str) {
        self.server.recorder.add(object! { "ch" => "ws", "label" => &self.label, "dir" => direction, "raw" => raw });
    }

    /// The next text or binary frame; none when the client is gone. Can be dropped while it waits.
    pub(super) async fn receive(&mut self) -> Option<Message> {
        loop {
            match self.socket.recv().await {
                Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => {
                    if let Message::Text(text) = &message {
                        self.record("send", text);
                    }
                    return Some(message);
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(frame))) => {
                    let code = frame.as_ref().map_or(1005, |frame| frame.code);
                    let reason = frame.map(|frame| frame.reason.to_string()).unwrap_or_default();
                    self.record_close(code, &reason);
                    return None;
                }
                Some(Err(_)) | None => {
                    self.record_close(1006, "");
                    return None;
                }
            }
        }
    }

    fn record_close(&self, code: u16, reason: &str) {
        let code = Json::from(u64::from(code));
        self.server.recorder.add(object! {
            "ch" => "ws", "label" => &self.label, "dir" => "close", "code" => code, "reason" => reason,
        });
    }

    async fn put(&mut self, text: &str) -> Result<(), End> {
        self.record("recv", text);
        self.socket.send(Message::Text(text.into())).await.map_err(|_| End::Gone)
    }

    /// Sends a frame, unless a fault has other plans.
    pub(super) async fn send(&mut self, frame: Outgoing<'_>) -> Result<(), End> {
        let facts = FrameFacts {
            kinds: &[frame.kind],
            tool: frame.tool,
            call: None,
            from: Sender::Server,
            replayed: frame.replayed,
            frames: self.sent + 1,
        };
        let server = Arc::clone(&self.server);
        let id = Some(self.id);
        let fires = |pick: fn(&Fault) -> Option<&Match>| {
            server.faults.fire(id, |fault| pick(fault).filter(|matching| matching.hits(facts)).map(|_| ())).is_some()
        };
        if fires(|fault| if let Fault::HalfOpen { matching } = fault { Some(matching) } else { None }) {
            return Err(End::HalfOpen);
        }
        if frame.session
            && let Some(reason) = given_up(&server, id, facts)
        {
            return Err(End::close(1013, reason));
        }
        if fires(|fault| if let Fault::Swallow { matching } = fault { Some(matching) } else { None }) {
            return Ok(());
        }
        let delay = server.faults.fire(id, |fault| match fault {
            Fault::Delay { matching, ms } if matching.hits(facts) => Some(Duration::from_millis(*ms)),
            _ => None,
        });
        if let Some(delay) = delay {
            tokio::time::sleep(delay).await;
        }
        if fires(|fault| if let Fault::Reorder { matching } = fault { Some(matching) } else { None }) {
            if let Some(earlier) = self.held.replace(frame.text.to_owned()) {
                self.put(&earlier).await?;
            }
            return Ok(());
        }
        self.sent += 1;
        self.put(frame.text).await?;
        if fires(|fault| if let Fault::Duplicate { matching } = fault { Some(matching) } else { None }) {
            self.put(frame.text).await?;
        }
        if let Some(held) = self.held.take() {
            self.sent += 1;
            self.put(&held).await?;
        }
        let end = server.faults.fire(id, |fault| match fault {
            Fault::DropSocket { after, code, reason } if after.hits(facts) => Some(End::of(*code, reason)),
            _ => None,
        });
        end.map_or(Ok(()), Err)
    }

    /// Ends the socket.
    pub(super) async fn close(mut self, end: End) {
        match end {
            End::Gone => {}
            End::Abrupt => self.record_close(1006, ""),
            End::HalfOpen => {
                self.stopping().await;
            }
            End::Close(code, reason) => {
                self.record_close(code, &reason);
                let frame = CloseFrame { code, reason: reason.as_ref().into() };
                if self.socket.send(Message::Close(Some(frame))).await.is_ok() {
                    // Without waiting for the client's close, the connection could end with a reset, and the client
                    // might never read the code.
                    let farewell = async { while let Some(Ok(_)) = self.socket.recv().await {} };
                    let _ = tokio::time::timeout(FAREWELL, farewell).await;
                }
            }
        }
    }
}

/// Why a fault has a session socket closed in place of a frame.
fn given_up(server: &Shared, id: Option<Uuid>, facts: FrameFacts<'_>) -> Option<&'static str> {
    server.faults.fire(id, |fault| match fault {
        Fault::FrameTooLarge { matching } if matching.hits(facts) => Some("frame_too_large"),
        Fault::SlowConsumer { matching } if matching.hits(facts) => Some("slow_consumer"),
        _ => None,
    })
}
