//! The requests of the REST interface.

use serde_json::value::RawValue;

use crate::error::Error;
use crate::json;
use crate::net::{Method, Millis, Request, url};
use crate::protocol::Page;

use super::deed::{Deed, Fork, Listing};

/// Reading takes no lock on the server.
const READ: Millis = Millis(30_000);
/// Creating may clone, start tools and connect to other servers.
const CREATE: Millis = Millis(120_000);
/// A message waits for the server's lock as long as one of its tools runs.
const SPEAK: Millis = Millis(600_000);

/// Where the server is.
pub(super) struct Rest {
    base: String,
}

/// The body of a fork request.
fn fork_request(fork: &Fork) -> String {
    json::text(&json::object(|members| {
        members.set_some("id", fork.conversation_id.as_ref()).set_some("from_event_id", fork.event_id.as_ref());
        members.set_some("title", fork.title.as_ref()).set_some("tags", fork.tags.as_ref());
    }))
}

impl Rest {
    pub(super) fn new(base: &str) -> Result<Self, Error> {
        let base = url::base(base).ok_or_else(|| Error::InvalidArgument {
            field: "url",
            message: "an http or https address without credentials, query and fragment".into(),
        })?;
        Ok(Self { base: base.to_owned() })
    }

    pub(super) fn base(&self) -> &str {
        &self.base
    }

    pub(super) fn server_info(&self) -> Request {
        self.request(Method::Get, "/server_info", None, READ)
    }

    pub(super) fn create(&self, body: String) -> Request {
        self.request(Method::Post, "/api/conversations?include_skills=false", Some(body), CREATE)
    }

    pub(super) fn conversation(&self, id: &str) -> Request {
        self.of_conversation(Method::Get, id, "?include_skills=false", None, READ)
    }

    pub(super) fn say(&self, id: &str, content: &RawValue, run: bool) -> Request {
        let body = [r#"{"role":"user","content":"#, content.get(), r#","run":"#, if run { "true}" } else { "false}" }];
        self.of_conversation(Method::Post, id, "/events", Some(body.concat()), SPEAK)
    }

    pub(super) fn run(&self, id: &str) -> Request {
        self.of_conversation(Method::Post, id, "/run", None, SPEAK)
    }

    pub(super) fn decide(&self, id: &str, accept: bool, reason: &str) -> Request {
        let reason = json::text(reason);
        let body = [r#"{"accept":"#, if accept { "true" } else { "false" }, r#","reason":"#, &reason, "}"].concat();
        self.of_conversation(Method::Post, id, "/events/respond_to_confirmation", Some(body), SPEAK)
    }

    /// The request for something that is the server's alone.
    pub(super) fn deed(&self, id: &str, deed: &Deed) -> Request {
        let member = |name: &str, value: &str| Some(["{\"", name, "\":", value, "}"].concat());
        let (method, rest, body, timeout) = match deed {
            Deed::Pause => (Method::Post, "/pause", None, SPEAK),
            Deed::Interrupt => (Method::Post, "/interrupt", None, READ),
            Deed::Fork(fork) => (Method::Post, "/fork", Some(fork_request(fork)), CREATE),
            Deed::Delete => (Method::Delete, "", None, READ),
            Deed::Update(changes) => (Method::Patch, "", Some(changes.get().to_owned()), READ),
            Deed::Navigate(event) => (Method::Post, "/navigate", member("event_id", &json::text(event)), SPEAK),
            Deed::SwitchLlm(llm) => (Method::Post, "/switch_llm", member("llm", llm.get()), SPEAK),
            Deed::Ask(question) => (Method::Post, "/ask_agent", member("question", &json::text(question)), SPEAK),
            Deed::Condense => (Method::Post, "/condense", None, SPEAK),
            Deed::Policy(policy) => (Method::Post, "/confirmation_policy", member("policy", policy.get()), SPEAK),
            Deed::List(listing) => return self.list(listing),
        };
        self.of_conversation(method, id, rest, body, timeout)
    }

    fn list(&self, listing: &Listing) -> Request {
        let limit = listing.limit.map(|limit| limit.to_string());
        let mut path = "/api/conversations/search?include_skills=false".to_owned();
        for (name, value) in [
            ("&limit=", &limit),
            ("&page_id=", &listing.page),
            ("&status=", &listing.status),
            ("&sort_order=", &listing.order),
        ] {
            if let Some(value) = value {
                path.extend([name, &url::encode(value)]);
            }
        }
        self.request(Method::Get, &path, None, READ)
    }

    pub(super) fn event(&self, id: &str, event: &str) -> Request {
        self.of_conversation(Method::Get, id, &["/events/", &url::encode(event)].concat(), None, READ)
    }

    pub(super) fn search(&self, id: &str, page: &Page) -> Request {
        let mut query = ["/events/search?limit=", &page.limit.to_string()].concat();
        if page.newest_first {
            query.push_str("&sort_order=TIMESTAMP_DESC");
        }
        if let Some(start) = &page.page {
            query.push_str("&page_id=");
            query.push_str(&url::encode(start));
        }
        self.of_conversation(Method::Get, id, &query, None, READ)
    }

    /// The address of a socket; a key never goes into it.
    pub(super) fn socket(&self, route: &str, id: &str, query: &str) -> String {
        [&url::websocket(&self.base), "/sockets/", route, "/", &url::encode(id), query].concat()
    }

    fn of_conversation(&self, method: Method, id: &str, rest: &str, body: Option<String>, timeout: Millis) -> Request {
        self.request(method, &["/api/conversations/", &url::encode(id), rest].concat(), body, timeout)
    }

    fn request(&self, method: Method, path: &str, body: Option<String>, timeout: Millis) -> Request {
        let mut headers = Vec::new();
        if body.is_some() {
            headers.push(("Content-Type", "application/json".to_owned()));
        }
        Request { method, url: [&self.base, path].concat(), headers, body, timeout }
    }
}

#[cfg(test)]
mod tests {
    use crate::protocol;

    use super::*;

    #[test]
    fn addresses_are_joined_and_encoded() {
        let rest = Rest::new("http://h:8000/").unwrap();
        let page = Page { limit: 5, newest_first: true, page: Some("a/b".into()) };
        assert_eq!(
            rest.search("i", &page).url,
            "http://h:8000/api/conversations/i/events/search?limit=5&sort_order=TIMESTAMP_DESC&page_id=a%2Fb"
        );
        assert_eq!(rest.socket("events", "i", "?x=1"), "ws://h:8000/sockets/events/i?x=1");
        let list = Deed::read(&protocol::Deed::read("list", r#"{"limit":5,"status":"a b"}"#).unwrap()).unwrap();
        assert_eq!(
            rest.deed("i", &list).url,
            "http://h:8000/api/conversations/search?include_skills=false&limit=5&status=a%20b"
        );
    }
}
