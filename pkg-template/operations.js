// @ts-check
/** @typedef {{ resolve(json: string): void, reject(error: unknown): void }} Pending */

/** What the app waits for, under the numbers that the core settles it by. */
export class Operations {
  /** @type {Map<number, Pending>} */ #pending = new Map();
  #last = 0;

  /**
   * Starts an operation, and waits for it or for the signal, whichever comes first. The signal's listener goes with it.
   * @param {AbortSignal | undefined} signal
   * @param {(operation: number) => void} start
   * @param {(operation: number) => void} abandon Nobody waits any more.
   * @returns {Promise<string>} JSON text
   */
  begin(signal, start, abandon) {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const operation = ++this.#last;
      const leave = () => {
        this.fail(operation, signal?.reason);
        abandon(operation);
      };
      const ended = () => {
        this.#pending.delete(operation);
        signal?.removeEventListener("abort", leave);
      };
      this.#pending.set(operation, {
        // Settled first: where the stack ends, what is not settled stays to be settled later.
        resolve: (json) => (resolve(json), ended()),
        reject: (error) => (reject(error), ended()),
      });
      signal?.addEventListener("abort", leave);
      try {
        start(operation);
      } catch (error) {
        this.fail(operation, error);
      }
    });
  }

  /** @param {number} operation @param {string} json */
  settle(operation, json) {
    this.#pending.get(operation)?.resolve(json);
  }

  /** @param {number} operation @param {unknown} error */
  fail(operation, error) {
    this.#pending.get(operation)?.reject(error);
  }

  /** @param {unknown} error */
  failAll(error) {
    for (const { reject } of [...this.#pending.values()]) reject(error);
  }
}
