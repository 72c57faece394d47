// @ts-check
/** @import { OpenHandsOptions, Server } from "./types.js" */
// The servers and their options.
import { jsonOf, optionsOf, signalOf, textOf } from "./checks.js";
import { Conversation } from "./conversation.js";
import { Session } from "./core.js";
import { PagehandError, invalidArgument } from "./errors.js";
import { OpenHandsConversation } from "./openhands-conversation.js";
import { declaredTools } from "./tool.js";

/** What a header can carry. */
const KEY = /^[\x21-\x7e]+$/;

/**
 * An OpenHands agent-server.
 * @param {OpenHandsOptions} options
 * @returns {Server}
 */
export function openhands(options) {
  const given = optionsOf(options ?? null, "options", ["url", "sessionKey"]);
  /** @param {unknown} id @param {{ resumeWithin?: unknown, results?: unknown }} more @param {string} [request] */
  const bag = (id, more, request) => ({ ...bagOf(given, id, more), request });
  bag(NO_CONVERSATION, {});

  /** @type {Server} */
  const server = {
    async start(startOptions) {
      const given = optionsOf(startOptions ?? null, "options");
      const { tools, conversationId = randomUuid(), resumeWithin, results, signal, ...rest } = given;
      return opened(bag(conversationId, { resumeWithin, results }, jsonOf(rest, "options")), tools, signal);
    },
    async attach(conversationId, attachOptions) {
      const given = optionsOf(attachOptions, "options", ["tools", "resumeWithin", "results", "signal"]);
      return opened(bag(conversationId, given), given.tools, given.signal);
    },
    async list(listOptions) {
      const known = ["limit", "page", "status", "order", "signal"];
      const { signal, ...given } = optionsOf(listOptions, "options", known);
      return Conversation.inquire(planOf(bag(NO_CONVERSATION, {}), [], signal), "list", given);
    },
  };
  return Object.freeze(server);
}

/** What is asked of a server and not of a conversation has this for its id. */
const NO_CONVERSATION = "00000000-0000-0000-0000-000000000000";

/**
 * What the core is given to find a conversation.
 * @typedef {{ url: string, sessionKey: unknown, id: string, resumeWithin: number, results: boolean, request?: string, feed?: boolean }} Bag
 */

/**
 * @param {Record<string, unknown>} server
 * @param {unknown} id
 * @param {{ resumeWithin?: unknown, results?: unknown }} more
 * @returns {Bag}
 */
export function bagOf({ url, sessionKey }, id, { resumeWithin, results }) {
  const asked = typeof sessionKey === "function";
  // The message must not repeat the key.
  if (sessionKey !== undefined && !asked && (typeof sessionKey !== "string" || !KEY.test(sessionKey))) {
    throw invalidArgument("sessionKey", "must be a string of visible ASCII characters, a function, or be left out");
  }
  return {
    url: textOf(url, "url"),
    sessionKey,
    id: textOf(id, "conversationId"),
    resumeWithin: absenceOf(resumeWithin),
    results: resultsOf(results),
  };
}

/** What is kept of a conversation is kept longer than that. */
const LONGEST_ABSENCE = 7 * 24 * 3_600_000;

/** @param {unknown} value */
function absenceOf(value = 300_000) {
  if (typeof value === "number" && value >= 0 && value <= LONGEST_ABSENCE) return Math.floor(value);
  throw invalidArgument("resumeWithin", `must be a number of milliseconds, 0 to ${LONGEST_ABSENCE}`);
}

/** @param {unknown} value */
function resultsOf(value = "none") {
  if (value === "none" || value === "message") return value === "message";
  throw invalidArgument("results", 'must be "none" or "message"');
}

/**
 * @param {Bag} bag
 * @param {unknown} tools
 * @param {unknown} signal
 */
async function opened(bag, tools, signal) {
  const plan = planOf(bag, tools, signal);
  if (typeof WebSocket !== "function") {
    throw new PagehandError(
      "unsupported_environment",
      "there is no WebSocket here; Node has one from version 22 on, and before with --experimental-websocket",
      { details: { missing: "WebSocket" } },
    );
  }
  return OpenHandsConversation.open(plan);
}

/**
 * @param {Bag} bag
 * @param {unknown} tools
 * @param {unknown} signal
 * @returns {import("./openhands-conversation.js").OpenHandsPlan}
 */
export function planOf(bag, tools, signal) {
  const { sessionKey } = bag;
  const asksKey = typeof sessionKey === "function";
  const options = { ...bag, sessionKey: asksKey ? undefined : sessionKey, asksKey };
  return {
    id: bag.id,
    tools: declaredTools(tools),
    signal: signalOf({ signal }),
    attach: (id, signal) => opened({ ...bag, id, request: undefined, feed: false }, tools, signal),
    key: async () => (asksKey ? sessionKey() : undefined),
    make: (declarations, handlers, hooks) => Session.openhands(options, declarations, handlers, hooks),
  };
}

/** `crypto.randomUUID` exists on secure pages only. */
function randomUuid() {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
