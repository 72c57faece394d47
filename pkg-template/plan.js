// @ts-check
/** @import { Plan } from "./conversation.js" */
/** @import { Core } from "./core.js" */
// What opening a conversation takes, whatever the server.
import { millisecondsOf, optionsOf, signalOf } from "./checks.js";
import { PagehandError, invalidArgument } from "./errors.js";
import { Guards, guardsOf } from "./guards.js";
import { Schemas } from "./schemas.js";
import { declaredTools } from "./tool.js";

/** What a header can carry. */
const KEY = /^[\x21-\x7e]+$/;
const LIMITS = [
  "argumentBytes", "argumentDepth", "resultBytes", "frameBytes", "pendingCalls", "pendingRequests", "unreadEvents",
];
const LARGEST = 2 ** 31 - 1;
/** What is kept of a conversation is kept longer than that. */
const LONGEST_ABSENCE = 7 * 24 * 3_600_000;

/** What the app brings, whatever the server: `ConversationOptions` in `types.d.ts`, unchecked. */
export const BROUGHT = ["tools", "guards", "limits", "validator", "maskValues", "signal"];
/**
 * @typedef {{ tools?: unknown, guards?: unknown, limits?: unknown, validator?: unknown, maskValues?: unknown, signal?: unknown }} Brought
 */

/**
 * Parts options into what the app brings and what is for the server.
 * @param {Record<string, unknown>} given
 * @returns {[brought: Brought, rest: Record<string, unknown>]}
 */
export function partedOf({ tools, guards, limits, validator, maskValues, signal, ...rest }) {
  return [{ tools, guards, limits, validator, maskValues, signal }, rest];
}

/**
 * @param {Core} core
 * @param {string} id
 * @param {Brought} given
 * @param {unknown} key A function is asked before every connection.
 * @param {Plan["make"]} make
 * @returns {Plan}
 */
export function planOf(core, id, { tools, guards, limits, validator, maskValues, signal }, key, make) {
  return {
    core,
    id,
    tools: declaredTools(tools),
    guards: new Guards(guardsOf(guards)),
    schemas: new Schemas({ validator, maskValues }),
    unread: limitsOf(limits).unreadEvents,
    signal: signalOf({ signal }),
    key: async () => (typeof key === "function" ? key() : undefined),
    make,
  };
}

/**
 * A key or token: as the core takes it, and whether the app is to be asked for it.
 * @param {unknown} key
 * @param {string} field
 */
export function keyOf(key, field) {
  const asksKey = typeof key === "function";
  // The message must not repeat the key.
  if (key !== undefined && !asksKey && (typeof key !== "string" || !KEY.test(key))) {
    throw invalidArgument(field, "must be a string of visible ASCII characters, a function, or be left out");
  }
  return { sessionKey: asksKey ? undefined : key, asksKey };
}

/** @param {unknown} value */
export function absenceOf(value = 300_000) {
  return millisecondsOf(value, "resumeWithin", 0, LONGEST_ABSENCE);
}

/**
 * What the app limits. The core knows what the rest is.
 * @param {unknown} given
 * @returns {Record<string, number>}
 */
export function limitsOf(given) {
  const limits = optionsOf(given, "limits", LIMITS);
  for (const [name, value] of Object.entries(limits)) {
    if (value === undefined || (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= LARGEST)) continue;
    throw invalidArgument(`limits.${name}`, `must be a whole number, 1 to ${LARGEST}`);
  }
  return /** @type {any} */ (limits);
}

/** A conversation needs a socket. */
export function requireSocket() {
  if (typeof WebSocket === "function") return;
  throw new PagehandError(
    "unsupported_environment",
    "there is no WebSocket here; Node has one from version 22 on, and before with --experimental-websocket",
    { details: { missing: "WebSocket" } },
  );
}
