// @ts-check
/** @import { ErrorCode, Json } from "./types.js" */

// Registered, so that an error made by another copy of the package is recognised too.
const BRAND = Symbol.for("pagehand.error");

/** The one error class. `code` is stable; the README's table says when each comes and what to do. */
export class PagehandError extends Error {
  /** @type {ErrorCode} */
  code;
  /** @type {Json} */
  details;
  /** @type {boolean} */
  retryable;

  /**
   * @param {ErrorCode} code
   * @param {string} message
   * @param {{ details?: Json, retryable?: boolean, cause?: unknown }} [more]
   */
  constructor(code, message, { details = null, retryable = false, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
    this.retryable = retryable;
  }

  /**
   * A literal, because minifiers rename classes.
   * @override
   */
  get name() {
    return /** @type {const} */ ("PagehandError");
  }

  get [BRAND]() {
    return true;
  }

  /**
   * @param {unknown} value
   * @returns {value is PagehandError}
   */
  static isInstance(value) {
    return typeof value === "object" && value !== null && /** @type {any} */ (value)[BRAND] === true;
  }
}

/**
 * An error of the core, as the edge hands it over.
 * @param {string} code
 * @param {string} message
 * @param {string} details JSON text
 * @param {boolean} retryable
 */
export function coreError(code, message, details, retryable) {
  return new PagehandError(/** @type {ErrorCode} */ (code), message, { details: JSON.parse(details), retryable });
}

/**
 * @param {string} field
 * @param {string} message
 * @param {unknown} [cause]
 */
export function invalidArgument(field, message, cause) {
  return new PagehandError("invalid_argument", `${field}: ${message}`, { details: { field, message }, cause });
}

/** @param {string} reason */
export function closed(reason) {
  return new PagehandError("closed", `the conversation is closed: ${reason}`, { details: { reason } });
}

/**
 * Tells about an exception of the app's own code that has no caller of ours.
 * @param {unknown} error
 */
export function reportThrown(error) {
  if (typeof reportError === "function") reportError(error);
  else console.error(error);
}
