// What an error's `details` hold, by its code. The core's are written down by the fields of `Error` in `src/error.rs`.
import type { Issue } from "./types.js";

/** An invalid field of a request: where, as segments joined by `.`, and the server's words. */
export interface RequestIssue { path: string; message: string }

export interface ErrorDetails {
  invalid_argument: { field: string; message: string };
  /** `rule` is the broken rule's stable name. */
  invalid_tool: { tool: string; field: string; rule: string; message: string };
  /** `suggestion` is a name that is free, if there is one to offer. */
  tool_conflict: { tool: string; place: "here" | "server"; suggestion?: string };
  tool_collision: { tool: string };
  duplicate_tool: { tool: string };
  announcement_refused: { tool: string; because: string };
  unsupported_server: { version: string; minimum: string };
  unauthorized: null;
  not_found: { detail: string };
  invalid_request: { issues: RequestIssue[] };
  /** `status` is that of HTTP, `detail` the server's words. */
  request_refused: { status: number; detail: string };
  conflict: { detail: string };
  already_running: null;
  capacity: { detail: string };
  /** `errorId` is what the server calls this failure in its log. */
  server_error: { status: number; detail: string; errorId: string | null };
  unreachable: null;
  request_timeout: null;
  bad_response: { what: string };
  conversation_failed: { code: string; detail: string };
  conversation_unavailable: { detail: string };
  unconfirmed: null;
  approval_pending: null;
  approval_answered: null;
  invalid_edit: { issues: Issue[] };
  /** What waits already is at its limit. */
  limit_exceeded: { limit: string; most: number };
  unknown_tool: { tool: string };
  unknown_call: { callId: string };
  closed: { reason: string };
  unsupported_environment: { missing: string };
  wasm_unavailable: { file: string; reason: "status" | "html" | "invalid" | "csp" | "network" | "location" };
  internal_panic: { message: string };
}
