// @ts-check
/** @import { CallEvent } from "./types.js" */

/** @type {readonly string[]} */
const FINAL = ["settled", "withdrawn"];

/** The calls that have not ended, each with all that its steps told. */
export class OpenCalls {
  /** @type {Map<string, CallEvent>} */ #calls = new Map();
  /** @type {Map<string, unknown>} */ #thrown = new Map();

  get list() {
    return [...this.#calls.values()].map((call) => ({ ...call }));
  }

  /**
   * The core tells the arguments once; the app sees the whole call at every step.
   * @param {CallEvent} step
   * @returns {CallEvent}
   */
  whole(step) {
    const { callId } = step;
    // A change belongs to the step that made it.
    const call = /** @type {CallEvent} */ ({ ...this.#calls.get(callId), edits: undefined, ...step });
    if (call.edits === undefined) delete call.edits;
    if (!FINAL.includes(call.state)) {
      this.#calls.set(callId, call);
      return { ...call };
    }
    this.#calls.delete(callId);
    if (this.#thrown.has(callId)) {
      const thrown = this.#thrown.get(callId);
      this.#thrown.delete(callId);
      if (call.outcome?.kind === "failed" && call.outcome.code === "handler_threw") call.thrown = thrown;
    }
    return call;
  }

  /**
   * A handler threw. JSON carries its name and message to the outcome; the value itself waits here for the last step.
   * @param {string} callId
   * @param {unknown} error
   */
  threw(callId, error) {
    if (this.#calls.has(callId)) this.#thrown.set(callId, error);
  }

  clear() {
    this.#calls.clear();
    this.#thrown.clear();
  }
}
