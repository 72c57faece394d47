//! The names of tools: what the designer of an agent allows, and what becomes of them on the wire.

use crate::error::{Error, ToolFault};
use crate::tool::{RunOn, Tool};

/// The longest name on the wire.
const LONGEST: usize = 64;

/// A name as it is on the wire: runs of white space become `_`, and what providers do not take is dropped.
pub(super) fn clean(name: &str) -> String {
    let mut cleaned = String::with_capacity(name.len());
    let mut spaced = false;
    for c in name.chars() {
        if c.is_whitespace() {
            if !spaced {
                cleaned.push('_');
            }
        } else if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
            cleaned.push(c);
        }
        spaced = c.is_whitespace();
    }
    cleaned.truncate(LONGEST);
    cleaned
}

/// Checks a tool beside others.
pub(super) fn check(tool: &Tool, others: &[&Tool]) -> Result<(), Error> {
    let name = tool.name.as_str();
    let fault = |rule, message: String| {
        let fault = ToolFault { tool: name.to_owned(), field: "name".to_owned(), rule, message };
        Err(Error::InvalidTool(fault))
    };
    if !is_designed(name) {
        return fault(
            "name_pattern",
            "a letter or _, then letters, digits, spaces and _; 64 characters at most".to_owned(),
        );
    }
    if tool.run_on == RunOn::Announcement {
        let because = "the agent may still ask a person, or end the call itself";
        return Err(Error::AnnouncementRefused { tool: name.to_owned(), because });
    }
    let cleaned = clean(name);
    match others.iter().map(|other| other.name.as_str()).find(|other| *other != name && clean(other) == cleaned) {
        Some(other) => fault("name_collision", ["on the wire it is the same as ", other].concat()),
        None => Ok(()),
    }
}

fn is_designed(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cleaned_as_the_agents_side_does() {
        for (name, cleaned) in [
            ("create task", "create_task"),
            ("create  \t task", "create_task"),
            ("read.board", "readboard"),
            ("read . board", "read__board"),
            ("a-b_c", "a-b_c"),
            ("äöü x", "_x"),
        ] {
            assert_eq!(clean(name), cleaned, "{name}");
        }
        assert_eq!(clean(&"x".repeat(70)).len(), 64);
    }

    fn tool(name: &str) -> Tool {
        Tool::from_json(&format!(r#"{{"name":"{name}","description":"d","hasHandler":true}}"#)).unwrap()
    }

    fn rule(name: &str, others: &[&Tool]) -> Option<&'static str> {
        match check(&tool(name), others) {
            Err(Error::InvalidTool(fault)) => Some(fault.rule),
            other => {
                assert_eq!(other, Ok(()));
                None
            }
        }
    }

    #[test]
    fn what_the_designer_refuses_is_refused() {
        for name in ["create task", "_a", "A9 _"] {
            assert_eq!(rule(name, &[]), None, "{name}");
        }
        assert_eq!(rule("a-b", &[]), Some("name_pattern"));
    }

    #[test]
    fn names_that_are_one_on_the_wire_are_refused() {
        let other = tool("create task");
        assert_eq!(rule("create_task", &[&other]), Some("name_collision"));
        assert_eq!(rule("create  task", &[&other]), Some("name_collision"));
        assert_eq!(rule("create task", &[&other]), None, "the same tool again");
        assert_eq!(rule("create tasks", &[&other]), None);
    }

    #[test]
    fn nothing_runs_on_the_announcement() {
        let text = r#"{"name":"a","description":"d","runOn":"announcement","hasHandler":true}"#;
        let error = check(&Tool::from_json(text).unwrap(), &[]).unwrap_err();
        assert_eq!(error.code(), "announcement_refused");
    }
}
