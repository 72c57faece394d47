//! The scripted agent's language: what the "LLM" answers, step by step.
//!
//! The language is that of `tests/servers/openhands/scripted_llm.py`, which plays the LLM for the real server, plus
//! `"loop": true` on a script, and on a step
//! - `"asked": "words"`: where a user's message holds these words, the answers to it begin, in whatever conversation and
//!   however often;
//! - `"tool_hold": "name"`, `"tool_ms": 3000`: how long the server's tools take over the calls of this step;
//! - `"reply": "text"`: no step of a run, but the answer to a question of `ask_agent`.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::json::{Json, Object, python_dumps};
use crate::object;

const HOLD_LIMIT: Duration = Duration::from_secs(30);
const CHUNK_CHARS: u64 = 16;
/// Each request holds the whole conversation: only the last ones are kept.
const REQUESTS: usize = 200;

/// One tool call of an answer.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    /// As the LLM wrote them: not necessarily JSON.
    pub(crate) arguments: String,
}

/// What the LLM answers.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// A completion.
    Message { text: Option<String>, calls: Vec<Call> },
    /// An HTTP error of the LLM's provider.
    Error { status: u64, message: String },
}

/// An answer and how it is to arrive.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) answer: Answer,
    /// `chatcmpl-scripted-…`
    pub(crate) response_id: String,
    pub(crate) chunk_chars: usize,
    pub(crate) chunk_delay: Duration,
    /// Before the answer.
    pub(crate) thinking: Wait,
    /// While the server's tools of this answer run.
    pub(crate) work: Wait,
}

/// What takes time: until a name is released, and then so long.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wait {
    hold: Option<String>,
    time: Duration,
}

impl Wait {
    pub(crate) fn read(step: &Json, hold: &str, time: &str) -> Self {
        Self { hold: step.text(hold).map(str::to_owned), time: Duration::from_millis(step.count(time).unwrap_or(0)) }
    }
}

impl Turn {
    /// An answer of no script: the provider refuses.
    pub(crate) fn failed(status: u64, message: &str) -> Self {
        Self {
            answer: Answer::Error { status, message: message.to_owned() },
            response_id: String::new(),
            chunk_chars: 1,
            chunk_delay: Duration::ZERO,
            thinking: Wait::default(),
            work: Wait::default(),
        }
    }
}

#[derive(Debug)]
struct Script {
    steps: Vec<Json>,
    position: usize,
    repeats: bool,
    /// What `ask_agent` is told, one after the other.
    replies: VecDeque<String>,
    requests: VecDeque<Json>,
}

impl Script {
    fn read(body: &Json) -> Result<Self, String> {
        let steps = body.as_array().or_else(|| body.get("steps").and_then(Json::as_array));
        let steps = steps
            .filter(|steps| steps.iter().all(|step| step.as_object().is_some()))
            .ok_or("a script needs 'steps', a list of objects")?;
        let mut all = Vec::new();
        let mut replies = VecDeque::new();
        for step in steps {
            if let Some(reply) = step.text("reply") {
                replies.push_back(reply.to_owned());
                continue;
            }
            match step.count("repeat") {
                Some(times) => all.extend((0..times).map(|index| numbered(step, &index.to_string()))),
                None => all.push(step.clone()),
            }
        }
        let repeats = body.flag("loop") == Some(true);
        Ok(Self { steps: all, position: 0, repeats, replies, requests: VecDeque::new() })
    }

    fn next(&mut self, request: &Json) -> Json {
        if let Some(position) = self.answer_to(request) {
            self.position = position;
        }
        if self.repeats && !self.steps.is_empty() && self.position >= self.steps.len() {
            self.position = 0;
        }
        let step = self.steps.get(self.position).cloned();
        self.position += 1;
        step.unwrap_or_else(|| object! { "finish" => "script exhausted" })
    }

    fn note(&mut self, request: Json) {
        if self.requests.len() >= REQUESTS {
            self.requests.pop_front();
        }
        self.requests.push_back(request);
    }

