//! Hints about a tool, in the words of the Model Context Protocol.

use crate::json::{Json, Members, Object, Write};

/// What the app says about a tool. What it does not say stays unsaid: nothing is taken for read-only.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Annotations {
    /// A name for people.
    pub title: Option<String>,
    /// Changes nothing.
    pub read_only_hint: Option<bool>,
    /// May destroy something.
    pub destructive_hint: Option<bool>,
    /// Doing it twice is doing it once.
    pub idempotent_hint: Option<bool>,
    /// Reaches beyond the page.
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

impl Write for Annotations {
    fn write(&self, text: &mut String) {
        let mut members = Members::of(text);
        members.set_some("title", self.title.as_ref());
        members.set_some("readOnlyHint", self.read_only_hint.as_ref());
        members.set_some("destructiveHint", self.destructive_hint.as_ref());
        members.set_some("idempotentHint", self.idempotent_hint.as_ref());
        members.set_some("openWorldHint", self.open_world_hint.as_ref()).end();
    }
}
