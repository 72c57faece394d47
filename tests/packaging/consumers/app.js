// What every consumer plays: a turn with each kind of server, in which the agent calls a tool once wrongly and once rightly. So
// every wasm file of the package is needed.
import { openhands, PagehandError, tool, uipath } from "pagehand";

/**
 * Text that says what came of it.
 * @param {string} url of the stand-in for both servers
 */
export async function play(url) {
  try {
    const first = openhands({ url, sessionKey: "canary-key" });
    const agent = { kind: "Agent", llm: { model: "openai/greet", api_key: "unused" } };
    const second = uipath({ url, organization: "acme", tenant: "main", token: "canary-key" });
    const greeted = [
      await turn(first, { agent, workspace: "/workspace" }),
      await turn(second, { agentReleaseId: 7, folderId: 11, agentInput: { inline: { script: "greet" } } }),
    ];
    return `pagehand: ${greeted.join(", ")}`;
  } catch (error) {
    const known = PagehandError.isInstance(error);
    return known ? `pagehand: ${error.code} ${error.details?.reason}: ${error.message}` : `pagehand: not ours: ${error?.stack}`;
  }
}

async function turn(server, options) {
  const told = [];
  const greet = tool({
    name: "greet",
    description: "Greets somebody.",
    inputSchema: { type: "object", properties: { name: { type: "string", pattern: "^[A-Z][a-z]+$" } }, required: ["name"] },
    execute: ({ name }) => void told.push(`hello ${name}`),
  });
  const conversation = await server.start({ tools: [greet], ...options });
  conversation.on("call", ({ state, outcome }) => state === "settled" && told.push(outcome.kind));
  await conversation.send("Greet me.");
  await conversation.idle();
  await conversation.close();
  return told.join(" ");
}
