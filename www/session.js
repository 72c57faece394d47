// One conversation, and what it moves on the page.
import { openhands } from "./pkg/index.js";

/** @import { Conversation, CallEvent, Tool } from "./pkg/types.d.ts" */

/**
 * Where the agent is, and which model it thinks with.
 * @typedef {object} Settings
 * @property {string} url
 * @property {string} [sessionKey]
 * @property {string} model
 * @property {string} [apiKey]
 * @property {string} [baseUrl]
 * @property {string} workspace
 */

/** How often in a turn results go back by themselves: an agent that only reads must not go on for ever. */
const MOST_REPORTS = 5;

const INSTRUCTIONS = `You help with a project board in a web page that the user is looking at. Your tools act on that page.
A call returns no result by itself: once your turn has ended, the page sends what came of it in a message that starts with
"[client tool result]". When you need a result, end your turn and wait for that message. Keep your answers short, and use no
Markdown.`;

/**
 * Starts a conversation.
 * @param {Settings} settings
 * @param {Tool[]} tools
 * @param {AbortSignal} signal
 * @returns {Promise<Conversation>}
 */
export function start({ url, sessionKey, model, apiKey, baseUrl, workspace }, tools, signal) {
  const llm = { model, stream: true, ...(apiKey && { api_key: apiKey }), ...(baseUrl && { base_url: baseUrl }) };
  return openhands({ url, ...(sessionKey && { sessionKey }) }).start({
    tools,
    workspace,
    agent: { kind: "Agent", llm, tools: [], include_default_tools: ["FinishTool"] },
    agent_launch_additions: { system_message_suffix_append: INSTRUCTIONS },
    autotitle: false,
    signal,
  });
}

/**
 * Asks, and stays with it until there is nothing more to do. OpenHands has no place for the result of a client tool, so
 * what the agent cannot know goes back as a message: results of tools that read, and whatever went wrong.
 * @param {Conversation} conversation
 * @param {string} text
 * @param {{ tools: Tool[], onReport(tools: string[], text: string): void }} page
 */
export async function ask(conversation, text, { tools, onReport }) {
  /** @type {CallEvent[]} */
  let settled = [];
  const stop = conversation.on("call", (call) => {
    if (call.state === "settled") settled.push(call);
  });
  try {
    await conversation.send(text);
    for (let reports = 0; ; reports++) {
      const end = await conversation.idle();
      if (end.error !== undefined || !["finished", "idle"].includes(end.status)) return end;
      if (reports === MOST_REPORTS || !settled.some((call) => isNews(call, tools))) return end;
      const report = settled.map(({ tool, outcome }) => `[client tool result] ${tool}: ${JSON.stringify(outcome)}`).join("\n");
      onReport([...new Set(settled.map(({ tool }) => tool))], report);
      settled = [];
      await conversation.send(report);
    }
  } finally {
    stop();
  }
}

/** Whether the agent cannot do without the outcome. @param {CallEvent} call @param {Tool[]} tools */
function isNews({ tool, outcome }, tools) {
  if (outcome?.kind !== "ok") return true;
  const reads = tools.some(({ name, annotations }) => name === tool && annotations?.readOnlyHint === true);
  return reads && outcome.result !== null;
}
