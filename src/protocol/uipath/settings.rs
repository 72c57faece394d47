//! Which service, and how it knows us.

use crate::error::Error;
use crate::net::url;
use crate::protocol::SessionKey;

/// The socket's path in the cloud, and on a machine of one's own.
const CLOUD: &str = "/autopilotforeveryone_/websocket_/socket.io/";
const LOCAL: &str = "/socket.io/";
/// The longest name of an external user.
const LONGEST_USER: usize = 255;

/// Which service, and how it knows us. It has no `Debug`: the token is not written anywhere.
pub struct Settings {
    /// The base URL: `https://api.uipath.com`.
    pub url: String,
    /// The organisation's name or id.
    pub organization: String,
    /// The tenant's name or id.
    pub tenant: String,
    /// The bearer token, without the word.
    pub token: SessionKey,
    /// The path of the socket, where it is an unusual one.
    pub socket_path: Option<String>,
    /// For whom an app-scoped token speaks.
    pub external_user: Option<String>,
    /// What the page is called in the service's statistics.
    pub surface: Option<Surface>,
}

/// A name and a version for statistics.
#[derive(Debug, Clone)]
pub struct Surface {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
}

/// Where things are, checked.
pub(super) struct Place {
    /// The base, the organisation and the tenant.
    api: String,
    socket: String,
    /// What goes with every request.
    headers: Vec<(&'static str, String)>,
}

impl Place {
    /// Takes the settings apart: where, and the token.
    pub(super) fn new(settings: Settings) -> Result<(Self, SessionKey), Error> {
        let Settings { url: given, organization, tenant, token, socket_path, external_user, surface } = settings;
        let base = url::base(&given)
            .ok_or_else(|| Error::invalid("url", "an http or https address without credentials, query and fragment"))?;
        for (field, value) in [("organization", &organization), ("tenant", &tenant)] {
            if value.trim().is_empty() {
                return Err(Error::invalid(field, "a name or an id"));
            }
        }
        if external_user.as_deref().is_some_and(|user| !is_user(user)) {
            return Err(Error::invalid("externalUser", "letters, digits, ., _ and -; 255 characters at most"));
        }
        let path = match &socket_path {
            None => socket_path_of(base),
            Some(path) if path.starts_with('/') && !path.contains(['?', '#']) => path,
            Some(_) => return Err(Error::invalid("socketPath", "a path that begins with /")),
        };
        let mut socket = [&url::websocket(origin(base)), path, "?EIO=4&transport=websocket"].concat();
        let (name, version) = surface.map_or((None, None), |surface| (Some(surface.name), Some(surface.version)));
        let ours = [
            ("x-uipath-external-user-id", external_user),
            ("x-uipath-conversational-surfacename", name),
            ("x-uipath-conversational-surfaceversion", version),
        ];
        let headers: Vec<_> = ours.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        let account = [("x-uipath-internal-accountid", &organization), ("x-uipath-internal-tenantid", &tenant)];
        for (name, value) in account.into_iter().chain(headers.iter().map(|(name, value)| (*name, value))) {
            socket.extend(["&", name, "=", &url::encode(value)]);
        }
        let api = [base, "/", &url::encode(&organization), "/", &url::encode(&tenant)].concat();
        Ok((Self { api, socket, headers }, token))
    }

    /// What goes with every request.
    pub(super) fn headers(&self) -> Vec<(&'static str, String)> {
        self.headers.clone()
    }

    /// Whether a token may be sent there: to the configured origin, and among UiPath's own from one to another.
    pub(super) fn trusts(&self, url: &str) -> bool {
        let (theirs, ours) = (origin(url), origin(&self.api));
        let uipath = |origin: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
            origin.strip_prefix("https://").is_some_and(|host| host.ends_with(".uipath.com") && host.chars().all(plain))
        };
        theirs == ours || (uipath(theirs) && uipath(ours))
    }

