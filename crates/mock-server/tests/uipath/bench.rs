//! A server, and a client that speaks Socket.IO by hand.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use std::time::{Duration, Instant};

use pagehand_mock_server::json::{Json, parse};
use pagehand_mock_server::{Config, UipathConfig, object};

use crate::common::{Answer, Bench, Socket};

pub const TOKEN: &str = "token-1";
pub const API: &str = "/org/tenant/autopilotforeveryone_/api/v1";
const PATIENCE: Duration = Duration::from_secs(5);

/// A server with a REST client.
pub struct Service(pub Bench);

impl std::ops::Deref for Service {
    type Target = Bench;

    fn deref(&self) -> &Bench {
        &self.0
    }
}

impl Service {
    pub async fn start() -> Self {
        Self::with(UipathConfig::default()).await
    }

    pub async fn with(uipath: UipathConfig) -> Self {
        Self(Bench::with(Config { uipath, ..Config::default() }).await)
    }

    /// A REST request with the token.
    pub async fn rest(&self, method: &str, path: &str, body: impl Into<Option<Json>>) -> Answer {
        self.rest_with(TOKEN, method, path, body.into()).await
    }

    pub async fn rest_with(&self, token: &str, method: &str, path: &str, body: Option<Json>) -> Answer {
        let bearer = format!("Bearer {token}");
        let body = body.map(|body| body.to_string());
        self.send(method, &format!("{API}{path}"), &[("authorization", &bearer)], body).await.unwrap()
    }

    /// A control request that must succeed.
    pub async fn control(&self, method: &str, path: &str, body: &str) -> Json {
        let body = Some(body.to_owned()).filter(|body| !body.is_empty());
        let answer = self.send(method, &format!("/mock/uipath{path}"), &[], body).await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }

    /// A conversation that plays this script.
    pub async fn conversation(&self, script: &str) -> String {
        let body = object! { "agentReleaseId" => 7u64, "folderId" => 11u64 };
        let answer = self.rest("POST", "/conversation", Some(body)).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let id = answer.json().text("conversationId").unwrap().to_owned();
        self.control("PUT", &format!("/conversations/{id}/script"), script).await;
        id
    }

    pub async fn state(&self, id: &str) -> Json {
        self.control("GET", &format!("/conversations/{id}"), "").await
    }

    /// What the agent reported under this name.
    pub async fn reports(&self, id: &str, event: &str) -> Vec<Json> {
        let state = self.state(id).await;
        let reports = state.get("reports").unwrap().as_array().unwrap().to_vec();
        reports.into_iter().filter(|report| report.text("event") == Some(event)).collect()
    }

    /// Waits for the agent's `count`th report under this name.
    pub async fn reported(&self, id: &str, event: &str, count: usize) -> Json {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(found) = self.reports(id, event).await.get(count - 1) {
                return found.clone();
            }
            assert!(Instant::now() < deadline, "no {event}: {}", self.state(id).await);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// A socket that is let in.
    pub async fn client(&self) -> Client {
        let client = Client::open(self).await;
        client.connect(TOKEN).await;
        client.until("40", 1).await;
        client
    }

    /// A socket with an open session.
    pub async fn session(&self, id: &str) -> Client {
        let client = self.client().await;
        client.start_session(id).await;
        client
    }
}

/// A client socket.
pub struct Client {
    pub socket: Socket,
}

impl Client {
    /// A socket before its CONNECT.
    pub async fn open(service: &Service) -> Self {
        let query = "x-uipath-internal-accountid=org&x-uipath-internal-tenantid=tenant&EIO=4&transport=websocket";
        let url = service.url(&format!("/socket.io/?{query}"));
        Self { socket: Socket::open(&url, &[]).await.unwrap() }
    }

    /// A socket as UiPath's runtime opens it.
    pub async fn runtime(service: &Service, id: &str) -> Self {
        let url = service.url(&format!("/socket.io/?conversationId={id}&transport=websocket&EIO=4&t=1"));
        let headers = [
            ("authorization", "Bearer runtime-token"),
            ("x-uipath-internal-tenantid", "tenant-guid"),
            ("x-uipath-internal-accountid", "org-guid"),
            ("x-uipath-conversationid", id),
        ];
        let client = Self { socket: Socket::open(&url, &headers).await.unwrap() };
        client.send_raw("40{}").await;
        client.until("40", 1).await;
        client
    }

    pub async fn connect(&self, token: &str) {
        self.send_raw(&format!("40{}", object! { "token" => token })).await;
    }

    pub async fn send_raw(&self, text: &str) {
        self.socket.send(text).await;
    }

    pub async fn emit(&self, envelope: &Json) {
        self.send_raw(&format!("42[\"ConversationEvent\",{envelope}]")).await;
    }

