// The tests that the engine does not pass, and why. One that passes must not be here.
import { readFileSync } from "node:fs";

/**
 * Names of tests, from left to right as far as they go: `draft/file`, `draft/file > group`, `draft/file > group > test`. For a
 * draft may stand `*`.
 * @type {{ why: string, tests: string[] }[]}
 */
const LISTED = JSON.parse(readFileSync(new URL("left-out.json", import.meta.url), "utf8"));

/** Which entries name a test that exists. */
const used = new Set();

/**
 * Why a test is left out, if it is.
 * @param {string} draft
 * @param {string} file
 * @param {string} group
 * @param {string} test
 */
export function reason(draft, file, group, test) {
  const names = [draft, "*"].flatMap((of) => [`${of}/${file}`, `${of}/${file} > ${group}`, `${of}/${file} > ${group} > ${test}`]);
  for (const { why, tests } of LISTED) {
    const entry = tests.find((name) => names.includes(name));
    if (entry === undefined) continue;
    used.add(entry);
    return why;
  }
  return undefined;
}

/** Entries that name nothing. */
export const unused = () => LISTED.flatMap(({ tests }) => tests).filter((name) => !used.has(name));
