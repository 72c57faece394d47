import assert from "node:assert/strict";
import { test } from "node:test";
import { freshCopy, load } from "./help.mjs";

const { PagehandError } = await load("index.js");

test("an error is an Error with a name that no minifier changes", () => {
  const cause = new Error("inner");
  const error = new PagehandError("closed", "it is over", { details: { reason: "x" }, cause });
  assert.ok(error instanceof Error);
  assert.equal(error.name, "PagehandError");
  assert.equal(String(error), "PagehandError: it is over");
  assert.match(error.stack, /^PagehandError: it is over/);
  assert.deepEqual([error.code, error.details, error.retryable, error.cause], ["closed", { reason: "x" }, false, cause]);
  assert.ok(!("cause" in new PagehandError("closed", "x")));
});

test("an error is known by its brand, also when another copy of the package made it", async (t) => {
  const other = await load("index.js", await freshCopy(t));
  assert.notEqual(other.PagehandError, PagehandError);
  assert.ok(PagehandError.isInstance(new other.PagehandError("closed", "x")));
  for (const value of [undefined, null, "closed", new Error("closed"), { code: "closed", name: "PagehandError" }]) {
    assert.ok(!PagehandError.isInstance(value));
  }
});
