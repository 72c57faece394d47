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

/** What waits for a person's answer: at most one question at a time. */
export class Approvals {
  /** @type {ApprovalRequest | null} */ #request = null;
  /** @type {AbortController | undefined} */ #moot;
  /** @type {Answer} */ #answer;

  /** @param {Answer} answer */
  constructor(answer) {
    this.#answer = answer;
  }

  get request() {
    return this.#request;
  }

  /**
   * The core tells about a question.
   * @param {ApprovalTold} told
   * @returns {ApprovalRequest | undefined} a new one
   */
  heard(told) {
    if (told.state === "closed") {
      if (this.#request?.id === told.id) this.end(told.reason);
      return undefined;
    }
    const { id, calls } = told;
    const answer = this.#answer;
    this.#moot = new AbortController();
    /** @type {ApprovalRequest} */
    const request = {
      id,
      calls,
      signal: this.#moot.signal,
      approve: (options) => answer(id, true, { options }),
      reject: (reason, options) => {
        const { say, ...rest } = options ?? {};
        return answer(id, false, { reason, say, options: rest });
      },
    };
    this.#request = Object.freeze(request);
    return request;
  }

  /**
   * There is nothing left to answer.
   * @param {string} reason
   */
  end(reason) {
    this.#moot?.abort(new DOMException(reason, "AbortError"));
    this.#moot = undefined;
    this.#request = null;
  }
}
