// A conversation in a page, as a test sees it.
import assert from "node:assert/strict";

/** How long anything in a page may take. The machine may be slow; a test that fails may be so too. */
const DEADLINE = 20_000;

/** What a page's promise was rejected with. */
export class Rejection extends Error {
  constructor(fields) {
    super(fields.message);
    Object.assign(this, fields);
  }
}

/** @param {{ value?: any, error?: object }} answer of the page */
export function unpacked({ value, error }) {
  if (error) throw new Rejection(error);
  return value;
}

export class Talk {
  #lab;
  #name;

  /** @param {import("./page.mjs").Lab} lab @param {string} name @param {{ id: string, created: boolean, status: string, tools: object }} opened */
  constructor(lab, name, { id, created, status, tools }) {
    this.#lab = lab;
    this.#name = name;
    this.id = id;
    this.created = created;
    /** As they were when the conversation was opened. */
    this.opened = { status, tools };
  }

  /** @param {string} text @param {{ run?: boolean, signal?: string }} [options] */
  send(text, options = {}) {
    return this.#ask("send", text, options);
  }

  run() {
    return this.#ask("run", {});
  }

  /** A method of the conversation that this class has no word for. @param {string} method @param {...unknown} args */
  ask(method, ...args) {
    return this.#ask(method, ...args);
  }

  async approve() {
    return unpacked(await this.#lab.run("answer", this.#name, true));
  }

  /** @param {string} [reason] @param {string} [say] */
  async reject(reason = "", say) {
    return unpacked(await this.#lab.run("answer", this.#name, false, reason, say === undefined ? {} : { say }));
  }

  /**
   * Answers the question about a call of a tool.
   * @param {string} tool
   * @param {boolean} accept
   * @param {...unknown} args of `approve` or `reject`
   */
  async decide(tool, accept, ...args) {
    return unpacked(await this.#lab.run("answerTool", this.#name, tool, accept, ...args));
  }

  /** @param {string} text @param {string} type @param {object} [options] @returns {Promise<any>} */
  async upload(text, type, options) {
    return unpacked(await this.#lab.run("upload", this.#name, text, type, options));
  }

  /** Streams text. @param {object} options @param {string[]} chunks @returns {Promise<string>} the stream's id */
  async stream(options, chunks) {
    return unpacked(await this.#lab.run("stream", this.#name, options, chunks));
  }

  /** @param {object} [options] @returns {Promise<Talk>} */
  fork(options = {}) {
    return this.#lab.fork(this.#name, options);
  }

  /** @param {{ signal?: string }} [options] */
  idle(options = {}) {
    return this.#ask("idle", options);
  }

  /** Says something, and waits for the end of the turn. @param {string} [text] */
  async turn(text = "go on") {
    await this.send(text);
    return this.idle();
  }

  history(options = {}) {
    return this.#ask("history", options);
  }

  /** @param {string} callId @param {string} [reason] */
  cancel(callId, reason) {
    return this.#ask("cancel", callId, ...(reason === undefined ? [] : [reason]), {});
  }

  close() {
    return this.#ask("close", {});
  }

  async declare(declaration) {
    return unpacked(await this.#lab.run("declare", this.#name, declaration));
  }

  /** @returns {Promise<{ status: string, tools: any, openCalls: any[], approval: any, approvals: any[], label?: string }>} */
  state() {
    return this.#lab.run("state", this.#name);
  }

  /** @returns {Promise<{ n: number, topic: string, value: any }[]>} */
  tape() {
    return this.#lab.run("tape", this.#name);
  }

  /**
   * Waits for a line of the tape.
   * @param {string} topic
   * @param {object} value what the line's value must have
   * @param {{ after?: number, deadline?: number }} [options]
   * @returns {Promise<{ n: number, topic: string, value: any }>}
   */
  async until(topic, value = {}, { after = -1, deadline = DEADLINE } = {}) {
    return unpacked(await this.#lab.run("until", this.#name, { topic, value }, after, deadline));
  }

  /** The values of a topic. @param {string} topic @returns {Promise<any[]>} */
  async heard(topic) {
    return (await this.tape()).filter((line) => line.topic === topic).map((line) => line.value);
  }

  /** Which handlers ran, in order. @param {string} [tool] @returns {Promise<{ callId: string, tool: string, args: any }[]>} */
  async runs(tool) {
    return (await this.heard("run")).filter((run) => tool === undefined || run.tool === tool);
  }

  /** How the calls of a tool ended, in the order in which they were seen first. @param {string} tool @returns {Promise<any[]>} */
  async outcomes(tool) {
    const steps = (await this.heard("call")).filter((call) => call.tool === tool);
    const latest = new Map(steps.map((call) => [call.callId, call]));
    return [...latest.values()].filter((call) => call.state === "settled").map((call) => call.outcome);
  }

  /** The states of the calls of a tool, or of one of them, in order. @param {string} tool @param {string} [callId] */
  async states(tool, callId) {
    const steps = (await this.heard("call")).filter((call) => call.tool === tool);
    return steps.filter((call) => callId === undefined || call.callId === callId).map((call) => call.state);
  }

  /** How the only call of a tool ended. @param {string} tool */
  async outcome(tool) {
    const all = await this.outcomes(tool);
    assert.equal(all.length, 1, `calls of ${tool} that ended`);
    return all[0];
  }

  async #ask(method, ...args) {
    return unpacked(await this.#lab.run("ask", this.#name, method, ...args));
  }
}
