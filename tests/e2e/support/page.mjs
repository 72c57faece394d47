// Chromium, and the pages in it: a static site on 127.0.0.1 with the package under /pkg.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium as playwright } from "playwright-core";
import { chromium, pkg } from "./environment.mjs";
import { Talk, unpacked } from "./talk.mjs";
import { checkTape } from "./rules.mjs";
import { KEY, LLM_KEY } from "./servers.mjs";

const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".json": "application/json", ".html": "text/html" };
const HTML = '<!doctype html><meta charset="utf-8"><title>lab</title><link rel="icon" href="data:,"><script type="module" src="/lab.js"></script>';
/** What the page at /csp lives under. */
export const POLICY = "script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' http://127.0.0.1:* ws://127.0.0.1:*";
const FLAGS = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  // Every window would load two hidden pages for its address bar, which costs more than the tests do.
  "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup",
];
const HERE = fileURLToPath(new URL(".", import.meta.url));

/** The browser and the site, of one test file. */
export class Browser {
  #site;
  #browser;

  constructor(site, browser) {
    this.#site = site;
    this.#browser = browser;
  }

  static async launch() {
    const site = createServer((request, response) => void serve(request.url ?? "/", response));
    await new Promise((resolve) => site.listen(0, "127.0.0.1", () => resolve(undefined)));
    const browser = await playwright.launch({
      executablePath: chromium,
      // Playwright's own headless flag is of an older kind.
      headless: false,
      args: FLAGS,
    });
    return new Browser(site, browser);
  }

  get origin() {
    return `http://127.0.0.1:${this.#site.address().port}`;
  }

  /** A fresh profile. @param {import("playwright-core").BrowserContextOptions} [options] */
  profile(options) {
    return this.#browser.newContext(options);
  }

  async close() {
    await this.#browser.close();
    this.#site.closeAllConnections();
    await new Promise((resolve) => this.#site.close(resolve));
  }
}

/** @param {string} url @param {import("node:http").ServerResponse} response */
async function serve(url, response) {
  const { pathname } = new URL(url, "http://site");
  const headers = { "Cache-Control": "no-store" };
  if (pathname === "/csp") headers["Content-Security-Policy"] = POLICY;
  if (pathname === "/" || pathname === "/csp") {
    response.writeHead(200, { ...headers, "Content-Type": "text/html" }).end(HTML);
    return;
  }
  const file = pathname === "/lab.js" ? join(HERE, "lab.js") : packageFile(pathname);
  try {
    const bytes = await readFile(file ?? "");
    response.writeHead(200, { ...headers, "Content-Type": TYPES[extname(pathname)] ?? "text/plain" }).end(bytes);
  } catch {
    response.writeHead(404, headers).end();
  }
}

/** @param {string} pathname */
function packageFile(pathname) {
  return pathname.startsWith("/pkg/") ? join(pkg, normalize(pathname.slice("/pkg".length))) : undefined;
}

/** A page with the harness in it. Everything that leaves it is written down. */
export class Lab {
  /** @type {string[]} URLs of requests, and of WebSockets. */ urls = [];
  /** @type {{ url: string, sent: string[] }[]} */ sockets = [];
  /** @type {string[]} */ console = [];
  /** @type {Map<string, { early: string[] }>} */ #talks = new Map();
  #opened = 0;
  #page;

  /** @param {import("playwright-core").Page} page */
  constructor(page) {
    this.#page = page;
    page.on("request", (request) => this.urls.push(request.url()));
    page.on("console", (line) => this.console.push(line.text()));
    page.on("pageerror", (error) => this.console.push(String(error)));
    page.on("websocket", (socket) => {
      const record = { url: socket.url(), sent: [] };
      this.urls.push(record.url);
      this.sockets.push(record);
      socket.on("framesent", ({ payload }) => record.sent.push(String(payload)));
    });
  }

  /** @param {import("playwright-core").BrowserContext} profile @param {string} url */
  static async open(profile, url) {
    const page = await profile.newPage();
    const lab = new Lab(page);
    await page.goto(url);
    await page.waitForFunction(() => "lab" in globalThis);
    return lab;
  }

