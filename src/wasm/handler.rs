//! Running the app's handlers, and what the app does before one starts.

use js_sys::{Array, Function, JSON, Reflect};
use serde::Serializer as _;
use serde_json::value::RawValue;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, AbortSignal, DomException};

use crate::call::{CallId, RunId, Settled};
use crate::conversation::{AbortCause, Input, Verdict};
use crate::json::{Json, Object};
use crate::tool::{HandlerId, ToolName};

use super::hooks::Hooks;
use super::inputs::Inputs;
use super::slots::Slots;
use super::{convert, question};

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

    /// Starts a run.
    pub(super) fn start(&self, inputs: &Inputs, run: RunId, handler: HandlerId, call: CallId, arguments: String) {
        let Some(handler) = self.known.get(handler) else {
            let settled = Settled::Threw { name: "Error".into(), message: "the tool has no handler any more".into() };
            return inputs.push(Input::HandlerSettled { run, settled });
        };
        let Some((runs, signal)) = self.begin(run) else { return };
        let called = move || call_with(&handler, &arguments, call.as_str(), &signal);
        question::ask("running a handler", inputs, called, move |answer| {
            runs.take(run);
            Input::HandlerSettled { run, settled: settled(answer) }
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
        let Some((runs, signal)) = self.begin(run) else { return };
        let handler = self.known.get(handler).map(JsValue::from).unwrap_or_default();
        let looked = hooks.review(&handler, tool.as_str(), call.as_str(), given, &signal);
        question::ask(
            "looking at a call",
            inputs,
            || looked,
            move |answer| {
                runs.take(run);
                let (verdict, arguments) = match answer {
                    Ok(review) => read_review(&review.as_string().unwrap_or_default()),
                    Err(thrown) => (Verdict::Block { reason: convert::description(&thrown).1 }, None),
                };
                Input::Reviewed { run, verdict, arguments }
            },
        );
    }

    /// Makes the signal of a run.
    fn begin(&self, run: RunId) -> Option<(Slots<RunId, AbortController>, AbortSignal)> {
        let controller = AbortController::new().ok()?;
        let signal = controller.signal();
        self.runs.insert(run, controller);
        Some((self.runs.clone(), signal))
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

/// How a handler ended.
pub(super) fn settled(answer: Result<JsValue, JsValue>) -> Settled {
    match answer {
        Ok(value) => convert::returned(&value),
        Err(thrown) => match convert::threw(&thrown) {
            Settled::Threw { name, message } if name == WITHHELD => Settled::Withheld { message },
            Settled::Threw { name, .. } if name == REPLACED => replaced(&thrown),
            threw => threw,
        },
    }
}

fn replaced(thrown: &JsValue) -> Settled {
    let result = convert::property(thrown, "result").unwrap_or_default();
    match convert::returned(&result) {
        Settled::Returned(text) => Settled::Replaced(text),
        other => other,
    }
}

/// Calls a handler, unless it was cancelled before its task came: then it never starts.
pub(super) fn call_with(
    handler: &Function,
    arguments: &str,
    call: &str,
    signal: &AbortSignal,
) -> Result<JsValue, JsValue> {
    if signal.aborted() {
        return Err(signal.reason());
    }
    handler.call2(&JsValue::UNDEFINED, &JSON::parse(arguments)?, &context(arguments, call, signal)?)
}

/// What a handler gets beside its arguments; the facade adds the conversation.
///
/// A map, for the names of a struct would be kept in a hash table.
fn context(arguments: &str, call: &str, signal: &AbortSignal) -> Result<JsValue, JsValue> {
    let texts = [("callId", call), ("argumentsText", arguments)];
    let context = Serializer::new().serialize_maps_as_objects(true).collect_map(texts)?;
    Reflect::set(&context, &"signal".into(), signal)?;
    Ok(context)
}

fn reason(cause: &AbortCause) -> JsValue {
    let (name, message) = match cause {
        AbortCause::TimedOut => ("TimeoutError", "the call's time is over"),
        AbortCause::Cancelled(words) => ("AbortError", words.as_str()),
    };
    DomException::new_with_message_and_name(message, name).map_or_else(|thrown| thrown, Into::into)
}