    /// The step for what a conversation asked last: its question's first step, and one more for each answer since.
    fn answer_to(&self, request: &Json) -> Option<usize> {
        let mut answers = 0;
        for message in request.get("messages").and_then(Json::as_array)?.iter().rev() {
            let words = message.text("content").unwrap_or_default().to_lowercase();
            let begins = |step: &Json| step.text("asked").is_some_and(|asked| words.contains(&asked.to_lowercase()));
            match message.text("role") {
                Some("assistant") => answers += 1,
                Some("user") => {
                    if let Some(first) = self.steps.iter().position(begins) {
                        return Some(first + answers);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// `step` with `{i}` replaced in every string.
pub(crate) fn numbered(step: &Json, index: &str) -> Json {
    match step {
        Json::Text(text) => Json::Text(text.replace("{i}", index)),
        Json::Array(items) => Json::Array(items.iter().map(|item| numbered(item, index)).collect()),
        Json::Object(object) => {
            Json::Object(object.iter().map(|(key, value)| (key.to_owned(), numbered(value, index))).collect())
        }
        other => other.clone(),
    }
}

#[derive(Debug, Default)]
struct Store {
    scripts: HashMap<String, Script>,
    released: HashSet<String>,
    serial: u64,
}

impl Store {
    fn script_of(&mut self, model: &str) -> Option<&mut Script> {
        let name = model.rsplit('/').next().unwrap_or(model);
        let name = if self.scripts.contains_key(name) { name } else { "default" };
        self.scripts.get_mut(name)
    }
}

/// All scripts of a server.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    store: Mutex<Store>,
    release: Notify,
}

impl Scripts {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a script under `name`, from its first step; answers with the number of steps.
    pub(crate) fn put(&self, name: &str, body: &Json) -> Result<usize, String> {
        let script = Script::read(body)?;
        let steps = script.steps.len();
        self.store().scripts.insert(name.to_owned(), script);
        Ok(steps)
    }

    /// Stores every script of `{"name": script, …}`.
    pub(crate) fn put_all(&self, all: &Json) -> Result<(), String> {
        let all = all.as_object().ok_or("the scripts must be an object")?;
        all.iter().try_for_each(|(name, body)| self.put(name, body).map(|_| ()))
    }

    pub(crate) fn remove(&self, name: &str) {
        self.store().scripts.remove(name);
    }

    /// Position, steps left and requests received.
    pub(crate) fn describe(&self, name: &str) -> Option<Json> {
        let store = self.store();
        let script = store.scripts.get(name)?;
        Some(object! {
            "name" => name,
            "position" => script.position,
            "steps" => script.steps.len(),
            "left" => script.steps.len().saturating_sub(script.position),
            "requests" => script.requests.iter().cloned().collect::<Vec<_>>(),
        })
    }

    /// Lets every step that waits on `name` go on, now and later.
    pub(crate) fn release(&self, name: &str) {
        self.store().released.insert(name.to_owned());
        self.release.notify_waiters();
    }

    /// The turn that answers a request to `model`; it is used up at once, even if nobody waits for it.
    pub(crate) fn take(&self, model: &str, request: Json) -> Turn {
        let mut store = self.store();
        store.serial += 1;
        let serial = store.serial;
        let step = if let Some(script) = store.script_of(model) {
            let step = script.next(&request);
            script.note(request);
            step
        } else {
            object! { "finish" => "no script" }
        };
        Turn {
            answer: answer(&step, serial),
            response_id: format!("chatcmpl-scripted-{serial:06}"),
            chunk_chars: usize::try_from(step.count("chunk_chars").unwrap_or(CHUNK_CHARS).max(1)).unwrap_or(1),
            chunk_delay: Duration::from_millis(step.count("chunk_delay_ms").unwrap_or(0)),
            thinking: Wait::read(&step, "hold", "delay_ms"),
            work: Wait::read(&step, "tool_hold", "tool_ms"),
        }
    }

    /// The next reply to a question on the side. It uses up no step.
    pub(crate) fn reply(&self, model: &str, request: Json) -> String {
        let mut store = self.store();
        let Some(script) = store.script_of(model) else { return "no script".to_owned() };
        script.note(request);
        let reply = script.replies.pop_front();
        if script.repeats {
            script.replies.extend(reply.clone());
        }
        reply.unwrap_or_else(|| "script exhausted".to_owned())
    }

    /// Waits as the step says.
    pub(crate) async fn wait(&self, wait: &Wait) {
        if let Some(name) = &wait.hold {
            // At most 30 s, as in the Python twin: a forgotten release must not hang a test run.
            let _ = tokio::time::timeout(HOLD_LIMIT, self.released(name)).await;
        }
        if !wait.time.is_zero() {
            tokio::time::sleep(wait.time).await;
        }
    }

    async fn released(&self, name: &str) {
        loop {
            let notified = self.release.notified();
            tokio::pin!(notified);
            notified.as_mut().enable();
            if self.store().released.contains(name) {
                return;
            }
            notified.await;
        }
    }
}

fn answer(step: &Json, serial: u64) -> Answer {
    if let Some(status) = step.count("error") {
        let message = step.get("body").and_then(|body| body.get("error")).and_then(|error| error.text("message"));
        return Answer::Error { status, message: message.unwrap_or("scripted error").to_owned() };
    }
    if let Some(raw) = step.get("raw") {
        let calls = raw.get("tool_calls").and_then(Json::as_array).unwrap_or_default();
        let calls = calls.iter().enumerate().map(|(index, call)| {
            let function = call.get("function").cloned().unwrap_or_default();
            read_call(&function, call.text("id"), serial, index)
        });
        return Answer::Message { text: raw.text("content").map(str::to_owned), calls: calls.collect() };
    }
    let finish = step
        .text("finish")
        .map(|message| vec![object! { "name" => "finish", "arguments" => object! { "message" => message } }]);
    let calls = finish.as_deref().or_else(|| step.get("tool_calls").and_then(Json::as_array)).unwrap_or_default();
    let text = step.text("text").map(str::to_owned);
    let calls = calls.iter().enumerate().map(|(index, call)| read_call(call, call.text("id"), serial, index));
    Answer::Message { text, calls: calls.collect() }
}

fn read_call(call: &Json, id: Option<&str>, serial: u64, index: usize) -> Call {
    Call {
        id: id.map_or_else(|| format!("call_{serial:06}_{index}"), str::to_owned),
        name: call.text("name").unwrap_or_default().to_owned(),
        arguments: match call.get("arguments") {
            Some(Json::Text(text)) => text.clone(),
            Some(value) => python_dumps(value),
            None => python_dumps(&Json::Object(Object::new())),
        },
    }
}
