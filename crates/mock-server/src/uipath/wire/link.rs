//! One connection: frames in both directions, through the faults, and how it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::DuplexStream;
use tokio::sync::Mutex;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Inner;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::faults::Leg;
use crate::json::Json;
use crate::object;
use crate::restarts::{Signal, restarted};
use crate::shared::{Shared, stopped};

use super::orders::Order;

/// How long a peer may take to answer a close.
const FAREWELL: std::time::Duration = std::time::Duration::from_secs(1);

/// How a connection ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// With a close frame: a code and a reason, or neither.
    Close(Option<(u16, String)>),
    /// The peer closed it or vanished.
    Gone,
    /// The TCP connection ends without a close frame.
    Abrupt,
    /// Not at all: nothing is sent or read any more, and the peer does not learn of it.
    HalfOpen,
}

impl End {
    pub(crate) fn of(code: Option<u16>, reason: &str) -> Self {
        code.map_or(Self::Abrupt, |code| Self::Close(Some((code, reason.to_owned()))))
    }
}

/// A connection.
pub(super) struct Link {
    pub(super) shared: Arc<Shared>,
    pub(super) leg: Leg,
    pub(super) label: String,
    to_peer: Mutex<SplitSink<WebSocket, Message>>,
    to_engine: Mutex<SplitSink<WebSocketStream<DuplexStream>, Inner>>,
    from_peer: Mutex<SplitStream<WebSocket>>,
    from_engine: Mutex<SplitStream<WebSocketStream<DuplexStream>>>,
    /// Frames in either direction.
    pub(super) sent: AtomicU64,
    pub(super) heard: AtomicU64,
    /// Acknowledgements that a fault asked for.
    pub(super) asked: AtomicU64,
    /// Whether the engine has pinged: it does so at once, while the real service first waits for an interval.
    pub(super) pinged: AtomicBool,
    /// Whether pings are no longer passed on.
    pub(super) mute: AtomicBool,
    /// A frame that comes after the next one.
    pub(super) held: std::sync::Mutex<Option<String>>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.open.send_modify(|open| *open = open.saturating_sub(1));
    }
}

impl Link {
    pub(super) async fn new(
        shared: Arc<Shared>,
        leg: Leg,
        label: String,
        peer: WebSocket,
        engine: DuplexStream,
    ) -> Self {
        shared.open.send_modify(|open| *open += 1);
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let engine = WebSocketStream::from_raw_socket(engine, Role::Client, Some(config)).await;
        let (to_peer, from_peer) = peer.split();
        let (to_engine, from_engine) = engine.split();
        Self {
            shared,
            leg,
            label,
            to_peer: Mutex::new(to_peer),
            to_engine: Mutex::new(to_engine),
            from_peer: Mutex::new(from_peer),
            from_engine: Mutex::new(from_engine),
            sent: AtomicU64::new(0),
            heard: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            pinged: AtomicBool::new(false),
            mute: AtomicBool::new(false),
            held: std::sync::Mutex::new(None),
        }
    }

    /// From the first frame to the end.
    pub(super) async fn run(self) {
        let restarts = self.shared.restarts.watch();
        let mut orders = self.shared.uipath.wires().open(&self.label);
        let end = tokio::select! {
            biased;
            () = stopped(self.shared.stopping.clone()) => End::Close(None),
            signal = restarted(restarts) => match signal {
                Signal::Term => End::Close(None),
                Signal::Kill => End::Abrupt,
            },
            end = self.obey(&mut orders) => end,
            end = self.outward() => end,
            end = self.inward() => end,
        };
        self.shared.uipath.wires().close(&self.label);
        self.close(end).await;
    }

    async fn obey(&self, orders: &mut UnboundedReceiver<Order>) -> End {
        while let Some(order) = orders.recv().await {
            let done = match order {
                Order::End(end) => return end,
                Order::Raw(text) => self.put(&text).await,
                Order::Disconnect => match self.put("41").await {
                    Ok(()) => self.hand_over("41").await,
                    end => end,
                },
            };
            if let Err(end) = done {
                return end;
            }
        }
        std::future::pending().await
    }

