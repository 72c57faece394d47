// The kinds of server, with one face: the same scenario runs on several.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { agentServer, mockServer, olderAgentServer, scriptedLlm } from "./environment.mjs";
import { LibraryService } from "./library.mjs";
import { Child, freePort } from "./process.mjs";
import { startFullAgent } from "./uipath-agent.mjs";
import { startService } from "./uipath.mjs";

/** In no URL, error, event or console line may this ever appear. */
export const KEY = "canary-session-key-3f1b";
/** Nor the key that a server may come back with. */
export const NEXT_KEY = "canary-next-session-key-c508";
/** Nor this one, that the app gives in the agent's `llm`. */
export const LLM_KEY = "canary-llm-key-77d0";

/** How long the log may take to show what a test waits for. */
const PATIENCE = 20_000;

/** @typedef {{ kind: "mock" | "real" | "service" | "library", name: string, version?: string, launcher?: string, runtime?: string, standIn?: boolean }} Target */

/** @type {Record<string, Target>} */
export const TARGETS = {
  mock: { kind: "mock", name: "mock 1.58, session socket", version: "1.58.2", standIn: true },
  legacy: { kind: "mock", name: "mock 1.44, legacy socket", version: "1.44.0", standIn: true },
  real: { kind: "real", name: "agent-server 1.58.2", version: "1.58.2", launcher: agentServer },
  // Of both the service is a stand-in.
  service: { kind: "service", name: "UiPath's service", runtime: "scripted", standIn: true },
  runtime: { kind: "service", name: "UiPath's service with UiPath's own runtime", runtime: "fast" },
  agent: { kind: "service", name: "UiPath's service with UiPath's full agent", runtime: "full" },
  library: { kind: "library", name: "Socket.IO's server" },
  real143: { kind: "real", name: "agent-server 1.43.1, legacy socket", version: "1.43.1", launcher: olderAgentServer },
};

/** A server that listens, with its scripted agent. */
export class AgentServer {
  #children;
  #folder;
  #control;
  #launch;

  /**
   * `children` are the server itself and what it needs; `launch` starts another server on the same data, with this key.
   * @param {{ target: Target, url: string, llm: string, control: string, children: Child[], folder: string, key: string, launch?: (key: string) => Child }} parts
   */
  constructor({ target, url, llm, control, children, folder, key, launch }) {
    this.target = target;
    this.name = target.name;
    this.url = url;
    this.llm = llm;
    this.key = key;
    this.#control = control;
    this.#children = children;
    this.#folder = folder;
    this.#launch = launch;
  }

  get isMock() {
    return this.target.kind === "mock";
  }

  /** What the agent whose model has this name will do. @param {string} name @param {object[]} steps */
  script(name, steps) {
    return this.#steer("PUT", `/scripts/${name}`, { steps });
  }

  /** Waits until the model was asked for so many steps of a script. @param {string} name @param {number} steps */
  async asked(name, steps) {
    for (const deadline = Date.now() + PATIENCE; ; await pause(40)) {
      const { position } = await this.#steer("GET", `/scripts/${name}`);
      if (position >= steps) return;
      if (Date.now() > deadline) throw new Error(`the model was asked for ${position} of ${steps} steps`);
    }
  }

  /** Lets steps that hold on to this name go on. @param {string} name */
  release(name) {
    return this.#steer("POST", `/release/${name}`);
  }

  /**
   * Where a page finds it.
   * @param {{ url?: string, key?: string }} [options]
   */
  address({ url = this.url, key = this.key } = {}) {
    return { url, sessionKey: key || undefined };
  }

  /** What starts a conversation whose agent plays a script. @param {string} script @param {object} options */
  starting(script, options) {
    return { agent: this.agent(script), workspace: "project", autotitle: false, stuck_detection: false, ...options };
  }

  /** The agent that plays a script. @param {string} script @param {object} [llm] */
  agent(script, llm) {
    const model = { usage_id: "agent", model: `openai/${script}`, base_url: `${this.llm}/v1`, api_key: LLM_KEY };
    return { kind: "Agent", tools: [], llm: { ...model, num_retries: 0, ...llm } };
  }

