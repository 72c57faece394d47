//! What an agent-server says, as it stands in frames and in the log.

/// An `ActionEvent` of a client tool.
pub fn action(id: &str, tool: &str, arguments: &str) -> String {
    let (open, rest) = arguments.split_at(arguments.len() - 1);
    let comma = if open.len() > 1 { "," } else { "" };
    let action = format!(r#"{open}{comma}"kind":"ClientAction_{tool}"{rest}"#);
    format!(
        r#"{{"id":"{id}","source":"agent","thought":[],"action":{action},"tool_name":"{tool}","tool_call_id":"tc_{id}","kind":"ActionEvent"}}"#
    )
}

/// The acknowledgement of a call.
pub fn ack(id: &str) -> String {
    format!(
        r#"{{"id":"ack_{id}","source":"environment","tool_name":"t","tool_call_id":"tc_{id}","observation":{{"content":[],"is_error":false,"kind":"ClientToolObservation"}},"action_id":"{id}","kind":"ObservationEvent"}}"#
    )
}

pub fn status(id: &str, status: &str) -> String {
    format!(r#"{{"id":"{id}","key":"execution_status","value":"{status}","kind":"ConversationStateUpdateEvent"}}"#)
}

pub fn full_state(id: &str, status: &str) -> String {
    format!(
        r#"{{"id":"{id}","key":"full_state","value":{{"execution_status":"{status}"}},"kind":"ConversationStateUpdateEvent"}}"#
    )
}

/// A page of the log.
pub fn page_of(events: &[String], next: Option<&str>) -> String {
    let next = next.map_or("null".to_owned(), |next| format!("{next:?}"));
    format!(r#"{{"items":[{}],"next_page_id":{next}}}"#, events.join(","))
}

/// A message of the user.
pub fn said(id: &str, text: &str) -> String {
    format!(
        r#"{{"id":"{id}","source":"user","llm_message":{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}},"kind":"MessageEvent"}}"#
    )
}
