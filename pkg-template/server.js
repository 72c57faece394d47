// @ts-check
/** @import { OpenHandsOptions, Server } from "./types.js" */
// The servers and their options.
import { jsonOf, optionsOf, signalOf, textOf } from "./checks.js";
import { Conversation } from "./conversation.js";
import { Session } from "./core.js";
import { PagehandError, invalidArgument } from "./errors.js";
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
  const url = textOf(given.url, "url");
  const sessionKey = given.sessionKey;
  // The message must not repeat the key.
  if (sessionKey !== undefined && (typeof sessionKey !== "string" || !KEY.test(sessionKey))) {
    throw invalidArgument("sessionKey", "must be a string of visible ASCII characters, or be left out");
  }
  /** @param {string} id @param {string} [request] */
  const bag = (id, request) => ({ url, sessionKey, id, request });

  /** @type {Server} */
  const server = {
    async start(startOptions) {
      const { tools, conversationId = randomUuid(), signal, ...rest } = optionsOf(startOptions ?? null, "options");
      return opened(bag(textOf(conversationId, "conversationId"), jsonOf(rest, "options")), tools, signal);
    },
    async attach(conversationId, attachOptions) {
      const { tools, signal } = optionsOf(attachOptions, "options", ["tools", "signal"]);
      return opened(bag(textOf(conversationId, "conversationId")), tools, signal);
    },
  };
  return Object.freeze(server);
}

/**
 * @param {{ url: string, sessionKey: unknown, id: string, request: string | undefined }} bag
 * @param {unknown} tools
 * @param {unknown} signal
 */
async function opened(bag, tools, signal) {
  const plan = { id: bag.id, tools: declaredTools(tools), signal: signalOf({ signal }) };
  if (typeof WebSocket !== "function") {
    throw new PagehandError(
      "unsupported_environment",
      "there is no WebSocket here; Node has one from version 22 on, and before with --experimental-websocket",
      { details: { missing: "WebSocket" } },
    );
  }
  /** @type {import("./conversation.js").Plan["make"]} */
  const make = (declarations, handlers, hooks) => Session.openhands(bag, declarations, handlers, hooks);
  return Conversation.open({ ...plan, make });
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
