//! A script, checked: the language of UiPath's fast peer (`tests/servers/uipath/min_runtime.py`) and more.

use crate::json::{Json, Object};
use crate::object;

use super::super::conversation::Order;

/// What a step may say. `event`, `exchange` and `session` are raw members of their levels.
const STEP: [&str; 15] = [
    "text",
    "calls",
    "event",
    "meta",
    "waitMs",
    "fail",
    "hold",
    "chunk_chars",
    "chunk_delay_ms",
    "asked",
    "exchange",
    "session",
    "crash",
    "leave_open",
    "repeat",
];
/// What a call may say.
const CALL: [&str; 15] = [
    "id",
    "name",
    "input",
    "confirm",
    "clientSide",
    "inputSchema",
    "outputSchema",
    "hideFlags",
    "requiredInput",
    "blockedAfterMs",
    "result",
    "then",
    "announce",
    "execute",
    "interrupt",
];
/// The members that UiPath's fast peer knows, too.
const PEER_STEP: [&str; 6] = ["text", "calls", "event", "meta", "waitMs", "fail"];

/// Who plays a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// Our own agent.
    Scripted,
    /// UiPath's runtime with the script in the place of a graph.
    Fast,
    /// UiPath's runtime with a graph and a scripted model.
    Full,
    /// A runtime that the service does not start.
    Elsewhere,
}

/// The steps of one exchange, and who plays them.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) who: Who,
    pub(crate) steps: Vec<Json>,
}

impl Script {
    /// What is played where there is none.
    pub(crate) fn missing() -> Self {
        Self { who: Who::Scripted, steps: vec![object! { "text" => "no script" }] }
    }

    /// Fails for a script with a misspelt member.
    pub(crate) fn check(body: &Json) -> Result<usize, String> {
        let exchanges = all(body)?;
        let who = who(body)?;
        let mut count = 0;
        for (index, step) in exchanges.iter().flatten().enumerate() {
            let step = step.as_object().ok_or("a step must be an object")?;
            known(step, &STEP).map_err(|name| format!("step {index}: unknown member '{name}'"))?;
            if who == Who::Fast {
                known(step, &PEER_STEP).map_err(|name| format!("step {index}: UiPath's runtime has no '{name}'"))?;
            }
            for call in step.get("calls").and_then(Json::as_array).unwrap_or_default() {
                let call = call.as_object().filter(|call| call.get("name").is_some());
                let call = call.ok_or(format!("step {index}: a call needs a name"))?;
                known(call, &CALL).map_err(|name| format!("step {index}: unknown member '{name}' of a call"))?;
            }
            count += 1;
        }
        Ok(count)
    }

    /// The script of the `runs`th exchange of a conversation, counted from 0.
    pub(super) fn of(body: &Json, runs: u64, order: &Order) -> Option<Self> {
        let exchanges = all(body).ok()?;
        let count = exchanges.len().max(1);
        let runs = usize::try_from(runs).unwrap_or(usize::MAX);
        let index = if body.flag("loop") == Some(true) { runs % count } else { runs.min(count - 1) };
        let steps = exchanges.into_iter().nth(index).unwrap_or_default();
        let steps = section(&steps, &order.text).iter().flat_map(repeated).collect();
        Some(Self { who: who(body).ok()?, steps })
    }
}

fn known(object: &Object, names: &[&str]) -> Result<(), String> {
    object.keys().find(|name| !names.contains(name)).map_or(Ok(()), |name| Err(name.to_owned()))
}

fn who(body: &Json) -> Result<Who, String> {
    match body.text("runtime") {
        None | Some("scripted") => Ok(Who::Scripted),
        Some("fast") => Ok(Who::Fast),
        Some("full") => Ok(Who::Full),
        Some("elsewhere") => Ok(Who::Elsewhere),
        Some(other) => Err(format!("there is no runtime '{other}'")),
    }
}

/// The steps of all exchanges.
fn all(body: &Json) -> Result<Vec<Vec<Json>>, String> {
    if let Some(exchanges) = body.get("exchanges").and_then(Json::as_array) {
        let lists = exchanges.iter().map(|steps| steps.as_array().map(<[Json]>::to_vec));
        return lists.collect::<Option<_>>().ok_or_else(|| "'exchanges' must be a list of lists of steps".to_owned());
    }
    let steps = body.as_array().or_else(|| body.get("steps").and_then(Json::as_array));
    match steps {
        Some(steps) => Ok(vec![steps.to_vec()]),
        // The full agent has rules of its own.
        None if body.get("runtime").is_some() => Ok(vec![Vec::new()]),
        None => Err("a script needs 'steps', a list of objects, or 'exchanges'".to_owned()),
    }
}

/// The steps from the one whose `asked` occurs in the user's text to the next that is asked for; without one, those
/// before the first that is asked for.
fn section<'a>(steps: &'a [Json], text: &str) -> &'a [Json] {
    let text = text.to_lowercase();
    let asked = |step: &Json| step.text("asked").map(str::to_lowercase);
    let start = steps.iter().position(|step| asked(step).is_some_and(|words| text.contains(&words)));
    let rest = steps.get(start.unwrap_or(0)..).unwrap_or_default();
    let skip = usize::from(start.is_some());
    let end = rest.iter().skip(skip).position(|step| asked(step).is_some()).map_or(rest.len(), |at| at + skip);
    rest.get(..end).unwrap_or_default()
}

fn repeated(step: &Json) -> Vec<Json> {
    let Some(times) = step.count("repeat") else { return vec![step.clone()] };
    let mut once = step.clone();
    if let Some(step) = once.as_object_mut() {
        step.remove("repeat");
    }
    (0..times).map(|index| crate::script::numbered(&once, &index.to_string())).collect()
}