  /**
   * A request past the page, as another client of the server would make it.
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body]
   */
  async rest(method, path, body) {
    const headers = { "Content-Type": "application/json", "X-Session-API-Key": this.key };
    const response = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  /** A person decides on the calls that wait. @param {string} conversation @param {boolean} accept @param {string} [reason] */
  decide(conversation, accept, reason) {
    return this.rest("POST", `/api/conversations/${conversation}/events/respond_to_confirmation`, { accept, reason });
  }

  /**
   * Waits until the log of a conversation has so many events with these words.
   * @param {string} conversation
   * @param {string} words
   * @param {number} count
   */
  async logged(conversation, words, count) {
    const deadline = Date.now() + PATIENCE;
    for (;;) {
      const { items } = await this.rest("GET", `/api/conversations/${conversation}/events/search?limit=100`);
      if (items.filter((item) => JSON.stringify(item).includes(words)).length >= count) return;
      if (Date.now() > deadline) throw new Error(`the log never had ${count} of ${words}`);
      await pause(40);
    }
  }

  /** The whole log of a conversation. @param {string} conversation @returns {Promise<any[]>} */
  async log(conversation) {
    const events = [];
    for (let page = ""; page !== null; ) {
      const query = `?limit=100${page && `&page_id=${page}`}`;
      const { items, next_page_id } = await this.rest("GET", `/api/conversations/${conversation}/events/search${query}`);
      events.push(...items);
      page = next_page_id;
    }
    return events;
  }

  /** Mock only: what goes wrong from now on. @param {object[]} list */
  faults(list) {
    return this.#steer("PUT", "/faults", list);
  }

  /** Mock only: the faults with how often each has fired. @returns {Promise<{ fault: string, fired: number }[]>} */
  fired() {
    return this.#steer("GET", "/faults");
  }

  /** Mock only: an event of our own. @param {string} conversation @param {object} event @param {boolean} [persist] */
  emit(conversation, event, persist = true) {
    return this.#steer("POST", `/emit/${conversation}?persist=${persist}`, event);
  }

  /** Mock only: a log as after a long time. @param {string} conversation @param {number} events how many more */
  fill(conversation, events) {
    return this.#steer("POST", `/fill/${conversation}`, { events });
  }

  /**
   * Mock only: how many sockets were opened and closed since this was last asked.
   * @returns {Promise<{ opened: number, closed: number }>}
   */
  async sockets() {
    const lines = await this.#steer("GET", "/record");
    await this.#steer("DELETE", "/record");
    const count = (dir) => lines.filter((line) => line.ch === "ws" && line.dir === dir).length;
    return { opened: count("open"), closed: count("close") };
  }

  /** Mock only: a frame of our own. @param {string} conversation @param {string} raw */
  frame(conversation, raw) {
    return this.#steer("POST", `/frame/${conversation}`, { raw });
  }

  /**
   * Real server only: it ends as when it is updated, and comes back with all it had. A conversation that ran is `paused`.
   * @param {{ key?: string }} [options] the key that it takes from then on
   */
  async restart({ key = this.key } = {}) {
    await this.#children[0].stop();
    await this.#comeBack(key);
  }

  /** Real server only: it dies at once, and comes back with all it had. A conversation that ran is in `error`. */
  async kill() {
    await this.#children[0].kill();
    await this.#comeBack(this.key);
  }

  async stop() {
    await Promise.all(this.#children.map((child) => child.stop()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** @param {string} key */
  async #comeBack(key) {
    if (this.#launch === undefined) throw new Error("this server keeps nothing");
    this.key = key;
    this.#children[0] = this.#launch(key);
    await ready(this.#children[0], this.url);
  }

  /** @param {string} method @param {string} path @param {unknown} [body] */
  #steer(method, path, body) {
    return steer(this.#control, method, path, body);
  }
}

/**
 * Asks something of the part of a stand-in that only tests see.
 * @param {string} control its address
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
export async function steer(control, method, path, body) {
  const response = await fetch(control + path, { method, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/**
 * @param {Target} target
 * @param {{ options?: string[], key?: string }} [more]
 * @returns {Promise<AgentServer>}
 */
export function start(target, more) {
  if (target.runtime === "full") return startFullAgent(target);
  if (target.kind === "service") return startService(target, more);
  if (target.kind === "library") return new LibraryService(target).listen();
  return target.kind === "mock" ? startMock(target, more) : startReal(target);
}

/** @param {Target} target */
async function startMock(target, { options = [], key = KEY } = {}) {
  const all = ["--key", key, "--version", target.version ?? "", ...options];
  const { url, ...parts } = await launchMock(`mock-${target.version}`, all);
  return new AgentServer({ target, url, llm: url, control: `${url}/mock`, key, ...parts });
}

/** Starts the stand-in. @param {string} label @param {string[]} options */
export async function launchMock(label, options) {
  const folder = mkdtempSync(join(tmpdir(), "pagehand-"));
  const portFile = join(folder, "port");
  const child = new Child(label, mockServer, ["--port", "0", "--port-file", portFile, ...options]);
  const url = `http://127.0.0.1:${await child.until("the mock server", () => readFileSync(portFile, "utf8"))}`;
  return { url, children: [child], folder };
}

/** @param {Target} target */
async function startReal(target) {
  const folder = mkdtempSync(join(tmpdir(), "pagehand-"));
  const portFile = join(folder, "llm.port");
  const port = await freePort();
  const model = new Child("llm", "python3", [scriptedLlm, "--port", "0", "--port-file", portFile, "--quiet"]);
  const options = ["--port", String(port), "--data", join(folder, "data")];
  const launch = (key) => new Child(`agent-server-${target.version}`, target.launcher, [...options, "--key", key]);
  const server = launch(KEY);
  const url = `http://127.0.0.1:${port}`;
  const starting = Promise.all([model.until("the scripted model", () => readFileSync(portFile, "utf8")), ready(server, url)]);
  const [llmPort] = await starting.catch(async (error) => {
    await Promise.all([model.stop(), server.stop()]);
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  const llm = `http://127.0.0.1:${llmPort}`;
  return new AgentServer({ target, url, llm, control: llm, children: [server, model], folder, key: KEY, launch });
}

/** @param {Child} server @param {string} url */
function ready(server, url) {
  return server.until("the agent server", async () => (await fetch(`${url}/ready`)).ok);
}
