//! The forms in which deeds are answered.

use crate::error::Error;
use crate::json::{self, Json, Object};

use super::history;
use super::rest::Rest;

/// The form of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `null`.
    Nothing,
    /// `null`, and that is the end of this conversation.
    Deleted,
    /// The service's value as it is.
    Whole,
    /// A page, with its items under this name.
    Page(&'static str),
    /// `{"uri", "name", "upload": {"url", "method", "headers"}}`: where a file goes, and what to call it in a message.
    Upload,
}

impl Form {
    /// The result as JSON text.
    pub(super) fn read(self, body: String, rest: &Rest, token: Option<&str>) -> Result<String, Error> {
        match self {
            Self::Nothing | Self::Deleted => Ok("null".to_owned()),
            Self::Whole if body.trim().is_empty() => Ok("null".to_owned()),
            Self::Whole if body.starts_with(['{', '[']) && Json::read(&body).is_some() => Ok(body),
            Self::Whole => Err(Error::BadResponse { what: "reading what was asked for" }),
            Self::Page(name) => history::page(&body, name),
            Self::Upload => upload(&body, rest, token).ok_or(Error::BadResponse { what: "making an attachment" }),
        }
    }
}

/// The token goes along only where the service asks for it, and only to where it may go.
fn upload(body: &str, rest: &Rest, token: Option<&str>) -> Option<String> {
    let body = Object::read(body)?;
    let access = body.object("fileUploadAccess");
    let (uri, url) = (body.string("uri")?, access.string("url")?);
    let method = access.string("verb").unwrap_or_else(|| "PUT".to_owned());
    let listed = access.object("headers");
    let (keys, values) = (listed.list("keys").unwrap_or_default(), listed.list("values").unwrap_or_default());
    let strings = keys.into_iter().zip(values);
    let mut headers: Vec<(String, String)> =
        strings.filter_map(|(key, value)| Some((key.string()?.into_owned(), value.string()?.into_owned()))).collect();
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("x-ms-blob-type")) {
        headers.push(("x-ms-blob-type".to_owned(), "BlockBlob".to_owned()));
    }
    if let Some(token) = token.filter(|_| access.flag("requiresAuth") && rest.trusts(&url)) {
        headers.push(("Authorization".to_owned(), ["Bearer ", token].concat()));
    }
    let headers: Vec<_> =
        headers.iter().map(|(name, value)| [&json::text(name), ":", &json::text(value)].concat()).collect();
    let members = [
        ["\"uri\":", &json::text(&uri)].concat(),
        ["\"name\":", &json::text(&body.text("name"))].concat(),
        [
            "\"upload\":{\"url\":",
            &json::text(&url),
            ",\"method\":",
            &json::text(&method),
            ",\"headers\":{",
            &headers.join(","),
            "}}",
        ]
        .concat(),
    ];
    Some(["{", &members.join(","), "}"].concat())
}

#[cfg(test)]
mod tests {
    use crate::protocol::SessionKey;

    use super::super::settings::{Place, Settings};
    use super::*;

    fn rest() -> Rest {
        let settings = Settings {
            url: "https://api.uipath.com".into(),
            organization: "o".into(),
            tenant: "t".into(),
            token: SessionKey::None,
            socket_path: None,
            external_user: None,
            surface: None,
        };
        Rest::new(Place::new(settings).unwrap().0)
    }

    fn read(form: Form, body: &str) -> Result<String, &'static str> {
        form.read(body.to_owned(), &rest(), Some("canary")).map_err(|error| error.code())
    }

    #[test]
    fn each_answer_takes_its_form() {
        assert_eq!(read(Form::Nothing, "{}").as_deref(), Ok("null"));
        assert_eq!(read(Form::Whole, "").as_deref(), Ok("null"));
        assert_eq!(read(Form::Whole, r#"[{"id":7.0}]"#).as_deref(), Ok(r#"[{"id":7.0}]"#));
        assert_eq!(read(Form::Whole, "<html>"), Err("bad_response"));
        assert_eq!(read(Form::Whole, r#"{"id":"#), Err("bad_response"), "half of it");
        let page = read(Form::Page("conversations"), r#"{"data":[],"cursor":"c"}"#);
        assert_eq!(page.as_deref(), Ok(r#"{"conversations":[],"next":"c"}"#));
    }

    #[test]
    fn a_file_goes_where_the_service_says_and_the_token_only_where_it_may() {
        let body = |url: &str, auth: bool| {
            let access = format!(
                r#"{{"url":"{url}","verb":"PUT","headers":{{"keys":["x-a"],"values":["1"]}},"requiresAuth":{auth}}}"#
            );
            read(Form::Upload, &format!(r#"{{"uri":"urn:x","name":"a.pdf","fileUploadAccess":{access}}}"#)).unwrap()
        };
        assert_eq!(
            body("https://blob.example/f?sig=1", false),
            r#"{"uri":"urn:x","name":"a.pdf","upload":{"url":"https://blob.example/f?sig=1","method":"PUT","headers":{"x-a":"1","x-ms-blob-type":"BlockBlob"}}}"#
        );
        assert!(body("https://api.uipath.com/f", true).contains(r#""Authorization":"Bearer canary""#));
        assert!(body("https://cloud.uipath.com/f", true).contains("canary"));
        for elsewhere in [
            "https://blob.example/f",
            "https://uipath.com.evil.example/",
            "http://cloud.uipath.com/f",
            "https://evil.example?.uipath.com",
            "https://evil.example#.uipath.com",
            r"https://evil.example\\.uipath.com/f",
            "https://cloud.uipath.com:443@evil.example/f",
        ] {
            assert!(!body(elsewhere, true).contains("canary"), "{elsewhere}");
        }
        assert!(!body("https://api.uipath.com/f", false).contains("canary"));
        assert_eq!(read(Form::Upload, "{}"), Err("bad_response"));
    }
}
