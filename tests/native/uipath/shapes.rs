//! What an envelope may look like that goes to the agent's side: names and types. One wrong type, and the event is dropped there
//! without a word.

use serde_json::Value;

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Integer,
    Flag,
    Object,
    Any,
    /// An object with these members, of which the first so many must be there.
    Of(usize, &'static [(&'static str, Kind)]),
    List(&'static Kind),
}

use Kind::{Any, Flag, Integer, List, Object, Of, Text};

const META: (&str, Kind) = ("metaData", Object);
const ERROR: Kind = Of(
    1,
    &[("errorId", Text), ("startError", Of(1, &[("message", Text), ("details", Any)])), ("endError", Of(0, &[]))],
);
const SOURCE: Kind = Of(
    2,
    &[
        ("title", Text),
        ("number", Integer),
        ("url", Text),
        ("mimeType", Text),
        ("downloadUrl", Text),
        ("pageNumber", Text),
    ],
);
const CITATION: Kind = Of(
    1,
    &[
        ("citationId", Text),
        ("startCitation", Of(0, &[])),
        ("endCitation", Of(1, &[("sources", List(&SOURCE))])),
        ("citationError", ERROR),
    ],
);
const PART: Kind = Of(
    1,
    &[
        ("contentPartId", Text),
        (
            "startContentPart",
            Of(
                1,
                &[
                    ("mimeType", Text),
                    ("name", Text),
                    ("timestamp", Text),
                    ("externalValue", Of(1, &[("uri", Text), ("byteCount", Integer)])),
                    META,
                ],
            ),
        ),
        ("chunk", Of(0, &[("data", Text), ("citation", CITATION)])),
        ("endContentPart", Of(0, &[("lastChunkContentPartSequence", Integer), ("interrupted", Of(0, &[])), META])),
        ("metaEvent", Object),
        ("contentPartError", ERROR),
    ],
);
const CALL: Kind = Of(
    1,
    &[
        ("toolCallId", Text),
        ("startToolCall", Of(1, &[("toolName", Text), ("timestamp", Text), ("input", Object), META])),
        ("confirmToolCall", Of(1, &[("approved", Flag), ("input", Object)])),
        ("executingToolCall", Of(0, &[("input", Object)])),
        ("endToolCall", Of(0, &[("output", Any), ("isError", Flag), ("cancelled", Flag), ("timestamp", Text), META])),
        ("metaEvent", Object),
        ("toolCallError", ERROR),
    ],
);
const MESSAGE: Kind = Of(
    1,
    &[
        ("messageId", Text),
        ("startMessage", Of(1, &[("role", Text), ("exchangeSequence", Integer), ("timestamp", Text), META])),
        ("endMessage", Of(0, &[META])),
        ("metaEvent", Object),
        ("messageError", ERROR),
        ("contentPart", PART),
        ("toolCall", CALL),
        (
            "interrupt",
            Of(
                1,
                &[
                    ("interruptId", Text),
                    ("startInterrupt", Of(2, &[("type", Text), ("value", Any)])),
                    ("endInterrupt", Any),
                ],
            ),
        ),
    ],
);
const TOOL: Kind = Of(1, &[("name", Text), ("inputSchema", Object), ("outputSchema", Object)]);
const EXCHANGE: Kind = Of(
    1,
    &[
        ("exchangeId", Text),
        (
            "startExchange",
            Of(
                0,
                &[
                    ("conversationSequence", Integer),
                    ("metadata", Object),
                    ("timestamp", Text),
                    ("clientSideTools", List(&TOOL)),
                ],
            ),
        ),
        ("endExchange", Of(0, &[META])),
        ("metaEvent", Object),
        ("exchangeError", ERROR),
        ("message", MESSAGE),
    ],
);
const STREAM: Kind = Of(
    1,
    &[
        ("streamId", Text),
        (
            "startAsyncInputStream",
            Of(
                1,
                &[
                    ("mimeType", Text),
                    ("startOfSpeechSensitivity", Text),
                    ("endOfSpeechSensitivity", Text),
                    ("prefixPaddingMs", Integer),
                    ("silenceDurationMs", Integer),
                    META,
                ],
            ),
        ),
        ("chunk", Of(1, &[("data", Text)])),
        ("endAsyncInputStream", Of(0, &[("lastChunkContentPartSequence", Integer), META])),
        ("metaEvent", Object),
        ("asyncInputStreamError", ERROR),
    ],
);
const ENVELOPE: Kind = Of(
    1,
    &[
        ("conversationId", Text),
        ("startSession", Of(0, &[("capabilities", Object), META])),
        ("endSession", Of(0, &[META])),
        ("metaEvent", Object),
        ("conversationError", ERROR),
        ("exchange", EXCHANGE),
        ("asyncInputStream", STREAM),
        ("asyncToolCall", CALL),
    ],
);

