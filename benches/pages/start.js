// Opens a conversation as the first thing that a page does.

/** @param {{ url: string, what: "core" | "engine" }} given @returns {Promise<number>} milliseconds */
export async function open({ url, what }) {
  const agent = { kind: "Agent", tools: [], llm: { usage_id: "agent", model: "openai/none", base_url: `${url}/v1`, api_key: "none" } };
  const inputSchema = { type: "object", properties: what === "engine" ? { item: { type: "string", minLength: 1 } } : {} };
  const tool = { name: `work_${what}`, description: "Works.", inputSchema, execute: () => null };
  const start = performance.now();
  const { init, openhands } = await import("/pkg/openhands.js");
  const opening = openhands({ url }).start({ tools: [tool], agent, workspace: "project", autotitle: false });
  // Declaring the tool has begun to load the engine; the conversation does not wait for it.
  await Promise.all([opening, what === "engine" ? opening.then(() => init({ schema: "/pkg/schema.wasm" })) : undefined]);
  return performance.now() - start;
}
