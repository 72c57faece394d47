//! Plays a script as UiPath's runtime would: the same events in the same order, the same waiting.

use std::sync::Arc;

use tokio::sync::mpsc::UnboundedReceiver;

use crate::json::Json;
use crate::object;
use crate::script::Wait;
use crate::shared::Shared;

use super::super::conversation::Order;
use super::super::envelope::{exchange_error, with};
use super::super::runtimes::finished;
use super::answers::Answers;
use super::fill::Quotes;
use super::script::Script;

/// How the runtime words an error that it does not explain.
pub(crate) const FAILED: &str = "An unexpected error has occurred.";

/// Why a script ends before its last step.
#[derive(Debug)]
pub(super) enum Stop {
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
pub(super) struct Agent {
    pub(super) shared: Arc<Shared>,
    pub(super) conversation: String,
    pub(super) serial: u64,
    pub(super) exchange: String,
    pub(super) answers: Answers,
    pub(super) quotes: Quotes,
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

    pub(super) async fn pause(&self, step: &Json) {
        self.shared.scripts.wait(&Wait::read(step, "hold", "waitMs")).await;
    }

    async fn play(&mut self, steps: &[Json]) -> Result<(), Stop> {
        for (index, step) in steps.iter().enumerate() {
            self.pause(step).await;
            if let Some(meta) = step.get("meta") {
                self.exchange(object! { "metaEvent" => meta.clone() })?;
            }
            if let Some(members) = step.get("session") {
                self.put(&with(object! { "conversationId" => &self.conversation }, members.clone()))?;
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
    fail.text("message").unwrap_or(FAILED).to_owned()
}
