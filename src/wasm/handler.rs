//! Running the app's handlers, and what the app does before one starts.

use js_sys::{Array, Function, JSON, Reflect};
use serde::Serialize;
use serde_json::value::RawValue;
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, AbortSignal, DomException};

use crate::call::{CallId, RunId, Settled};
use crate::conversation::{AbortCause, Input, Verdict};
use crate::json::{Json, Object};
use crate::tool::{HandlerId, ToolName};

use super::hooks::Hooks;
use super::inputs::Inputs;
use super::slots::Slots;
use super::{convert, task};

/// The names of the errors by which the facade says that a guard keeps a result back, or gives another one as `result`.
const WITHHELD: &str = "ResultWithheld";
const REPLACED: &str = "ResultReplaced";

/// The app's handlers, and the runs that have not ended.
pub(super) struct Handlers {
    known: Slots<HandlerId, Function>,
    runs: Slots<RunId, AbortController>,
}

impl Handlers {
    /// The handlers of the tools that a conversation starts with, each in its tool's place.
    pub(super) fn new(first: &Array) -> Self {
        let known = Slots::new();
        for (place, handler) in (0..).zip(first.iter()) {
            if let Ok(handler) = handler.dyn_into() {
                known.insert(HandlerId(place), handler);
            }
        }
        Self { known, runs: Slots::new() }
    }

    /// Adds a handler.
    pub(super) fn add(&self, id: HandlerId, handler: Function) {
        self.known.insert(id, handler);
    }

    /// A handler.
    pub(super) fn get(&self, id: HandlerId) -> Option<Function> {
        self.known.get(id)
    }

    /// Lets go of a handler. What runs already is not touched.
    pub(super) fn forget(&self, id: HandlerId) {
        drop(self.known.take(id));
    }

    /// Starts a run, in a task of its own: a slow handler holds up nothing, and one that calls back finds nothing locked.
    pub(super) fn start(&self, inputs: &Inputs, run: RunId, handler: HandlerId, call: CallId, arguments: String) {
        let handler = self.known.get(handler);
        let Ok(controller) = AbortController::new() else {
            return;
        };
        let signal = controller.signal();
        self.runs.insert(run, controller);
        let (runs, inputs) = (self.runs.clone(), inputs.clone());
        task::spawn("running a handler", async move {
            let settled = match handler {
                Some(handler) => settle(&handler, &arguments, call.as_str(), &signal).await,
                None => Settled::Threw { name: "Error".into(), message: "the tool has no handler any more".into() },
            };
            runs.take(run);
            inputs.push(Input::HandlerSettled { run, settled });
        });
    }

    /// Lets the app look at a call before its handler starts. What fails there must not let the call pass.
    pub(super) fn review(
        &self,
        hooks: &Hooks,
        inputs: &Inputs,
        (run, handler): (RunId, HandlerId),
        tool: &ToolName,
        call: &CallId,
        given: &str,
    ) {
        let Ok(controller) = AbortController::new() else {
            return;
        };
        let handler = self.known.get(handler).map(JsValue::from).unwrap_or_default();
        let looked = hooks.review(&handler, tool.as_str(), call.as_str(), given, &controller.signal());
        self.runs.insert(run, controller);
        let (runs, inputs) = (self.runs.clone(), inputs.clone());
        task::spawn("looking at a call", async move {
            let (verdict, arguments) = match convert::resolved(looked).await {
                Ok(review) => read_review(&review.as_string().unwrap_or_default()),
                Err(thrown) => (Verdict::Block { reason: convert::description(&thrown).1 }, None),
            };
            runs.take(run);
            inputs.push(Input::Reviewed { run, verdict, arguments });
        });
    }

    /// Aborts the signal of a run, if it still runs. Its listeners run before this returns.
    pub(super) fn abort(&self, run: RunId, cause: &AbortCause) {
        if let Some(controller) = self.runs.get(run) {
            controller.abort_with_reason(&reason(cause));
        }
    }
}

/// Reads what the facade made of the app's guards: `{"verdict", "reason"?, "arguments"?}`.
fn read_review(text: &str) -> (Verdict, Option<Box<RawValue>>) {
    let review = Object::read(text).unwrap_or_default();
    let verdict = match review.text("verdict").as_str() {
        "allow" => Verdict::Allow,
        "ask" => Verdict::Ask,
        _ => Verdict::Block { reason: review.text("reason") },
    };
    (verdict, review.get("arguments").map(Json::to_raw))
}

/// What a handler gets beside its arguments; the facade adds the conversation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Context<'a> {
    #[serde(serialize_with = "serde_wasm_bindgen::preserve::serialize")]
    signal: AbortSignal,
    call_id: &'a str,
    arguments_text: &'a str,
}

/// Calls a handler and waits for its end.
pub(super) async fn settle(handler: &Function, arguments: &str, call: &str, signal: &AbortSignal) -> Settled {
    // Cancelled before its task came: the handler never starts.
    if signal.aborted() {
        return convert::threw(&signal.reason());
    }
    match convert::resolved(call_with(handler, arguments, call, signal)).await {
        Ok(value) => convert::returned(&value),
        Err(thrown) => match convert::threw(&thrown) {
            Settled::Threw { name, message } if name == WITHHELD => Settled::Withheld { message },
            Settled::Threw { name, .. } if name == REPLACED => replaced(&thrown),
            threw => threw,
        },
    }
}

fn replaced(thrown: &JsValue) -> Settled {
    let result = Reflect::get(thrown, &"result".into()).unwrap_or_default();
    match convert::returned(&result) {
        Settled::Returned(text) => Settled::Replaced(text),
        other => other,
    }
}

fn call_with(handler: &Function, arguments: &str, call: &str, signal: &AbortSignal) -> Result<JsValue, JsValue> {
    let context = Context { signal: signal.clone(), call_id: call, arguments_text: arguments };
    handler.call2(&JsValue::UNDEFINED, &JSON::parse(arguments)?, &serde_wasm_bindgen::to_value(&context)?)
}

fn reason(cause: &AbortCause) -> JsValue {
    let (name, message) = match cause {
        AbortCause::TimedOut => ("TimeoutError", "the call's time is over"),
        AbortCause::Cancelled(words) => ("AbortError", words.as_str()),
    };
    DomException::new_with_message_and_name(message, name).map_or_else(|thrown| thrown, Into::into)
}
