// @ts-check
import { invalidArgument } from "./errors.js";

/**
 * The options of a call: an object without unknown fields. No options are empty options.
 * @param {unknown} value
 * @param {string} name
 * @param {readonly string[]} [known] Absent: every field passes.
 * @returns {Record<string, unknown>}
 */
export function optionsOf(value, name, known) {
  if (value === undefined) return {};
  if (!isObject(value)) throw invalidArgument(name, "must be an object");
  if (known !== undefined) {
    for (const field of Object.keys(value)) {
      if (!known.includes(field)) throw invalidArgument(field, `not an option; ${known.join(", ")} are`);
    }
  }
  return value;
}

/**
 * The signal among the options. The check is by shape: signals of other realms are signals too.
 * @param {Record<string, unknown>} options
 * @returns {AbortSignal | undefined}
 */
export function signalOf({ signal }) {
  if (signal === undefined) return undefined;
  if (isObject(signal) && typeof signal.aborted === "boolean" && typeof signal.addEventListener === "function") {
    return /** @type {any} */ (signal);
  }
  throw invalidArgument("signal", "must be an AbortSignal");
}

/**
 * @param {unknown} value
 * @param {string} field
 */
export function textOf(value, field) {
  if (typeof value !== "string") throw invalidArgument(field, "must be a string");
  return value;
}

/**
 * @param {unknown} value
 * @param {string} field
 */
export function objectOf(value, field) {
  if (!isObject(value)) throw invalidArgument(field, "must be an object");
  return value;
}

/**
 * A yes or no among the options.
 * @param {Record<string, unknown>} options
 * @param {string} field
 * @param {boolean} usually
 */
export function switchOf(options, field, usually) {
  const value = options[field] ?? usually;
  if (typeof value !== "boolean") throw invalidArgument(field, "must be true or false");
  return value;
}

/**
 * A time. A fraction of a millisecond does not count.
 * @param {unknown} value
 * @param {string} field
 * @param {number} least
 * @param {number} most
 */
export function millisecondsOf(value, field, least, most) {
  if (typeof value === "number" && value >= least && value <= most) return Math.floor(value);
  throw invalidArgument(field, `must be a number of milliseconds, ${least} to ${most}`);
}

/**
 * JSON text of the content parts of a message.
 * @param {unknown} content
 * @param {string} field
 */
export function partsOf(content, field) {
  if (typeof content !== "string" && !Array.isArray(content)) {
    throw invalidArgument(field, "must be a string, or an array of content parts");
  }
  return jsonOf(typeof content === "string" ? [{ type: "text", text: content }] : content, field);
}

/**
 * JSON text of something the app gave.
 * @param {unknown} value
 * @param {string} field
 */
export function jsonOf(value, field) {
  let text;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw invalidArgument(field, "must be something that JSON can carry", cause);
  }
  if (text === undefined) throw invalidArgument(field, "must be something that JSON can carry");
  return text;
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Waits no longer than a signal lets it.
 * @template T
 * @param {Promise<T>} work
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<T>}
 */
export function whileWanted(work, signal) {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    const done = () => signal.removeEventListener("abort", stop);
    work.then(resolve, reject).finally(done);
  });
}
