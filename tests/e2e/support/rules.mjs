// What must hold of every conversation, whatever a test does to it.
import assert from "node:assert/strict";
import { toolCall } from "./uipath.mjs";

const ORDER = ["announced", "waiting", "authorised", "validating", "claiming", "elsewhere", "guarding", "confirming", "running", "settled", "withdrawn"];
const FINAL = ["settled", "withdrawn"];
/** Outcomes of calls whose handler has not run. */
const NOT_RUN = ["missing_handler", "invalid_arguments", "rejected"];

/**
 * @param {{ n: number, topic: string, value: any }[]} tape
 * @param {{ early: string[], ran: (callId: string) => boolean }} known tools that may run on the announcement; calls that some
 *   page has run
 */
export function checkTape(tape, { early, ran }) {
  const allowed = new Set();
  const runs = new Map();
  const calls = new Map();
  for (const { topic, value } of asTold(tape)) {
    if (topic === "event" && isAcknowledgement(value)) allowed.add(value.action_id);
    if (topic === "event" && isGoSignal(value)) allowed.add(`${value.exchange.exchangeId}/${toolCall(value).toolCallId}`);
    if (topic === "run") {
      const { callId, tool } = value;
      assert.ok(!runs.has(callId), `${tool} ran twice for call ${callId}`);
      assert.ok(allowed.has(callId) || early.includes(tool), `${tool} ran before its acknowledgement was delivered`);
      const step = calls.get(callId);
      assert.equal(step?.state, "running", `${tool} ran before its step "running", or after: ${JSON.stringify(step)}`);
      runs.set(callId, tool);
    }
    if (topic === "call") checkStep(value, calls, runs, ran);
  }
}

/**
 * The tape with every run behind its step. A page that comes back may run a call while it joins, when events are still held back
 * until the app can listen.
 * @param {{ n: number, topic: string, value: any }[]} tape
 */
function* asTold(tape) {
  const start = tape.findIndex(({ topic }) => !["run", "ran", "abort"].includes(topic));
  if (start < 0) return;
  const ahead = new Map(tape.slice(0, start).filter(({ topic }) => topic === "run").map((line) => [line.value.callId, line]));
  for (const line of tape.slice(start)) {
    yield line;
    const { topic, value } = line;
    if (topic !== "call" || value.state !== "running" || !ahead.has(value.callId)) continue;
    yield ahead.get(value.callId);
    ahead.delete(value.callId);
  }
  assert.deepEqual([...ahead.keys()], [], "runs whose step was never told");
}

/** @param {any} event */
function isAcknowledgement({ kind, observation }) {
  return kind === "ObservationEvent" && observation?.kind === "ClientToolObservation" && !observation.is_error;
}

/** @param {any} event */
function isGoSignal(event) {
  return toolCall(event).executingToolCall !== undefined;
}

/** @param {any} step @param {Map<string, any>} calls @param {Map<string, string>} runs @param {(callId: string) => boolean} ran */
function checkStep(step, calls, runs, ran) {
  const { callId, tool, state, outcome } = step;
  const before = calls.get(callId);
  const name = `${tool} (${callId})`;
  assert.ok(ORDER.includes(state), `${name}: unknown state ${state}`);
  assert.ok(step.reason, `${name}: ${state} has no reason`);
  if (before) {
    assert.ok(!FINAL.includes(before.state), `${name}: ${state} after ${before.state}`);
    const forward = ORDER.indexOf(state) > ORDER.indexOf(before.state);
    // A call that was let through unseen is told again once it is known, and one that gets other arguments with these.
    const again = state === before.state && (state === "authorised" || step.edits !== undefined);
    assert.ok(forward || again, `${name}: ${state} after ${before.state}`);
  }
  assert.equal(outcome !== undefined, state === "settled", `${name}: outcome and ${state}`);
  if (outcome?.kind === "ok") assert.ok(ran(callId), `${name}: ok without a run`);
  if (outcome && NOT_RUN.includes(outcome.kind)) assert.ok(!runs.has(callId), `${name}: ${outcome.kind} after a run`);
  calls.set(callId, step);
}
