// OpenHands' agent-server: how to reach one, how to begin, and what a turn is there.
import { openhands } from "./pkg/index.js";

/** @import { CallEvent, Tool } from "./pkg/types.d.ts" */
/** @import { Protocol } from "./protocols.js" */

/** How often in a turn results go back by themselves: an agent that only reads must not go on for ever. */
const MOST_REPORTS = 5;

const INSTRUCTIONS = `You help with a project board in a web page that the user is looking at. Your tools act on that page.
A call returns no result by itself: once your turn has ended, the page sends what came of it in a message that starts with
"[client tool result]". When you need a result, end your turn and wait for that message. The user may change or refuse a
task before it is created. Keep your answers short, and use no Markdown.`;

const WORKSPACE = "workspace/pagehand-demo";

/** @type {Protocol} */
export const openHands = {
  key: "openhands",
  name: "OpenHands",
  secret: "session key",
  refusal: "It is missing or wrong. The key is set where the server was started.",
  invitation: "Connect to a real agent server",
  note: "An OpenHands agent-server, 1.28 or newer. Keys are kept in this page only, and are gone when you close it.",
  fields: [
    { name: "url", label: "Server URL", type: "url", required: true, placeholder: "http://localhost:8000" },
    { name: "sessionKey", label: "Session key", hint: "if the server has one", type: "password" },
    { name: "model", label: "Model", type: "text", required: true, placeholder: "anthropic/claude-sonnet-4-5" },
    { name: "apiKey", label: "LLM API key", hint: "if the server has none", type: "password" },
    { name: "baseUrl", label: "LLM base URL", hint: "optional", type: "url" },
    { name: "workspace", label: "Folder on the server", type: "text", required: true, value: WORKSPACE },
  ],
  demo: { model: "openai/demo", workspace: WORKSPACE },

  start({ url, sessionKey, model, apiKey, baseUrl, workspace }, tools, signal) {
    const llm = { model, stream: true, ...(apiKey && { api_key: apiKey }), ...(baseUrl && { base_url: baseUrl }) };
    return openhands({ url, ...(sessionKey && { sessionKey }) }).start({
      tools,
      workspace,
      agent: { kind: "Agent", llm, tools: [], include_default_tools: ["FinishTool"] },
      agent_launch_additions: { system_message_suffix_append: INSTRUCTIONS },
      autotitle: false,
      signal,
    });
  },

  // OpenHands has no place for the result of a client tool, so what the agent cannot know goes back as a message: results of
  // tools that read, what a person decided, and whatever went wrong.
  async ask(conversation, text, { tools, onReport }) {
    /** @type {CallEvent[]} */
    let settled = [];
    /** @type {Set<string>} */
    const decided = new Set();
    const stop = conversation.on("call", (call) => {
      if (call.state === "confirming") decided.add(call.callId);
      if (call.state === "settled") settled.push(call);
    });
    try {
      await conversation.send(text);
      for (let reports = 0; ; reports++) {
        const end = await conversation.idle();
        if (end.error !== undefined || !["finished", "idle"].includes(end.status)) return end;
        const isNews = settled.some((call) => decided.has(call.callId) || isUnknown(call, tools));
        if (reports === MOST_REPORTS || !isNews) return end;
        const report = settled.map((call) => `[client tool result] ${call.tool}: ${JSON.stringify(call.outcome)}`).join("\n");
        onReport([...new Set(settled.map(({ tool }) => tool))], report);
        settled = [];
        await conversation.send(report);
      }
    } finally {
      stop();
    }
  },
};

/** Whether the agent cannot do without the outcome. @param {CallEvent} call @param {readonly Tool[]} tools */
function isUnknown({ tool, outcome }, tools) {
  if (outcome?.kind !== "ok") return true;
  const reads = tools.some(({ name, annotations }) => name === tool && annotations?.readOnlyHint === true);
  return reads && outcome.result !== null;
}

