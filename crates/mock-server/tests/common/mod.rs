//! What the tests share: a server, clients of it, and the recordings.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code; each test file uses a part of it"
)]

pub mod matching;
pub mod replay;
pub mod socket;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use pagehand_mock_server::json::{Json, parse};
use pagehand_mock_server::{Config, Running, object, serve};
pub use socket::Socket;
use tokio::task::JoinHandle;

pub const KEY: &str = "test-session-key";

/// The lines of a recording.
pub fn recording(name: &str) -> Vec<Json> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/openhands");
    let file = PathBuf::from(folder).join(format!("{name}.jsonl"));
    let text = std::fs::read_to_string(&file).unwrap();
    text.lines().map(|line| parse(line).unwrap()).collect()
}

/// The lines of one case.
pub fn case(name: &str, case: &str) -> Vec<Json> {
    let lines: Vec<Json> = recording(name).into_iter().filter(|line| line.text("case") == Some(case)).collect();
    assert!(!lines.is_empty(), "no case {case} in {name}");
    lines
}

pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Json {
        parse(&self.text).unwrap()
    }
}

/// A server with a client.
pub struct Bench {
    pub running: Running,
    pub http: reqwest::Client,
    pub key: Option<String>,
}

impl Bench {
    pub async fn start() -> Self {
        Self::with(Config::default()).await
    }

    pub async fn keyed() -> Self {
        Self::with(Config { key: Some(KEY.to_owned()), ..Config::default() }).await
    }

    pub async fn with(config: Config) -> Self {
        let key = config.key.clone();
        Self { running: serve(config).await.unwrap(), http: reqwest::Client::new(), key }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.running.base_url())
    }

    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> reqwest::Result<Answer> {
        let mut request = self.http.request(method.parse().unwrap(), self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body);
        }
        let response = request.send().await?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        Ok(Answer { status, headers, text: response.text().await? })
    }

    pub async fn call(&self, method: &str, path: &str, body: Option<Json>) -> Answer {
        let key = self.key.clone();
        let headers: Vec<(&str, &str)> = key.iter().map(|key| ("x-session-api-key", key.as_str())).collect();
        self.send(method, path, &headers, body.map(|body| body.to_string())).await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Json {
        self.call("GET", path, None).await.json()
    }

    pub async fn post(&self, path: &str, body: Json) -> Answer {
        self.call("POST", path, Some(body)).await
    }

    /// Sends a request and goes on once the server has it: its answer comes later.
    pub async fn later(&self, method: &str, path: &str, body: Option<Json>) -> JoinHandle<reqwest::Result<Answer>> {
        let before = self.recorded(path).await;
        let (url, http, key) = (self.url(path), self.http.clone(), self.key.clone());
        let method = method.parse().unwrap();
        let task = tokio::spawn(async move {
            let mut request = http.request(method, url).header("content-type", "application/json");
            if let Some(key) = key {
                request = request.header("x-session-api-key", key);
            }
            let response = request.body(body.map(|body| body.to_string()).unwrap_or_default()).send().await?;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            Ok(Answer { status, headers, text: response.text().await? })
        });
        let deadline = Instant::now() + Duration::from_secs(5);
        while self.recorded(path).await == before {
            assert!(Instant::now() < deadline, "{path} never arrived");
        }
        task
    }

    /// Waits until the LLM of a script has been asked so often.
    pub async fn asked(&self, script: &str, times: usize) {
        let deadline = Instant::now() + Duration::from_secs(5);
        let path = format!("/mock/scripts/{script}");
        while self.get(&path).await.get("requests").unwrap().as_array().unwrap().len() < times {
            assert!(Instant::now() < deadline, "the LLM was never asked");
        }
    }

    /// Waits until a fault has fired so often.
    pub async fn until_fired(&self, times: u64) {
        let deadline = Instant::now() + Duration::from_secs(5);
        while self.fired().await != [times] {
            assert!(Instant::now() < deadline, "the fault did not fire");
        }
    }

    /// How many requests for a path the server has received.
    async fn recorded(&self, path: &str) -> usize {
        let record = self.get("/mock/record").await;
        let lines = record.as_array().unwrap().iter();
        lines.filter(|line| line.text("dir") == Some("request") && line.text("path") == Some(path)).count()
    }

    /// Runs a conversation of another script to its end, so that whatever could happen meanwhile has happened.
    pub async fn let_others_run(&self) {
        let id = self.conversation("others").await;
        let socket = self.legacy(&id).await;
        socket.until("full_state", 1).await;
        self.message(&id, "go").await;
        socket.until("full_state", 2).await;
    }

    pub async fn release(&self, name: &str) {
        assert_eq!(self.post(&format!("/mock/release/{name}"), object! {}).await.status, 200);
    }

    pub async fn status(&self, id: &str) -> String {
        self.get(&format!("/api/conversations/{id}")).await.text("execution_status").unwrap().to_owned()
    }

    pub async fn script(&self, name: &str, steps: &str) {
        let answer = self.call("PUT", &format!("/mock/scripts/{name}"), Some(parse(steps).unwrap())).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }

    pub async fn faults(&self, faults: &str) {
        let answer = self.call("PUT", "/mock/faults", Some(parse(faults).unwrap())).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }

    pub async fn fired(&self) -> Vec<u64> {
        let faults = self.get("/mock/faults").await;
        faults.as_array().unwrap().iter().map(|fault| fault.count("fired").unwrap()).collect()
    }

    /// A conversation with the tool `show_toast`, played by the script `model`.
    pub async fn conversation(&self, model: &str) -> String {
        self.conversation_with(model, "{}").await
    }

    pub async fn conversation_with(&self, model: &str, more: &str) -> String {
        let answer = self.post("/api/conversations", create_body(model, more)).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        answer.json().text("id").unwrap().to_owned()
    }

    pub async fn message(&self, id: &str, text: &str) {
        let answer = self.post(&format!("/api/conversations/{id}/events"), message(text, true)).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }

    pub async fn events(&self, id: &str) -> Vec<Json> {
        let page = self.get(&format!("/api/conversations/{id}/events/search")).await;
        page.get("items").unwrap().as_array().unwrap().to_vec()
    }

    pub async fn legacy(&self, id: &str) -> Socket {
        self.socket(&format!("/sockets/events/{id}")).await
    }

    pub async fn session(&self, id: &str) -> Socket {
        self.socket(&format!("/sockets/session/{id}?after_seq=-1")).await
    }

    /// An authenticated socket.
    pub async fn socket(&self, path: &str) -> Socket {
        let socket = Socket::open(&self.url(path), &[]).await.unwrap();
        if let Some(key) = &self.key {
            socket.send(&object! { "type" => "auth", "session_api_key" => key }.to_string()).await;
        }
        socket
    }
}