  /** Requests for this file of the package. @param {string} name */
  requestsOf(name) {
    return this.urls.filter((url) => url.endsWith(`/pkg/${name}`)).length;
  }

  /** Waits until this file of the package is requested. @param {string} name */
  requested(name) {
    return this.sent(`/pkg/${name}`);
  }

  /** Waits until a URL with these words is requested. @param {string} words */
  async sent(words) {
    const found = (url) => url.includes(words);
    if (!this.urls.some(found)) await this.#page.waitForRequest((request) => found(request.url()));
  }

  /** Lets requests for this file of the package fail, or not any more. @param {string} name @param {boolean} blocked */
  async block(name, blocked) {
    if (blocked) await this.#page.route(`**/pkg/${name}`, (route) => route.abort());
    else await this.#page.unroute(`**/pkg/${name}`);
  }

  /**
   * Starts a conversation whose agent plays a script.
   * @param {import("./servers.mjs").AgentServer} server
   * @param {{ tools?: object[], steps?: object[], script?: string, url?: string, key?: string } & Record<string, unknown>} [options]
   * @returns {Promise<Talk>}
   */
  async start(server, { steps, script = `script-${Math.random()}`, url, key, ...options } = {}) {
    if (steps) await server.script(script, steps);
    const all = { agent: server.agent(script), workspace: "project", autotitle: false, stuck_detection: false, ...options };
    return this.#open("start", options, [addressOf(server, url, key), all]);
  }

  /**
   * Joins a conversation.
   * @param {import("./servers.mjs").AgentServer} server
   * @param {string} id
   * @param {{ tools?: object[], url?: string, key?: string, signal?: string }} [options]
   * @returns {Promise<Talk>}
   */
  attach(server, id, { url, key, ...options } = {}) {
    return this.#open("attach", options, [addressOf(server, url, key), id, options]);
  }

  /** Aborts the signal of this name. @param {string} name */
  abort(name) {
    return this.run("abort", name);
  }

  /** Lets handlers of kind `slow_echo` go on. @param {string} name */
  openGate(name) {
    return this.run("openGate", name);
  }

  /**
   * Runs a program in the page: the body of an async function with these variables. Its result is what it logged.
   * @param {string} program @param {Record<string, unknown>} variables
   * @returns {Promise<unknown[][]>}
   */
  program(program, variables) {
    return this.#page.evaluate(
      async ([program, names, values]) => {
        const logged = [];
        const AsyncFunction = (async () => {}).constructor;
        await AsyncFunction("console", ...names, program)({ log: (...line) => logged.push(line) }, ...values);
        return JSON.parse(JSON.stringify(logged));
      },
      [program, Object.keys(variables), Object.values(variables)],
    );
  }

  /** Calls a function of the page's `lab`. @param {string} name @param {...unknown} args @returns {Promise<any>} */
  run(name, ...args) {
    return this.#page.evaluate(([name, args]) => globalThis.lab[name](...args), [name, args]);
  }

  /** What must hold of every page, whatever happened on it. */
  async check() {
    const tapes = await Promise.all([...this.#talks].map(async ([name, talk]) => [await this.run("tape", name), talk]));
    for (const [tape, { early }] of tapes) checkTape(tape, early);
    assert.deepEqual(await this.#page.evaluate(() => globalThis.lab.troubles), [], "the page has troubles");
    const told = [this.urls, this.console, tapes.map(([tape]) => tape)].map((list) => JSON.stringify(list));
    for (const secret of [KEY, LLM_KEY]) {
      assert.ok(!told.some((text) => text.includes(secret)), `${secret} is in a URL, an event or a console line`);
    }
  }

  /** @param {"start" | "attach"} how @param {{ tools?: object[] }} options @param {unknown[]} args */
  async #open(how, { tools = [] }, args) {
    const name = `talk-${(this.#opened += 1)}`;
    const opened = unpacked(await this.run(how, name, ...args));
    this.#talks.set(name, { early: tools.filter((tool) => tool.runOn === "announcement").map((tool) => tool.name) });
    return new Talk(this, name, opened);
  }
}

/** @param {import("./servers.mjs").AgentServer} server @param {string} [url] @param {string} [key] */
function addressOf(server, url = server.url, key = server.key) {
  return { url, sessionKey: key || undefined };
}
