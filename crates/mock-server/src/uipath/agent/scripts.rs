//! The scripts of a server, and which one a conversation is played by.

use crate::json::Json;
use crate::object;

use super::super::conversation::{Conversation, Order};
use super::script::Script;

/// What a control request chose for a conversation.
#[derive(Debug, Clone)]
pub(crate) enum Choice {
    /// A script by its name.
    Named(String),
    /// A script of its own.
    Inline(Json),
}

/// All scripts, by name.
#[derive(Debug, Default)]
pub(crate) struct Scripts(Vec<(String, Json)>);

impl Scripts {
    /// Stores a script; answers with the number of its steps.
    pub(crate) fn put(&mut self, name: &str, body: &Json) -> Result<usize, String> {
        let steps = Script::check(body)?;
        self.remove(name);
        self.0.push((name.to_owned(), body.clone()));
        Ok(steps)
    }

    /// Stores every script of `{"name": script, …}`.
    pub(crate) fn put_all(&mut self, all: &Json) -> Result<(), String> {
        let all = all.as_object().ok_or("the scripts must be an object")?;
        all.iter().try_for_each(|(name, body)| self.put(name, body).map(|_| ()))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Json> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, body)| body)
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }

    /// The script that plays an exchange.
    pub(crate) fn for_exchange(&self, conversation: &Conversation, order: &Order) -> Option<Script> {
        let body = match &conversation.choice {
            Some(Choice::Inline(body)) => Some(body),
            Some(Choice::Named(name)) => self.get(name),
            None => names(conversation).iter().find_map(|name| self.get(name)),
        };
        body.and_then(|body| Script::of(body, conversation.runs - conversation.runs_before_choice, order))
    }
}

/// The names that a conversation's script may have, the most special first.
fn names(conversation: &Conversation) -> Vec<String> {
    let facts = &conversation.facts;
    let input = facts.get("agentInput").and_then(|input| input.get("inline")).and_then(|input| input.text("script"));
    let label = facts.get("label").and_then(Json::as_str);
    let release = facts.get("agentReleaseId").map(ToString::to_string);
    let names = [input.map(str::to_owned), label.map(str::to_owned), release, Some("default".to_owned())];
    names.into_iter().flatten().collect()
}

/// How a choice is shown.
impl From<&Choice> for Json {
    fn from(choice: &Choice) -> Self {
        match choice {
            Choice::Named(name) => object! { "script" => name },
            Choice::Inline(body) => body.clone(),
        }
    }
}
