// How long a page takes from importing the package until its first conversation is open.
import { setTimeout as pause } from "node:timers/promises";
import { RUNS, spread, table } from "./numbers.mjs";
import { Server } from "./server.mjs";

/** How long a browser takes at most to optimise what it compiled, and to put it into its cache. */
const SETTLING = 4_000;

const NAMES = { core: "the core alone", engine: "with the schema engine" };

/** @param {import("./browser.mjs").Browser} browser */
export async function start(browser) {
  const server = await Server.start();
  /** @type {[string, string, string][]} */
  const rows = [];
  try {
    for (const [what, name] of Object.entries(NAMES)) {
      /** @type {number[]} */ const cold = [];
      /** @type {number[]} */ const warm = [];
      const open = (page) => page.evaluate(async (given) => (await import("/start.js")).open(given), { url: server.url, what });
      for (let run = 0; run < RUNS; run += 1) {
        await browser.lasting(async (page) => {
          cold.push(await open(page));
          // Only what was loaded again is kept compiled.
          for (let visit = 0; visit < 2; visit += 1) {
            await pause(SETTLING / 2);
            await browser.visit(page);
            await open(page);
          }
          await pause(SETTLING);
          await browser.visit(page);
          warm.push(await open(page));
        });
      }
      rows.push([name, spread(cold), spread(warm)]);
    }
  } finally {
    await server.stop();
  }
  table("From import until the first conversation is open, in milliseconds; the server is on the same machine", ["", "cold", "warm"], rows);
}
