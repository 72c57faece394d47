// A page with the harness in it, as tests use it.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { unseen } from "./browser.mjs";
import { Talk, unpacked } from "./talk.mjs";
import { checkTape } from "./rules.mjs";
import { KEY, LLM_KEY, NEXT_KEY } from "./servers.mjs";

/** How long a page may take to load, with others beside it. */
const PATIENCE = 90_000;

/** A page with the harness in it. Everything that leaves it is written down. */
export class Lab {
  /** @type {string[]} URLs of requests, and of WebSockets. */ urls = [];
  /** @type {{ url: string, sent: string[] }[]} */ sockets = [];
  /** @type {string[]} */ console = [];
  /** @type {Map<string, { conversation: string, early: string[] }>} */ #talks = new Map();
  /** @type {{ conversation: string, tape: any[] }[]} What the page knew before it was reloaded or lost. */ #past = [];
  /** @type {Map<number, { sent: string[] }>} The sockets that the page wrote down, by their numbers there. */ #numbered = new Map();
  #opened = 0;
  #gone = false;
  #site;
  #page;
  /** @type {Promise<import("playwright-core").CDPSession> | undefined} */ #debugger;

  /** @param {import("./browser.mjs").Page} page @param {string} name @param {import("./site.mjs").Browser} site */
  constructor(page, name, site) {
    this.#page = page;
    this.#site = site;
    this.name = name;
    page.on("request", (request) => this.urls.push(request.url()));
    page.on("console", (line) => this.console.push(line.text()));
    page.on("pageerror", (error) => this.console.push(String(error)));
    page.on("websocket", (socket) => {
      const record = this.#socket(socket.url());
      socket.on("framesent", ({ payload }) => record.sent.push(String(payload)));
    });
  }

  /**
   * @param {import("./site.mjs").Browser} site
   * @param {import("./browser.mjs").Profile} profile
   * @param {string} path
   * @param {{ name: string, before?: () => void }} more the name under which the page reports the runs of its handlers; `before` is
   *   done to the page before any code of its own runs, each time it is loaded
   */
  static async open(site, profile, path, { name, before }) {
    const page = await profile.newPage();
    if (before) site.beforehand(name, before);
    const lab = new Lab(page, name, site);
    await page.goto(`${site.origin}${path}?page=${name}`);
    await lab.#loaded();
    return lab;
  }

  /** Loads the page anew. Conversations in it are gone. */
  async reload() {
    await this.#remember();
    await this.#page.reload();
    await this.#loaded();
  }

  /** Closes the page, which is not asked. */
  async close() {
    await this.#remember();
    this.#gone = true;
    await this.#page.close();
  }

