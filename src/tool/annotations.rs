//! Hints about a tool, in the words of the Model Context Protocol.

use serde::Serialize;

use crate::json::{Json, Object};

/// What the app says about a tool. What it does not say stays unsaid: nothing is taken for read-only.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// May destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Doing it twice is doing it once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// Reaches beyond the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl Annotations {
    /// Reads hints; the error is the name of a field with a value of the wrong type. Unknown fields are let be.
    pub(super) fn read(value: Json) -> Result<Self, &'static str> {
        let fields = Object::of(value).ok_or("")?;
        let flag = |name: &'static str| match fields.get(name) {
            Some(_) => fields.bool(name).ok_or(name).map(Some),
            None => Ok(None),
        };
        let title = fields.string("title");
        if title.is_none() && fields.get("title").is_some() {
            return Err("title");
        }
        Ok(Self {
            title,
            read_only_hint: flag("readOnlyHint")?,
            destructive_hint: flag("destructiveHint")?,
            idempotent_hint: flag("idempotentHint")?,
            open_world_hint: flag("openWorldHint")?,
        })
    }
}
