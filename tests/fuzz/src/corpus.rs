//! What was recorded of the real servers: what inputs are made of.

use std::path::Path;

use pagehand::json::Object;

/// Longer inputs say nothing that shorter ones do not, and take their time.
const LONGEST: usize = 12_000;

/// The texts of a member in all lines of the recordings in a folder for which something holds.
fn recorded(folder: &str, member: &str, holds: impl Fn(&Object) -> bool) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut texts = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "jsonl")) {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let line = Object::read(line).unwrap();
            texts.extend(line.string(member).filter(|text| text.len() <= LONGEST && holds(&line)));
        }
    }
    texts.sort();
    texts.dedup();
    assert!(texts.len() > 20, "{} recordings of {member}", texts.len());
    texts
}

/// Frames of OpenHands' sockets, of either kind.
pub fn frames() -> Vec<String> {
    recorded("openhands", "raw", |line| line.text("ch") == "ws" && line.text("dir") == "recv")
}

/// Bodies of OpenHands' answers.
pub fn bodies() -> Vec<String> {
    recorded("openhands", "body", |line| line.text("ch") == "rest")
}

/// Packets that UiPath's service sent, about the conversation of the tests.
pub fn packets() -> Vec<String> {
    let mut packets =
        recorded("uipath", "raw", |line| line.text("leg") == "client" && line.text("dir") == "server->peer");
    packets.retain(|packet| !packet.is_empty());
    packets
}

/// The envelopes of these packets.
pub fn envelopes() -> Vec<String> {
    let envelope = |packet: String| Some(packet.split_once(',')?.1.strip_suffix(']')?.to_owned());
    packets().into_iter().filter(|packet| packet.starts_with("42")).filter_map(envelope).collect()
}

/// Arguments of calls, and what people might make of them.
pub fn arguments() -> Vec<String> {
    let mut all: Vec<String> = [
        r#"{"title":"Review Q3","dueDate":"2026-12-04","tags":["a","b"],"estimate":1.5,"deep":{"er":[{"x":null}]}}"#,
        r#"{"id":9007199254740993,"__proto__":{"polluted":true},"x/y~z":"\ud83d\ude00","":0}"#,
        r#"[1,2,{"a":[[],{}]}]"#,
        "{}",
    ]
    .map(str::to_owned)
    .into();
    all.extend(frames().into_iter().filter(|frame| frame.contains("ClientAction_")).take(100));
    all
}

/// What the deeds of both protocols take.
pub fn deeds() -> Vec<String> {
    [
        r#"{"conversationId":"7c1f0f3e-6a52-4c0c-9a38-2a3f0e4ad111","eventId":"e","title":"t","tags":{"a":"b"}}"#,
        r#"{"limit":20,"page":"p","status":"running","order":"UPDATED_AT_DESC"}"#,
        r#"{"kind":"ConfirmRisky","threshold":"HIGH"}"#,
        r#"{"model":"openai/x","api_key":"k"}"#,
        r#""what now?""#,
        "null",
        r#"[{"type":"text","text":"hello"},{"type":"image","image_urls":["data:image/png;base64,AAAA"]}]"#,
        r#"[{"type":"text","text":"hello"},{"mimeType":"image/png","uri":"urn:x","name":"n"}]"#,
        r#"{"conversation":"C0","exchange":"E0","message":"M0","contentPart":"P0","label":"l","rating":"positive"}"#,
        r#"{"agent":7,"folder":11,"limit":50,"cursor":"c","sort":"descending","name":"a.png","body":{"x":[1]}}"#,
        r#"{"interruptId":"i","value":{"approved":true},"streamId":"s","chunk":"aGk=","sequence":3,"metaEvent":{"a":1}}"#,
        r#"{"profileSettings":{"name":"Ann","country":"DE"},"exchangeId":"X0","messageId":"M0","streamId":"S0","data":"d"}"#,
    ]
    .map(str::to_owned)
    .into()
}

