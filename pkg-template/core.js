// @ts-check
/** @import { WasmSource } from "./types.js" */
import { PagehandError } from "./errors.js";
import { WasmFile } from "./load.js";

/**
 * What all cores' glue has in common.
 * @typedef {object} Glue
 * @property {(source: { module_or_path: any }) => Promise<unknown>} instantiate
 * @property {(report: (message: string) => void, watch: () => void) => void} begin
 * @property {() => string} stuck
 * @property {() => void} giveUp
 */

/** The core of one protocol: loaded at first need, and started over when its instance is lost. */
export class Core {
  /** @type {WasmFile} */ #file;
  /** @type {() => string} */ #stuck;
  /** @type {() => void} */ #giveUp;
  /** @type {string | undefined} */ #panic;
  /** How often an instance was lost. */
  #losses = 0;

  /**
   * What lives on the instance, and must be told when it is lost.
   * @type {Set<{ lost(error: PagehandError): void }>}
   */
  inhabitants = new Set();

  /**
   * @param {string} name
   * @param {() => WasmSource} place
   * @param {Glue} glue
   */
  constructor(name, place, { instantiate, begin, stuck, giveUp }) {
    this.#stuck = stuck;
    this.#giveUp = giveUp;
    const started = () => begin((message) => this.#panicked(message), () => this.#watch());
    this.#file = new WasmFile(name, place, instantiate, started);
  }

  /** @param {WasmSource} [source] */
  load(source) {
    return this.#file.load(source);
  }

  /**
   * Runs something that enters the core. A trap in there loses the instance, and with it everything that waits. So does the end
   * of the stack, which is no trap: where it came is not known, and what was under way was not put in order.
   * @template T
   * @param {() => T} work
   * @returns {T}
   */
  enter(work) {
    try {
      return work();
    } catch (thrown) {
      // After a panic whatever still asks something of the instance is told that it is another's.
      if (thrown instanceof WebAssembly.RuntimeError || this.#panic !== undefined) throw this.#lost(thrown);
      if (isOutOfStack(thrown)) this.#overflowed(thrown);
      throw thrown;
    }
  }

  /**
   * What the browser calls: listeners, timers, callbacks. Those of a lost instance must not be let in, and what is left over from
   * it, such as a socket, is closed when it next says something.
   * @param {(event?: any) => any} work
   * @param {() => boolean} lives
   */
  guarded(work, lives) {
    /** @param {any} event */
    const called = (event) => {
      if (lives()) return this.enter(() => work(event));
      const left = event?.currentTarget;
      left?.removeEventListener?.(event.type, called);
      // The page itself can be closed, too.
      if (left !== globalThis && left !== globalThis.document) left?.close?.();
    };
    return called;
  }

  /**
   * The panic hook, called just before the trap. What must be done is done once the stack is gone.
   * @param {string} message
   */
  #panicked(message) {
    this.#panic ??= message;
    queueMicrotask(() => {
      if (this.#panic !== undefined) this.#lost(undefined);
    });
  }

  /**
   * A task of the core is taken up. Nobody calls it who could catch anything: so it is looked at once nothing runs any more. A trap
   * that was a panic has been told by then.
   */
  #watch() {
    queueMicrotask(() => {
      const task = this.enter(this.#stuck);
      if (task !== "") this.#lost(new Error(`a trap while ${task}`));
    });
  }

  /** @param {unknown} cause Here hardly anything can be called any more, and soon everything. */
  #overflowed(cause) {
    const before = this.#losses;
    Promise.resolve().then(() => {
      // The stack may have ended many times, each a little further up.
      if (this.#losses === before) this.#lost(cause);
    });
  }

  /** @param {unknown} cause */
  #lost(cause) {
    const message = this.#panic ?? String(cause);
    if (this.#panic === undefined) {
      try {
        this.#giveUp();
      } catch {
        // Then the next call fails as this one did, and is told the same way.
      }
    }
    this.#panic = undefined;
    this.#losses += 1;
    this.#file.forget();
    console.error("pagehand: internal panic, please report it:", message);
    const error = new PagehandError("internal_panic", `pagehand itself failed: ${message}`, { details: { message }, cause });
    const lost = [...this.inhabitants];
    this.inhabitants.clear();
    for (const inhabitant of lost) inhabitant.lost(error);
    return error;
  }
}

/** @param {unknown} thrown Firefox has a type of its own. */
function isOutOfStack(thrown) {
  return thrown instanceof RangeError || (thrown instanceof Error && thrown.name === "InternalError");
}
