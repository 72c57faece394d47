//! The service's REST interface, as far as pages use it.

use std::fmt::Write;

use pagehand::net::{Method, Request};

use super::{Exchange, Service, text};

impl Service {
    /// The status and the body, and whether it shows how the exchanges are.
    pub fn serve(&mut self, request: &Request, now: u64) -> (u16, String, bool) {
        let plain = |status: u16, body: &str| (status, body.to_owned(), false);
        let token = format!("Bearer {}", text::token(self.token));
        if !request.headers.iter().any(|(name, value)| *name == "Authorization" && *value == token) {
            return plain(401, r#"{"message":"Unauthorized"}"#);
        }
        if now < self.broken_until {
            return plain(500, r#"{"error":"The service is unwell."}"#);
        }
        let path = request.url.split("/api/v1/conversation").nth(1).unwrap_or_default();
        let conversation = format!(r#"{{"conversationId":"{}","label":""}}"#, text::ID);
        if request.method == Method::Post && path.is_empty() {
            self.created = true;
            return plain(200, &conversation);
        }
        let Some(path) = path.strip_prefix('/').and_then(|path| path.strip_prefix(text::ID)).filter(|_| self.created)
        else {
            return plain(404, r#"{"message":"Not found"}"#);
        };
        if path.is_empty() {
            return plain(200, &conversation);
        }
        if path.starts_with("/exchange?") {
            return (200, self.page(path), true);
        }
        let id = path.strip_prefix("/exchange/").and_then(|rest| rest.split('?').next());
        match self.exchanges.iter().find(|exchange| Some(exchange.id.as_str()) == id) {
            Some(exchange) => (200, self.record(exchange), true),
            None => (404, r#"{"message":"Not found"}"#.to_owned(), true),
        }
    }

    fn page(&self, path: &str) -> String {
        let limit: usize = path.split("limit=").nth(1).and_then(|rest| rest.split('&').next()?.parse().ok()).unwrap();
        let mut all: Vec<&Exchange> = self.exchanges.iter().collect();
        if path.contains("exchangeSort=descending") {
            all.reverse();
        }
        let records: Vec<String> = all.into_iter().take(limit).map(|exchange| self.record(exchange)).collect();
        format!(r#"{{"data":[{}]}}"#, records.join(","))
    }

    fn record(&self, exchange: &Exchange) -> String {
        let mut text = format!(r#"{{"exchangeId":"{}","messages":["#, exchange.id);
        for (place, message) in exchange.messages.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            let parts: Vec<String> = message.parts.iter().map(part).collect();
            let calls: Vec<String> = message.calls.iter().map(|place| self.call_record(*place)).collect();
            write!(
                text,
                r#"{comma}{{"messageId":"{}","role":"{}","createdAt":"{}","contentParts":[{}],"toolCalls":[{}],"interrupts":[]}}"#,
                message.id,
                message.role,
                text::time(message.begun),
                parts.join(","),
                calls.join(",")
            )
            .unwrap();
        }
        text + "]}"
    }

    fn call_record(&self, place: usize) -> String {
        let call = &self.calls[place];
        let mut text =
            format!(r#"{{"toolCallId":"{}","name":"{}","input":{}"#, call.wire, call.wish.tool(), call.arguments);
        if call.wish.asks() {
            write!(text, r#","requireConfirmation":true,"inputSchema":{}"#, crate::tools::STRICT).unwrap();
        }
        if self.says_whose && call.wish.is_flagged() {
            text.push_str(r#","isClientSideTool":true"#);
        }
        if let Some((approved, _)) = &call.confirmed {
            write!(text, r#","confirmation":{{"approved":{approved}}}"#).unwrap();
        }
        if let Some(result) = &call.result {
            write!(text, r#","result":{result}"#).unwrap();
        }
        text.push('}');
        text
    }
}

fn part(part: &super::Part) -> String {
    let incomplete = if part.incomplete { r#","isIncomplete":true"# } else { "" };
    let text = serde_json::to_string(&part.text).unwrap();
    format!(
        r#"{{"contentPartId":"{}","mimeType":"text/markdown","data":{{"inline":{text}}},"citations":[]{incomplete}}}"#,
        part.id
    )
}
