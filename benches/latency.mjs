// How long a frame takes to its handler at 1,000 events a second, over a real socket and with the ledger in IndexedDB.
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { RUNS, spread, table } from "./numbers.mjs";
import { Server } from "./server.mjs";

const RATE = 1_000;
const SECONDS = 5;
/** One event in so many belongs to a call: its announcement, then its acknowledgement. */
const CALLS = 100;
/** Requests that are under way at once. */
const LANES = 4;

/** @param {import("./browser.mjs").Browser} browser */
export async function latency(browser) {
  const server = await Server.start();
  /** @type {Record<string, number[]>} */
  const measured = { rate: [], "event p50": [], "event p99": [], "handler p50": [], "handler p99": [] };
  try {
    for (let run = 0; run < RUNS; run += 1) {
      await browser.page(async (page) => {
        const id = await page.evaluate(async (url) => (await import("/latency.js")).open(url), server.url);
        measured.rate.push(await send(server, id));
        const found = await page.evaluate(async () => (await import("/latency.js")).found());
        for (const [what, time] of Object.entries(found)) measured[what].push(time);
      });
    }
  } finally {
    await server.stop();
  }
  const { rate, ...times } = measured;
  table(
    `Latency in milliseconds, from the message event of a real socket; ${spread(rate)} events a second`,
    ["", "p50", "p99"],
    [
      ["until listeners to `event` have it", spread(times["event p50"]), spread(times["event p99"])],
      ["until the handler of the call runs (checked, and claimed in IndexedDB)", spread(times["handler p50"]), spread(times["handler p99"])],
    ],
  );
}

/** Lets the server say so many events at that rate. @param {Server} server @param {string} id @returns {Promise<number>} how many a second it were */
async function send(server, id) {
  const agent = new Agent({ keepAlive: true, maxSockets: LANES });
  const total = RATE * SECONDS;
  let sent = 0;
  const start = performance.now();
  const lane = async () => {
    while (sent < total) {
      const early = sent / (RATE / 1_000) - (performance.now() - start);
      if (early > 1) await pause(early);
      const number = (sent += 1);
      if (number % CALLS === 0) for (const event of call(number)) await emit(agent, server, id, event);
      else await emit(agent, server, id, message(number));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const rate = (sent * 1_000) / (performance.now() - start);
  agent.destroy();
  await pause(500);
  return rate;
}

/** @param {number} number */
const uuid = (number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const timestamp = "2026-01-01T00:00:00";

/** @param {number} number */
function message(number) {
  const content = [{ type: "text", text: `Message ${number}: a sentence as an agent writes it.` }];
  return { id: uuid(number), timestamp, source: "agent", llm_message: { role: "assistant", content }, kind: "MessageEvent" };
}

/** @param {number} number */
function call(number) {
  const [action, answer] = [uuid(number), uuid(1_000_000 + number)];
  const named = { tool_name: "work", tool_call_id: `call-${number}` };
  const content = [{ type: "text", text: "Tool call dispatched to client." }];
  return [
    { id: action, timestamp, source: "agent", thought: [], action: { item: `item ${number}`, kind: "ClientAction_work" }, ...named, kind: "ActionEvent" },
    { id: answer, timestamp, source: "environment", ...named, observation: { content, is_error: false, kind: "ClientToolObservation" }, action_id: action, kind: "ObservationEvent" },
  ];
}

/** @param {Agent} agent @param {Server} server @param {string} id @param {object} event @returns {Promise<void>} */
function emit(agent, server, id, event) {
  return new Promise((resolve, reject) => {
    const sending = request(`${server.url}/mock/emit/${id}`, { method: "POST", agent }, (response) => {
      response.resume().on("end", resolve);
    });
    sending.on("error", reject).end(JSON.stringify(event));
  });
}
