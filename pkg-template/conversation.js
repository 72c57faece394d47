// @ts-check
/** @import { CallContext, ContentPart, HistoryOptions, HistoryPage, Tool, ToolDefinition, TurnEnd, Waiting } from "./types.js" */
/** @import { Core } from "./core.js" */
/** @import { Session } from "./glue.js" */
/** @import { Declared } from "./tool.js" */
/** @import { Topic } from "./emitter.js" */
/** @import { Guards } from "./guards.js" */
/** @import { Hooks } from "./live-session.js" */
/** @import { Schemas } from "./schemas.js" */
import { optionsOf, partsOf, signalOf, switchOf, textOf, whileWanted } from "./checks.js";
import { invalidArgument } from "./errors.js";
import { LiveSession } from "./live-session.js";
import { declaredTool } from "./tool.js";

/**
 * What opening takes: the id, the tools, and a function that makes the session on the loaded core.
 * @typedef {object} Plan
 * @property {Core} core
 * @property {string} id
 * @property {Declared[]} tools
 * @property {AbortSignal | undefined} signal
 * @property {Guards} guards
 * @property {Schemas} schemas
 * @property {number | undefined} unread How many events may wait for a loop that reads them.
 * @property {() => Promise<string>} key The key of the next connection, where it is the app's to say.
 * @property {(tools: string, handlers: Function[], hooks: Hooks) => Session} make
 */

/**
 * A conversation with an agent: what all servers have in common. The public face of it is `Conversation` in `types.d.ts`; what
 * only one kind of server can do is in a class of its own, which extends this one.
 */
export class Conversation {
  #live;
  /** @type {string} */ #id;
  /** @type {Guards} */ #guards;
  /** @type {Schemas} */ #schemas;
  /** @type {Declared[]} The plan's: who opens another one with the same tools finds them there. */ #tools;
  #created = false;

  /**
   * @param {Plan} plan
   * @param {LiveSession} live
   */
  constructor({ core, id, tools, guards, schemas, unread }, live = new LiveSession(core, schemas)) {
    this.#id = id;
    this.#tools = tools;
    this.#guards = guards;
    this.#schemas = schemas;
    this.#live = live;
    live.told.emitter.unread = unread ?? live.told.emitter.unread;
  }

  /**
   * Loads the core, opens the conversation, and resolves when it is safe to speak.
   * @template {Plan} P
   * @template {Conversation} C
   * @this {new (plan: P) => C}
   * @param {P} plan
   * @returns {Promise<C>}
   */
  static async open(plan) {
    const { core, signal } = plan;
    signal?.throwIfAborted();
    await whileWanted(core.load(), signal);
    signal?.throwIfAborted();
    const conversation = new this(plan);
    try {
      await conversation.#open(plan);
    } catch (error) {
      await conversation.close();
      throw error;
    }
    return conversation;
  }

  /**
   * Asks a server something that is about no conversation: the session is never opened.
   * @param {Plan} plan
   * @param {string} name
   * @param {unknown} given
   * @returns {Promise<any>}
   */
  static async inquire(plan, name, given) {
    const { core, signal } = plan;
    signal?.throwIfAborted();
    await whileWanted(core.load(), signal);
    const conversation = new Conversation(plan);
    try {
      conversation.#begin(plan);
      return await conversation.#live.do(name, given, { signal });
    } finally {
      await conversation.close();
    }
  }

  get id() {
    return this.#id;
  }

  get created() {
    return this.#created;
  }

  get status() {
    return this.#live.told.status;
  }

  get tools() {
    return this.#live.told.tools;
  }

  get openCalls() {
    return this.#live.told.calls.list;
  }

  get approval() {
    return this.#live.told.approvals.list[0] ?? null;
  }

  get approvals() {
    return this.#live.told.approvals.list;
  }

  /**
   * @param {string | ContentPart[]} content
   * @param {Waiting & { run?: boolean, approvePending?: boolean }} [options]
   * @returns {Promise<void>}
   */
  async send(content, options) {
    const given = optionsOf(options, "options", ["signal", "run", "approvePending"]);
    const run = switchOf(given, "run", true);
    const approve = switchOf(given, "approvePending", false);
    const parts = partsOf(content, "content");
    await this.#live.ask((session, operation) => session.send(operation, parts, run, approve), signalOf(given));
  }

