// What tests of a conversation with a scripted agent stand on.
import { agent, load, mockServer } from "./help.mjs";

const { openhands, tool } = await load("index.js");

export const numbers = {
  type: "object",
  properties: { a: { type: "integer" }, b: { type: "integer", maximum: 10 } },
  required: ["a", "b"],
};
export const add = (execute) => tool({ name: "add", description: "Adds", inputSchema: numbers, execute });
export const calling = (name, args) => ({ tool_calls: [{ name, arguments: args }] });
export const done = { finish: "done" };

/** A mock server whose agent takes these steps, and a conversation with it. */
export const setUp = async (t, steps, tools, more = {}) => {
  const mock = await mockServer(t, { play: steps });
  const server = openhands({ url: mock.url, sessionKey: "canary-key" });
  const start = { workspace: "/workspace/project", agent: agent("play"), tools, stuck_detection: false, ...more };
  const conversation = await server.start(start);
  t.after(() => conversation.close());
  return { mock, server, conversation };
};

/** Listens to a topic from now on. */
export const record = (conversation, topic) => {
  const heard = [];
  conversation.on(topic, (event) => heard.push(event));
  return heard;
};

/** One turn. */
export const play = async (conversation) => {
  await conversation.send("go");
  return conversation.idle();
};
