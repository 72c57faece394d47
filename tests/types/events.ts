// What the types of events refuse. What they accept is in samples.ts and recorded.ts, which tests write.
import type { CallEvent, OpenHandsEvent } from "pagehand";

export const future = { id: "2", kind: "SomethingNew", anything: [1] } satisfies OpenHandsEvent;

// @ts-expect-error: no such state
({ callId: "f", tool: "a", state: "done", reason: "" }) satisfies CallEvent;
// @ts-expect-error: an outcome of its kind
({ callId: "f", tool: "a", state: "settled", reason: "", outcome: { kind: "ok" } }) satisfies CallEvent;

export function narrowed(event: Extract<OpenHandsEvent, { kind: "ObservationEvent" }>): string {
  // @ts-expect-error: an observation has no arguments
  void event.action;
  return event.action_id;
}