/// Fails unless an envelope has the shape that the agent's side takes.
pub fn check(envelope: &Value) {
    if let Err(fault) = fits(envelope, ENVELOPE) {
        panic!("{fault} in {envelope}");
    }
}

fn fits(value: &Value, kind: Kind) -> Result<(), String> {
    let right = match kind {
        Text => value.is_string(),
        Integer => value.is_i64() || value.is_u64(),
        Flag => value.is_boolean(),
        Object => value.is_object(),
        Any => true,
        List(item) => {
            let items = value.as_array().ok_or_else(|| format!("{value} is no list"))?;
            return items.iter().try_for_each(|value| fits(value, *item));
        }
        Of(least, members) => {
            let object = value.as_object().ok_or_else(|| format!("{value} is no object"))?;
            for (name, _) in members.iter().take(least) {
                object.get(*name).ok_or_else(|| format!("{name} is missing"))?;
            }
            for (name, value) in object {
                let (_, kind) =
                    members.iter().find(|(member, _)| member == name).ok_or_else(|| format!("{name} is unknown"))?;
                fits(value, *kind).map_err(|fault| format!("{name}: {fault}"))?;
            }
            return Ok(());
        }
    };
    if right { Ok(()) } else { Err(format!("{value} is of another type")) }
}

/// The last member on an envelope's path, with the id of a call.
pub fn words(envelope: &Value) -> String {
    let mut at = envelope;
    let mut call = String::new();
    loop {
        let mut members = at.as_object().unwrap().iter().filter(|(name, _)| !name.ends_with("Id"));
        let (name, value) = members.next_back().unwrap();
        if !["exchange", "message", "contentPart", "toolCall", "interrupt", "asyncInputStream"].contains(&name.as_str())
        {
            return format!("{name}{call}");
        }
        if let Some(id) = value.get("toolCallId") {
            call = format!(" {}", id.as_str().unwrap());
        }
        at = value;
    }
}

#[test]
fn shapes_that_the_agents_side_drops_are_noticed() {
    use serde_json::json;
    for envelope in [
        json!({ "startSession": {} }),
        json!({ "conversationId": "c", "startSession": { "metaData": "x" } }),
        json!({ "conversationId": "c", "startSessions": {} }),
        json!({ "conversationId": "c", "exchange": { "exchangeId": "x", "message": { "messageId": "m",
            "toolCall": { "toolCallId": "t", "endToolCall": { "timestamp": 5 } } } } }),
        json!({ "conversationId": "c", "exchange": { "exchangeId": "x", "message": { "messageId": "m",
            "toolCall": { "toolCallId": "t", "confirmToolCall": { "approved": true, "input": "x" } } } } }),
        json!({ "conversationId": "c", "exchange": { "exchangeId": "x", "startExchange": { "clientSideTools": {} } } }),
    ] {
        assert!(fits(&envelope, ENVELOPE).is_err(), "{envelope}");
    }
}
