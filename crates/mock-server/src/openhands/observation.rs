//! What a tool answers.

use crate::json::Json;
use crate::object;

use super::event::Event;
use super::messages::text_content;
use super::tools::Tool;

const ACK: &str = "Tool call dispatched to client.";

/// The observation of an action. The server's own tools do nothing, successfully.
pub(super) fn observe(tool: &Tool, action: &Event) -> Json {
    let argument = |name: &str| action.wire.get("action").and_then(|action| action.get(name)).cloned();
    let content = match tool.observation.as_str() {
        "ClientToolObservation" => vec![text_content(ACK)],
        "ThinkObservation" => vec![text_content("Your thought has been logged.")],
        "FinishObservation" => {
            let message = argument("message").unwrap_or_default();
            message.as_str().filter(|text| !text.is_empty()).map(text_content).into_iter().collect()
        }
        _ => vec![text_content("")],
    };
    let mut observation = object! { "content" => content, "is_error" => false };
    if tool.name == "terminal" {
        observation.set("command", argument("command"));
        observation.set("exit_code", 0u64);
        observation.set("timeout", false);
        observation.set("metadata", terminal_metadata());
    }
    observation.set("kind", tool.observation.as_str());
    observation
}

fn terminal_metadata() -> Json {
    object! {
        "exit_code" => 0u64,
        "pid" => -1i64,
        "username" => "user",
        "hostname" => "host",
        "working_dir" => "/workspace/project",
        "py_interpreter_path" => "/usr/bin/python3",
        "prefix" => "",
        "suffix" => "\n[The command completed with exit code 0.]",
    }
}
