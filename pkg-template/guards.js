// @ts-check
/** @import { Guard, GuardedCall } from "./types.js" */
import { isObject } from "./checks.js";
import { invalidArgument } from "./errors.js";

/** @typedef {boolean | ((args: any) => boolean | Promise<boolean>) | undefined} Confirm */

/**
 * What the app thinks of a call before and after its handler. Guards are asked in their order, each about what the one before
 * left; the first no is the last word.
 */
export class Guards {
  /** @type {readonly Guard[]} */ #guards;
  /** @type {WeakMap<Function, Confirm>} Of each handler. */ #confirms = new WeakMap();

  /** @param {readonly Guard[]} guards */
  constructor(guards) {
    this.#guards = guards;
  }

  /**
   * A tool is declared. Whether calls of its handler are looked at.
   * @param {Function} handler
   * @param {Confirm} confirm
   */
  declare(handler, confirm) {
    this.#confirms.set(handler, confirm);
    return this.#guards.some(({ before }) => before !== undefined) || (confirm !== undefined && confirm !== false);
  }

  /**
   * Looks at a call before its handler starts.
   * @param {GuardedCall} call
   * @param {Function} handler
   * @param {AbortSignal} signal
   * @returns {Promise<string>} JSON text of the verdict
   */
  async before(call, handler, signal) {
    let { arguments: args } = call;
    let changed = false;
    for (const { before } of this.#guards) {
      /** @type {any} */
      const said = await before?.({ ...call, arguments: args }, { signal });
      if (said === undefined || said === true) continue;
      if (said === false) return JSON.stringify({ verdict: "block", reason: "the app does not allow it" });
      if (isObject(said) && typeof said.block === "string") return JSON.stringify({ verdict: "block", reason: said.block });
      if (!isObject(said) || !isObject(said.arguments)) throw new TypeError("a guard's answer is none");
      args = said.arguments;
      changed = true;
    }
    const confirm = this.#confirms.get(handler);
    const asks = typeof confirm === "function" ? await confirm(args) : confirm;
    return JSON.stringify({ verdict: asks ? "ask" : "allow", arguments: changed ? args : undefined });
  }

  /**
   * Looks at what a handler returned.
   * @param {GuardedCall} call
   * @param {unknown} result
   * @param {AbortSignal} signal
   * @returns {Promise<unknown>} the result. Another one, or none, is thrown: it is told.
   */
  async after(call, result, signal) {
    let changed = false;
    for (const { after } of this.#guards) {
      /** @type {any} */
      const said = await after?.({ ...call, result }, { signal });
      if (said === undefined || said === true) continue;
      if (said === false) throw withheld("the app does not give the result away");
      if (isObject(said) && typeof said.block === "string") throw withheld(said.block);
      if (!isObject(said) || !("result" in said)) throw withheld("a guard's answer is none");
      result = said.result;
      changed = true;
    }
    if (changed) throw Object.assign(named("ResultReplaced", ""), { result });
    return result;
  }
}

/**
 * @param {unknown} given
 * @returns {readonly Guard[]}
 */
export function guardsOf(given = []) {
  if (!Array.isArray(given)) throw invalidArgument("guards", "must be an array");
  for (const guard of given) {
    for (const point of ["before", "after"]) {
      if (!isObject(guard) || (guard[point] !== undefined && typeof guard[point] !== "function")) {
        throw invalidArgument("guards", "must be objects with functions `before` and `after`, each of which may be left out");
      }
    }
  }
  return [...given];
}

/** @param {string} reason */
const withheld = (reason) => named("ResultWithheld", reason);

/** @param {string} name The core knows these by their names. @param {string} message */
const named = (name, message) => Object.assign(new Error(message), { name });
