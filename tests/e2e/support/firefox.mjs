// Firefox, which speaks WebDriver BiDi by itself.
import { EventEmitter } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Bidi } from "./bidi.mjs";
import { Child } from "./process.mjs";

/** @type {readonly import("./browser.mjs").Power[]} */
export const POWERS = ["offline"];
/** Requests and the console are events of BiDi, frames of sockets are not. */
export const UNSEEN = ["sockets"];

/** Under automation Firefox is silent towards the internet by itself, but for these. */
const PREFERENCES = {
  "app.normandy.enabled": false,
  "app.update.disabledForTesting": true,
  "datareporting.policy.dataSubmissionEnabled": false,
  "messaging-system.rsexperimentloader.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
};

/** @param {string} program */
export async function launch(program) {
  const folder = mkdtempSync(join(tmpdir(), "pagehand-firefox-"));
  const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`);
  writeFileSync(join(folder, "user.js"), lines.join(""));
  const child = new Child("firefox", program, ["--headless", "--no-remote", "--profile", folder, "--remote-debugging-port", "0"]);
  // Firefox says there where it listens.
  const told = await child.until("Firefox", () => readFileSync(join(folder, "WebDriverBiDiServer.json"), "utf8"));
  const { ws_host: host, ws_port: port } = JSON.parse(told);
  const bidi = await Bidi.connect(`ws://${host}:${port}/session`);
  await bidi.send("session.new", { capabilities: {} });
  await bidi.send("session.subscribe", { events: ["network.beforeRequestSent", "log.entryAdded"] });
  return new Firefox(bidi, child, folder);
}

class Firefox {
  #bidi;
  #child;
  #folder;
  /** @type {Map<string, FirefoxPage>} */ #pages = new Map();

  /** @param {Bidi} bidi @param {Child} child @param {string} folder */
  constructor(bidi, child, folder) {
    this.#bidi = bidi;
    this.#child = child;
    this.#folder = folder;
    bidi.on("network.beforeRequestSent", ({ context, request: { url, method, headers } }) => {
      // The page writes down its sockets itself, and what the browser asks beforehand is no request of the page's.
      const isSocket = headers.some(({ name }) => name.toLowerCase() === "upgrade");
      if (!isSocket && method !== "OPTIONS") this.#pages.get(context)?.emit("request", { url: () => url });
    });
    bidi.on("log.entryAdded", ({ source, type, text }) => {
      if (type === "javascript") this.#pages.get(source.context)?.emit("pageerror", new Error(text));
      else this.#pages.get(source.context)?.emit("console", { text: () => text });
    });
  }

  async newContext() {
    const { userContext } = await this.#bidi.send("browser.createUserContext", {});
    return new FirefoxProfile(this.#bidi, userContext, this.#pages);
  }

  async close() {
    await this.#bidi.send("browser.close", {});
    this.#bidi.close();
    await this.#child.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** What Firefox calls a container: storage, locks and channels of its own. */
class FirefoxProfile {
  #bidi;
  #id;
  #pages;

  /** @param {Bidi} bidi @param {string} id @param {Map<string, FirefoxPage>} pages */
  constructor(bidi, id, pages) {
    this.#bidi = bidi;
    this.#id = id;
    this.#pages = pages;
  }

  /** In a window of its own, since only the foremost tab of a window is visible. */
  async newPage() {
    const { context } = await this.#bidi.send("browsingContext.create", { type: "window", userContext: this.#id });
    const page = new FirefoxPage(this.#bidi, context, this);
    this.#pages.set(context, page);
    return page;
  }

  /** @param {boolean} offline */
  async setOffline(offline) {
    const networkConditions = offline ? { type: "offline" } : null;
    await this.#bidi.send("emulation.setNetworkConditions", { networkConditions, userContexts: [this.#id] });
  }

  async close() {
    await this.#bidi.send("browser.removeUserContext", { userContext: this.#id });
  }
}

class FirefoxPage extends EventEmitter {
  #bidi;
  #context;
  #profile;
  #url = "";

  /** @param {Bidi} bidi @param {string} context @param {FirefoxProfile} profile */
  constructor(bidi, context, profile) {
    super();
    this.#bidi = bidi;
    this.#context = context;
    this.#profile = profile;
  }

  context() {
    return this.#profile;
  }

  url() {
    return this.#url;
  }

  /** @param {string} url */
  async goto(url) {
    ({ url: this.#url } = await this.#bidi.send("browsingContext.navigate", { context: this.#context, url, wait: "complete" }));
  }

  async reload() {
    await this.#bidi.send("browsingContext.reload", { context: this.#context, wait: "complete" });
  }

  /** @param {Function} work @param {unknown} [argument] */
  async evaluate(work, argument = null) {
    const { result, exceptionDetails } = await this.#bidi.send("script.callFunction", {
      functionDeclaration: `async (text) => JSON.stringify(await (${work})(JSON.parse(text)))`,
      arguments: [{ type: "string", value: JSON.stringify(argument) }],
      target: { context: this.#context },
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return result.value === undefined ? undefined : JSON.parse(result.value);
  }

  async close() {
    await this.#bidi.send("browsingContext.close", { context: this.#context });
  }
}
