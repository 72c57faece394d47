// @ts-check

/** What runs of the app's for calls of a conversation: handlers and guards. */
export class Runs {
  /** @type {Set<AbortController>} */ #open = new Set();

  /**
   * Runs something with a signal that follows the core's. A core that is lost aborts none any more.
   * @template T
   * @param {AbortSignal} signal
   * @param {(signal: AbortSignal) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async begin(signal, work) {
    const own = new AbortController();
    const follow = () => own.abort(signal.reason);
    signal.addEventListener("abort", follow);
    // The call may have ended before this is begun.
    if (signal.aborted) follow();
    this.#open.add(own);
    try {
      return await work(own.signal);
    } finally {
      this.#open.delete(own);
      signal.removeEventListener("abort", follow);
    }
  }

  /**
   * Nobody waits for any of it any more.
   * @param {unknown} reason
   */
  abort(reason) {
    for (const run of this.#open) run.abort(reason);
  }
}
