// The stand-in for UiPath's conversation service, with its own agent or UiPath's runtime behind it.
import { rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { uipathPeer, uipathPython } from "./environment.mjs";
import { KEY, launchMock, steer } from "./servers.mjs";

const [ORGANIZATION, TENANT] = ["acme", "main"];
/** How long the service may take to come to what a test waits for. */
const PATIENCE = 60_000;

/** What the service knows about a conversation. @typedef {{ sockets: { clients: string[], runtime: string | null }, reports: any[], answers: any[], dropped: any[], exchanges: any[] }} Known */

/** The service, as a scenario sees it. */
export class UiPathService {
  #parts;

  /** @param {import("./servers.mjs").Target} target @param {Awaited<ReturnType<typeof launchMock>>} parts */
  constructor(target, parts) {
    this.target = target;
    this.name = target.name;
    this.url = parts.url;
    this.#parts = parts;
  }

  get isMock() {
    return true;
  }

  /**
   * Where a page finds it. `tokens`: the page's function is asked, and gives one after the other, the last one for ever.
   * @param {{ url?: string, key?: string | (string | null)[] } & Record<string, unknown>} [options]
   */
  address({ url = this.url, key = KEY } = {}) {
    const token = Array.isArray(key) ? { tokens: key } : { token: key };
    return { url, organization: ORGANIZATION, tenant: TENANT, ...token };
  }

  /** What starts a conversation whose agent plays a script. @param {string} script @param {object} options */
  starting(script, options) {
    return { agentReleaseId: 7, folderId: 11, agentInput: { inline: { script } }, ...options };
  }

  /** What the agent does: a list of steps, or more of a script. @param {string} name @param {object[] | object} steps */
  script(name, steps) {
    const script = Array.isArray(steps) ? { steps } : steps;
    return this.steer("PUT", `/uipath/scripts/${name}`, { runtime: this.target.runtime, ...script });
  }

  /** Lets steps that hold on to this name go on. @param {string} name */
  release(name) {
    return this.steer("POST", `/release/${name}`);
  }

  /** What goes wrong from now on. @param {object[]} list */
  faults(list) {
    return this.steer("PUT", "/faults", list);
  }

  /** The faults with how often each has fired. @returns {Promise<{ fault: string, fired: number }[]>} */
  fired() {
    return this.steer("GET", "/faults");
  }

  /** Waits until a fault has fired. @param {string} fault @param {number} [times] */
  hit(fault, times = 1) {
    return this.#wait(`${fault} fires`, async () => (await this.fired()).some((known) => known.fault === fault && known.fired >= times));
  }

  /** What of the service is not known from outside. @param {object} levers what is left out gets its default */
  levers(levers) {
    return this.steer("PUT", "/uipath/levers", levers);
  }

  /** @param {{ tokens?: string[], disconnect?: boolean }} tokens */
  accept(tokens) {
    return this.steer("PUT", "/uipath/tokens", tokens);
  }

  /** Something happens to the sockets of a conversation. @param {string} id @param {string} action @param {object} [more] */
  disturb(id, action, more) {
    return this.steer("POST", `/uipath/conversations/${id}/sockets`, { action, ...more });
  }

  /** The service says something. @param {string} id @param {object} members of an envelope @param {boolean} [persist] */
  emit(id, members, persist = true) {
    return this.steer("POST", `/uipath/conversations/${id}/emit?persist=${persist}`, members);
  }

  /** @param {string} id @returns {Promise<Known>} */
  known(id) {
    return this.steer("GET", `/uipath/conversations/${id}`);
  }

  /**
   * Waits until what the service knows about a conversation is so.
   * @template T
   * @param {string} id
   * @param {(known: Known) => T | undefined | false} holds
   * @returns {Promise<T>}
   */
  until(id, holds) {
    return this.#wait(holds, async () => holds(await this.known(id)));
  }

  /** What the runtime says of itself: `started`, `waiting`, `resumed`, `ended`. @param {string} id @param {string} event @param {number} [count] so many are waited for */
  async reports(id, event, count = 0) {
    return this.until(id, ({ reports }) => {
      const fitting = reports.filter((report) => report.event === event);
      return fitting.length >= count && fitting;
    });
  }

  /** What the runtime was handed for each call, in order. @param {string} id @returns {Promise<any[]>} */
  async resumed(id) {
    return (await this.reports(id, "resumed")).flatMap(({ values }) => Object.entries(values).map(([call, value]) => ({ call, ...value })));
  }

  /**
   * What clients answered about a call, in order.
   * @param {string} id
   * @param {string} call
   * @returns {Promise<{ kind: "confirmToolCall" | "endToolCall" | "endInterrupt", body: any, socket: string }[]>}
   */
  async answers(id, call) {
    return (await this.known(id)).answers.filter((answer) => answer.toolCallId === call);
  }

  /** All that crossed the wire. @returns {Promise<any[]>} */
  record() {
    return this.steer("GET", "/record");
  }

  /** @template T @param {unknown} what @param {() => Promise<T | undefined | false>} ask @returns {Promise<T>} */
  async #wait(what, ask) {
    const deadline = Date.now() + PATIENCE;
    for (;;) {
      const found = await ask();
      if (found) return found;
      if (Date.now() > deadline) throw new Error(`the service never came to this: ${what}`);
      await pause(40);
    }
  }

  /** @param {string} method @param {string} path @param {unknown} [body] @returns {Promise<any>} */
  steer(method, path, body) {
    return steer(`${this.url}/mock`, method, path, body);
  }

  async stop() {
    await Promise.all(this.#parts.children.map((child) => child.stop()));
    rmSync(this.#parts.folder, { recursive: true, force: true });
  }
}

/** A call of a tool of the page, in a step of a script. @param {string} name @param {object} [input] @param {object} [more] */
export const wanted = (name, input = {}, more) => ({ id: `call-${name}`, name, input, ...more });

/** The envelope in a packet. @param {string} packet @returns {any} */
export const enveloped = (packet) => JSON.parse(packet.slice(packet.indexOf("[")))[1];

/** The call that an envelope is about. @param {any} envelope @returns {any} */
export function toolCall(envelope) {
  return envelope?.exchange?.message?.toolCall ?? {};
}

/**
 * @param {import("./servers.mjs").Target} target
 * @param {{ options?: string[] }} [more]
 */
export async function startService(target, { options = [] } = {}) {
  const runtime = ["--uipath-python", uipathPython, "--uipath-peer", uipathPeer];
  return new UiPathService(target, await launchMock(`uipath-${target.runtime}`, [...runtime, "--uipath-token", KEY, ...options]));
}
