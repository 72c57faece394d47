// @ts-check
/** @import { Dispatcher, DispatcherOptions } from "./types.js" */
import { jsonOf, optionsOf, switchOf } from "./checks.js";
import { OpenHandsConversation } from "./openhands-conversation.js";
import { bagOf, planOf } from "./openhands-server.js";

/**
 * The runtime of the tools for an app that has its own connection.
 * @param {DispatcherOptions} options
 * @returns {Promise<Dispatcher>}
 */
export async function dispatcher(options) {
  const known = ["url", "sessionKey", "conversationId", "tools", "guards", "limits", "resumeWithin", "results", "signal"];
  const { conversationId, tools, guards, limits, resumeWithin, results, signal, ...server } = optionsOf(options ?? null, "options", known);
  const bag = { ...bagOf(server, conversationId, { resumeWithin, results, limits }), feed: true };
  const conversation = await OpenHandsConversation.open(planOf(bag, { tools, guards, limits, signal }));
  return Object.assign(conversation, {
    /** @param {unknown} frame @param {unknown} [more] */
    receive(frame, more) {
      const given = optionsOf(more, "options", ["past"]);
      conversation.feed(typeof frame === "string" ? frame : jsonOf(frame, "frame"), switchOf(given, "past", false));
    },
  });
}
