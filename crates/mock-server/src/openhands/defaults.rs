//! What the real server fills in: objects with every field, in its order.

use crate::json::{Json, parse};

/// Tools that the server has of its own, in the order of `GET /api/tools/`.
pub(super) const SERVER_TOOLS: [&str; 18] = [
    "ClassifyAndSwitchLLMTool",
    "ask_oracle",
    "file_editor",
    "task_tool_set",
    "task",
    "task_tracker",
    "terminal",
    "workflow_tool_set",
    "workflow",
    "start_child_conversation",
    "browser_tool_set",
    "edit",
    "list_directory",
    "read_file",
    "write_file",
    "glob",
    "grep",
    "planning_file_editor",
];

/// An LLM configuration.
pub(super) const LLM: &str = r#"{"model":null,"api_key":null,"provider_connection_id":null,"auth_type":"api_key","subscription_vendor":null,
"base_url":null,"api_version":null,"aws_access_key_id":null,"aws_secret_access_key":null,
"aws_session_token":null,"aws_region_name":null,"aws_profile_name":null,"aws_role_name":null,
"aws_session_name":null,"aws_bedrock_runtime_endpoint":null,
"openrouter_site_url":"https://docs.all-hands.dev/","openrouter_app_name":"OpenHands","num_retries":5,
"retry_multiplier":8.0,"retry_min_wait":8,"retry_max_wait":64,"timeout":300,"stream_idle_timeout":300.0,
"max_message_chars":30000,"temperature":null,"top_p":null,"top_k":null,"max_input_tokens":null,
"max_output_tokens":null,"model_canonical_name":null,"api_mode":"auto","capability_overrides":{},
"extra_headers":null,"input_cost_per_token":null,"output_cost_per_token":null,"ollama_base_url":null,
"stream":false,"drop_params":true,"disable_vision":null,"disable_stop_word":false,"caching_prompt":true,
"log_completions":false,"log_completions_folder":"logs/completions","custom_tokenizer":null,
"native_tool_calling":true,"force_string_serializer":null,"inline_image_urls":null,"reasoning_effort":"high",
"reasoning_summary":null,"enable_encrypted_reasoning":true,"prompt_cache_retention":"24h",
"extended_thinking_budget":200000,"seed":null,"usage_id":"default","litellm_extra_body":{},
"is_subscription":false}"#;

/// An agent.
pub(super) const AGENT: &str = r#"{"llm":{},"tools":[],"mcp_config":{},"filter_tools_regex":null,"include_default_tools":["FinishTool",
"ThinkTool"],"agent_context":null,"system_prompt":null,"system_prompt_filename":"system_prompt.j2",
"security_policy_filename":"security_policy.j2","system_prompt_kwargs":{"llm_security_analyzer":true},
"condenser":null,"critic":null,"tool_concurrency_limit":1,"persona":null,"kind":"Agent"}"#;

/// The context of an agent made from `agent_settings`.
pub(super) const AGENT_CONTEXT: &str = r#"{"skills":[],"system_message_suffix":null,"user_message_suffix":null,"load_user_skills":false,
"load_public_skills":false,"marketplace_path":"marketplaces/default.json","registered_marketplaces":[],
"load_project_skills":false,"load_memory":false,"disabled_skills":[],"secrets":null,"current_datetime":null}"#;

/// The condenser of an agent made from `agent_settings`.
pub(super) const CONDENSER: &str = r#"{"llm":{},"max_size":240,"max_tokens":null,"keep_first":2,"minimum_progress":0.1,
"hard_context_reset_max_retries":5,"hard_context_reset_context_scaling":0.8,"kind":"LLMSummarizingCondenser"}"#;

/// What the server says it can do.
pub(super) const CAPABILITIES: &str = r#"["conversation_runtime_routes_v1","profile_secret_scope_v1","profile_persona_v1","credential_binding_v1",
"credential_binding_readiness_probe_v1","credential_binding_activation_guard_v1",
"idempotent_conversation_create_v1","tool_catalog_v1","agent_profile_draft_materialize_v1",
"agent_launch_pipeline_v1","profile_public_skills_v1","skill_catalog_v1"]"#;

/// One of the objects above.
pub(super) fn read(text: &str) -> Json {
    parse(text).unwrap_or_default()
}

/// `defaults` with the values of `given` where it has the field; unknown fields of `given` are ignored.
pub(super) fn overlay(mut defaults: Json, given: &Json) -> Json {
    if let (Some(fields), Some(given)) = (defaults.as_object_mut(), given.as_object()) {
        for (key, value) in given.iter() {
            if let Some(place) = fields.get_mut(key) {
                *place = value.clone();
            }
        }
    }
    defaults
}
