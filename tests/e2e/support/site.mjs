// The browser, and the site that its pages come from: static, on 127.0.0.1, with the package under /pkg.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, unseen } from "./browser.mjs";
import { pkg, program } from "./environment.mjs";
import { Runs } from "./runs.mjs";

const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".json": "application/json", ".html": "text/html" };
/** What the page at /csp lives under. */
export const POLICY = "script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' http://127.0.0.1:* ws://127.0.0.1:*";
/** Policies of pages, by path. */
const POLICIES = new Map([
  ["/", undefined],
  ["/csp", POLICY],
  ["/csp-without-wasm", POLICY.replace(" 'wasm-unsafe-eval'", "")],
]);
const HERE = fileURLToPath(new URL(".", import.meta.url));
/** The scripts of this folder that run in pages. */
const SCRIPTS = ["/recorder.js", "/endurance.js", "/lab.js", "/lab-attempt.js", "/lab-handlers.js", "/lab-ledger.js", "/lab-talk.js", "/lab-troubles.js"];

/** The browser and the site, of one test file. */
export class Browser {
  #site = createServer((request, response) => void this.#answer(request, response));
  #browser;
  /** What the pages report from now on. */
  runs = new Runs();
  /** @type {string[]} Paths that pages have asked for. */ asked = [];
  /** @type {Map<string, "not" | "half">} Files of the package that come not at all or in part, and then the connection ends. */ cut = new Map();
  /** @type {Map<string, string>} What is done to pages before any code of their own runs, by the pages' names. */ #before = new Map();

  /** @param {{ newContext: (options?: any) => Promise<any>, close: () => Promise<void> }} browser */
  constructor(browser) {
    this.#browser = browser;
  }

  static async launch() {
    const browser = new Browser(await launch(program));
    await new Promise((resolve) => browser.#site.listen(0, "127.0.0.1", () => resolve(undefined)));
    return browser;
  }

  get origin() {
    return `http://127.0.0.1:${this.#site.address().port}`;
  }

  /** A fresh profile. @param {import("playwright-core").BrowserContextOptions} [options] of Chromium only */
  profile(options) {
    return this.#browser.newContext(options);
  }

  /** A new scene begins: nothing is known of what was before. */
  begin() {
    this.runs = new Runs();
    this.asked = [];
    this.cut.clear();
    this.#before.clear();
  }

  /** Does this to a page before any code of its own runs, each time it is loaded. @param {string} page its name @param {() => void} what */
  beforehand(page, what) {
    this.#before.set(page, `(${what})();`);
  }

  async close() {
    await this.#browser.close();
    this.#site.closeAllConnections();
    await new Promise((resolve) => this.#site.close(resolve));
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  async #answer(request, response) {
    if (request.method === "POST") {
      this.runs.add(/** @type {import("./runs.mjs").Run} */ (await json(request)));
      response.writeHead(204).end();
      return;
    }
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://site");
    this.asked.push(pathname);
    const page = searchParams.get("page") ?? "";
    const cut = this.cut.get(pathname.replace("/pkg/", ""));
    if (cut === "not") request.socket.destroy();
    else if (pathname === "/before.js") give(response, "text/javascript", this.#before.get(page) ?? "");
    else if (POLICIES.has(pathname)) give(response, "text/html", html(page), POLICIES.get(pathname));
    else await file(pathname, response, cut === "half");
  }
}

/** The page: what records it and what is done to it beforehand come first. @param {string} page */
function html(page) {
  const first = [...(unseen.length > 0 ? [`/recorder.js?${unseen.join("&")}`] : []), `/before.js?page=${page}`];
  const scripts = first.map((src) => `<script src="${src}"></script>`).join("");
  return `<!doctype html><meta charset="utf-8"><title>lab</title><link rel="icon" href="data:,">${scripts}<script type="module" src="/lab.js"></script>`;
}

/** @param {import("node:http").ServerResponse} response @param {string} type @param {string} content @param {string} [policy] */
function give(response, type, content, policy) {
  const headers = policy && { "Content-Security-Policy": policy };
  response.writeHead(200, { "Cache-Control": "no-store", "Content-Type": type, ...headers }).end(content);
}

/** @param {string} pathname @param {import("node:http").ServerResponse} response @param {boolean} half */
async function file(pathname, response, half) {
  const path = SCRIPTS.includes(pathname) ? join(HERE, pathname) : packageFile(pathname);
  const headers = { "Cache-Control": "no-store", "Content-Type": TYPES[extname(pathname)] ?? "text/plain" };
  try {
    const bytes = await readFile(path ?? "");
    response.writeHead(200, { ...headers, "Content-Length": bytes.length });
    if (half) response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    else response.end(bytes);
  } catch {
    response.writeHead(404, headers).end();
  }
}

/** @param {string} pathname */
function packageFile(pathname) {
  return pathname.startsWith("/pkg/") ? join(pkg, normalize(pathname.slice("/pkg".length))) : undefined;
}
