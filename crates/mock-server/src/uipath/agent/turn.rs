//! One turn of the model: text, calls, and what becomes of the calls.

use std::time::Duration;

use crate::clock::Clock;
use crate::json::Json;
use crate::object;

use super::call::{Awaits, Call};
use super::play::{Agent, FAILED, Stop};

impl Agent {
    /// One turn of the model: a message with text, calls, or both.
    pub(super) async fn turn(&mut self, step: &Json, index: usize) -> Result<(), Stop> {
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
            if !members.is_empty() {
                self.call(message, call, members.into())?;
            }
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
                    return Err(Stop::Failed("AGENT_RUNTIME_ERROR".to_owned(), FAILED.to_owned()));
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
