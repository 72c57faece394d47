//! Plays a script as UiPath's runtime would: the same events in the same order, the same waiting.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;

use crate::clock::Clock;
use crate::json::{Json, Object};
use crate::object;
use crate::script::Wait;
use crate::shared::Shared;

use super::super::conversation::Order;
use super::super::envelope::{exchange_error, of_exchange};
use super::super::runtimes::{finished, report, say};
use super::answers::Answers;
use super::call::{Awaits, Call};
use super::fill::Quotes;
use super::script::Script;

/// Why a script ends before its last step.
#[derive(Debug)]
enum Stop {
    /// The exchange was ended, or the server is gone.
    Ended,
    /// The agent fails with this error: id and message.
    Failed(String, String),
    /// The agent ends without a word.
    Crashed,
    /// The agent ends, the exchange does not.
    LeftOpen,
}

/// The agent at work on one exchange.
struct Agent {
    shared: Arc<Shared>,
    conversation: String,
    serial: u64,
    exchange: String,
    answers: Answers,
    quotes: Quotes,
}

/// Starts the agent.
pub(crate) fn start(
    shared: &Arc<Shared>,
    conversation: &str,
    serial: u64,
    order: Order,
    script: Script,
    inbox: UnboundedReceiver<Json>,
) {
    let agent = Agent {
        shared: Arc::clone(shared),
        conversation: conversation.to_owned(),
        serial,
        exchange: order.exchange,
        answers: Answers::new(inbox),
        quotes: Quotes { asked: order.text, tools: order.tools, ..Quotes::default() },
    };
    tokio::spawn(agent.work(script));
}

impl Agent {
    async fn work(mut self, script: Script) {
        // The order has been given under the lock: what is reported comes after that.
        tokio::task::yield_now().await;
        self.report(object! { "event" => "started" });
        let stop = self.play(&script.steps).await.err();
        let status = match stop {
            None => {
                let _ = self.exchange(object! { "endExchange" => object! {} });
                "successful"
            }
            Some(Stop::Failed(id, message)) => {
                let _ = self.put(&exchange_error(&self.conversation, &self.exchange, &id, &message));
                "faulted"
            }
            Some(Stop::Ended) => "stopped",
            Some(Stop::Crashed) => "crashed",
            // As a runtime that waits for ever.
            Some(Stop::LeftOpen) => return self.report(object! { "event" => "ended", "status" => "left open" }),
        };
        self.report(object! { "event" => "ended", "status" => status });
        finished(&self.shared, &self.conversation, self.serial);
    }

    fn report(&self, line: Json) {
        report(&self.shared, &self.conversation, line);
    }

    /// Sends an envelope, if the exchange still is ours.
    fn put(&self, envelope: &Json) -> Result<(), Stop> {
        let mut state = self.shared.uipath.lock();
        let ours = state.conversation(&self.conversation).and_then(|conversation| conversation.run.as_ref());
        if ours.is_none_or(|run| run.serial != self.serial) {
            return Err(Stop::Ended);
        }
        say(&mut state, &self.conversation, envelope, &envelope.to_string());
        Ok(())
    }

    fn exchange(&self, members: Json) -> Result<(), Stop> {
        self.put(&of_exchange(&self.conversation, &self.exchange, members))
    }

    /// Sends members of a message.
    fn message(&self, id: &str, members: Json) -> Result<(), Stop> {
        let mut message = object! { "messageId" => id };
        for (name, value) in members.as_object().cloned().unwrap_or_default() {
            message.set(&name, value);
        }
        self.exchange(object! { "message" => message })
    }

    /// Sends members of a tool call.
    fn call(&self, message: &str, call: &Call, members: Json) -> Result<(), Stop> {
        let mut body = object! { "toolCallId" => &call.id };
        for (name, value) in members.as_object().cloned().unwrap_or_default() {
            body.set(&name, value);
        }
        self.message(message, object! { "toolCall" => body })
    }

    /// The end of a call that is not the client's.
    fn end(&self, message: &str, call: &Call, result: &Json) -> Result<(), Stop> {
        let mut body = object! { "timestamp" => Clock::utc_millis() };
        for (name, value) in result.as_object().cloned().unwrap_or_default() {
            body.set(&name, value);
        }
        self.call(message, call, object! { "endToolCall" => body })
    }

    async fn pause(&self, step: &Json) {
        self.shared.scripts.wait(&Wait::read(step, "hold", "waitMs")).await;
    }

