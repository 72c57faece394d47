// @ts-check
/** @import { Dispatcher, DispatcherOptions } from "./types.js" */
import { jsonOf, optionsOf, switchOf } from "./checks.js";
import { OpenHandsConversation } from "./openhands-conversation.js";
import { bagOf, planOf } from "./openhands-server.js";
import { BROUGHT, partedOf } from "./plan.js";

/**
 * The runtime of the tools for an app that has its own connection.
 * @param {DispatcherOptions} options
 * @returns {Promise<Dispatcher>}
 */
export async function dispatcher(options) {
  const known = ["url", "sessionKey", "conversationId", ...BROUGHT, "resumeWithin", "results"];
  const [brought, given] = partedOf(optionsOf(options ?? null, "options", known));
  const { conversationId, resumeWithin, results, ...server } = given;
  const bag = { ...bagOf(server, conversationId, { ...brought, resumeWithin, results }), feed: true };
  const conversation = await OpenHandsConversation.open(planOf(bag, brought));
  return Object.assign(conversation, {
    /** @param {unknown} frame @param {unknown} [more] */
    receive(frame, more) {
      const given = optionsOf(more, "options", ["past"]);
      conversation.feed(typeof frame === "string" ? frame : jsonOf(frame, "frame"), switchOf(given, "past", false));
    },
  });
}
