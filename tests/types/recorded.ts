// Written by the test `samples` from the recordings of the real server. Not to be edited.
import type { OpenHandsEvent } from "../../src/wasm/types.d.ts";

type ReadOnly<T> = T extends object ? { readonly [P in keyof T]: ReadOnly<T[P]> } : T;
type Known<K> = ReadOnly<Extract<OpenHandsEvent, { kind: K }>>;

const aActionEvent = {"id":"86d3f928-5099-4c28-a8df-fdfbc7d1291b","kind":"ActionEvent","llm_response_id":"chatcmpl-scripted-000070","parent_id":"f5fc82b7-f541-4632-a758-ca57aeb0865b","security_risk":"UNKNOWN","source":"agent","thinking_blocks":[],"thought":[],"timestamp":"2026-11-30T08:51:48.190432","tool_call":{"arguments":"{\"zz\": 1}","id":"call_000070_0","name":"e_reqx","origin":"completion"},"tool_call_id":"call_000070_0","tool_name":"e_reqx"} as const;
aActionEvent satisfies Known<"ActionEvent">;

const aAgentErrorEvent = {"classification":{"kind":"agent_action","retryable":true,"user_action":"retry"},"error":"Tool call interrupted before completion. The conversation was paused.","id":"15dd7c26-0987-4e84-ada3-ba905dd9fee4","kind":"AgentErrorEvent","parent_id":"24f7d7b1-2a32-4a02-ac97-7550b8e9eca2","source":"agent","timestamp":"2026-11-30T09:35:17.086391","tool_call_id":"call_000008_0","tool_name":"terminal"} as const;
aAgentErrorEvent satisfies Known<"AgentErrorEvent">;

const aCondensation = {"forgotten_event_ids":["6448b5a5-e406-46db-925b-a3058d97c16f","1f32a5ab-c9a9-4f80-b710-1f68c1104b41","14f8336f-7ffa-4a4d-aab7-c4761bf9b706","d7efbc7e-c0b7-43d2-8c5d-a74e9cdcce82","434a193d-9154-40a4-8806-ec63928be53e","42f105a0-06eb-467a-b3c4-e058b540b192","dad68013-ffc2-4788-ae5a-adda2e77c42a","72b1e726-b500-4d0a-a473-a36a699e5d0d","a149f232-e511-4edf-a3fb-d54118917d9e","52317614-e351-4f50-aa7c-964519ecd458","cbb0d465-7a31-498f-a1b1-c8c2cabc7813","1c6e91fa-a691-4145-aa15-3ffc446bc3cc","688201bc-5a82-4dd9-b71a-df19a6d9f9e1","d7367357-efc7-43b5-b355-a140f796428e","c3c0a773-8744-423d-9f60-92cb10c37cc0","b465b8f6-76a7-4e65-899c-70e4c09757f0"],"id":"017a5301-dbb6-446d-baac-a73bf1b537dc","kind":"Condensation","llm_response_id":"chatcmpl-scripted-000028","parent_id":"84d4647b-9818-40f6-a818-7700d122b92c","source":"environment","summary":"A short summary.","summary_offset":2,"timestamp":"2026-11-30T09:35:33.600777"} as const;
aCondensation satisfies Known<"Condensation">;

const aCondensationRequest = {"id":"84d4647b-9818-40f6-a818-7700d122b92c","kind":"CondensationRequest","parent_id":"2a8dec7c-42ba-4760-9e72-9f31a730d513","source":"environment","timestamp":"2026-11-30T09:35:33.372318"} as const;
aCondensationRequest satisfies Known<"CondensationRequest">;

const aConversationErrorEvent = {"classification":{"kind":"internal","retryable":false,"user_action":"none"},"code":"TypeError","detail":"list indices must be integers or slices, not str","id":"637f36a2-76fe-40c9-b453-4e2caf67bcfe","kind":"ConversationErrorEvent","parent_id":"e1cfe442-6bc5-4a6e-b38d-806b7495cfc5","source":"environment","timestamp":"2026-11-30T08:51:49.004166"} as const;
aConversationErrorEvent satisfies Known<"ConversationErrorEvent">;

const aConversationStateUpdateEvent = {"id":"c2d1c264-4367-4885-a4ec-ea46b80ec2ff","key":"blocked_actions","kind":"ConversationStateUpdateEvent","parent_id":"4eee1dc5-53a8-43e3-903d-16ce343a5e03","source":"environment","timestamp":"2026-11-30T09:35:03.228094","value":{}} as const;
aConversationStateUpdateEvent satisfies Known<"ConversationStateUpdateEvent">;

const aHookExecutionEvent = {"blocked":false,"exit_code":0,"hook_command":"test -e stop-once && exit 0; touch stop-once; echo not yet >&2; exit 2","hook_event_type":"Stop","hook_input":{"reason":"agent_finished"},"id":"83a30869-6115-4b16-9d29-9b39bf881fcc","kind":"HookExecutionEvent","source":"hook","stderr":"","stdout":"","success":true,"timestamp":"2026-11-30T09:35:04.339272"} as const;
aHookExecutionEvent satisfies Known<"HookExecutionEvent">;