    async fn play(&mut self, steps: &[Json]) -> Result<(), Stop> {
        for (index, step) in steps.iter().enumerate() {
            self.pause(step).await;
            if let Some(meta) = step.get("meta") {
                self.exchange(object! { "metaEvent" => meta.clone() })?;
            }
            if let Some(members) = step.get("session") {
                let mut envelope = object! { "conversationId" => &self.conversation };
                for (name, value) in members.as_object().into_iter().flat_map(Object::iter) {
                    envelope.set(name, value.clone());
                }
                self.put(&envelope)?;
            }
            if let Some(members) = step.get("exchange") {
                self.exchange(members.clone())?;
            }
            if let Some(event) = step.get("event") {
                self.exchange(object! { "message" => event.clone() })?;
            }
            if step.get("text").is_some() || step.get("calls").is_some() {
                self.turn(step, index).await?;
            }
            if let Some(fail) = step.get("fail") {
                let id = error_id(fail.text("code").unwrap_or_default());
                return Err(Stop::Failed(id.to_owned(), failure(fail)));
            }
            if step.flag("crash") == Some(true) {
                return Err(Stop::Crashed);
            }
            if step.flag("leave_open") == Some(true) {
                return Err(Stop::LeftOpen);
            }
        }
        Ok(())
    }

    /// One turn of the model: a message with text, calls, or both.
    async fn turn(&mut self, step: &Json, index: usize) -> Result<(), Stop> {
        let message = format!("{}-message-{index}", self.exchange);
        self.speak(step, &message).await?;
        let bodies = step.get("calls").and_then(Json::as_array).unwrap_or_default();
        let ids = bodies.iter().enumerate();
        let mut calls: Vec<Call> =
            ids.map(|(at, body)| Call::read(body, format!("{}-call-{index}-{at}", self.exchange))).collect();
        for call in &calls {
            self.announce(&message, call)?;
        }
        for call in &mut calls {
            self.go_on(&message, call).await?;
        }
        while calls.iter().any(|call| call.awaits != Awaits::Nothing) {
            self.round(&message, &mut calls).await?;
        }
        if !calls.is_empty() {
            self.quotes.results = calls.into_iter().map(|call| call.shown).collect();
        }
        self.message(&message, object! { "endMessage" => object! {} })
    }

    async fn speak(&mut self, step: &Json, message: &str) -> Result<(), Stop> {
        let start = object! { "timestamp" => Clock::utc_millis(), "role" => "assistant" };
        let Some(text) = step.get("text") else {
            return self.message(message, object! { "startMessage" => start });
        };
        let part = format!("{message}-0");
        let of_part = |name: &str, body: Json| {
            object! { "contentPart" => object! { "contentPartId" => &part, name => body } }
        };
        let mut first = object! { "startMessage" => start };
        let opened = of_part("startContentPart", object! { "mimeType" => "text/markdown" });
        first.set("contentPart", opened.get("contentPart").cloned());
        self.message(message, first)?;
        let delay = Duration::from_millis(step.count("chunk_delay_ms").unwrap_or(0));
        for chunk in self.chunks(text, step.count("chunk_chars")) {
            tokio::time::sleep(delay).await;
            self.message(message, of_part("chunk", chunk))?;
        }
        self.message(message, of_part("endContentPart", object! {}))
    }

    /// A list is sent piece by piece, a text in one piece or in pieces of so many characters.
    fn chunks(&self, text: &Json, chars: Option<u64>) -> Vec<Json> {
        let pieces = match text {
            Json::Array(pieces) => pieces.clone(),
            other => vec![other.clone()],
        };
        let filled = pieces.into_iter().flat_map(|piece| match (piece.as_str(), chars) {
            (None, _) => vec![piece],
            (Some(text), None) => vec![object! { "data" => self.quotes.fill(text) }],
            (Some(text), Some(chars)) => {
                let chars = usize::try_from(chars.max(1)).unwrap_or(usize::MAX);
                let all: Vec<char> = self.quotes.fill(text).chars().collect();
                all.chunks(chars).map(|piece| object! { "data" => piece.iter().collect::<String>() }).collect()
            }
        });
        filled.collect()
    }

    fn announce(&self, message: &str, call: &Call) -> Result<(), Stop> {
        if call.announced {
            self.call(message, call, object! { "startToolCall" => call.start() })?;
        }
        if call.interrupt {
            let id = format!("interrupt-{}", call.id);
            let question = object! { "interruptId" => id, "startInterrupt" => call.question() };
            self.message(message, object! { "interrupt" => question })?;
        }
        if call.executes_at_once() {
            self.call(message, call, object! { "executingToolCall" => object! { "input" => call.input.clone() } })?;
        }
        Ok(())
    }