    /// Waits until so many frames begin so, and gives the last of them.
    pub async fn until(&self, prefix: &str, count: usize) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let frames = self.socket.raw();
            if let Some(found) = frames.iter().filter(|frame| frame.starts_with(prefix)).nth(count - 1) {
                return found.clone();
            }
            assert!(Instant::now() < deadline, "no {prefix} in {frames:#?}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// The envelopes received so far.
    pub fn envelopes(&self) -> Vec<Json> {
        self.socket.raw().iter().filter_map(|frame| envelope_in(frame)).collect()
    }

    /// Waits for the `count`th envelope with an event of this name, and gives it.
    pub async fn event(&self, name: &str, count: usize) -> Json {
        self.event_within(name, count, PATIENCE).await
    }

    pub async fn event_within(&self, name: &str, count: usize, patience: Duration) -> Json {
        let deadline = Instant::now() + patience;
        loop {
            let envelopes = self.envelopes();
            if let Some(found) = envelopes.iter().filter(|envelope| find(envelope, name).is_some()).nth(count - 1) {
                return found.clone();
            }
            assert!(Instant::now() < deadline, "no {name} in {:#?}", self.socket.raw());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    pub async fn start_session(&self, id: &str) {
        let before = self.envelopes().iter().filter(|envelope| find(envelope, "sessionStarted").is_some()).count();
        self.emit(&object! { "conversationId" => id, "startSession" => object! {} }).await;
        self.event("sessionStarted", before + 1).await;
    }

    /// Starts an exchange and says something in it.
    pub async fn ask(&self, id: &str, exchange: &str, text: &str) {
        self.ask_with(id, exchange, text, object! {}).await;
    }

    pub async fn ask_with(&self, id: &str, exchange: &str, text: &str, start: Json) {
        let message = format!("{exchange}-user");
        self.exchange(id, exchange, object! { "startExchange" => start }).await;
        let of_part = |name: &str, body: Json| {
            let part = object! { "contentPartId" => "P1", name => body };
            object! { "messageId" => &message, "contentPart" => part }
        };
        let said = [
            object! { "messageId" => &message, "startMessage" => object! { "role" => "user" } },
            of_part("startContentPart", object! { "mimeType" => "text/plain" }),
            of_part("chunk", object! { "data" => text }),
            of_part("endContentPart", object! {}),
            object! { "messageId" => &message, "endMessage" => object! {} },
        ];
        for event in said {
            self.exchange(id, exchange, object! { "message" => event }).await;
        }
    }

    pub async fn exchange(&self, id: &str, exchange: &str, members: Json) {
        let mut body = object! { "exchangeId" => exchange };
        for (name, value) in members.as_object().unwrap().iter() {
            body.set(name, value.clone());
        }
        self.emit(&object! { "conversationId" => id, "exchange" => body }).await;
    }

    /// Answers the call that an envelope is about.
    pub async fn answer(&self, envelope: &Json, kind: &str, body: &str) {
        let exchange = envelope.get("exchange").unwrap();
        let message = exchange.get("message").unwrap();
        let call = message.get("toolCall").unwrap().get("toolCallId").unwrap().clone();
        let call = object! { "toolCallId" => call, kind => parse(body).unwrap() };
        let message = object! { "messageId" => message.get("messageId").cloned(), "toolCall" => call };
        let id = envelope.text("conversationId").unwrap();
        self.exchange(id, exchange.text("exchangeId").unwrap(), object! { "message" => message }).await;
    }

    /// What the assistant has said, all messages in a row.
    pub fn text(&self) -> String {
        let envelopes = self.envelopes();
        let chunks = envelopes.iter().filter_map(|envelope| find(envelope, "chunk"));
        chunks.filter_map(|chunk| chunk.text("data").map(str::to_owned)).collect()
    }
}

/// The envelope of an event frame.
pub fn envelope_in(frame: &str) -> Option<Json> {
    let rest = frame.strip_prefix("42")?.trim_start_matches(|c: char| c.is_ascii_digit());
    let array = parse(rest).ok()?;
    let items = array.as_array()?;
    (items.first()?.as_str() == Some("ConversationEvent")).then(|| items[1].clone())
}

const LEVELS: [&str; 7] =
    ["exchange", "message", "contentPart", "toolCall", "interrupt", "asyncInputStream", "asyncToolCall"];

/// The body of an event of this name, at whatever level.
pub fn find(envelope: &Json, name: &str) -> Option<Json> {
    let object = envelope.as_object()?;
    object
        .get(name)
        .cloned()
        .or_else(|| LEVELS.iter().filter_map(|level| object.get(level)).find_map(|level| find(level, name)))
}

/// The names of the events in an envelope, outermost first.
pub fn names(envelope: &Json) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in envelope.as_object().unwrap().iter() {
        if LEVELS.contains(&name) {
            found.extend(names(value));
        } else if !name.ends_with("Id") {
            found.push(name.to_owned());
        }
    }
    found
}

/// The names of all events, several in one envelope joined by `+`.
pub fn story(envelopes: &[Json]) -> Vec<String> {
    envelopes.iter().map(|envelope| names(envelope).join("+")).collect()
}
