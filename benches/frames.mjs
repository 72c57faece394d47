// What a frame costs, from the socket's message event until the listeners were called.
import { RUNS, ratio, spread, table } from "./numbers.mjs";
import { recordings } from "./recordings.mjs";

/** Recordings, with who can read them; the first is what the others are compared with. */
const CASES = [
  ["OpenHands, events socket", "bare", ["callbackClient", "remoteConversation", "parse", "everything", "calls"]],
  ["OpenHands, session socket", "session", ["parse", "everything", "calls"]],
  ["UiPath, Socket.IO", "uipath", ["parse", "everything", "calls"]],
];
const NAMES = {
  parse: "JSON.parse and a switch",
  callbackClient: "@openhands/typescript-client, WebSocketCallbackClient",
  remoteConversation: "@openhands/typescript-client, RemoteConversation",
  everything: "pagehand, a listener for everything",
  calls: "pagehand, listeners for calls only",
};

/** @param {import("./browser.mjs").Browser} browser */
export async function frames(browser) {
  const all = recordings();
  for (const [title, which, readers] of CASES) {
    /** @type {Record<string, number[]>} */
    const times = Object.fromEntries(readers.map((reader) => [reader, []]));
    for (let run = 0; run < RUNS; run += 1) {
      for (const reader of readers) {
        const time = await browser.page((page) =>
          page.evaluate(async (given) => (await import("/frames.js")).measure(given), { reader, which, recordings: all[which] }),
        );
        times[reader].push(time);
      }
    }
    const texts = all[which].flat();
    const average = Math.round(texts.join("").length / texts.length);
    table(
      `${title}: ${texts.length} frames of ${all[which].length} recordings, ${average} bytes on average; microseconds a frame`,
      ["", "µs", "ratio"],
      readers.map((reader) => [NAMES[reader], spread(times[reader]), ratio(times[reader], times[readers[0]])]),
    );
  }
}