    /// What the script wants done with a call that was announced, without an answer.
    async fn go_on(&mut self, message: &str, call: &mut Call) -> Result<(), Stop> {
        for more in std::mem::take(&mut call.then) {
            self.pause(&more).await;
            let mut members = more.as_object().cloned().unwrap_or_default();
            let _ = (members.remove("waitMs"), members.remove("hold"));
            if let Some(end) = members.get("endToolCall") {
                call.show(&end.get("output").cloned().unwrap_or_default());
            }
            self.call(message, call, members.into())?;
        }
        let own_result = call.awaits == Awaits::Nothing && (call.blocked_after.is_some() || !call.client_side);
        if let Some(ms) = call.blocked_after {
            tokio::time::sleep(Duration::from_millis(ms)).await;
        }
        if own_result {
            self.end_own(message, call)?;
        }
        Ok(())
    }

    fn end_own(&self, message: &str, call: &mut Call) -> Result<(), Stop> {
        let result = call.result.clone();
        call.show(&result.get("output").cloned().unwrap_or_default());
        self.end(message, call, &result)
    }

    /// Waits for all open calls in their order, then goes on with what was answered.
    async fn round(&mut self, message: &str, calls: &mut [Call]) -> Result<(), Stop> {
        let open = calls.iter_mut().filter(|call| call.awaits != Awaits::Nothing).collect::<Vec<_>>();
        let awaited = open.iter().map(|call| {
            let what = if call.awaits == Awaits::Confirmation { "confirm" } else { "end" };
            (call.id.clone(), Json::from(what))
        });
        self.report(object! { "event" => "waiting", "calls" => Json::Object(awaited.collect()) });
        let mut values = Vec::new();
        for call in &open {
            let value = self.answers.to(&call.id).await.ok_or(Stop::Ended)?;
            if value.flag("approved") == Some(true) {
                let edited = value.present("input");
                if edited.is_some_and(|input| input.as_object().is_none()) {
                    return Err(Stop::Failed(
                        "AGENT_RUNTIME_ERROR".to_owned(),
                        "An unexpected error has occurred.".to_owned(),
                    ));
                }
                let input = edited.unwrap_or(&call.input).clone();
                self.call(message, call, object! { "executingToolCall" => object! { "input" => input } })?;
            }
            values.push(value);
        }
        let resumed = open.iter().zip(&values).map(|(call, value)| (call.id.clone(), value.clone()));
        self.report(object! { "event" => "resumed", "values" => Json::Object(resumed.collect()) });
        for (call, value) in open.into_iter().zip(values) {
            self.quotes.note(&call.id, value.clone());
            self.resume(message, call, &value)?;
        }
        Ok(())
    }

    fn resume(&self, message: &str, call: &mut Call, value: &Json) -> Result<(), Stop> {
        let awaited = std::mem::replace(&mut call.awaits, Awaits::Nothing);
        if awaited == Awaits::End {
            // The answer of the client. It is not echoed. A confirmation in its place is the result.
            let output = if value.get("approved").is_some() { Some(value) } else { value.get("output") };
            call.show(&output.cloned().unwrap_or_default());
            return Ok(());
        }
        let problem = match value.flag("approved") {
            None => "1 validation error: approved is required".to_owned(),
            Some(false) => {
                let output = object! { "meta" => "Cancelled by user" };
                call.show(&output);
                return self.end(message, call, &object! { "output" => output, "isError" => false });
            }
            Some(true) => match call.approve(value.get("input").unwrap_or(&Json::Null)) {
                Err(problem) => problem,
                Ok(()) if call.client_side => {
                    call.awaits = Awaits::End;
                    return Ok(());
                }
                Ok(()) => return self.end_own(message, call),
            },
        };
        call.edited = None;
        call.show(&Json::from(problem.clone()));
        self.end(message, call, &object! { "output" => problem, "isError" => true })
    }
}

/// The last part of a runtime's code selects the error that clients see.
fn error_id(code: &str) -> &'static str {
    match code.rsplit('.').next().unwrap_or_default() {
        "LICENSE_NOT_AVAILABLE" => "AGENT_LICENSING_CONSUMPTION_VALIDATION_FAILED",
        "UNSUCCESSFUL_STOP_REASON" => "AGENT_RESPONSE_IS_INCOMPLETE",
        "TERMINATION_MAX_ITERATIONS" => "AGENT_MAXIMUM_SEQUENTIAL_STEPS_REACHED",
        "MISSING_INPUT_FILE" => "AGENT_INVALID_INPUT",
        _ => "AGENT_RUNTIME_ERROR",
    }
}

fn failure(fail: &Json) -> String {
    fail.text("message").unwrap_or("An unexpected error has occurred.").to_owned()
}