pub fn message(text: &str, run: bool) -> Json {
    let content = vec![object! { "type" => "text", "text" => text }];
    object! { "role" => "user", "content" => content, "run" => run }
}

pub fn create_body(model: &str, more: &str) -> Json {
    let mut body = parse(
        r#"{"agent": {"kind": "Agent", "llm": {"model": "", "api_key": "x"}, "tools": []},
            "workspace": {"working_dir": "/workspace/project"}, "autotitle": false, "client_tools": [
            {"name": "show_toast", "description": "d", "parameters": {"type": "object",
             "properties": {"message": {"type": "string"}}, "required": ["message"]}}]}"#,
    )
    .unwrap();
    let llm = object! { "model" => format!("openai/{model}"), "api_key" => "x" };
    body.as_object_mut().unwrap().get_mut("agent").unwrap().set("llm", llm);
    for (key, value) in parse(more).unwrap().as_object().unwrap().iter() {
        body.set(key, value.clone());
    }
    body
}

/// What a frame is about, in one word: the kind, or the key of a state update.
pub fn name_of(frame: &Json) -> String {
    let event = frame.get("event").unwrap_or(frame);
    match event.text("kind") {
        Some("ConversationStateUpdateEvent") => {
            let value = event.get("value").and_then(Json::as_str).unwrap_or_default();
            match event.text("key") {
                Some("execution_status") => value.to_owned(),
                key => key.unwrap_or_default().to_owned(),
            }
        }
        // `delta` frames have a `kind` of their own.
        Some(kind) if frame.text("type").is_none() || frame.get("event").is_some() => kind.to_owned(),
        _ => frame.text("type").unwrap_or_default().to_owned(),
    }
}

pub fn names(frames: &[Json]) -> Vec<String> {
    frames.iter().map(name_of).collect()
}

/// The last event of this name, without its envelope.
pub fn last_event(frames: &[Json], name: &str) -> Json {
    let frame = frames.iter().rfind(|frame| name_of(frame) == name).unwrap();
    frame.get("event").unwrap_or(frame).clone()
}