  /**
   * @param {Waiting} [options]
   * @returns {Promise<TurnEnd>}
   */
  async idle(options) {
    const given = optionsOf(options, "options", ["signal"]);
    return JSON.parse(await this.#live.ask((session, operation) => session.idle(operation), signalOf(given)));
  }

  /**
   * @param {HistoryOptions} [options]
   * @returns {Promise<HistoryPage>}
   */
  async history(options) {
    const given = optionsOf(options, "options", ["signal", "limit", "order", "page"]);
    const { limit = 100, order = "oldest", page } = given;
    if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1 || limit > 100) {
      throw invalidArgument("limit", "must be a whole number, 1 to 100");
    }
    if (order !== "oldest" && order !== "newest") throw invalidArgument("order", 'must be "oldest" or "newest"');
    // The `next` of a last page is null, and asking on from there is a mistake.
    const from = page === undefined ? undefined : textOf(page, "page");
    const newest = order === "newest";
    return JSON.parse(
      await this.#live.ask((session, operation) => session.history(operation, limit, newest, from), signalOf(given)),
    );
  }

  /**
   * What an app heard over a connection of its own.
   * @param {string} text
   * @param {boolean} past
   */
  feed(text, past) {
    this.#live.feed(text, past);
  }

  /**
   * @param {Tool | ToolDefinition} tool
   * @returns {Promise<void>}
   */
  async declare(tool) {
    const declared = declaredTool(tool);
    const handler = this.#handler(declared);
    const json = this.#declaration(declared, handler);
    await this.#live.ask((session, operation) => session.declare(operation, json, handler), undefined);
    this.#drop(declared.name);
    this.#tools.push(declared);
  }

  /**
   * @param {string} name
   * @returns {Promise<void>}
   */
  async undeclare(name) {
    const given = textOf(name, "name");
    await this.#live.ask((session, operation) => session.undeclare(operation, given), undefined);
    this.#drop(given);
  }

  /**
   * @param {string} callId
   * @param {string} [reason]
   * @returns {Promise<void>}
   */
  async cancel(callId, reason = "cancelled by the app") {
    const [call, words] = [textOf(callId, "callId"), textOf(reason, "reason")];
    await this.#live.ask((session, operation) => session.cancel(operation, call, words), undefined);
  }

  /**
   * @param {Topic} type
   * @param {(event: any) => void} listener
   * @returns {() => void}
   */
  on(type, listener) {
    return this.#live.told.emitter.on(type, listener);
  }

  [Symbol.asyncIterator]() {
    return this.#live.told.emitter.stream();
  }

  /** @returns {Promise<void>} */
  close() {
    return this.#live.close();
  }

  // Where there is no such symbol yet, this method is named "undefined", and nobody calls it.
  [Symbol.asyncDispose]() {
    return this.close();
  }

  // ---------------------------------------------------------------- inside

  /** @param {Plan} plan */
  #begin({ tools, make, key }) {
    const handlers = tools.map((tool) => this.#handler(tool));
    const declarations = tools.map((tool, place) => this.#declaration(tool, handlers[place]));
    this.#live.begin((hooks) => make(`[${declarations.join(",")}]`, handlers, hooks), { key, review: this.#review });
  }

  /** @param {Declared} tool @param {Function} handler */
  #declaration(tool, handler) {
    this.#schemas.declare(handler, tool);
    return JSON.stringify({ ...tool.fields, reviewed: this.#guards.declare(handler, tool.confirm) });
  }

  /** @param {string} name */
  #drop(name) {
    const place = this.#tools.findIndex((tool) => tool.name === name);
    if (place >= 0) this.#tools.splice(place, 1);
  }

  /** @type {import("./live-session.js").Review} */
  #review = (handler, tool, callId, args, ended) =>
    this.#live.runs.begin(ended, (signal) =>
      this.#guards.before({ tool, callId, arguments: JSON.parse(args) }, handler, signal),
    );

  /** @param {Plan} plan */
  async #open(plan) {
    this.#begin(plan);
    const answer = JSON.parse(await this.#live.ask((session, operation) => session.open(operation), plan.signal));
    const { told } = this.#live;
    this.#id = answer.id;
    this.#created = answer.created;
    told.status = answer.status;
    told.tools = answer.tools;
    // Listeners that are added right after the `await` miss nothing.
    setTimeout(() => told.release());
  }

  /**
   * The app's handler, with the conversation in its context and the guards behind it. Towards the core it stands for the
   * declaration, also where there is nothing to execute and it is never called.
   * @param {Declared} tool
   */
  #handler({ name, execute }) {
    /** @param {any} args @param {Omit<CallContext, "conversation">} context */
    return (args, { signal: ended, callId, argumentsText }) =>
      this.#live.runs.begin(ended, async (signal) => {
        try {
          const result = await execute?.(args, { signal, callId, argumentsText, conversation: this });
          return await this.#guards.after({ tool: name, callId, arguments: args }, result, signal);
        } catch (error) {
          this.#live.told.calls.threw(callId, error);
          throw error;
        }
      });
  }
}
