// @ts-check
/** @import { OpenHandsOptions, Server } from "./types.js" */
/** @import { Brought } from "./plan.js" */
import { jsonOf, optionsOf, textOf } from "./checks.js";
import { Conversation } from "./conversation.js";
import { invalidArgument } from "./errors.js";
import { OpenHandsConversation } from "./openhands-conversation.js";
import { core } from "./openhands-core.js";
import { Session } from "./openhands-glue.js";
import { BROUGHT, absenceOf, keyOf, limitsOf, partedOf, planOf as neutralPlanOf, requireSocket } from "./plan.js";

/**
 * An OpenHands agent-server.
 * @param {OpenHandsOptions} options
 * @returns {Server}
 */
export function openhands(options) {
  const given = optionsOf(options ?? null, "options", ["url", "sessionKey"]);
  /** @param {unknown} id @param {More} more @param {string} [request] */
  const bag = (id, more, request) => ({ ...bagOf(given, id, more), request });
  bag(NO_CONVERSATION, {});

  /** @type {Server} */
  const server = {
    async start(startOptions) {
      const [brought, given] = partedOf(optionsOf(startOptions ?? null, "options"));
      const { conversationId = randomUuid(), resumeWithin, results, ...rest } = given;
      const request = jsonOf(rest, "options");
      return opened(bag(conversationId, { ...brought, resumeWithin, results }, request), brought);
    },
    async attach(conversationId, attachOptions) {
      const given = optionsOf(attachOptions, "options", [...BROUGHT, "resumeWithin", "results"]);
      return opened(bag(conversationId, given), given);
    },
    async list(listOptions) {
      const known = ["limit", "page", "status", "order", "signal"];
      const { signal, ...given } = optionsOf(listOptions, "options", known);
      return Conversation.inquire(planOf(bag(NO_CONVERSATION, {}), { signal }), "list", given);
    },
  };
  return Object.freeze(server);
}

/** What is asked of a server and not of a conversation has this for its id. */
const NO_CONVERSATION = "00000000-0000-0000-0000-000000000000";

/**
 * What the core is given to find a conversation.
 * @typedef {{ url: string, key: unknown, id: string, resumeWithin: number, results: boolean, request?: string, feed?: boolean }} Bag
 */

/** @typedef {{ resumeWithin?: unknown, results?: unknown, limits?: unknown }} More */

/**
 * @param {Record<string, unknown>} server
 * @param {unknown} id
 * @param {More} more
 * @returns {Bag}
 */
export function bagOf({ url, sessionKey }, id, { resumeWithin, results, limits }) {
  keyOf(sessionKey, "sessionKey");
  return {
    url: textOf(url, "url"),
    key: sessionKey,
    id: textOf(id, "conversationId"),
    resumeWithin: absenceOf(resumeWithin),
    ...limitsOf(limits),
    results: resultsOf(results),
  };
}

/** @param {unknown} value */
function resultsOf(value = "none") {
  if (value === "none" || value === "message") return value === "message";
  throw invalidArgument("results", 'must be "none" or "message"');
}

/** @param {Bag} bag @param {Brought} given */
async function opened(bag, given) {
  const plan = planOf(bag, given);
  requireSocket();
  return OpenHandsConversation.open(plan);
}

/**
 * @param {Bag} bag
 * @param {Brought} given
 * @returns {import("./openhands-conversation.js").OpenHandsPlan}
 */
export function planOf({ key, ...bag }, given) {
  const options = { ...bag, ...keyOf(key, "sessionKey") };
  const plan = neutralPlanOf(core, bag.id, given, key, (declarations, handlers, hooks) =>
    Session.openhands(options, declarations, handlers, hooks),
  );
  return {
    ...plan,
    attach: (id, signal) =>
      opened({ ...bag, key, id, request: undefined, feed: false }, { ...given, tools: plan.tools, signal }),
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
