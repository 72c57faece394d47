// @ts-check
/** @import { Json } from "./types.js" */
// Validators of the app's own, and the report that the core reads. An answer that is none must not pass for a yes.

/** @typedef {(value: Json) => unknown} Validate What answers is a list of issues, or nothing; it may be a promise. */

/** As in the engine's reports. */
const MOST_ISSUES = 20;
const LONGEST_MESSAGE = 300;

/**
 * Has a value validated.
 * @param {Validate} validate
 * @param {string} instance JSON text
 * @param {boolean} masked
 * @returns {Promise<string>} JSON text of a report. Rejects with `code: "validator_threw"`
 */
export async function reportOf(validate, instance, masked) {
  try {
    const issues = (await validate(JSON.parse(instance))) ?? [];
    if (!Array.isArray(issues)) throw new TypeError("a validator answers with an array of issues, or with nothing");
    return JSON.stringify({
      valid: issues.length === 0,
      issues: issues.slice(0, MOST_ISSUES).map((issue) => issueOf(issue, masked)),
      truncated: issues.length > MOST_ISSUES,
    });
  } catch (thrown) {
    const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
    throw Object.assign(new Error(masked ? "the validator threw" : message), { code: "validator_threw" });
  }
}

/**
 * What a validator says of a value may repeat it.
 * @param {any} issue
 * @param {boolean} masked
 */
function issueOf({ path, keyword, expected, message }, masked) {
  return {
    path: typeof path === "string" ? path : Array.from(path ?? [], tokenOf).join(""),
    keyword: String(keyword ?? "validator"),
    expected: masked ? null : (expected ?? null),
    message: masked ? "does not fit" : String(message).slice(0, LONGEST_MESSAGE),
  };
}

/** A step into a value as a part of a JSON Pointer. @param {any} step */
function tokenOf(step) {
  const key = String(typeof step === "object" ? step.key : step);
  return `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