/// Exchanges as UiPath's REST interface tells them, and its conversations.
pub fn exchanges() -> Vec<String> {
    let tool_call = r#"{"toolCallId":"c","name":"open","input":{"n":1},"timestamp":"2026-12-01T00:00:00Z","isClientSideTool":true,"result":{"output":{"a":1},"isError":false}}"#;
    let message = format!(
        r#"{{"messageId":"m","role":"assistant","contentParts":[{{"contentPartId":"p","mimeType":"text/markdown","data":{{"inline":"hi"}},"citations":[{{"citationId":"ci","offset":0,"length":2,"sources":[{{"title":"t","number":1,"url":"http://x"}}]}}]}}],"toolCalls":[{tool_call}],"interrupts":[{{"interruptId":"i","type":"uipath_cas_tool_call_confirmation","interruptValue":{{"toolCallId":"c"}}}}]}}"#
    );
    let exchange = format!(
        r#"{{"exchangeId":"x","messages":[{{"messageId":"u","role":"user","contentParts":[]}},{message}],"feedbackRating":"positive"}}"#
    );
    let mut all = vec![
        format!(r#"{{"data":[{exchange}],"pagination":{{"hasMore":true,"cursor":"n"}}}}"#),
        exchange,
        message,
        r#"{"data":[],"pagination":{"hasMore":false}}"#.to_owned(),
        r#"{"conversationId":"C0FFEE00-0000-4000-8000-000000000001","label":"l","agentReleaseId":7,"folderId":11}"#
            .to_owned(),
        r#"{"message":"Forbidden","code":"X","errors":[{"message":"m","path":["a"]}]}"#.to_owned(),
        r#"[{"id":7,"name":"a","folderId":11}]"#.to_owned(),
    ];
    all.extend(envelopes().into_iter().take(50));
    all
}

/// What a page may have written down: places in a log, outcomes, names of entries.
pub fn positions() -> Vec<String> {
    [
        "-1/",
        "17/0a0b",
        "/0a0b",
        "9223372036854775807/x",
        r#"{"kind":"ok","result":{"a":1}}"#,
        r#"{"kind":"failed","code":"handler_threw"}"#,
        "call 0a0b",
        "approval again 2 b",
        "answer c",
    ]
    .map(str::to_owned)
    .into()
}

/// Definitions of tools, alone and in lists; those that were recorded, too.
pub fn tools() -> Vec<String> {
    let one = r##"{"name":"create_task","description":"Creates.","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"title":{"type":"string","minLength":1},"kind":{"enum":["a",1,null]}},"required":["title"],"$defs":{"a":{"$ref":"#/$defs/a"}}},"outputSchema":{"type":"object"},"annotations":{"title":"t","readOnlyHint":true},"timeout":60000,"runOn":"announcement","hasHandler":true,"reviewed":false}"##;
    let mut all = vec![one.to_owned(), format!("[{one},{}]", one.replace("create_task", "other"))];
    all.extend(packets().into_iter().filter(|packet| packet.contains("clientSideTools")));
    all
}

/// What the schema engine says.
pub fn reports() -> Vec<String> {
    [
        r#"{"valid":true,"issues":[]}"#,
        r#"{"valid":false,"issues":[{"path":"/a/0","keyword":"minLength","expected":3,"message":"must be longer"},{"path":"","keyword":"required","expected":["a"],"message":"a is missing"}]}"#,
    ]
    .map(str::to_owned)
    .into()
}

/// Addresses, ids, names and keys.
pub fn addresses() -> Vec<String> {
    [
        "http://localhost:8000",
        "https://api.uipath.com/",
        "https://user:secret@host/path?query#fragment",
        "7c1f0f3e-6a52-4c0c-9a38-2a3f0e4ad111",
        "/autopilotforeveryone_/websocket_/socket.io/",
        "sk-canary-0123456789",
        "Zürich GmbH/../x",
        "ftp://[::1]:99999999999/",
    ]
    .map(str::to_owned)
    .into()
}

/// Schemas and values for the schema engine.
pub fn schemas() -> Vec<String> {
    let mut all: Vec<String> = [
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"],"additionalProperties":false,"$defs":{"a":{"type":"array","items":{"$ref":"#"},"uniqueItems":true}}}"##,
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"integer"},{"pattern":"^(a+)+$"}],"additionalItems":false}"#,
        r#"{"oneOf":[{"const":1},{"enum":["x",null]},{"not":{"minLength":3}}],"multipleOf":0.1,"maximum":9007199254740993}"#,
        r#"{"a":[[],[{"a":[]}]]}"#,
        r#"{"patternProperties":{"^x-":{"type":"string","format":"date-time"}},"dependentRequired":{"a":["b"]},"minProperties":1,"propertyNames":{"maxLength":5}}"#,
    ]
    .map(str::to_owned)
    .into();
    all.extend(arguments().into_iter().take(20));
    all
}
