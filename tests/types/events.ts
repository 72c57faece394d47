// What the types of events refuse. What they accept is in samples.ts and recorded.ts, which tests write.
import type { CallEvent, CallState, ConversationEvents, OpenHandsEvent, UnknownOpenHandsEvent } from "pagehand";

// What comes of a kind that is not known is told apart from all others by that.
export function told(event: OpenHandsEvent): unknown {
  if (event.kind === "MessageEvent") return event.llm_message.role satisfies string;
  if (event.kind === "ActionEvent") return event.tool_call_id satisfies string;
  // @ts-expect-error: not every kind has it
  event.action_id;
  switch (event.kind) {
    case "ObservationEvent": case "UserRejectObservation": return event.action_id satisfies string;
    case "AgentErrorEvent": return event.error satisfies string;
    case "SystemPromptEvent": return event.tools satisfies unknown[];
    case "ConversationStateUpdateEvent": return event.value satisfies unknown;
    case "ConversationErrorEvent": case "ServerErrorEvent": return event.detail satisfies string;
    case "PauseEvent": case "InterruptEvent": case "CondensationRequest": return event.id satisfies string;
    case "Condensation": return event.forgotten_event_ids satisfies string[] | undefined;
    case "CondensationSummaryEvent": return event.summary satisfies string;
    case "HookExecutionEvent": return event.blocked satisfies boolean;
    case "StreamingDeltaEvent": return event.content satisfies string | undefined;
    case "LLMCompletionLogEvent": return event.filename satisfies string;
    case "TokenEvent": return event.prompt_token_ids satisfies number[];
    case "ACPToolCallEvent": return event.title satisfies string;
    case "SecurityAnalysisEvent": return event.policy satisfies string;
    default: return (event satisfies UnknownOpenHandsEvent).anything;
  }
}

// Each step of a call, and each error, by its word.
export function step(call: CallEvent): string {
  if (call.state === "settled") return call.outcome.kind;
  call.outcome satisfies undefined;
  const { state, outcome } = call;
  return state satisfies Exclude<CallState, "settled"> ?? outcome;
}

export function codes({ code, details }: ConversationEvents["error"]): string | null {
  if (code === "server_error") return details.errorId;
  if (code === "unauthorized") return details satisfies null;
  // @ts-expect-error: what it holds is not known yet
  details.detail;
  return null;
}

// @ts-expect-error: no such state
({ callId: "f", tool: "a", state: "done", reason: "" }) satisfies CallEvent;
// @ts-expect-error: an outcome of its kind
({ callId: "f", tool: "a", state: "settled", reason: "", outcome: { kind: "ok" } }) satisfies CallEvent;

export function narrowed(event: Extract<OpenHandsEvent, { kind: "ObservationEvent" }>): string {
  // @ts-expect-error: an observation has no arguments
  void event.action;
  return event.action_id;
}
