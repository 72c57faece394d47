//! The requests of the REST interface.

use crate::net::{Method, Millis, Request, url};

use super::settings::Place;

const API: &str = "/autopilotforeveryone_/api/v1";
/// How long an answer may take.
const PATIENCE: Millis = Millis(30_000);

/// Where the interface is.
pub(super) struct Rest {
    place: Place,
}

/// A path with its query.
pub(super) struct Address(String, char);

impl Address {
    /// The path to something: names of ours and segments that are encoded, in turn.
    pub(super) fn new(parts: &[(&str, &str)]) -> Self {
        let mut address = Self(String::new(), '?');
        for (name, segment) in parts {
            address.0.push_str(name);
            address.segment(segment);
        }
        address
    }

    /// Goes on with a name of ours.
    pub(super) fn name(&mut self, name: &str) {
        self.0.extend(["/", name]);
    }

    /// Goes on with a segment that is encoded, if there is one.
    pub(super) fn segment(&mut self, segment: &str) {
        if !segment.is_empty() {
            self.name(&url::encode(segment));
        }
    }

    /// Adds to the query, if there is a value.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: Option<&str>) -> Self {
        if let Some(value) = value {
            self.0.push(std::mem::replace(&mut self.1, '&'));
            self.0.extend([name, "=", &url::encode(value)]);
        }
        self
    }
}

impl Rest {
    pub(super) fn new(place: Place) -> Self {
        Self { place }
    }

    /// The name of the service, organisation and tenant included.
    pub(super) fn name(&self) -> &str {
        self.place.api()
    }

    /// Whether a token may be sent there.
    pub(super) fn trusts(&self, url: &str) -> bool {
        self.place.trusts(url)
    }

    pub(super) fn get(&self, address: &Address) -> Request {
        self.request(Method::Get, address, None)
    }

    pub(super) fn conversation(&self, id: &str) -> Request {
        self.get(&Address::new(&[("/conversation", id)]))
    }

    pub(super) fn create(&self, body: String) -> Request {
        self.request(Method::Post, &Address::new(&[("/conversation", "")]), Some(body))
    }

    /// A page of exchanges.
    pub(super) fn exchanges(&self, id: &str, limit: u32, newest_first: bool, cursor: Option<&str>) -> Request {
        let order = if newest_first { "descending" } else { "ascending" };
        let address = Address::new(&[("/conversation", id), ("/exchange", "")])
            .with("limit", Some(&limit.to_string()))
            .with("exchangeSort", Some(order))
            .with("messageSort", Some("ascending"))
            .with("cursor", cursor);
        self.get(&address)
    }

    pub(super) fn exchange(&self, id: &str, exchange: &str) -> Request {
        let address = Address::new(&[("/conversation", id), ("/exchange", exchange)]);
        self.get(&address.with("messageSort", Some("ascending")))
    }

    pub(super) fn request(&self, method: Method, address: &Address, body: Option<String>) -> Request {
        let mut headers = self.place.headers();
        if body.is_some() {
            headers.push(("Content-Type", "application/json".to_owned()));
        }
        let url = [self.place.api(), API, &address.0].concat();
        Request { method, url, headers, body, timeout: PATIENCE }
    }
}
