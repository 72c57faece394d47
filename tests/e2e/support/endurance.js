// The page's side of the tests of memory. Unlike `lab.js` it keeps nothing of what happens, since that would be measured too.

const pagehand = await import("/pkg/index.js");

const TOPICS = ["call", "approval", "status", "message", "delta", "event", "connection", "tools", "notice", "error"];

/** What the page counts over all conversations. */
const counts = { events: 0, calls: 0, runs: 0, ok: 0, refused: 0 };
/** @type {(() => void)[]} */
let waiting = [];

function counted() {
  for (const look of waiting) look();
}

/** Resolves when a number is reached. @param {keyof typeof counts} what @param {number} number */
export function until(what, number) {
  return new Promise((resolve) => {
    const look = () => {
      if (counts[what] < number) return;
      waiting = waiting.filter((other) => other !== look);
      resolve(counts);
    };
    waiting.push(look);
    look();
  });
}

/** A tool whose schema needs the engine. @param {string} name */
const toolOf = (name) =>
  pagehand.tool({
    name,
    description: `Does ${name}.`,
    inputSchema: { type: "object", properties: { item: { type: "string", minLength: 1 } }, required: ["item"] },
    execute: ({ item }) => {
      counts.runs += 1;
      return { item };
    },
  });

/** Listens to everything, as an app does that never unsubscribes. */
function listen(conversation) {
  for (const topic of TOPICS) conversation.on(topic, () => {});
  conversation.on("event", () => {
    counts.events += 1;
    counted();
  });
  conversation.on("call", ({ state, outcome }) => {
    if (state !== "settled") return;
    counts.calls += 1;
    if (outcome.kind === "ok") counts.ok += 1;
    counted();
  });
}

let followed;

/** Opens the conversation that the page then stays in. */
export async function follow(server, tool, options) {
  followed = await pagehand.openhands(server).start({ ...options, tools: [toolOf(tool)] });
  listen(followed);
  return followed.id;
}

/** One turn of the followed conversation. */
export async function turn() {
  await followed.send("go on");
  return (await followed.idle()).status;
}

/** Ways to open and close a conversation, each as clumsily as an app may do it. */
const CYCLES = {
  /** Joins, listens, waits for what never comes, reads a stream that it never returns from, and closes. */
  async attach(server, { id, tool }) {
    const conversation = await pagehand.openhands(server).attach(id, { tools: [toolOf(tool)] });
    listen(conversation);
    const read = (async () => {
      for await (const _ of conversation);
    })();
    const answer = conversation.ask("anything?").catch(refused);
    await conversation.close();
    await Promise.all([read, answer]);
  },
  /** A whole conversation with a call. */
  async start(server, { tool, options }) {
    const conversation = await pagehand.openhands(server).start({ ...options, tools: [toolOf(tool)] });
    listen(conversation);
    await conversation.send("go");
    const { status } = await conversation.idle();
    if (status !== "finished") throw new Error(`the agent is ${status}`);
    await conversation.close();
  },
  /** There is no such conversation. */
  async miss(server, { tool }) {
    await pagehand.openhands(server).attach(crypto.randomUUID(), { tools: [toolOf(tool)] }).catch(refused);
  },
  /** Thought better of in the middle of it. */
  async abort(server, { id, tool }) {
    const controller = new AbortController();
    const opening = pagehand.openhands(server).attach(id, { tools: [toolOf(tool)], signal: controller.signal });
    setTimeout(() => controller.abort(), 5);
    await opening.then((conversation) => conversation.close(), refused);
  },
};

function refused() {
  counts.refused += 1;
}

/** Cycles, one after another. @param {(keyof typeof CYCLES)[]} kinds in turn @param {number} count */
export async function cycles(kinds, count, server, given) {
  for (let at = 0; at < count; at += 1) await CYCLES[kinds[at % kinds.length]](server, given);
  return counts;
}

/** What can be seen from inside the page. */
export async function holdings() {
  const { held = [], pending = [] } = await navigator.locks.query();
  return {
    wasm: globalThis.memories.reduce((sum, memory) => sum + memory.buffer.byteLength, 0),
    locks: held.length + pending.length,
    ...(await stored()),
  };
}

/** How much is in the ledger. */
async function stored() {
  const done = (request) =>
    new Promise((resolve, reject) => Object.assign(request, { onsuccess: () => resolve(request.result), onerror: () => reject(request.error) }));
  const database = await done(indexedDB.open("pagehand"));
  const names = [...database.objectStoreNames];
  const counts = await Promise.all(names.map((name) => done(database.transaction(name).objectStore(name).count())));
  database.close();
  return Object.fromEntries(names.map((name, at) => [name, counts[at]]));
}
