//! The tools that the pages declare, their schemas as the engine sees them, and what their handlers do.

use pagehand::call::Settled;
use pagehand::tool::{Issue, Report, Tool};
use serde_json::Value;

use crate::chance::Chance;

pub const STRICT: &str = r#"{"type":"object","properties":{"mode":{"enum":["fit"]},"n":{},"deep":{}}}"#;
const NUMBER: &str = r#"{"type":"number"}"#;
const ANY: &str = r#"{"type":"object","properties":{}}"#;
const NAMES: [&str; 5] = ["plain", "strict", "shaped", "rare", "early"];

thread_local! {
    static TOOLS: [Vec<Tool>; 2] = [declared(false), declared(true)];
    static GUARDED: Tool = tool("guarded", r#""hasHandler":true,"timeout":2000,"reviewed":true"#);
    static EARLY: Tool = tool("early", r#""hasHandler":true,"timeout":2000,"runOn":"announcement""#);
}

/// The tools of a page; only some pages have a handler for the rare one. Where calls wait for approval no tool may run on the
/// announcement.
pub fn tools(rare: bool, confirm: bool) -> Vec<Tool> {
    let mut tools = TOOLS.with(|tools| tools[usize::from(rare)].clone());
    if !confirm {
        tools.push(EARLY.with(Clone::clone));
    }
    tools
}

/// The tools of a page of UiPath's. The app looks at calls of one of them before they run.
pub fn uipath(rare: bool) -> Vec<Tool> {
    let mut tools = TOOLS.with(|tools| tools[usize::from(rare)].clone());
    tools.push(GUARDED.with(Clone::clone));
    tools
}

/// A tool declared anew, with a handler.
pub fn anew(name: &str) -> Tool {
    let known = TOOLS.with(|tools| tools[1].iter().find(|tool| tool.name.as_str() == name).cloned());
    known.expect("a tool of the pages")
}

/// The name of a tool, to be kept.
pub fn name(name: &str) -> &'static str {
    [&NAMES[..], &["guarded"]].concat().into_iter().find(|known| *known == name).expect("a tool of the pages")
}

fn tool(name: &str, rest: &str) -> Tool {
    let text = format!(r#"{{"name":"{name}","description":"d",{rest}}}"#);
    Tool::from_json(&text).unwrap()
}

fn declared(rare: bool) -> Vec<Tool> {
    vec![
        tool("plain", r#""hasHandler":true,"timeout":4000"#),
        tool("strict", &format!(r#""hasHandler":true,"timeout":3000,"inputSchema":{STRICT}"#)),
        tool("shaped", &format!(r#""hasHandler":true,"outputSchema":{NUMBER}"#)),
        tool("rare", &format!(r#""hasHandler":{rare},"timeout":2000"#)),
    ]
}

/// The tools as the server has them.
pub fn known() -> String {
    let tool = |name: &str| {
        let schema = if name == "strict" { STRICT } else { ANY };
        format!(r#"{{"name":"{name}","description":"d","parameters":{schema},"annotations":null}}"#)
    };
    format!("[{}]", NAMES.map(tool).join(","))
}

/// A schema, as the engine understands it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    Strict,
    Number,
}

impl Rule {
    pub fn read(schema: &str) -> Self {
        if schema == NUMBER { Self::Number } else { Self::Strict }
    }

    pub fn check(self, instance: &str) -> Report {
        let value: Value = serde_json::from_str(instance).unwrap();
        let valid = match self {
            Self::Strict => value.get("mode").is_none_or(|mode| mode == "fit"),
            Self::Number => value.is_number(),
        };
        let issue =
            || Issue { path: String::new(), keyword: "enum".into(), expected: Box::default(), message: "unfit".into() };
        Report { valid, issues: if valid { Vec::new() } else { vec![issue()] } }
    }
}

/// What a handler will do, and after how long.
pub enum Deed {
    Settles(u64, Settled),
    Never,
}

/// A result may be larger than a packet, so many times in a thousand.
pub fn handler(tool: &str, large: u64, chance: &mut Chance) -> Deed {
    if large > 0 && chance.per_mille(large) {
        return Deed::Settles(1, Settled::Returned(format!("\"{}\"", "x".repeat(4_000))));
    }
    let length = chance.pick(&[0, 1, 20, 250, 250, 1_500]);
    let returned = |text: &str| Settled::Returned(text.to_owned());
    match chance.below(100) {
        0..75 => Deed::Settles(length, returned("1")),
        75..80 => Deed::Settles(length, returned("\"text\"")),
        80..88 => Deed::Settles(length, Settled::Threw { name: "Error".into(), message: "thrown".into() }),
        88..92 => Deed::Settles(length, Settled::NotSerializable { message: "a cycle".into() }),
        // Longer than it may take.
        92..96 if tool != "shaped" => Deed::Settles(6_000, returned("2")),
        _ => Deed::Never,
    }
}