    async fn outward(&self) -> End {
        if let Some(end) = self.dropped_at_once().await {
            return end;
        }
        let mut frames = self.from_engine.lock().await;
        while let Some(Ok(frame)) = frames.next().await {
            let passed = match frame {
                Inner::Text(text) => self.pass_to_peer(text.as_str()).await,
                Inner::Binary(bytes) => self.send(Message::Binary(bytes)).await,
                Inner::Close(_) => break,
                Inner::Ping(_) | Inner::Pong(_) | Inner::Frame(_) => Ok(()),
            };
            if let Err(end) = passed {
                return end;
            }
        }
        End::Close(None)
    }

    async fn inward(&self) -> End {
        let mut frames = self.from_peer.lock().await;
        loop {
            let passed = match frames.next().await {
                Some(Ok(Message::Text(text))) => {
                    self.record("send", &text);
                    self.pass_to_engine(&text).await
                }
                Some(Ok(Message::Binary(bytes))) => self.tell_engine(Inner::Binary(bytes)).await,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => Ok(()),
                Some(Ok(Message::Close(frame))) => {
                    let code = frame.as_ref().map_or(1005, |frame| frame.code);
                    self.record_close("peer", code, frame.as_ref().map_or("", |frame| &frame.reason));
                    return End::Gone;
                }
                Some(Err(_)) | None => {
                    self.record_close("peer", 1006, "");
                    return End::Gone;
                }
            };
            if let Err(end) = passed {
                return end;
            }
        }
    }

    fn record(&self, direction: &str, raw: &str) {
        self.shared.recorder.add(object! { "ch" => "ws", "label" => &self.label, "dir" => direction, "raw" => raw });
    }

    fn record_close(&self, by: &str, code: u16, reason: &str) {
        let code = Json::from(u64::from(code));
        self.shared.recorder.add(object! {
            "ch" => "ws", "label" => &self.label, "dir" => "close", "by" => by, "code" => code, "reason" => reason,
        });
    }

    async fn send(&self, frame: Message) -> Result<(), End> {
        self.to_peer.lock().await.send(frame).await.map_err(|_| End::Gone)
    }

    /// Puts a text on the wire.
    pub(super) async fn put(&self, text: &str) -> Result<(), End> {
        self.sent.fetch_add(1, Ordering::Relaxed);
        self.record("recv", text);
        self.send(Message::Text(text.into())).await
    }

    /// Puts bytes on the wire.
    pub(super) async fn put_binary(&self, bytes: Vec<u8>) -> Result<(), End> {
        self.send(Message::Binary(bytes.into())).await
    }

    async fn tell_engine(&self, frame: Inner) -> Result<(), End> {
        // The engine may have closed its side: the other direction ends with what it says.
        let _ = self.to_engine.lock().await.send(frame).await;
        Ok(())
    }

    /// Gives a text to the engine as if it came from the peer.
    pub(super) async fn hand_over(&self, text: &str) -> Result<(), End> {
        self.heard.fetch_add(1, Ordering::Relaxed);
        self.tell_engine(Inner::text(text)).await
    }

    async fn close(self, end: End) {
        // The engine learns that the peer is gone, whatever the peer learns.
        let _ = self.to_engine.lock().await.close().await;
        match end {
            End::Gone => {}
            End::Abrupt => self.record_close("server", 1006, ""),
            End::HalfOpen => {
                let restarts = self.shared.restarts.watch();
                tokio::select! {
                    () = stopped(self.shared.stopping.clone()) => {}
                    _ = restarted(restarts) => {}
                }
            }
            End::Close(code) => {
                let (shown, reason) = code.clone().unwrap_or((1005, String::new()));
                self.record_close("server", shown, &reason);
                let frame = code.map(|(code, reason)| CloseFrame { code, reason: reason.into() });
                if self.send(Message::Close(frame)).await.is_ok() {
                    // Without waiting for the peer's close, it might never read the code.
                    let mut frames = self.from_peer.lock().await;
                    let farewell = async { while let Some(Ok(_)) = frames.next().await {} };
                    let _ = tokio::time::timeout(FAREWELL, farewell).await;
                }
            }
        }
    }
}
