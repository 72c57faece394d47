// @ts-check
/** @import { ApprovalRequest, ApprovalTold } from "./types.js" */

/**
 * Gives one answer to the core.
 * @callback Answer
 * @param {string} approval
 * @param {boolean} accept
 * @param {{ reason?: unknown, say?: unknown, options: unknown }} more
 * @returns {Promise<void>}
 */

/** The questions that wait for a person's answer, the oldest first. */
export class Approvals {
  /** @type {Map<string, { request: ApprovalRequest, moot: AbortController }>} */ #open = new Map();
  /** @type {Answer} */ #answer;

  /** @param {Answer} answer */
  constructor(answer) {
    this.#answer = answer;
  }

  get list() {
    return [...this.#open.values()].map(({ request }) => request);
  }

  /**
   * The core tells about a question.
   * @param {ApprovalTold} told
   * @returns {ApprovalRequest | undefined} a new one
   */
  heard(told) {
    if (told.state === "closed") {
      this.#end(told.id, told.reason);
      return undefined;
    }
    const { id, calls } = told;
    const answer = this.#answer;
    const moot = new AbortController();
    /** @type {ApprovalRequest} */
    const request = {
      id,
      calls,
      signal: moot.signal,
      approve: (options) => answer(id, true, { options }),
      reject: (reason, options) => {
        const { say, ...rest } = options ?? {};
        return answer(id, false, { reason, say, options: rest });
      },
    };
    this.#open.set(id, { request: Object.freeze(request), moot });
    return request;
  }

  /**
   * There is nothing left to answer.
   * @param {string} reason
   */
  endAll(reason) {
    for (const id of [...this.#open.keys()]) this.#end(id, reason);
  }

  /** @param {string} id @param {string} reason */
  #end(id, reason) {
    const question = this.#open.get(id);
    this.#open.delete(id);
    question?.moot.abort(new DOMException(reason, "AbortError"));
  }
}
