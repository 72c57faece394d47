// What a page holds, once everything is gone that may go.
import { setTimeout as pause } from "node:timers/promises";

/** How often a page is measured again in which something seems to be under way. */
const PATIENCE = 50;

/** Done to a page before any code of its own runs: keeps the memories of its WebAssembly instances where they can be measured. */
export function keepMemories() {
  globalThis.memories = [];
  for (const how of ["instantiate", "instantiateStreaming"]) {
    const real = WebAssembly[how];
    WebAssembly[how] = async (...args) => {
      const made = await real.apply(WebAssembly, args);
      const { memory } = (made.instance ?? made).exports;
      if (memory) globalThis.memories.push(memory);
      return made;
    };
  }
}

/**
 * Bytes of `js`, the heap of JavaScript with its buffers, and of `wasm`, both memories, which grow by 64 KiB and never shrink. Then
 * numbers: of `listeners` and `observers` (sockets, requests, channels and the like that the browser keeps for the page), of locks,
 * of entries and places in the ledger.
 *
 * The browser's own heap for DOM objects is not measured: while a debugger is there it has a record of every request, some 300
 * bytes each, with or without us. What we could lose there has a wrapper in the heap of JavaScript, or is an observer.
 * @typedef {Record<"js" | "wasm" | "listeners" | "observers" | "locks" | "entries" | "places", number>} Usage
 */

/**
 * A page that writes to its ledger right now has more listeners than one at rest: it is measured again until it has no more than it
 * had before.
 * @param {import("./page.mjs").Lab} lab @param {Usage} [before] @returns {Promise<Usage>}
 */
export async function usageOf(lab, before) {
  let usage = await measured(lab);
  for (let again = 0; before && usage.listeners > before.listeners && again < PATIENCE; again += 1) {
    await pause(40);
    usage = await measured(lab);
  }
  return usage;
}

/** @param {import("./page.mjs").Lab} lab @returns {Promise<Usage>} */
async function measured(lab) {
  // What finalizers let go of is garbage for the next round.
  for (let round = 0; round < 3; round += 1) await lab.debug("HeapProfiler.collectGarbage");
  const { usedSize, backingStorageSize = 0 } = await lab.debug("Runtime.getHeapUsage");
  await lab.debug("Performance.enable");
  const { metrics } = await lab.debug("Performance.getMetrics");
  const metric = (name) => metrics.find((metric) => metric.name === name).value;
  return {
    js: usedSize + backingStorageSize,
    listeners: metric("JSEventListeners"),
    observers: metric("ContextLifecycleStateObservers"),
    ...(await lab.call("/endurance.js", "holdings")),
  };
}

/**
 * What was added per event or cycle, in bytes.
 * @param {Usage} before @param {Usage} after @param {number} count
 */
export function growth(before, after, count) {
  return { js: (after.js - before.js) / count, wasm: (after.wasm - before.wasm) / count };
}

/** A table for who reads the output. @param {string} title @param {[string, Usage][]} rows */
export function table(title, rows) {
  const line = (name, cells) => name.padEnd(16) + cells.map((cell) => String(cell).padStart(11)).join("");
  return [title, line("", Object.keys(rows[0][1])), ...rows.map(([name, usage]) => line(name, Object.values(usage)))].join("\n");
}
