// Chromium, and the site that its pages come from: the package, the scripts in pages/, and peers as one file each.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium as playwright } from "playwright-core";
import { chromium, pkg, scripts } from "./environment.mjs";

const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm" };
const HTML = '<!doctype html><meta charset="utf-8"><title>bench</title><link rel="icon" href="data:,">';
const FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"];
const PAGES = fileURLToPath(new URL("pages/", import.meta.url));

/** What each peer is, as the source of a module that only has what is measured. */
const PEERS = {
  "/peers/openhands.js": 'export { RemoteConversation, RemoteWorkspace, WebSocketCallbackClient } from "@openhands/typescript-client";',
  "/peers/ajv.js": 'export { default as Ajv } from "ajv/dist/2020.js";',
  "/peers/cfworker.js": 'export { Validator } from "@cfworker/json-schema";',
};

export class Browser {
  #site = createServer((request, response) => void this.#answer(request.url ?? "/", response));
  #chromium;
  /** @type {Map<string, Promise<Uint8Array>>} */ #bundled = new Map();

  /** @param {import("playwright-core").Browser} started */
  constructor(started) {
    this.#chromium = started;
  }

  static async launch() {
    const browser = new Browser(await playwright.launch({ executablePath: chromium, headless: false, args: FLAGS }));
    await new Promise((resolve) => browser.#site.listen(0, "127.0.0.1", () => resolve(undefined)));
    console.log(`Chromium ${browser.#chromium.version()}`);
    return browser;
  }

  /**
   * A page of a fresh profile.
   * @param {(page: import("playwright-core").Page) => Promise<T>} use
   * @template T
   */
  async page(use) {
    const profile = await this.#chromium.newContext();
    try {
      const page = await profile.newPage();
      page.on("pageerror", (error) => console.error(error));
      await this.visit(page);
      return await use(page);
    } finally {
      await profile.close();
    }
  }

  /**
   * A page of a browser of its own that keeps what it compiled on disk, as people's browsers do; profiles above keep nothing.
   * @param {(page: import("playwright-core").Page) => Promise<T>} use
   * @template T
   */
  async lasting(use) {
    const folder = await mkdtemp(join(tmpdir(), "pagehand-bench-"));
    const profile = await playwright.launchPersistentContext(folder, { executablePath: chromium, headless: false, args: FLAGS });
    try {
      const page = await profile.newPage();
      await this.visit(page);
      return await use(page);
    } finally {
      await profile.close();
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** @param {import("playwright-core").Page} page */
  visit(page) {
    return page.goto(`http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (this.#site.address()).port}/`);
  }

  async close() {
    await this.#chromium.close();
    this.#site.closeAllConnections();
    await new Promise((resolve) => this.#site.close(resolve));
  }

  /** @param {string} url @param {import("node:http").ServerResponse} response */
  async #answer(url, response) {
    const { pathname } = new URL(url, "http://site");
    // Isolated, since clocks are coarse in other pages.
    const isolated = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };
    const headers = { ...isolated, "Cache-Control": "max-age=600" };
    if (pathname === "/") return void response.writeHead(200, { ...headers, "Content-Type": "text/html" }).end(HTML);
    try {
      const bytes = await (pathname in PEERS ? this.#peer(pathname) : readFile(fileOf(pathname)));
      response.writeHead(200, { ...headers, "Content-Type": TYPES[extname(pathname)] ?? "text/plain" }).end(bytes);
    } catch (error) {
      console.error(pathname, error);
      response.writeHead(404, headers).end();
    }
  }

  /** @param {string} name */
  #peer(name) {
    const known = this.#bundled.get(name) ?? bundle(PEERS[name]);
    this.#bundled.set(name, known);
    return known;
  }
}

/** @param {string} pathname */
function fileOf(pathname) {
  const [, folder, ...rest] = normalize(pathname).split("/");
  const folders = { pkg, scripts };
  return folder in folders ? join(folders[folder], ...rest) : join(PAGES, folder, ...rest);
}

/** @param {string} contents */
async function bundle(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
    logLevel: "error",
    // A branch for Node, which a page never takes.
    external: ["node:*", "ws"],
  });
  return outputFiles[0].contents;
}
