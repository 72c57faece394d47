// @ts-check
/** @import { Core } from "./core.js" */
/** @import { Session } from "./glue.js" */
/** @import { Answer } from "./approvals.js" */
/** @import { PagehandError } from "./errors.js" */
/** @import { Schemas } from "./schemas.js" */
import { jsonOf, optionsOf, partsOf, signalOf, textOf } from "./checks.js";
import { TOPICS } from "./emitter.js";
import { closed, coreError } from "./errors.js";
import { Operations } from "./operations.js";
import { Runs } from "./runs.js";
import { textInto } from "./text.js";
import { Told } from "./told.js";

/**
 * What the edge calls. It is the only way from the core to the app.
 * @typedef {object} Hooks
 * @property {(topic: number, json: string) => void} emit
 * @property {(operation: number, json: string) => void} settle
 * @property {(operation: number, error: unknown) => void} fail
 * @property {(code: string, message: string, details: string, retryable: boolean) => PagehandError} error
 * @property {(work: (event?: any) => any) => ((event?: any) => any)} guard
 * @property {(event: MessageEvent, buffer: Uint8Array) => number} text
 * @property {() => Promise<void>} ended
 * @property {() => Promise<string>} key
 * @property {Review} review
 * @property {(schema: number, text: string) => Promise<void>} compile
 * @property {(schema: number, instance: string, output: boolean, handler: Function | undefined) => Promise<string>} check
 */

/**
 * Looks at a call before this handler starts: JSON text of the arguments in, JSON text of the verdict out.
 * @callback Review
 * @param {Function} handler
 * @param {string} tool
 * @param {string} callId
 * @param {string} args
 * @param {AbortSignal} signal
 * @returns {Promise<string>}
 */

/** The core's session of a conversation, from its making to its end. Whoever has this can ask it anything. */
export class LiveSession {
  /** @type {Core} */ #core;
  /** @type {Session | undefined} */ #session;
  /** @type {PagehandError | undefined} Why there is no session any more. */ #over;
  /** @type {Promise<void> | undefined} */ #closing;
  #reason = "closed by the app";

  #operations = new Operations();
  /** @type {Schemas} */ #schemas;
  /** @type {() => void} */ #letGo = () => {};
  /** @type {Promise<void>} What the browser holds for the session, such as its lock, it holds until then. */
  #ended = new Promise((resolve) => {
    this.#letGo = resolve;
  });

  /** What runs for it. */
  runs = new Runs();

  /** What it says. */
  told = new Told(
    (id, accept, more) => this.#answer(id, accept, more),
    (reason) => this.#endedByItself(reason),
    (topics) => this.#listen(topics),
  );

  /** @param {Core} core @param {Schemas} schemas */
  constructor(core, schemas) {
    this.#core = core;
    this.#schemas = schemas;
  }

  /**
   * @param {(hooks: Hooks) => Session} make
   * @param {{ key: () => Promise<string>, review: Review }} app What is the app's to say: the key of the next connection, and
   * what it thinks of a call.
   */
  begin(make, app) {
    this.#session = this.#core.enter(() => make(this.#hooks(app)));
    this.#core.inhabitants.add(this);
  }

  /**
   * @param {(session: Session, operation: number) => void} start
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<string>} JSON text
   */
  async ask(start, signal) {
    if (this.#closing !== undefined) throw closed(this.#reason);
    return this.#request(start, signal);
  }

  /**
   * Something that is the server's alone.
   * @param {string} name
   * @param {unknown} given
   * @param {unknown} options
   * @returns {Promise<any>}
   */
  async do(name, given, options) {
    const { signal } = optionsOf(options, "options", ["signal"]);
    const json = jsonOf(given, "options");
    return JSON.parse(await this.ask((session, operation) => session.do(operation, name, json), signalOf({ signal })));
  }

  /**
   * What an app heard over a connection of its own. A conversation that is over hears nothing.
   * @param {string} text
   * @param {boolean} past
   */
  feed(text, past) {
    const session = this.#session;
    if (session !== undefined && this.#closing === undefined) this.#core.enter(() => session.feed(text, past));
  }

  /** @returns {Promise<void>} */
  close() {
    return (this.#closing ??= this.#close());
  }

  /**
   * The core's instance is lost: nothing of it may be touched any more.
   * @param {PagehandError} error
   */
  lost(error) {
    const { code, message, details } = error;
    this.#end(error);
    this.runs.abort(error);
    this.told.deliver("error", { code, message, details });
    this.told.deliver("connection", { state: "closed", reason: message, code });
    this.told.emitter.end();
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
    this.told.release();
    this.told.emitter.end();
    if (session !== undefined) this.#core.enter(() => session.free());
  }

  /**
   * What the core ended by itself is closed here too, once its loop is done.
   * @param {string} reason
   */
  #endedByItself(reason) {
    if (this.#closing !== undefined) return;
    this.#reason = reason;
    queueMicrotask(() => this.close());
  }

  /**
   * Lets go of the session, and of everything that waits for it.
   * @param {PagehandError} error
   */
  #end(error) {
    this.#over = error;
    this.#session = undefined;
    this.#core.inhabitants.delete(this);
    this.#letGo();
    this.#schemas.release();
    this.told.clear();
    this.#operations.failAll(error);
  }

  /** @param {number} topics */
  #listen(topics) {
    const session = this.#session;
    if (session !== undefined) this.#core.enter(() => session.listen(topics));
  }

  /** @type {Answer} */
  async #answer(id, accept, { reason = "", say, options }) {
    const given = optionsOf(options, "options", accept ? ["signal", "arguments"] : ["signal"]);
    const words = textOf(reason, "reason");
    const parts = say === undefined ? undefined : partsOf(say, "say");
    const args = given.arguments === undefined ? undefined : jsonOf(given.arguments, "arguments");
    await this.ask((session, operation) => session.answer(operation, id, accept, words, args, parts), signalOf(given));
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
      (operation) => this.#core.enter(() => start(session, operation)),
      (operation) => this.#core.enter(() => session.abandon(operation)),
    );
  }

  /**
   * @param {{ key: () => Promise<string>, review: Review }} app
   * @returns {Hooks}
   */
  #hooks({ key, review }) {
    const schemas = this.#schemas;
    return {
      emit: (topic, json) => this.told.hear(TOPICS[topic], json),
      settle: (operation, json) => this.#operations.settle(operation, json),
      fail: (operation, error) => this.#operations.fail(operation, error),
      error: coreError,
      guard: (work) => this.#core.guarded(work, () => this.#session !== undefined),
      text: textInto,
      ended: () => this.#ended,
      key,
      review,
      compile: (schema, text) => schemas.compile(schema, text),
      check: (schema, instance, output, handler) => schemas.check(schema, instance, output, handler),
    };
  }
}
