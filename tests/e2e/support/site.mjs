// Chromium, and the site that its pages come from: static, on 127.0.0.1, with the package under /pkg.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium as playwright } from "playwright-core";
import { chromium, pkg } from "./environment.mjs";
import { Runs } from "./runs.mjs";

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
/** The scripts of this folder that run in pages. */
const SCRIPTS = ["/lab.js", "/endurance.js"];

/** The browser and the site, of one test file. */
export class Browser {
  #site = createServer((request, response) => void this.#answer(request, response));
  #browser;
  /** What the pages report from now on. */
  runs = new Runs();

  /** @param {import("playwright-core").Browser} browser */
  constructor(browser) {
    this.#browser = browser;
  }

  static async launch() {
    const browser = new Browser(
      await playwright.launch({
        executablePath: chromium,
        // Playwright's own headless flag is of an older kind.
        headless: false,
        args: FLAGS,
      }),
    );
    await new Promise((resolve) => browser.#site.listen(0, "127.0.0.1", () => resolve(undefined)));
    return browser;
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

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  async #answer(request, response) {
    if (request.method !== "POST") return serve(request.url ?? "/", response);
    this.runs.add(/** @type {import("./runs.mjs").Run} */ (await json(request)));
    response.writeHead(204).end();
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
  const file = SCRIPTS.includes(pathname) ? join(HERE, pathname) : packageFile(pathname);
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
