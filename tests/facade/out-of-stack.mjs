// A program of its own, since a test runner follows every promise and does not survive the end of the stack itself: an app that runs
// out of it while it asks things of a conversation. It is given the server's address, and says what became of them.
import { agent, load } from "./help.mjs";

const { openhands, tool } = await load("index.js");
const server = openhands({ url: process.argv[2], sessionKey: "canary-key" });
const start = { workspace: "/workspace/project", stuck_detection: false };
let told = 0;
console.error = () => (told += 1);

const conversation = await server.start({ ...start, agent: agent("play") });
await conversation.send("go");
const waiting = conversation.idle().catch(({ code }) => code);
const thrown = [];
let calls = 0;
function deep() {
  try {
    deep();
  } catch {
    // Here the stack ends; on the way back there is a little more of it each time.
  }
  if (++calls < 2_000) conversation.cancel("no such call").catch((error) => thrown.push(error));
}
deep();
const idle = await waiting;

let runs = 0;
const next = await server.start({
  ...start,
  agent: agent("again"),
  tools: [tool({ name: "count", description: "Counts", execute: () => ++runs })],
});
await next.send("go");
const { status } = await next.idle();
const inside = thrown.some((error) => error instanceof RangeError && /wasm/.test(error.stack));
const codes = [...new Set(thrown.map(({ code }) => code))].filter(Boolean);
process.stdout.write(JSON.stringify({ idle, inside, codes, told, status, runs }), () => process.exit());
