// The runs of handlers, over all pages and over their reloads and deaths.
import assert from "node:assert/strict";

/** How long a run may be waited for. */
const DEADLINE = 60_000;

/**
 * Pages report a run before the handler does anything, and wait until it is noted here: whatever becomes of a page, none of its
 * runs is missed.
 * @typedef {{ page: string, conversation: string, callId: string, tool: string, args: any }} Run
 */
export class Runs {
  /** @type {Run[]} */ all = [];
  /** @type {Set<() => void>} */ #waiters = new Set();

  /** @param {Run} run */
  add(run) {
    this.all.push(run);
    for (const waiter of [...this.#waiters]) waiter();
  }

  /** @param {string} tool */
  of(tool) {
    return this.all.filter((run) => run.tool === tool);
  }

  /** Whether some page has run a call. @param {string} conversation @param {string} callId */
  has(conversation, callId) {
    return this.all.some((run) => run.conversation === conversation && run.callId === callId);
  }

  /** Calls this at each run from now on. @param {(run: Run) => void} listener */
  each(listener) {
    this.#waiters.add(() => listener(/** @type {Run} */ (this.all.at(-1))));
  }

  /** Waits until the runs are so. @template T @param {(all: Run[]) => T | undefined | false} holds @returns {Promise<T>} */
  until(holds) {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = holds(this.all);
        if (found) end(() => resolve(found));
      };
      const timer = setTimeout(() => end(() => reject(new Error(`no such run among ${this.all.length}`))), DEADLINE);
      /** @param {() => void} settle */
      const end = (settle) => {
        clearTimeout(timer);
        this.#waiters.delete(look);
        settle();
      };
      this.#waiters.add(look);
      look();
    });
  }

  /** No call ran twice, in whatever pages. An event's id is the same in a fork, where it is another call. */
  check() {
    /** @type {Map<string, Run>} */
    const seen = new Map();
    for (const run of this.all) {
      const id = `${run.conversation} ${run.callId}`;
      const before = seen.get(id);
      assert.ok(!before, `${run.tool} ran twice for call ${run.callId}, in ${before?.page} and in ${run.page}`);
      seen.set(id, run);
    }
  }
}
