//! The server's REST interface, as far as pages use it.

use pagehand::net::{Method, Request};

use crate::reached::Situation;

use super::{Phase, Server, text};

/// An answer.
pub enum Reply {
    Http(u16, String),
    /// A failure without CORS headers: the browser hides it.
    Hidden,
}

/// What a request did beside being answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Took {
    Nothing,
    /// An answer to what waited for approval: it names itself in its words.
    Approval(String),
}

impl Server {
    /// Whether a request waits for the lock.
    pub fn waits(&self, request: &Request, now: u64) -> bool {
        let path = path(request);
        let speaks = request.method == Method::Post && !path.is_empty() && !path.starts_with("/interrupt");
        speaks && now < self.locked_until
    }

    pub fn serve(&mut self, request: &Request, full: bool, now: u64) -> (Reply, Took) {
        let done = || Reply::Http(200, r#"{"success":true}"#.to_owned());
        let missing = || Reply::Http(404, r#"{"detail":"Not Found"}"#.to_owned());
        if request.url.ends_with("/server_info") {
            let version = if self.session { "1.58.2" } else { "1.44.0" };
            return (Reply::Http(200, format!(r#"{{"version":"{version}"}}"#)), Took::Nothing);
        }
        if !request.headers.iter().any(|(name, value)| *name == "X-Session-API-Key" && value == text::KEY) {
            return (Reply::Http(401, r#"{"detail":"Unauthorized"}"#.to_owned()), Took::Nothing);
        }
        let path = path(request);
        if now < self.broken_until {
            return (Reply::Hidden, Took::Nothing);
        }
        if request.method == Method::Post && path.is_empty() {
            let status = if self.created { 200 } else { 201 };
            self.created = true;
            return (Reply::Http(status, self.info(now)), Took::Nothing);
        }
        if !self.created || self.deleted {
            return (missing(), Took::Nothing);
        }
        let body = request.body.as_deref().unwrap_or_default();
        let capacity =
            || Reply::Http(429, r#"{"detail":"Conversation run limit reached. Retry the request later."}"#.to_owned());
        let reply = match (request.method, path) {
            (Method::Get, "") => Reply::Http(200, self.info(now)),
            (Method::Delete, "") => {
                self.deleted = true;
                done()
            }
            (Method::Post, "/run") => match self.run(full, now) {
                409 => Reply::Http(
                    409,
                    r#"{"detail":"Conversation already running. Wait for completion or pause first."}"#.into(),
                ),
                429 => capacity(),
                _ => done(),
            },
            (Method::Post, "/pause") => {
                self.pause(now);
                done()
            }
            (Method::Post, "/interrupt") => {
                self.interrupt(now);
                done()
            }
            (Method::Post, "/fork") => Reply::Http(201, self.info(now)),
            (Method::Post, "/events/respond_to_confirmation") => return self.decide(body, full, now),
            (Method::Post, "/events") => {
                let waits = self.status == "waiting_for_confirmation";
                let (text, run) = said(body);
                let refused = self.hear(&text, run, full, now);
                let took = if waits && run && !refused { Took::Approval(text) } else { Took::Nothing };
                return (if refused { capacity() } else { done() }, took);
            }
            (Method::Get, path) if path.starts_with("/events/search") => Reply::Http(200, self.search(path, now)),
            (Method::Get, path) => match path.strip_prefix("/events/") {
                Some(id) => self.event(id, now),
                None => missing(),
            },
            (Method::Post | Method::Patch | Method::Delete, _) => missing(),
        };
        (reply, Took::Nothing)
    }

    /// The state as it was saved, which may be a moment old.
    fn info(&self, now: u64) -> String {
        let (before, changed) = self.status_before;
        let status = if now < changed + 30 { before } else { self.status };
        text::info(status, self.confirm, &self.tools)
    }

    fn run(&mut self, full: bool, now: u64) -> u16 {
        if self.phase != Phase::Resting {
            return 409;
        }
        if self.status == "finished" {
            self.tell_full_state();
            return 200;
        }
        if full {
            return 429;
        }
        self.begin(now);
        200
    }

    fn decide(&mut self, body: &str, full: bool, now: u64) -> (Reply, Took) {
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        let took = Took::Approval(body["reason"].as_str().unwrap().to_owned());
        if body["accept"] == true {
            match self.run(full, now) {
                429 => {
                    let refused = r#"{"detail":"Conversation run limit reached. Retry the request later."}"#;
                    return (Reply::Http(429, refused.to_owned()), Took::Nothing);
                }
                _ => self.reached.note(Situation::Accepted),
            }
        } else {
            self.reached.note(Situation::Rejected);
            self.reject(now);
        }
        (Reply::Http(200, r#"{"success":true}"#.to_owned()), took)
    }

    /// A user message. Whether the run that it asks for was refused: the message stays.
    fn hear(&mut self, said: &str, run: bool, full: bool, now: u64) -> bool {
        *self.said.entry(said.to_owned()).or_default() += 1;
        for call in said.lines().skip(1).filter_map(|line| line.split_once(": ")?.0.split(' ').nth(1)) {
            self.reached.note(Situation::ResultsTold);
            *self.results.entry(call.to_owned()).or_default() += 1;
        }
        let message = self.write(now, |number| text::message(number, "user", "user", said));
        self.write(now, |number| text::state(number, "last_user_message_id", &format!("\"e{message}\"")));
        if self.phase != Phase::Resting {
            self.unread = true;
            self.reached.note(Situation::SaidDuringRun);
            return false;
        }
        if matches!(self.status, "finished" | "stuck") {
            self.become_status("idle", now);
        }
        if run && full {
            return true;
        }
        if run {
            self.begin(now);
        }
        false
    }

    fn visible(&self, now: u64) -> usize {
        let hidden = self.log.iter().rev().take_while(|event| event.visible_at > now).count();
        self.log.len() - hidden
    }

    fn search(&self, path: &str, now: u64) -> String {
        let parameter = |name: &str| {
            let query = path.split('?').nth(1).unwrap_or_default();
            query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
        };
        let mut limit: usize = parameter("limit").and_then(|limit| limit.parse().ok()).unwrap_or(100);
        let mut log: Vec<&super::Logged> = self.log[..self.visible(now)].iter().collect();
        if parameter("sort_order") == Some("TIMESTAMP_DESC") {
            log.reverse();
        } else {
            limit = limit.min(self.page);
        }
        // An unknown id reads from the beginning.
        let wanted = parameter("page_id").and_then(text::number);
        let first = wanted.and_then(|wanted| log.iter().position(|event| event.number == wanted)).unwrap_or_default();
        let last = log.len().min(first + limit);
        let next = log.get(last).map(|event| format!("e{}", event.number));
        text::page(log[first..last].iter().map(|event| &*event.text), next.as_deref())
    }

    fn event(&self, id: &str, now: u64) -> Reply {
        let wanted = text::number(id);
        let found = self.log[..self.visible(now)].iter().find(|event| Some(event.number) == wanted);
        match found {
            Some(event) => Reply::Http(200, event.text.to_string()),
            None if self.session => Reply::Http(404, r#"{"detail":"Not Found"}"#.to_owned()),
            None => Reply::Hidden,
        }
    }
}

/// The path below the conversation; empty for the conversation itself.
fn path(request: &Request) -> &str {
    let rest = request.url.split("/api/conversations").nth(1).unwrap_or_default();
    let rest = rest.strip_prefix('/').and_then(|rest| rest.strip_prefix(text::ID)).unwrap_or(rest);
    if rest.starts_with('?') { "" } else { rest }
}

fn said(body: &str) -> (String, bool) {
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    (body["content"][0]["text"].as_str().unwrap().to_owned(), body["run"] == true)
}
