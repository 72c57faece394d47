//! Hooks: shell commands around tool calls and at the end of a run, whose outcome is read from their text.
//!
//! A command that ends in `exit 2` blocks, with what it echoes to stderr as its reason; every other one passes. One that
//! begins with `test -e FILE && exit 0; touch FILE;` passes from its second time on.

use crate::json::{Json, Object};
use crate::object;

use super::conversation::State;
use super::messages::{llm_message, text_content};

const EVENTS: [&str; 6] =
    ["pre_tool_use", "post_tool_use", "user_prompt_submit", "session_start", "session_end", "stop"];

/// A `hook_config` with its defaults.
pub(super) fn complete(given: &Json) -> Json {
    let mut all = Object::new();
    for event in EVENTS {
        let matchers = given.get(event).and_then(Json::as_array).unwrap_or_default();
        all.set(event, matchers.iter().map(complete_matcher).collect::<Vec<_>>());
    }
    all.into()
}

fn complete_matcher(given: &Json) -> Json {
    let hook = |hook: &Json| {
        object! {
            "type" => hook.text("type").unwrap_or("command"),
            "command" => hook.text("command"),
            "tools" => hook.get("tools").cloned().unwrap_or_else(|| Vec::new().into()),
            "timeout" => hook.count("timeout").unwrap_or(60),
            "max_iterations" => hook.count("max_iterations").unwrap_or(3),
            "async_" => hook.flag("async_").unwrap_or(false),
        }
    };
    let hooks = given.get("hooks").and_then(Json::as_array).unwrap_or_default();
    let hooks: Vec<Json> = hooks.iter().map(hook).collect();
    object! { "matcher" => given.text("matcher").unwrap_or("*"), "hooks" => hooks }
}

/// What a hook is told, and what its event says besides.
struct Occasion<'a> {
    /// `PreToolUse`, …
    name: &'a str,
    tool: Option<&'a str>,
    action: Option<&'a str>,
    input: Json,
}

impl State {
    /// Runs the hooks before a tool; one that blocks keeps the action from being carried out.
    pub(super) fn before_tool(&mut self, tool: &str, action: &str, input: &Json) {
        let input = object! { "tool_name" => tool, "tool_input" => input.clone() };
        let occasion = Occasion { name: "PreToolUse", tool: Some(tool), action: Some(action), input };
        if let Some(reason) = self.run_hooks("pre_tool_use", &occasion) {
            self.blocked.set(action, reason);
            self.log.append_state("blocked_actions", self.blocked.clone().into());
        }
    }

    /// The reason why a hook blocked the action, which is forgotten.
    pub(super) fn unblock(&mut self, action: &str) -> Option<String> {
        let reason = self.blocked.remove(action)?;
        self.log.append_state("blocked_actions", self.blocked.clone().into());
        reason.as_str().map(str::to_owned)
    }

    /// Runs the hooks after a tool.
    pub(super) fn after_tool(&mut self, tool: &str, action: &str, input: Json, observation: &Json) {
        let input = object! { "tool_name" => tool, "tool_input" => input, "tool_response" => observation.clone() };
        let occasion = Occasion { name: "PostToolUse", tool: Some(tool), action: Some(action), input };
        self.run_hooks("post_tool_use", &occasion);
    }

    /// Runs the hooks at the end of a turn; true if one sends the agent back to work.
    pub(super) fn stop_is_blocked(&mut self) -> bool {
        let input = object! { "reason" => "agent_finished" };
        let occasion = Occasion { name: "Stop", tool: None, action: None, input };
        let Some(reason) = self.run_hooks("stop", &occasion) else { return false };
        let fields = object! {
            "llm_message" => llm_message("user", vec![text_content(&format!("[Stop hook feedback] {reason}"))]),
            "llm_response_id" => Json::Null,
            "activated_skills" => Vec::new(),
            "extended_content" => Vec::new(),
            "sender" => Json::Null,
            "critic_result" => Json::Null,
        };
        self.log.append("environment", "MessageEvent", fields);
        true
    }

    /// Runs the hooks of an event; the reason of the first that blocks.
    fn run_hooks(&mut self, event: &str, occasion: &Occasion<'_>) -> Option<String> {
        let mut reason = None;
        for command in self.commands(event, occasion.tool) {
            let blocks = self.blocks(&command);
            let stderr = if blocks { echoed(&command) } else { "" };
            let fields = object! {
                "hook_event_type" => occasion.name,
                "hook_command" => &command,
                "tool_name" => occasion.tool,
                "success" => !blocks,
                "blocked" => blocks,
                "exit_code" => if blocks { 2u64 } else { 0u64 },
                "stdout" => "",
                "stderr" => if stderr.is_empty() { String::new() } else { format!("{stderr}\n") },
                "reason" => Json::Null,
                "additional_context" => Json::Null,
                "error" => Json::Null,
                "action_id" => occasion.action,
                "message_id" => Json::Null,
                "hook_input" => occasion.input.clone(),
            };
            self.log.append_hook(fields);
            if blocks && reason.is_none() {
                reason = Some(stderr.to_owned());
            }
        }
        reason
    }

    fn commands(&self, event: &str, tool: Option<&str>) -> Vec<String> {
        let concerns = |matcher: &&Json| {
            let wanted = matcher.text("matcher").unwrap_or("*");
            wanted == "*" || tool.is_none_or(|tool| wanted.split('|').any(|name| name == tool))
        };
        let matchers = self.hook_config.get(event).and_then(Json::as_array).unwrap_or_default();
        let hooks =
            matchers.iter().filter(concerns).filter_map(|matcher| matcher.get("hooks").and_then(Json::as_array));
        hooks.flatten().filter_map(|hook| hook.text("command")).map(str::to_owned).collect()
    }

    fn blocks(&mut self, command: &str) -> bool {
        let file = command.strip_prefix("test -e ").and_then(|rest| rest.split_once(" && exit 0; touch "));
        if let Some((file, _)) = file
            && !self.touched.insert(file.to_owned())
        {
            return false;
        }
        command.trim_end().ends_with("exit 2")
    }
}

/// What a command echoes to stderr.
fn echoed(command: &str) -> &str {
    let said = command.split(';').find_map(|part| part.trim().strip_prefix("echo "));
    said.and_then(|said| said.split(">&2").next()).unwrap_or_default().trim().trim_matches(['"', '\''])
}