const aInterruptEvent = {"id":"1afdba3d-4dae-4bd0-acfc-7eb77f54bb8c","kind":"InterruptEvent","parent_id":"c2f374f4-b199-45ee-8cd8-500dca25cec5","source":"user","timestamp":"2026-11-30T09:01:45.659280"} as const;
aInterruptEvent satisfies Known<"InterruptEvent">;

const aMessageEvent = {"activated_skills":[],"extended_content":[],"id":"89c616c8-5d60-4652-b7bf-c69c64fadd05","kind":"MessageEvent","llm_message":{"content":[],"role":"user","thinking_blocks":[]},"parent_id":"17edcdd4-ac44-451a-9363-1d6489193379","source":"user","timestamp":"2026-11-30T09:00:48.185902"} as const;
aMessageEvent satisfies Known<"MessageEvent">;

const aObservationEvent = {"action_id":"efd1ce70-27e9-464f-a781-2a9afcae2a8f","extended_content":[],"id":"f01b7ce4-12ba-4412-bba5-f705cedb9cfa","kind":"ObservationEvent","observation":{"content":[{"cache_prompt":false,"text":"x","type":"text"}],"is_error":false,"kind":"FinishObservation"},"parent_id":"efd1ce70-27e9-464f-a781-2a9afcae2a8f","source":"environment","timestamp":"2026-11-30T04:19:30.804331","tool_call_id":"call_001828_0","tool_name":"finish"} as const;
aObservationEvent satisfies Known<"ObservationEvent">;

const aPauseEvent = {"id":"4c0d9fb6-d8a9-4a50-a79d-414969f9b4dd","kind":"PauseEvent","parent_id":"7928cced-40e3-4e43-92b7-3011c87ea4bf","source":"user","timestamp":"2026-11-30T09:01:40.366719"} as const;
aPauseEvent satisfies Known<"PauseEvent">;

const aSecurityAnalysisEvent = {"analyzer":"LLMSecurityAnalyzer","details":{},"id":"fd40ffcf-b751-4ff9-b6ac-cd4fd8411bf4","kind":"SecurityAnalysisEvent","parent_id":"bcba1e2f-2c2f-41a0-a9e0-6fd8551cd646","policy":"ConfirmRisky","risks":{"bcba1e2f-2c2f-41a0-a9e0-6fd8551cd646":"LOW"},"source":"environment","timestamp":"2026-11-30T08:52:50.434154"} as const;
aSecurityAnalysisEvent satisfies Known<"SecurityAnalysisEvent">;

const aServerErrorEvent = {"code":"ValueError","detail":"inactive_service","id":"cd22ddcc-2025-484a-9b3b-df07a61d301e","kind":"ServerErrorEvent","source":"environment","timestamp":"2026-11-30T09:01:57.511659"} as const;
aServerErrorEvent satisfies Known<"ServerErrorEvent">;

const aStreamingDeltaEvent = {"content":"","id":"1a10279a-5edc-4477-8747-cd8611940330","kind":"StreamingDeltaEvent","source":"agent","timestamp":"2026-11-30T09:02:16.912324"} as const;
aStreamingDeltaEvent satisfies Known<"StreamingDeltaEvent">;

const aSystemPromptEvent = {"id":"41b11419-00b9-4657-aca9-59f8a2ea4257","kind":"SystemPromptEvent","source":"agent","system_prompt":{"cache_prompt":false,"text":"[system prompt text cut, 15228 characters]","type":"text"},"timestamp":"2026-11-30T09:18:53.003582","tools":[{"action_type":"ClientAction_open_file_viewer","client_tool_name":"open_file_viewer","description":"Open a file in the user's file viewer.","input_schema":{"properties":{"line":{"type":"integer"},"path":{"description":"File path","type":"string"}},"required":["path"],"type":"object"},"kind":"ClientTool","observation_type":"ClientToolObservation","title":"open_file_viewer"},{"action_type":"ClientAction_show_notification","client_tool_name":"show_notification","description":"Show a notification to the user.","input_schema":{"properties":{"level":{"enum":["info","warning","error"],"type":"string"},"message":{"type":"string"}},"required":["message"],"type":"object"},"kind":"ClientTool","observation_type":"ClientToolObservation","title":"show_notification"},{"action_type":"FinishAction","annotations":{"destructiveHint":false,"idempotentHint":true,"openWorldHint":false,"readOnlyHint":true,"title":"finish"},"description":"[description cut, 442 characters]","kind":"FinishTool","observation_type":"FinishObservation","title":"finish"},{"action_type":"ThinkAction","annotations":{"destructiveHint":false,"idempotentHint":true,"openWorldHint":false,"readOnlyHint":true},"description":"[description cut, 939 characters]","kind":"ThinkTool","observation_type":"ThinkObservation","title":"think"}]} as const;
aSystemPromptEvent satisfies Known<"SystemPromptEvent">;

const aUserRejectObservation = {"action_id":"386e6e84-0058-4328-8877-0ce6c848f285","id":"60dc072f-246f-43b3-b431-d1f03a222c00","kind":"UserRejectObservation","parent_id":"386e6e84-0058-4328-8877-0ce6c848f285","rejection_reason":"no","rejection_source":"user","source":"environment","timestamp":"2026-11-30T09:35:25.479803","tool_call_id":"call_000011_0","tool_name":"open_file_viewer"} as const;
aUserRejectObservation satisfies Known<"UserRejectObservation">;
