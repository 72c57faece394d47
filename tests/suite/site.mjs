// What a page needs, on 127.0.0.1, and where it says what it found.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { whileShowing } from "./browsers.mjs";

/** @param {string} name */
function told(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run these tests with "cargo xtask test --only suite"`);
  return value;
}

const CASES = told("PAGEHAND_SUITE_CASES");
const LONGEST_RUN = 60_000;
const PAGE = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="page.js"></script>';
/** @type {Record<string, [type: string, content: () => Promise<string | Buffer> | string]>} */
const CONTENT = {
  "/": ["text/html", () => PAGE],
  "/page.js": ["text/javascript", () => readFile(new URL("page.js", import.meta.url))],
  "/schema.js": ["text/javascript", () => readFile(told("PAGEHAND_SCHEMA_SCRIPT"))],
  "/schema.wasm": ["application/wasm", () => readFile(told("PAGEHAND_SCHEMA_WASM"))],
  "/cases.json": ["application/json", () => readFile(CASES)],
};

/** @typedef {{ description: string, schema: string, tests: { description: string, instance: string, valid: boolean }[] }} Group */

/** Of each draft, and of each file. @type {Record<string, Record<string, Group[]>>} */
export const cases = JSON.parse(await readFile(CASES, "utf8"));

/**
 * @param {import("./browsers.mjs").Browser} browser
 * @returns {Promise<{ results: (boolean | string)[][][], trouble: string }>} Results in the order of the cases.
 */
export async function findings(browser) {
  let resolve, reject;
  const promise = new Promise((yes, no) => ([resolve, reject] = [yes, no]));
  const site = createServer(async (request, response) => {
    try {
      if (request.method === "POST") {
        resolve(await json(request));
        response.writeHead(204).end();
        return;
      }
      const [type, content] = CONTENT[request.url ?? ""] ?? [];
      response.writeHead(content ? 200 : 404, { "Content-Type": type ?? "text/plain" }).end(await content?.());
    } catch (error) {
      reject(error);
      response.destroy();
    }
  });
  await new Promise((resolve) => site.listen(0, "127.0.0.1", () => resolve(undefined)));
  const limit = setTimeout(() => reject(new Error(`nothing came from ${browser.name}`)), LONGEST_RUN);
  try {
    const { port } = /** @type {import("node:net").AddressInfo} */ (site.address());
    return await whileShowing(browser, `http://127.0.0.1:${port}/`, () => promise);
  } finally {
    clearTimeout(limit);
    site.closeAllConnections();
    site.close();
  }
}
