// @ts-check
/** @import { OpenHandsOptions, Server } from "./types.js" */
// The servers' options. The only file of the facade that knows a protocol, and of it the names of options alone.
import { isObject, jsonOf, optionsOf, signalOf, textOf } from "./checks.js";
import { Conversation } from "./conversation.js";
import { Session } from "./core.js";
import { PagehandError, invalidArgument } from "./errors.js";
import { declaredTools } from "./tool.js";

/** Fields of the create request that are ours to write, and what to use instead. */
const OURS = /** @type {const} */ ([
  ["client_tools", "is written by pagehand; use tools"],
  ["conversation_id", "is written by pagehand; use conversationId"],
  ["initial_message", "would start the agent before anybody listens; send() the message after start()"],
]);
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
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
      const { tools, conversationId, workspace, signal, ...rest } = optionsOf(startOptions ?? null, "options");
      for (const [field, words] of OURS) {
        if (Object.hasOwn(rest, field)) throw invalidArgument(field, words);
      }
      const id = conversationId === undefined ? randomUuid() : uuidOf(conversationId, "conversationId");
      if (typeof workspace !== "string" && !isObject(workspace)) {
        throw invalidArgument("workspace", "must be a path on the server, or the server's workspace object");
      }
      const place = typeof workspace === "string" ? { working_dir: workspace } : workspace;
      const request = jsonOf({ ...rest, workspace: place }, "options");
      return opened(bag(id, request), tools, signal);
    },
    async attach(conversationId, attachOptions) {
      const { tools, signal } = optionsOf(attachOptions, "options", ["tools", "signal"]);
      return opened(bag(uuidOf(conversationId, "conversationId")), tools, signal);
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

/**
 * @param {unknown} value
 * @param {string} field
 */
function uuidOf(value, field) {
  if (typeof value === "string" && UUID.test(value)) return value;
  throw invalidArgument(field, "must be a UUID");
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
