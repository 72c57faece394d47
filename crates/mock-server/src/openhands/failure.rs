//! How a run ends in error.

use crate::json::Json;
use crate::object;

use super::conversation::{State, Status};

pub(super) fn classification(kind: &str, retryable: bool, action: &str) -> Json {
    object! { "kind" => kind, "retryable" => retryable, "user_action" => action, "error_id" => Json::Null }
}

impl State {
    pub(super) fn fail_llm(&mut self, status: u64, message: &str) {
        let (code, detail, class) = match status {
            401 | 403 => (
                "LLMAuthenticationError",
                "Your LLM API key appears to be invalid or has expired.".to_owned(),
                classification("auth", false, "settings"),
            ),
            400..500 => (
                "LLMBadRequestError",
                format!("litellm.BadRequestError: OpenAIException - {message}"),
                classification("unknown", false, "none"),
            ),
            _ => (
                "LLMServiceUnavailableError",
                format!("litellm.InternalServerError: InternalServerError: OpenAIException - {message}"),
                classification("transient", true, "retry"),
            ),
        };
        self.fail(code, &detail, class);
    }

    /// Ends the run in error: the status first, then the event.
    fn fail(&mut self, code: &str, detail: &str, classification: Json) {
        self.set_status(Status::Error);
        let fields = object! { "code" => code, "detail" => detail, "classification" => classification };
        self.log.append("environment", "ConversationErrorEvent", fields);
    }

    pub(super) fn fail_iterations(&mut self) {
        let detail = format!("Agent reached maximum iterations limit ({}).", self.max_iterations);
        self.fail("MaxIterationsReached", &detail, classification("agent_action", false, "none"));
    }

    /// Tools that pass the create request and fail at run: `properties` as an empty list.
    pub(super) fn fail_broken_tools(&mut self) -> bool {
        let broken = self.tools.iter().flatten().any(|tool| {
            let properties = tool.parameters.as_ref().and_then(|schema| schema.get("properties"));
            properties.is_some_and(|properties| properties.as_array().is_some())
        });
        if broken {
            let detail = "list indices must be integers or slices, not str";
            self.fail("TypeError", detail, classification("internal", false, "none"));
        }
        broken
    }
}