  /** Kills the process of the page, so that no code of it runs any more. */
  async crash() {
    await this.#remember();
    this.#gone = true;
    const crashed = new Promise((resolve) => this.#page.on("crash", resolve));
    // Nobody is left to answer.
    this.debug("Page.crash").catch(() => {});
    await crashed;
    await this.#page.close();
  }

  /** Stops everything in the page, as browsers do with tabs that were not looked at for long, or lets it go on. @param {boolean} frozen */
  freeze(frozen) {
    return this.debug("Page.setWebLifecycleState", { state: frozen ? "frozen" : "active" });
  }

  /** Tells the page that it is hidden, or shown; the driver keeps every page in sight otherwise. @param {boolean} hidden */
  hide(hidden) {
    return this.run("hide", hidden);
  }

  /** Takes the network away from all pages of the profile, or gives it back. @param {boolean} offline */
  offline(offline) {
    return this.#page.context().setOffline(offline);
  }

  /** Deletes all that the site has stored in this profile. */
  clearStorage() {
    return this.debug("Storage.clearDataForOrigin", { origin: new URL(this.#page.url()).origin, storageTypes: "all" });
  }

  /** How much the site may store. @param {number} quotaSize in bytes */
  limitStorage(quotaSize) {
    return this.debug("Storage.overrideQuotaForOrigin", { origin: new URL(this.#page.url()).origin, quotaSize });
  }

  /** Requests of all pages for this file of the package. @param {string} name */
  requestsOf(name) {
    return this.#site.asked.filter((path) => path === `/pkg/${name}`).length;
  }

  /** Waits until this file of the package is requested. @param {string} name */
  async requested(name) {
    while (this.requestsOf(name) === 0) await pause(10);
  }

  /** Waits until a URL with these words is requested. @param {string} words */
  async sent(words) {
    for (; !this.urls.some((url) => url.includes(words)); await pause(10)) await this.#evaluate(() => null);
  }

  /** Lets requests for this file of the package fail, at once or half-way, or not any more. @param {string} name @param {"not" | "half" | "whole"} comes */
  cut(name, comes) {
    if (comes === "whole") this.#site.cut.delete(name);
    else this.#site.cut.set(name, comes);
  }

  /**
   * Starts a conversation whose agent plays a script.
   * @param {import("./suite.mjs").AnyServer} server
   * @param {{ tools?: object[], steps?: object[], script?: string, url?: string, key?: string } & Record<string, unknown>} [options]
   * @returns {Promise<Talk>}
   */
  async start(server, { steps, script = `script-${Math.random()}`, url, key, ...options } = {}) {
    if (steps) await server.script(script, steps);
    return this.#open("start", options, [server.address({ url, key }), server.starting(script, options)]);
  }

  /**
   * Joins a conversation.
   * @param {import("./suite.mjs").AnyServer} server
   * @param {string} id
   * @param {{ tools?: object[], url?: string, key?: string, signal?: string }} [options]
   * @returns {Promise<Talk>}
   */
  attach(server, id, { url, key, ...options } = {}) {
    return this.#open("attach", options, [server.address({ url, key }), id, options]);
  }

  /**
   * Follows a conversation over a socket of the page's own.
   * @param {import("./servers.mjs").AgentServer} server @param {string} id
   * @param {{ tools?: object[], route: string, twice?: boolean }} options @returns {Promise<Talk>}
   */
  dispatch(server, id, options) {
    return this.#open("dispatch", options, [server.address(), id, options]);
  }

  /** Copies a conversation of this page, and opens the copy. @param {string} of @param {object} options @returns {Promise<Talk>} */
  fork(of, options) {
    const name = `talk-${this.#opened + 1}`;
    return this.#open("fork", {}, [options], [of, name]);
  }

  /** A page of the server's conversations. @param {import("./servers.mjs").AgentServer} server @param {object} [options] */
  async list(server, options = {}) {
    return unpacked(await this.run("list", server.address(), options));
  }

  /** Asks a server something that is about no conversation. @param {import("./suite.mjs").AnyServer} server @param {string} method @param {...unknown} args @returns {Promise<any>} */
  async inquire(server, method, ...args) {
    return unpacked(await this.run("inquire", server.address(), method, ...args));
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
    return this.#evaluate(
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
    return this.#evaluate(([name, args]) => globalThis.lab[name](...args), [name, args]);
  }

  /** Calls a function that another script of the page exports. @param {string} script @param {string} name @param {...unknown} args @returns {Promise<any>} */
  call(script, name, ...args) {
    return this.#evaluate(async ([script, name, args]) => (await import(script))[name](...args), [script, name, args]);
  }

  /** The tapes of all conversations, also from before the page was reloaded or lost. */
  async tapes() {
    const present = [...this.#talks].map(async ([name, { conversation }]) => ({ conversation, tape: await this.run("tape", name) }));
    return [...this.#past, ...(await Promise.all(present))];
  }

  /** What must hold of every page, whatever happened on it. */
  async check() {
    for (const [name, { conversation, early }] of this.#talks) {
      checkTape(await this.run("tape", name), { early, ran: (callId) => this.#site.runs.has(conversation, callId) });
    }
    if (!this.#gone) assert.deepEqual(await this.run("troublesSoFar"), [], "the page has troubles");
    const told = JSON.stringify([this.urls, this.console, await this.tapes()]);
    for (const secret of [KEY, NEXT_KEY, LLM_KEY]) {
      assert.ok(!told.includes(secret), `${secret} is in a URL, an event or a console line`);
    }
  }

  /** Checks and keeps what the page knows, since it is about to forget it. */
  async #remember() {
    await this.check();
    this.#past = await this.tapes();
    this.#talks.clear();
  }

  /** Waits until the harness is there, for a while. */
  #loaded() {
    return this.#page.evaluate(async (patience) => {
      const deadline = Date.now() + patience;
      while (!("lab" in globalThis)) {
        if (Date.now() > deadline) throw new Error("the page was never ready");
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }, PATIENCE);
  }

  /** Evaluates in the page, and takes what the page has written down meanwhile. @param {any} work @param {unknown} [argument] @returns {Promise<any>} */
  async #evaluate(work, argument) {
    const value = await this.#page.evaluate(work, argument);
    if (unseen.length > 0) await this.#take();
    return value;
  }

  /** Takes what the page has written down where its driver does not see it. */
  async #take() {
    for (const [what, ...more] of await this.#page.evaluate(() => globalThis.recorded.splice(0))) {
      if (what === "request") this.urls.push(more[0]);
      if (what === "console") this.console.push(more[0]);
      if (what === "socket") this.#numbered.set(more[0], this.#socket(more[1]));
      if (what === "frame") this.#numbered.get(more[0])?.sent.push(more[1]);
    }
  }

  /** @param {string} url */
  #socket(url) {
    const record = { url, sent: [] };
    this.urls.push(url);
    this.sockets.push(record);
    return record;
  }

  /** Asks the browser for what only its debugger can do. @param {any} method @param {object} [params] @returns {Promise<any>} */
  async debug(method, params) {
    const page = /** @type {import("playwright-core").Page} */ (this.#page);
    this.#debugger ??= page.context().newCDPSession(page);
    return (await this.#debugger).send(method, params);
  }

  /** @param {"start" | "attach"} how @param {{ tools?: object[] }} options @param {unknown[]} args */
  async #open(how, { tools = [] }, args, names) {
    const name = `talk-${(this.#opened += 1)}`;
    const opened = unpacked(await this.run(how, ...(names ?? [name]), ...args));
    this.#talks.set(name, { conversation: opened.id, early: tools.filter((tool) => tool.runOn === "announcement").map((tool) => tool.name) });
    return new Talk(this, name, opened);
  }
}
