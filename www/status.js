// Two words at the top: how the connection is, and what the agent does.
import { find } from "./dom.js";

/** @import { ConnectionEvent, Status, StatusEvent } from "./pkg/types.d.ts" */

/** @type {Record<ConnectionEvent["state"], string>} */
const CONNECTION = {
  connecting: "Connecting",
  connected: "Catching up",
  waiting: "Server is busy",
  ready: "Connected",
  lost: "Connection lost",
  closed: "Not connected",
};

/** @type {Record<Status, string>} */
const AGENT = {
  idle: "Agent idle",
  running: "Agent at work",
  paused: "Agent paused",
  waiting_for_confirmation: "Agent waits for approval",
  finished: "Agent done",
  error: "Agent failed",
  stuck: "Agent stuck",
  deleting: "Conversation is being deleted",
  unknown: "Agent",
};

/** @param {ConnectionEvent} event */
export function showConnection({ state, retryIn, reason }) {
  const retry = retryIn === undefined ? "" : `, next try in ${Math.max(1, Math.round(retryIn / 1000))} s`;
  show("#connection-status", state, CONNECTION[state] + retry, reason);
}

/** @param {StatusEvent} event */
export function showAgent({ status, detail }) {
  show("#agent-status", status, detail === undefined ? AGENT[status] : `${AGENT[status]}: ${detail}`, "");
}

/** @param {string} selector @param {string} state @param {string} text @param {string} title */
function show(selector, state, text, title) {
  const chip = find(selector);
  chip.dataset.state = state;
  chip.title = title;
  find(".chip-text", chip).textContent = text;
}
