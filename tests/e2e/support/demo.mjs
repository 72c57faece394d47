// The demo's page as a person sees it, served by the stand-in server that also plays both of its agents.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { output, pkg } from "./environment.mjs";
import { Browser, POLICY } from "./site.mjs";
import { TARGETS, start } from "./servers.mjs";

const WWW = fileURLToPath(new URL("../../../www/", import.meta.url));
/** A turn is long: the agent writes at the speed of a reader, and the page takes its time to show what it does. */
const TURN = 30_000;

/** The server and the browser. */
export class Demo {
  #folder;
  #browser;
  server;

  /** @param {string} folder @param {Browser} browser @param {import("./servers.mjs").AgentServer} server */
  constructor(folder, browser, server) {
    this.#folder = folder;
    this.#browser = browser;
    this.server = server;
  }

  static async open() {
    const folder = mkdtempSync(join(tmpdir(), "pagehand-demo-"));
    cpSync(WWW, folder, { recursive: true });
    cpSync(pkg, join(folder, "pkg"), { recursive: true });
    const scripts = ["--scripts", join(WWW, "script.json"), "--uipath-scripts", join(WWW, "uipath-script.json")];
    const options = ["--static", folder, ...scripts, "--csp", POLICY];
    const [browser, server] = await Promise.all([Browser.launch(), start(TARGETS.mock, { key: "", options })]);
    return new Demo(folder, browser, server);
  }

  /**
   * A visitor with a browser of their own.
   * @param {string} [query]
   * @param {import("playwright-core").BrowserContextOptions} [options]
   */
  async visit(query = "", options) {
    const visit = await this.visitor(options);
    await visit.page.goto(this.server.url + query);
    await visit.connected();
    return visit;
  }

  /** A visitor who has not opened the page yet. @param {import("playwright-core").BrowserContextOptions} [options] */
  async visitor(options) {
    const profile = await this.#browser.profile({ viewport: { width: 1440, height: 900 }, ...options });
    return new Visit(await profile.newPage());
  }

  async close() {
    await this.#browser.close();
    await this.server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A page that somebody looks at. */
export class Visit {
  /** @type {string[]} What the browser had to say about the page. */
  complaints = [];

  /** @param {import("playwright-core").Page} page */
  constructor(page) {
    this.page = page;
    page.on("console", (line) => ["error", "warning"].includes(line.type()) && this.complaints.push(line.text()));
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.setDefaultTimeout(TURN);
  }

  /** @param {string} name */
  screenshot(name) {
    return this.page.screenshot({ path: join(output, `demo-${name}.png`) });
  }

  /** @param {string} selector */
  texts(selector) {
    return this.page.locator(selector).allInnerTexts();
  }

  connected() {
    return this.page.locator('#connection-status[data-state="ready"]').waitFor();
  }

  /** Until the page takes the next question. */
  answered() {
    return this.page.locator(".composer button:enabled").waitFor();
  }

  /** How the calls stand, the first of them first. */
  async outcomes() {
    return (await this.texts(".call .call-word")).toReversed();
  }

  /** The tools of the calls, the first of them first. */
  async calls() {
    const tools = await this.page.locator(".call .call-tool").evaluateAll((all) => all.map((tool) => tool.firstChild?.textContent));
    return tools.toReversed();
  }

  /** The question that waits for the visitor. */
  get question() {
    return this.page.locator(".ask:not(.is-over)");
  }

  /** A field of that question. @param {string} label */
  field(label) {
    return this.question.getByLabel(label, { exact: false });
  }

  /** Says something to the agent. @param {string} text */
  async say(text) {
    await this.page.locator("#question").fill(text);
    await this.page.keyboard.press("Enter");
  }
}
