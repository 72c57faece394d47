// The official JSON-Schema-Test-Suite, through the wasm file that ships, in browsers.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { browsers } from "./browsers.mjs";
import { reason, unused } from "./left-out.mjs";
import { cases, findings } from "./site.mjs";

/** @type {string[][]} */
const table = [["browser", "draft", "passed", "run", "left out"]];

for (const browser of browsers) {
  const { results, trouble } = await findings(browser).catch((error) => ({ results: [], trouble: String(error) }));
  test(`${browser.name} runs them all`, () => assert.equal(trouble, ""));
  const left = results.values();
  for (const [draft, files] of Object.entries(cases)) {
    const counts = { passed: 0, run: 0, leftOut: 0 };
    for (const [file, groups] of Object.entries(files)) {
      const verdicts = left.next().value;
      test(`${browser.name}: ${draft}/${file}`, () => {
        assert.ok(verdicts, "the browser did not come that far");
        const wrong = complaints(draft, file, groups, verdicts, counts);
        assert.equal(wrong.length, 0, wrong.join("\n"));
      });
    }
    after(() => table.push([browser.name, draft, ...[counts.passed, counts.run, counts.leftOut].map(String)]));
  }
}

test("there is a browser, and every test that is left out exists", () => {
  assert.notEqual(browsers.length, 0);
  assert.deepEqual(unused(), []);
});

after(() => {
  const line = ([browser, draft, ...numbers]) => browser.padEnd(10) + draft.padEnd(14) + numbers.map((text) => text.padStart(9)).join("");
  console.log(table.map(line).join("\n"));
});

/**
 * Tests that failed, and tests that are left out and would pass.
 * @param {string} draft
 * @param {string} file
 * @param {import("./site.mjs").Group[]} groups
 * @param {(boolean | string)[][]} verdicts
 * @param {{ passed: number, run: number, leftOut: number }} counts
 */
function complaints(draft, file, groups, verdicts, counts) {
  const wrong = [];
  for (const [at, group] of groups.entries()) {
    for (const [number, { description, valid }] of group.tests.entries()) {
      const name = `${draft}/${file} > ${group.description} > ${description}`;
      const verdict = verdicts[at][number];
      const passes = verdict === valid;
      if (reason(draft, file, group.description, description) !== undefined) {
        counts.leftOut += 1;
        if (passes) wrong.push(`passes, and is left out: ${name}`);
        continue;
      }
      counts.run += 1;
      if (passes) counts.passed += 1;
      else wrong.push(`${name}: ${typeof verdict === "string" ? verdict : `is ${verdict ? "valid" : "invalid"} for the engine`}`);
    }
  }
  return wrong;
}
