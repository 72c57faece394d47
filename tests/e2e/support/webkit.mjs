// WebKitGTK's MiniBrowser, over WebDriver (https://www.w3.org/TR/webdriver2/): one command at a time, to one window at a time, and no
// events. So a page writes down itself what it does, and what takes long is asked for again and again.
import { EventEmitter } from "node:events";
import { webkitDriver } from "./environment.mjs";
import { Child, freePort } from "./process.mjs";

/** @type {readonly import("./browser.mjs").Power[]} */
export const POWERS = [];
export const UNSEEN = ["sockets", "requests", "console"];

/** How long a command waits for the end of a page's work, in milliseconds. Meanwhile other windows wait. */
const GLANCE = 15;

/** @param {string} program */
export async function launch(program) {
  // There is no headless mode: the windows are on a display that nobody sees.
  const screen = new Child("xvfb", "Xvfb", ["-displayfd", "1", "-nolisten", "tcp"]);
  const display = await screen.until("a display", () => /^\d+$/m.exec(screen.output)?.[0]);
  const port = await freePort();
  const environment = { DISPLAY: `:${display}`, GDK_BACKEND: "x11", NO_AT_BRIDGE: "1" };
  const driver = new Child("webkit", webkitDriver, [`--port=${port}`], environment);
  const url = `http://127.0.0.1:${port}`;
  await driver.until("WebKit's driver", async () => (await fetch(`${url}/status`)).ok);
  return new WebKit(url, program, [driver, screen]);
}

/** @param {string} url @param {string} method @param {object} [body] @returns {Promise<any>} */
async function command(url, method, body) {
  const response = await fetch(url, { method, body: body && JSON.stringify(body) });
  const { value } = /** @type {any} */ (await response.json());
  if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
  return value;
}

class WebKit {
  #url;
  #program;
  #children;

  /** @param {string} url @param {string} program @param {Child[]} children */
  constructor(url, program, children) {
    this.#url = url;
    this.#program = program;
    this.#children = children;
  }

  /** A profile is a browser: what it stores is gone with it. */
  async newContext() {
    const options = { binary: this.#program, args: ["--automation"] };
    const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": options } };
    const { sessionId } = await command(`${this.#url}/session`, "POST", { capabilities });
    return new WebKitProfile(`${this.#url}/session/${sessionId}`);
  }

  async close() {
    for (const child of this.#children) await child.stop();
  }
}

class WebKitProfile {
  #session;
  /** @type {Promise<unknown>} The latest command. */ #latest = Promise.resolve();
  /** @type {string | undefined} The window that commands go to. */ #window;

  /** @param {string} session */
  constructor(session) {
    this.#session = session;
  }

  async newPage() {
    const { handle } = await this.#alone(() => command(`${this.#session}/window/new`, "POST", { type: "window" }));
    return new WebKitPage(this, handle);
  }

  /** A command to a window, when those before it are through. @param {string} window @param {string} method @param {string} path @param {object} [body] */
  async ask(window, method, path, body) {
    return this.#alone(async () => {
      if (this.#window !== window) await command(`${this.#session}/window`, "POST", { handle: window });
      this.#window = method === "DELETE" ? undefined : window;
      return command(`${this.#session}/${path}`, method, body);
    });
  }

  /** @param {boolean} _ */
  async setOffline(_) {
    throw new Error("WebKit's driver cannot take the network away");
  }

  async close() {
    await this.#alone(() => command(this.#session, "DELETE"));
  }

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  #alone(work) {
    const turn = this.#latest.then(work, work);
    this.#latest = turn;
    return turn;
  }
}

/** In the page: begins the work of this number, or looks at it again, and says how it stands. */
const LOOK = `
const [number, text, glance, done] = arguments;
const works = (globalThis.works ??= new Map());
const begin = async () => ({ value: JSON.stringify(await (WORK)(JSON.parse(text))) });
const begun = text === null ? works.get(number) : begin().catch((error) => ({ error: String(error) }));
if (begun === undefined) done({ error: "the page was loaded anew" });
else {
  works.set(number, begun);
  const later = new Promise((resolve) => setTimeout(resolve, glance, { waits: true }));
  Promise.race([begun, later]).then((state) => {
    if (!state.waits) works.delete(number);
    done(state);
  });
}`;

class WebKitPage extends EventEmitter {
  #profile;
  #window;
  #works = 0;
  #url = "";

  /** @param {WebKitProfile} profile @param {string} window */
  constructor(profile, window) {
    super();
    this.#profile = profile;
    this.#window = window;
  }

  context() {
    return this.#profile;
  }

  url() {
    return this.#url;
  }

  /** @param {string} url */
  async goto(url) {
    await this.#ask("POST", "url", { url });
    this.#url = url;
  }

  reload() {
    return this.#ask("POST", "refresh", {});
  }

  /** @param {Function} work @param {unknown} [argument] */
  async evaluate(work, argument = null) {
    const number = (this.#works += 1);
    for (let text = JSON.stringify(argument); ; text = null) {
      const script = LOOK.replace("WORK", () => (text === null ? "undefined" : String(work)));
      const { waits, error, value } = await this.#ask("POST", "execute/async", { script, args: [number, text, GLANCE] });
      if (error) throw new Error(error);
      if (!waits) return value === undefined || value === null ? undefined : JSON.parse(value);
    }
  }

  async close() {
    await this.#ask("DELETE", "window");
  }

  /** @param {string} method @param {string} path @param {object} [body] */
  #ask(method, path, body) {
    return this.#profile.ask(this.#window, method, path, body);
  }
}