    /// The base, the organisation and the tenant.
    pub(super) fn api(&self) -> &str {
        &self.api
    }

    /// The address of the socket; the token never goes into it.
    pub(super) fn socket(&self) -> &str {
        &self.socket
    }
}

/// The base without its path: organisation and tenant are no part of the socket's address.
fn origin(base: &str) -> &str {
    let after_scheme = after_scheme(base);
    let path = base.get(after_scheme..).and_then(|rest| rest.find('/'));
    path.and_then(|at| base.get(..after_scheme + at)).unwrap_or(base)
}

/// Where the authority begins. Looked for in bytes: the search for a text within a text is two kilobytes.
fn after_scheme(base: &str) -> usize {
    base.as_bytes().windows(2).position(|two| two == b"//").map_or(0, |at| at + 2)
}

fn socket_path_of(base: &str) -> &'static str {
    let authority = origin(base).get(after_scheme(base)..).unwrap_or_default();
    let host = authority.split(':').next().unwrap_or_default();
    if matches!(host, "localhost" | "127.0.0.1") { LOCAL } else { CLOUD }
}

fn is_user(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !text.is_empty() && text.len() <= LONGEST_USER && text.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(url: &str) -> Settings {
        Settings {
            url: url.into(),
            organization: "org".into(),
            tenant: "tenant".into(),
            token: SessionKey::Fixed("canary".into()),
            socket_path: None,
            external_user: None,
            surface: None,
        }
    }

    fn socket(settings: Settings) -> String {
        Place::new(settings).unwrap().0.socket().to_owned()
    }

    const QUERY: &str = "?EIO=4&transport=websocket&x-uipath-internal-accountid=org&x-uipath-internal-tenantid=tenant";

    #[test]
    fn the_path_of_the_socket_depends_on_the_host() {
        for (url, address) in [
            ("https://api.uipath.com", "wss://api.uipath.com/autopilotforeveryone_/websocket_/socket.io/"),
            ("https://x.example/proxy/", "wss://x.example/autopilotforeveryone_/websocket_/socket.io/"),
            ("http://localhost:3000", "ws://localhost:3000/socket.io/"),
            ("http://127.0.0.1", "ws://127.0.0.1/socket.io/"),
            ("https://localhost.example", "wss://localhost.example/autopilotforeveryone_/websocket_/socket.io/"),
        ] {
            assert_eq!(socket(settings(url)), [address, QUERY].concat());
        }
        let given = Settings { socket_path: Some("/io/".into()), ..settings("http://localhost:1") };
        assert_eq!(socket(given), ["ws://localhost:1/io/", QUERY].concat());
    }

    #[test]
    fn who_we_are_is_in_the_query_and_the_token_is_not() {
        let surface = Some(Surface { name: "a b".into(), version: "9".into() });
        let address = socket(Settings { external_user: Some("ext-1".into()), surface, ..settings("http://localhost") });
        let more = "&x-uipath-external-user-id=ext-1&x-uipath-conversational-surfacename=a%20b\
            &x-uipath-conversational-surfaceversion=9";
        assert_eq!(address, ["ws://localhost/socket.io/", QUERY, more].concat());
        assert!(!address.contains("canary"));
    }

    #[test]
    fn settings_that_cannot_work_are_refused_by_their_field() {
        let with = settings;
        for (given, field) in [
            (with("ftp://x"), "url"),
            (Settings { organization: " ".into(), ..with("http://x") }, "organization"),
            (Settings { tenant: String::new(), ..with("http://x") }, "tenant"),
            (Settings { external_user: Some("a b".into()), ..with("http://x") }, "externalUser"),
            (Settings { external_user: Some("a".repeat(256)), ..with("http://x") }, "externalUser"),
            (Settings { socket_path: Some("io".into()), ..with("http://x") }, "socketPath"),
        ] {
            let Err(Error::InvalidArgument { field: told, .. }) = Place::new(given) else { panic!("{field}") };
            assert_eq!(told, field);
        }
    }
}
