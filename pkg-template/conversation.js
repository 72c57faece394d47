// @ts-check
/** @import { CallContext, ContentPart, ForkOptions, HistoryOptions, HistoryPage, Status, Tool, ToolDefinition, ToolReport, TurnEnd, Waiting } from "./types.js" */
/** @import { Session } from "./core.js" */
/** @import { Declared, Execute } from "./tool.js" */
/** @import { Topic } from "./emitter.js" */
/** @import { PagehandError } from "./errors.js" */
import { Approvals } from "./approvals.js";
import { OpenCalls } from "./calls.js";
import { jsonOf, objectOf, optionsOf, partsOf, signalOf, switchOf, textOf, whileWanted } from "./checks.js";
import { Emitter } from "./emitter.js";
import { closed, coreError, invalidArgument } from "./errors.js";
import { core, enter, inhabitants } from "./load.js";
import { Operations } from "./operations.js";
import { declaredTool } from "./tool.js";
import { Schemas } from "./validator.js";

/**
 * What the edge calls. It is the only way from the core to the app.
 * @typedef {object} Hooks
 * @property {(topic: string, json: string) => void} emit
 * @property {(operation: number, json: string) => void} settle
 * @property {(operation: number, error: unknown) => void} fail
 * @property {(code: string, message: string, details: string, retryable: boolean) => PagehandError} error
 * @property {(work: (event?: any) => any) => ((event?: any) => any)} guard
 * @property {() => Promise<void>} ended
 * @property {() => Promise<string>} key
 * @property {(schema: number, text: string) => Promise<void>} compile
 * @property {(schema: number, instance: string) => Promise<string>} check
 */

/**
 * What opening takes: the id, the tools, and a function that makes the session on the loaded core.
 * @typedef {object} Plan
 * @property {string} id
 * @property {Declared[]} tools
 * @property {AbortSignal | undefined} signal
 * @property {() => Promise<string>} key The key of the next connection, where it is the app's to say.
 * @property {(id: string, signal: AbortSignal | undefined) => Promise<Conversation>} attach Joins another of the same server, with the same tools.
 * @property {(tools: string, handlers: Map<string, Function>, hooks: Hooks) => Session} make
 */

/** A conversation with an agent. The public face of it is `Conversation` in `types.d.ts`. */
export class Conversation {
  /** @type {Session | undefined} */ #session;
  /** @type {PagehandError | undefined} Why there is no session any more. */ #over;
  /** @type {Promise<void> | undefined} */ #closing;
  #reason = "closed by the app";

  /** @type {string} */ #id;
  #created = false;
  /** @type {Status} */ #status = "idle";
  /** @type {ToolReport} */ #tools = { ready: [], missingHandlers: [], unknownToServer: [], differentSchema: [] };

