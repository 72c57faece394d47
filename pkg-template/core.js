// @ts-check
/** @import { WasmSource } from "./types.js" */
import { PagehandError } from "./errors.js";
import { WasmFile } from "./load.js";

/**
 * What all cores' glue has in common.
 * @typedef {object} Glue
 * @property {(source: { module_or_path: any }) => Promise<unknown>} instantiate
 * @property {(report: (message: string) => void) => void} begin
 * @property {() => void} giveUp
 */

/** The core of one protocol: loaded at first need, and started over when its instance is lost. */
export class Core {
  /** @type {WasmFile} */ #file;
  /** @type {() => void} */ #giveUp;
  /** @type {string | undefined} */ #panic;

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
  constructor(name, place, { instantiate, begin, giveUp }) {
    this.#giveUp = giveUp;
    this.#file = new WasmFile(name, place, instantiate, () => begin((message) => this.#panicked(message)));
  }

  /** @param {WasmSource} [source] */
  load(source) {
    return this.#file.load(source);
  }

  /**
   * Runs something that enters the core. A trap in there loses the instance, and with it everything that waits.
   * @template T
   * @param {() => T} work
   * @returns {T}
   */
  enter(work) {
    try {
      return work();
    } catch (thrown) {
      throw thrown instanceof WebAssembly.RuntimeError ? this.#lost(thrown) : thrown;
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
    this.#file.forget();
    console.error("pagehand: internal panic, please report it:", message);
    const error = new PagehandError("internal_panic", `pagehand itself failed: ${message}`, { details: { message }, cause });
    const lost = [...this.inhabitants];
    this.inhabitants.clear();
    for (const inhabitant of lost) inhabitant.lost(error);
    return error;
  }
}
