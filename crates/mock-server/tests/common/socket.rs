//! A WebSocket client that keeps what it receives.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use pagehand_mock_server::json::{Json, parse};
use tokio::net::TcpStream;
use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::name_of;

const PATIENCE: Duration = Duration::from_secs(5);

type Stream = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// How the server ended a socket: with a code, or with none.
pub type Ended = Option<(u16, String)>;

#[derive(Default)]
struct Seen {
    frames: Vec<String>,
    end: Option<Ended>,
}

pub struct Socket {
    sink: AsyncMutex<SplitSink<Stream, Message>>,
    seen: Arc<Mutex<Seen>>,
    news: watch::Receiver<u64>,
}

impl Socket {
    /// Fails with the status of a refused handshake.
    pub async fn open(url: &str, headers: &[(&str, &str)]) -> Result<Self, u16> {
        let mut request = url.replacen("http", "ws", 1).into_client_request().unwrap();
        for (name, value) in headers {
            let name: reqwest::header::HeaderName = name.parse().unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        let (stream, _) = match tokio_tungstenite::connect_async(request).await {
            Ok(opened) => opened,
            Err(Error::Http(response)) => return Err(response.status().as_u16()),
            Err(other) => panic!("{other}"),
        };
        let (sink, mut stream) = stream.split();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (tell, news) = watch::channel(0);
        let keep = Arc::clone(&seen);
        tokio::spawn(async move {
            let mut end = None;
            while let Some(Ok(message)) = stream.next().await {
                match message {
                    Message::Text(text) => keep.lock().unwrap().frames.push(text.to_string()),
                    Message::Close(frame) => {
                        end = frame.map(|frame| (u16::from(frame.code), frame.reason.to_string()));
                    }
                    _ => {}
                }
                tell.send_modify(|count| *count += 1);
            }
            keep.lock().unwrap().end = Some(end);
            tell.send_modify(|count| *count += 1);
        });
        Ok(Self { sink: AsyncMutex::new(sink), seen, news })
    }

    pub async fn send(&self, text: &str) {
        self.sink.lock().await.send(Message::text(text)).await.unwrap();
    }

    pub async fn send_binary(&self) {
        self.sink.lock().await.send(Message::binary(vec![1, 2])).await.unwrap();
    }

    pub async fn close(&self) {
        // The server may have been faster.
        let _ = self.sink.lock().await.close().await;
    }

    pub fn raw(&self) -> Vec<String> {
        self.seen.lock().unwrap().frames.clone()
    }

    pub fn frames(&self) -> Vec<Json> {
        self.raw().iter().map(|frame| parse(frame).unwrap()).collect()
    }

    async fn wait<T>(&self, what: &str, mut look: impl FnMut(&Seen) -> Option<T>) -> T {
        let mut news = self.news.clone();
        let found = tokio::time::timeout(PATIENCE, async {
            loop {
                if let Some(found) = look(&self.seen.lock().unwrap()) {
                    return found;
                }
                if news.changed().await.is_err() {
                    return look(&self.seen.lock().unwrap()).unwrap_or_else(|| panic!("socket ended: no {what}"));
                }
            }
        });
        found.await.unwrap_or_else(|_| panic!("no {what} in time; got {:#?}", self.raw()))
    }

    /// Waits until so many frames satisfy the predicate.
    pub async fn until_count(&self, what: &str, count: usize, wanted: impl Fn(&Json) -> bool) {
        let (mut hits, mut looked_at) = (0, 0);
        self.wait(what, |seen| {
            let news = &seen.frames[looked_at..];
            hits += news.iter().filter(|frame| parse(frame).is_ok_and(|frame| wanted(&frame))).count();
            looked_at = seen.frames.len();
            (hits >= count).then_some(())
        })
        .await;
    }

    /// Waits for the `count`th frame with this name (see `name_of`), and gives all frames so far.
    pub async fn until(&self, name: &str, count: usize) -> Vec<Json> {
        self.until_count(name, count, |frame| name_of(frame) == name).await;
        self.frames()
    }

    /// Waits for a frame with exactly this text.
    pub async fn until_raw(&self, text: &str) {
        self.wait(text, |seen| seen.frames.iter().any(|frame| frame == text).then_some(())).await;
    }

    /// Waits for a frame that begins so.
    pub async fn until_begins(&self, prefix: &str) {
        self.wait(prefix, |seen| seen.frames.iter().any(|frame| frame.starts_with(prefix)).then_some(())).await;
    }

    /// Whether the server has ended it.
    pub fn has_ended(&self) -> bool {
        self.seen.lock().unwrap().end.is_some()
    }

    /// Waits for the end.
    pub async fn ended(&self) -> Ended {
        self.wait("end", |seen| seen.end.clone()).await
    }
}
