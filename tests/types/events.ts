// Events as the core writes them, recorded, against the types.
import type {
  CallEvent, ConnectionEvent, DeltaEvent, ErrorEvent_, HistoryPage, MessageEvent_, NoticeEvent, OpenHandsEvent, StatusEvent,
  ToolReport, TurnEnd,
} from "pagehand";

export const calls = [
  { callId: "f37f", tool: "add", state: "announced", reason: "the agent asks for it", arguments: { a: 1, b: [null] } },
  { callId: "f37f", tool: "add", state: "authorised", reason: "the server let it through" },
  {
    callId: "f37f", tool: "add", state: "settled", reason: "the handler returned",
    outcome: { kind: "ok", result: { sum: 3 } },
  },
  {
    callId: "9b22", tool: "boom", state: "settled", reason: "the handler threw",
    outcome: { kind: "failed", code: "handler_threw", name: "TypeError", message: "ouch" }, thrown: new TypeError("ouch"),
  },
  {
    callId: "9b22", tool: "add", state: "settled", reason: "the arguments do not fit",
    outcome: {
      kind: "invalid_arguments",
      issues: [{ path: "/b", keyword: "maximum", expected: 10, message: "11 is greater than the maximum of 10" }],
    },
  },
] satisfies CallEvent[];

export const others = {
  statuses: [{ status: "running" }, { status: "unknown", detail: "dreaming" }] satisfies StatusEvent[],
  message: { id: "be4c", role: "user", source: "user", text: "hello" } satisfies MessageEvent_,
  delta: { item: "7fe1", kind: "text", content: "hel" } satisfies DeltaEvent,
  connections: [
    { state: "connecting", reason: "opening" },
    { state: "lost", reason: "", closeCode: 1006, retryIn: 512 },
  ] satisfies ConnectionEvent[],
  tools: { ready: ["add"], missingHandlers: [], unknownToServer: ["later"], differentSchema: [] } satisfies ToolReport,
  notice: { code: "duplicate_event", message: "an event came again", eventId: "be4c" } satisfies NoticeEvent,
  error: { code: "unauthorized", message: "the session key is missing or wrong", details: null } satisfies ErrorEvent_,
  end: { status: "error", error: { code: "LLMError", detail: "no key" } } satisfies TurnEnd,
  page: { events: [{ id: "x", kind: "PauseEvent", source: "user" }], next: null } satisfies HistoryPage,
};

export const events = [
  { id: "1", kind: "UserRejectObservation", source: "user", tool_name: "a", tool_call_id: "c", action_id: "2", rejection_reason: "no" },
  { id: "2", kind: "SomethingNew", anything: [1] },
] satisfies OpenHandsEvent[];

// @ts-expect-error: no such state
({ callId: "f", tool: "a", state: "done", reason: "" }) satisfies CallEvent;
// @ts-expect-error: an outcome of its kind
({ callId: "f", tool: "a", state: "settled", reason: "", outcome: { kind: "ok" } }) satisfies CallEvent;