  #operations = new Operations();
  #calls = new OpenCalls();
  #approvals = new Approvals((id, accept, more) => this.#answer(id, accept, more));
  /** @type {Plan["attach"] | undefined} */ #attach;
  /** @type {() => void} */ #letGo = () => {};
  /** @type {Promise<void>} What the browser holds for the session, such as its lock, it holds until then. */
  #ended = new Promise((resolve) => {
    this.#letGo = resolve;
  });
  #emitter = new Emitter();
  #schemas = new Schemas();
  /** @type {(() => void)[] | undefined} Events that wait until the app can have listeners. */ #held = [];

  /** @param {string} id */
  constructor(id) {
    this.#id = id;
  }

  /**
   * Loads the core, opens the conversation, and resolves when it is safe to speak.
   * @param {Plan} plan
   * @returns {Promise<Conversation>}
   */
  static async open(plan) {
    const { id, signal } = plan;
    signal?.throwIfAborted();
    await whileWanted(core.load(), signal);
    signal?.throwIfAborted();
    const conversation = new Conversation(id);
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
    const { id, signal } = plan;
    signal?.throwIfAborted();
    await whileWanted(core.load(), signal);
    const conversation = new Conversation(id);
    try {
      conversation.#begin(plan);
      return await conversation.#do(name, given, { signal });
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
    return this.#status;
  }

  get tools() {
    return this.#tools;
  }

  get openCalls() {
    return this.#calls.list;
  }

  get approval() {
    return this.#approvals.request;
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
    await this.#ask((session, operation) => session.send(operation, parts, run, approve), signalOf(given));
  }

  /**
   * @param {Waiting & { approvePending?: boolean }} [options]
   * @returns {Promise<void>}
   */
  async run(options) {
    const given = optionsOf(options, "options", ["signal", "approvePending"]);
    const approve = switchOf(given, "approvePending", false);
    await this.#ask((session, operation) => session.run(operation, approve), signalOf(given));
  }

  /** @param {Waiting} [options] */
  async pause(options) {
    await this.#do("pause", null, options);
  }

  /** @param {Waiting} [options] */
  async interrupt(options) {
    await this.#do("interrupt", null, options);
  }

  /** @param {object} policy @param {Waiting} [options] */
  async setConfirmationPolicy(policy, options) {
    await this.#do("setPolicy", objectOf(policy, "policy"), options);
  }

  /**
   * @param {Waiting & ForkOptions} [options]
   * @returns {Promise<Conversation>}
   */
  async fork(options) {
    const known = ["signal", "eventId", "conversationId", "title", "tags"];
    const { signal, eventId, conversationId, title, tags } = optionsOf(options, "options", known);
    const { id } = await this.#do("fork", { conversationId, eventId, title, tags }, { signal });
    const attach = /** @type {Plan["attach"]} */ (this.#attach);
    return attach(id, signalOf({ signal }));
  }

  /** @param {Waiting} [options] */
  async delete(options) {
    await this.#do("delete", null, options);
  }

  /** @param {object} changes @param {Waiting} [options] */
  async update(changes, options) {
    await this.#do("update", objectOf(changes, "changes"), options);
  }

  /** @param {string | null} eventId @param {Waiting} [options] */
  async navigate(eventId, options) {
    await this.#do("navigate", eventId === null ? null : textOf(eventId, "eventId"), options);
  }

  /** @param {object} llm @param {Waiting} [options] */
  async switchLlm(llm, options) {
    await this.#do("switchLlm", objectOf(llm, "llm"), options);
  }

  /**
   * @param {string} question
   * @param {Waiting} [options]
   * @returns {Promise<string>}
   */
  async ask(question, options) {
    return this.#do("ask", textOf(question, "question"), options);
  }

  /** @param {Waiting} [options] */
  async condense(options) {
    await this.#do("condense", null, options);
  }

  /**
   * @param {Waiting} [options]
   * @returns {Promise<TurnEnd>}
   */
  async idle(options) {
    const given = optionsOf(options, "options", ["signal"]);
    return JSON.parse(await this.#ask((session, operation) => session.idle(operation), signalOf(given)));
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
      await this.#ask((session, operation) => session.history(operation, limit, newest, from), signalOf(given)),
    );
  }

  /**
   * What an app heard over a connection of its own. A conversation that is over hears nothing.
   * @param {string} text
   * @param {boolean} past
   */
  feed(text, past) {
    const session = this.#session;
    if (session !== undefined && this.#closing === undefined) enter(() => session.feed(text, past));
  }

  /**
   * @param {Tool | ToolDefinition} tool
   * @returns {Promise<void>}
   */
  async declare(tool) {
    const { json, execute } = declaredTool(tool);
    const handler = execute && this.#handler(execute);
    await this.#ask((session, operation) => session.declare(operation, json, handler), undefined);
  }

  /**
   * @param {string} callId
   * @param {string} [reason]
   * @returns {Promise<void>}
   */
  async cancel(callId, reason = "cancelled by the app") {
    const [call, words] = [textOf(callId, "callId"), textOf(reason, "reason")];
    await this.#ask((session, operation) => session.cancel(operation, call, words), undefined);
  }

  /**
   * @param {Topic} type
   * @param {(event: any) => void} listener
   * @returns {() => void}
   */
  on(type, listener) {
    return this.#emitter.on(type, listener);
  }

  [Symbol.asyncIterator]() {
    return this.#emitter.stream();
  }

  /** @returns {Promise<void>} */
  close() {
    return (this.#closing ??= this.#close());
  }

  // Where there is no such symbol yet, this method is named "undefined", and nobody calls it.
  [Symbol.asyncDispose]() {
    return this.close();
  }

  /**
   * The core's instance is lost: nothing of it may be touched any more.
   * @param {PagehandError} error
   */
  lost(error) {
    const { code, message, details } = error;
    this.#end(error);
    this.#deliver("error", { code, message, details });
    this.#deliver("connection", { state: "closed", reason: message, code });
    this.#emitter.end();
  }

  // ---------------------------------------------------------------- inside

  /** @param {Plan} plan */
  #begin({ tools, make, attach, key }) {
    this.#attach = attach;
    /** @type {Map<string, Function>} */
    const handlers = new Map();
    for (const { name, execute } of tools) {
      if (execute !== undefined) handlers.set(name, this.#handler(execute));
    }
    const declarations = `[${tools.map(({ json }) => json).join(",")}]`;
    this.#session = enter(() => make(declarations, handlers, this.#hooks(key)));
    inhabitants.add(this);
  }

  /** @param {Plan} plan */
  async #open(plan) {
    this.#begin(plan);
    const answer = JSON.parse(await this.#ask((session, operation) => session.open(operation), plan.signal));
    this.#id = answer.id;
    this.#created = answer.created;
    this.#status = answer.status;
    this.#tools = answer.tools;
    // Listeners that are added right after the `await` miss nothing.
    setTimeout(() => this.#release());
  }

  async #close() {
    if (this.#session !== undefined) {
      try {
        await this.#request((session, operation) => session.close(operation), undefined);
      } catch {
        // It was over already.
      }
    }
    // After a trap the session is gone, and must not even be freed.
    const session = this.#session;
    this.#end(closed(this.#reason));
    this.#release();
    this.#emitter.end();
    if (session !== undefined) enter(() => session.free());
  }

  /**
   * Lets go of the session, and of everything that waits for it.
   * @param {PagehandError} error
   */
  #end(error) {
    this.#over = error;
    this.#session = undefined;
    inhabitants.delete(this);
    this.#letGo();
    this.#schemas.release();
    this.#calls.clear();
    this.#approvals.end("the conversation is closed");
    this.#operations.failAll(error);
  }

  /** @type {import("./approvals.js").Answer} */
  async #answer(id, accept, { reason = "", say, options }) {
    const given = optionsOf(options, "options", ["signal"]);
    const words = textOf(reason, "reason");
    const parts = say === undefined ? undefined : partsOf(say, "say");
    await this.#ask((session, operation) => session.answer(operation, id, accept, words, parts), signalOf(given));
  }

  /**
   * Something that is the server's alone.
   * @param {string} name
   * @param {unknown} given
   * @param {unknown} options
   * @returns {Promise<any>}
   */
  async #do(name, given, options) {
    const { signal } = optionsOf(options, "options", ["signal"]);
    const json = jsonOf(given, "options");
    return JSON.parse(await this.#ask((session, operation) => session.do(operation, name, json), signalOf({ signal })));
  }

  /**
   * @param {(session: Session, operation: number) => void} start
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<string>}
   */
  async #ask(start, signal) {
    if (this.#closing !== undefined) throw closed(this.#reason);
    return this.#request(start, signal);
  }

  /**
   * @param {(session: Session, operation: number) => void} start
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<string>}
   */
  async #request(start, signal) {
    const session = this.#session;
    if (session === undefined) throw this.#over ?? closed(this.#reason);
    return this.#operations.begin(
      signal,
      (operation) => enter(() => start(session, operation)),
      (operation) => enter(() => session.abandon(operation)),
    );
  }

  /**
   * @param {Plan["key"]} key
   * @returns {Hooks}
   */
  #hooks(key) {
    const schemas = this.#schemas;
    return {
      emit: (topic, json) => this.#heard(/** @type {Topic} */ (topic), json),
      settle: (operation, json) => this.#operations.settle(operation, json),
      fail: (operation, error) => this.#operations.fail(operation, error),
      error: coreError,
      // What the browser calls: listeners, timers, callbacks. Those of a lost instance must not be let in, and what is
      // left over from it, such as a socket, is closed when it next says something.
      guard: (work) => {
        /** @param {any} event */
        const guarded = (event) => {
          if (this.#session !== undefined) return enter(() => work(event));
          const left = event?.currentTarget;
          left?.removeEventListener?.(event.type, guarded);
          // The page itself can be closed, too.
          if (left !== globalThis && left !== globalThis.document) left?.close?.();
        };
        return guarded;
      },
      ended: () => this.#ended,
      key,
      compile: (schema, text) => schemas.compile(schema, text),
      check: (schema, instance) => schemas.check(schema, instance),
    };
  }

  /**
   * The app's handler, with the conversation in its context.
   * @param {Execute} execute
   */
  #handler(execute) {
    /** @param {unknown} args @param {Omit<CallContext, "conversation">} context */
    return async (args, { signal, callId }) => {
      try {
        return await execute(args, { signal, callId, conversation: this });
      } catch (error) {
        this.#calls.threw(callId, error);
        throw error;
      }
    };
  }

  /**
   * Keeps what the getters show up to date, and tells the app.
   * @param {Topic} topic
   * @param {string} json
   */
  #heard(topic, json) {
    switch (topic) {
      case "call":
        return this.#deliver(topic, this.#calls.whole(JSON.parse(json)));
      case "status": {
        const value = JSON.parse(json);
        this.#status = value.status;
        return this.#deliver(topic, value);
      }
      case "approval": {
        const request = this.#approvals.heard(JSON.parse(json));
        return request && this.#deliver(topic, request);
      }
      case "tools":
        this.#tools = JSON.parse(json);
        return this.#deliver(topic, this.#tools);
      case "connection": {
        const value = JSON.parse(json);
        this.#deliver(topic, value);
        if (value.state === "closed") {
          // What the core ended by itself is closed here too, once its loop is done.
          if (this.#closing === undefined) {
            this.#reason = value.reason;
            queueMicrotask(() => this.close());
          }
        }
        return;
      }
      default:
        this.#later(() => {
          if (this.#emitter.wants(topic)) this.#emitter.emit(topic, JSON.parse(json));
        });
    }
  }

  /** @param {Topic} topic @param {unknown} value */
  #deliver(topic, value) {
    this.#later(() => this.#emitter.emit(topic, value));
  }

  /** @param {() => void} delivery */
  #later(delivery) {
    if (this.#held === undefined) delivery();
    else this.#held.push(delivery);
  }

  #release() {
    // A listener may cause more events: they line up behind the held ones.
    for (let delivery = this.#held?.shift(); delivery !== undefined; delivery = this.#held?.shift()) delivery();
    this.#held = undefined;
  }
}
